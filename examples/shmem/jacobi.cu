// Jacobi's method on a grid of which each PE has some rows, with the residual of all after each iteration, in
// three forms: intra: one kernel for all iterations, whose work-groups put the edges' rows into the
// neighbours' halos; inter: a kernel for each, between which the PEs' processes on their hosts exchange rows
// and residuals; cpu: the processes compute, too. Usage: jacobi [columns, and rows of a PE] [iterations]
// [form].
#include <algorithm>

#include "common.hpp"

constexpr int kThreads = 256, kMaxGroups = 24, kRounds = 6;  // 2^kRounds PEs at most

/// What is in the symmetric heap, by this PE's addresses. A grid has a halo row above and below.
struct Field {
  float* grid[2];         // read and written in turn
  std::uint64_t* halo;    // iterations whose rows are in the halo: above, below
  std::uint64_t* groups;  // work-groups that have updated their rows, in all iterations
  std::uint64_t* known;   // iterations whose residual is known
  std::uint64_t* rounds;  // of the residual, twice: the iteration (from 1 on) and the value that has come
  float* residual;        // of this PE in an iteration, by turns of two; then of all PEs
  int rows, columns, rows_of_group;
};

/// Rows [first, end) of the next grid; the largest change goes to the PE's residual.
__device__ void update(const Field& field, std::uint64_t i, int first, int end) {
  const int columns = field.columns;
  float change = 0;
  for (int row = first; row < end; ++row) {
    const float* const from = field.grid[i % 2] + row * columns;
    float* const to = field.grid[(i + 1) % 2] + row * columns;
    for (int at = threadIdx.x; at < columns; at += kThreads) {
      const float left = at > 0 ? from[at - 1] : 0, right = at < columns - 1 ? from[at + 1] : 0;
      to[at] = 0.25f * (left + right + from[at - columns] + from[at + columns]);
      change = fmaxf(change, fabsf(to[at] - from[at]));
    }
  }
  for (int lane = 16; lane > 0; lane /= 2) change = fmaxf(change, __shfl_xor_sync(0xffffffff, change, lane));
  if (threadIdx.x % 32 == 0)  // not negative: ordered as integers
    atomicMax(reinterpret_cast<int*>(&field.residual[i % 2]), __float_as_int(change));
}

/// Of a power of two of PEs by recursive doubling: a word of 8 bytes each way in a round.
__device__ void reduce_residual(shmem::Context& context, const Field& field, std::uint64_t i) {
  const bool doubles = (context.n_pes() & (context.n_pes() - 1)) == 0;
  if (!doubles) shmem::reduce(context, &field.residual[2], &field.residual[i % 2], 1, shmem::Maximum());
  unsigned bits = *reinterpret_cast<volatile unsigned*>(&field.residual[doubles ? i % 2 : 2]);
  std::uint64_t* word = field.rounds + i % 2 * kRounds;
  for (int bit = 1; doubles && bit < context.n_pes(); bit *= 2, ++word) {
    context.p(word, (i + 1) << 32 | bits, context.my_pe() ^ bit);
    context.wait_until(word, shmem::Compare::kGreaterEqual, (i + 1) << 32);
    const auto theirs = static_cast<unsigned>(*(volatile std::uint64_t*)word);
    bits = bits < theirs ? theirs : bits;
  }
  if (threadIdx.x == 0) {
    *reinterpret_cast<volatile unsigned*>(&field.residual[2]) = bits;
    *reinterpret_cast<volatile unsigned*>(&field.residual[(i + 1) % 2]) = 0;
    __threadfence();
    *(volatile std::uint64_t*)field.known = i + 1;
  }
}

