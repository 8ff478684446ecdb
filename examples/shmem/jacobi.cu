// Jacobi's method on a grid of which each PE has some rows, in one kernel for all iterations: the work-groups
// at a PE's edges put their rows into the neighbour's halo. Usage: jacobi [columns] [iterations].
#include "common.hpp"

constexpr int kGroups = 4, kRowsOfGroup = 4, kRows = kGroups * kRowsOfGroup;  // of a PE

/// What is in the symmetric heap, by this PE's addresses. A grid has a halo row above and below.
struct Field {
  float* grid[2];       // read and written in turn
  std::uint64_t* halo;  // iterations whose rows are in the halo: above, below
  std::uint64_t* done;  // iterations that are complete, by work-group
  float* residual;      // of this PE, and of all
};

__global__ void jacobi(shmem::Handle handle, Field field, int columns, std::uint64_t iterations) {
  shmem::Context context(handle);
  const int group = blockIdx.x, me = context.my_pe();
  const int first = 1 + group * kRowsOfGroup, last = first + kRowsOfGroup - 1;
  const bool has_above = group > 0 || me > 0, has_below = group < kGroups - 1 || me < context.n_pes() - 1;
  const std::uint64_t* const above = group > 0 ? field.done + group - 1 : field.halo;
  const std::uint64_t* const below = group < kGroups - 1 ? field.done + group + 1 : field.halo + 1;
  float change = 0;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    if (has_above) context.wait_until(above, shmem::Compare::kGreaterEqual, i);
    if (has_below) context.wait_until(below, shmem::Compare::kGreaterEqual, i);
    const float* const from = field.grid[i % 2];
    float* const to = field.grid[(i + 1) % 2];
    change = 0;
    for (int at = first * columns + threadIdx.x; at < (last + 1) * columns; at += blockDim.x) {
      const int column = at % columns;
      const float left = column > 0 ? from[at - 1] : 0, right = column < columns - 1 ? from[at + 1] : 0;
      to[at] = 0.25f * (left + right + from[at - columns] + from[at + columns]);
      change = fmaxf(change, fabsf(to[at] - from[at]));
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) *(volatile std::uint64_t*)&field.done[group] = i + 1;
    if (group == 0 && me > 0)
      context.put_signal(to + (kRows + 1) * columns, to + columns, columns, field.halo + 1, i + 1,
                         shmem::SignalOp::kSet, me - 1);
    if (group == kGroups - 1 && me < context.n_pes() - 1)
      context.put_signal(to, to + kRows * columns, columns, field.halo, i + 1, shmem::SignalOp::kSet, me + 1);
  }
  atomicMax(reinterpret_cast<int*>(field.residual),
            __float_as_int(change));  // not negative: ordered as integers
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) *(volatile std::uint64_t*)&field.done[group] = iterations + 1;
  if (group == 0) {
    for (int other = 1; other < kGroups; ++other)
      context.wait_until(field.done + other, shmem::Compare::kGreater, iterations);
    shmem::reduce(context, field.residual + 1, field.residual, 1, shmem::Maximum());
  }
  context.destroy();
}

/// The whole grid on the host, in the same order of operations. The row above it is 1, all else around it 0.
struct Reference {
  int rows, columns;
  std::vector<float> grid;
  float residual = 0;
  Reference(int r, int c) : rows(r), columns(c), grid((r + 2) * c, 0.0f) {
    std::fill_n(grid.begin(), c, 1.0f);
  }
  void iterate() {
    std::vector<float> next = grid;
    residual = 0;
    for (int row = 1; row <= rows; ++row)
      for (int column = 0; column < columns; ++column) {
        const int at = row * columns + column;
        const float left = column > 0 ? grid[at - 1] : 0, right = column < columns - 1 ? grid[at + 1] : 0;
        next[at] = 0.25f * (left + right + grid[at - columns] + grid[at + columns]);
        residual = std::max(residual, std::fabs(next[at] - grid[at]));
      }
    grid = next;
  }
};

int main(int argc, char** argv) {
  const int columns = size_argument(argc, argv, 64, 1);
  const int iterations = argc > 2 ? size_argument(argc - 1, argv + 1, 8, 1) : 8;
  return run_example([&] {
    shmem::Options options;
    options.work_groups = kGroups;
    shmem::init(options);
    const int pes = shmem::n_pes(), cells = (kRows + 2) * columns;
    const shmem::Symmetric<float> grids[] = {shmem::malloc<float>(cells), shmem::malloc<float>(cells)};
    const auto halo = shmem::malloc<std::uint64_t>(2), done = shmem::malloc<std::uint64_t>(kGroups);
    const auto residual = shmem::malloc<float>(2);
    for (const auto& grid : grids) upload(grid.on(0), std::vector<float>(columns, 1.0f));
    for (int pe = 0; pe < pes; ++pe) {
      const Field field{{grids[0].on(pe), grids[1].on(pe)}, halo.on(pe), done.on(pe), residual.on(pe)};
      shmem::launch({pe, kGroups, 64}, jacobi, shmem::handle(pe), field, columns, iterations);
    }
    synchronize();
    Reference all(pes * kRows, columns);
    for (int i = 0; i < iterations; ++i) all.iterate();
    bool right = true;
    for (int pe = 0; pe < pes; ++pe) {
      const auto own = values_of(grids[iterations % 2].on(pe), cells);
      for (int i = columns; i < (kRows + 1) * columns; ++i)
        right &= own[i] == all.grid[pe * kRows * columns + i];
      right &= values_of(residual.on(pe), 2)[1] == all.residual;
    }
    std::printf("%d iterations on %d x %d cells of %d PEs, residual %g\n", iterations, pes * kRows, columns,
                pes, all.residual);
    shmem::finalize();
    return right;
  });
}
