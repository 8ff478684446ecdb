// Many small puts from one PE to the next: how many a second? Usage: message_rate [bytes of a put]
// [work-groups] [puts of each].
#include "common.hpp"

/// All puts of a work-group write the same data to the same place of `to`, in any order.
__global__ void put_again(shmem::Handle handle, std::uint64_t* to, const std::uint64_t* from, int words,
                          int puts) {
  shmem::Context context(handle);
  const int own = words * blockIdx.x;
  for (int i = 0; i < puts; ++i) context.put_nbi(to + own, from + own, words, 1);
  context.destroy();
}

int main(int argc, char** argv) {
  const int words = size_argument(argc, argv, 64, 8) / 8;
  const int groups = size_argument(argc - 1, argv + 1, 32, 1);
  const int puts = size_argument(argc - 2, argv + 2, 20, 1);
  return run_example([&] {
    shmem::Options options;
    options.work_groups = groups;
    shmem::init(options);
    if (shmem::n_pes() < 2) throw shmem::Error("message_rate needs two devices: lockstep exec --gpus 2");
    const auto to = shmem::malloc<std::uint64_t>(words * groups),
               from = shmem::malloc<std::uint64_t>(words * groups);
    std::vector<std::uint64_t> data(words * groups);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = 1000003 * i;
    upload(from.on(0), data);
    shmem::launch({0, options.work_groups, 32}, put_again, shmem::handle(0), to.on(0), from.on(0), words,
                  puts);
    synchronize();
    const bool right = values_of(to.on(1), data.size()) == data;
    std::printf("%d work-groups, %d puts of %d bytes each\n", groups, puts, 8 * words);
    shmem::finalize();
    return right;
  });
}