__global__ void jacobi(shmem::Handle handle, Field field, std::uint64_t iterations) {
  shmem::Context context(handle);
  const int group = blockIdx.x, groups = gridDim.x, me = context.my_pe();
  const int first = 1 + group * field.rows_of_group, end = min(first + field.rows_of_group, field.rows + 1);
  const bool top = group == 0 && me > 0, bottom = group == groups - 1 && me < context.n_pes() - 1;
  for (std::uint64_t i = 0; i < iterations; ++i) {
    if (top) context.wait_until(field.halo, shmem::Compare::kGreaterEqual, i);
    if (bottom) context.wait_until(field.halo + 1, shmem::Compare::kGreaterEqual, i);
    update(field, i, first, end);
    __threadfence();
    __syncthreads();
    float* const to = field.grid[(i + 1) % 2];
    const int columns = field.columns;
    if (top)
      context.put_signal_nbi(to + (field.rows + 1) * columns, to + columns, columns, field.halo + 1, i + 1,
                             shmem::SignalOp::kSet, me - 1);
    if (bottom)
      context.put_signal_nbi(to, to + field.rows * columns, columns, field.halo, i + 1, shmem::SignalOp::kSet,
                             me + 1);
    if (threadIdx.x == 0) atomicAdd(reinterpret_cast<unsigned long long*>(field.groups), 1ull);
    if (group == 0) {
      context.wait_until(field.groups, shmem::Compare::kGreaterEqual, (i + 1) * groups);
      reduce_residual(context, field, i);
    }
    context.wait_until(field.known, shmem::Compare::kGreaterEqual, i + 1);
  }
  context.destroy();
}

/// One iteration.
__global__ void jacobi_step(Field field, std::uint64_t i) {
  const int first = 1 + blockIdx.x * field.rows_of_group;
  update(field, i, first, min(first + field.rows_of_group, field.rows + 1));
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

/// update() by a process, with vectors of 8 values: 4 loads, of the values around and the one before, 6
/// operations and a store make 11 instructions, and each value is read and written once in the host's memory.
void update_on_host(const shmem::HostProcess& process, const Field& field, std::uint64_t i) {
  const std::uint64_t cells = std::uint64_t(field.rows) * field.columns;
  process.compute((cells + 7) / 8 * 11, 2 * sizeof(float) * cells, [=] {
    const int columns = field.columns;
    const float* const from = field.grid[i % 2];
    float* const to = field.grid[(i + 1) % 2];
    float change = 0;
    for (int row = 1; row <= field.rows; ++row)
      for (int column = 0; column < columns; ++column) {
        const int at = row * columns + column;
        const float left = column > 0 ? from[at - 1] : 0, right = column < columns - 1 ? from[at + 1] : 0;
        to[at] = 0.25f * (left + right + from[at - columns] + from[at + columns]);
        change = std::max(change, std::fabs(to[at] - from[at]));
      }
    field.residual[i % 2] = change;
  });
}

/// The edges' rows to the neighbours: all processes send, then receive.
void exchange(const std::vector<shmem::HostProcess>& all, const std::vector<Field>& fields, std::uint64_t i) {
  const int pes = static_cast<int>(all.size());
  for (int pe = 0; pe < pes; ++pe) {
    const Field& field = fields[pe];
    const int columns = field.columns;
    float* const to = field.grid[(i + 1) % 2];
    if (pe > 0) all[pe].send(to + (field.rows + 1) * columns, to + columns, columns, pe - 1);
    if (pe < pes - 1) all[pe].send(to, to + field.rows * columns, columns, pe + 1);
  }
  for (int pe = 0; pe < pes; ++pe) {
    if (pe > 0) all[pe].receive(pe - 1);
    if (pe < pes - 1) all[pe].receive(pe + 1);
  }
}

/// What the forms share.
struct Run {
  int pes, groups, iterations;
  std::vector<Field> fields;
  shmem::Symmetric<float> residual, inbox;
};

void run_intra(const Run& run) {
  for (int pe = 0; pe < run.pes; ++pe)
    shmem::launch({pe, unsigned(run.groups), kThreads}, jacobi, shmem::handle(pe), run.fields[pe],
                  std::uint64_t(run.iterations));
}

void run_on_hosts(const Run& run, bool computes) {
  const auto all = shmem::host_processes();
  const auto maximum = [](float a, float b) { return std::max(a, b); };
  for (int i = 0; i < run.iterations; ++i) {
    for (int pe = 0; pe < run.pes; ++pe) {
      const Field& field = run.fields[pe];
      if (computes) {
        update_on_host(all[pe], field, i);
      } else {
        shmem::launch({pe, unsigned(run.groups), kThreads}, jacobi_step, field, std::uint64_t(i));
      }
    }
    exchange(all, run.fields, i);
    const auto value = run.residual.at(i % 2);
    shmem::all_reduce(all, value, run.inbox.at(i % 2 * kRounds), 1, maximum);
    for (int pe = 0; pe < run.pes; ++pe) {
      float* const residual = run.residual.on(pe);
      all[pe].compute(2, 2 * sizeof(float), [=] {
        residual[2] = residual[i % 2];
        residual[i % 2] = 0;
      });
    }
  }
}

bool is_right(const Run& run, float& residual) {
  const Field& field = run.fields[0];
  const int rows = field.rows, columns = field.columns;
  Reference all(run.pes * rows, columns);
  for (int i = 0; i < run.iterations; ++i) all.iterate();
  residual = all.residual;
  bool right = true;
  for (int pe = 0; pe < run.pes; ++pe) {
    const auto own = values_of(run.fields[pe].grid[run.iterations % 2], (rows + 2) * columns);
    for (int i = columns; i < (rows + 1) * columns; ++i) right &= own[i] == all.grid[pe * rows * columns + i];
    right &= values_of(run.residual.on(pe), 3)[2] == all.residual;
  }
  return right;
}

int main(int argc, char** argv) {
  const int size = size_argument(argc, argv, 64, 1);
  const int iterations = argc > 2 ? size_argument(argc - 1, argv + 1, 8, 1) : 8;
  const std::string form = argc > 3 ? argv[3] : "intra";
  return run_example([&] {
    if (form != "intra" && form != "inter" && form != "cpu")
      throw shmem::Error("jacobi: form " + form + "; expected intra, inter or cpu");
    Run run{};
    run.iterations = iterations;
    const int rows_of_group = (size + kMaxGroups - 1) / kMaxGroups;
    run.groups = (size + rows_of_group - 1) / rows_of_group;
    shmem::Options options;
    options.work_groups = run.groups;
    options.heap_bytes += 2 * sizeof(float) * (size + 2) * size;
    shmem::init(options);
    run.pes = shmem::n_pes();
    const int cells = (size + 2) * size;
    const shmem::Symmetric<float> grids[] = {shmem::malloc<float>(cells), shmem::malloc<float>(cells)};
    const auto words = shmem::malloc<std::uint64_t>(4), rounds = shmem::malloc<std::uint64_t>(2 * kRounds);
    run.residual = shmem::malloc<float>(3);
    run.inbox = shmem::malloc<float>(2 * kRounds);
    for (const auto& grid : grids) upload(grid.on(0), std::vector<float>(size, 1.0f));
    for (int pe = 0; pe < run.pes; ++pe)
      run.fields.push_back({{grids[0].on(pe), grids[1].on(pe)},
                            words.on(pe),
                            words.on(pe) + 2,
                            words.on(pe) + 3,
                            rounds.on(pe),
                            run.residual.on(pe),
                            size,
                            size,
                            rows_of_group});
    form == "intra" ? run_intra(run) : run_on_hosts(run, form == "cpu");
    synchronize();
    float residual = 0;
    const bool right = is_right(run, residual);
    std::printf("%d iterations on %d x %d cells of %d PEs, residual %g\n", iterations, run.pes * size, size,
                run.pes, residual);
    shmem::finalize();
    return right;
  });
}
