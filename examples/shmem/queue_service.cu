// Work-groups that ask their agent for nothing but an answer: how long is a queue's service? Usage:
// queue_service [work-groups] [requests of each].
#include "common.hpp"

/// A quiet of a queue that has nothing under way is a request without work.
__global__ void ask(shmem::Handle handle, unsigned* answered, int requests) {
  shmem::Context context(handle);
  for (int i = 0; i < requests; ++i) context.quiet();
  context.atomic_add(answered, static_cast<unsigned>(requests), context.my_pe());
  context.destroy();
}

int main(int argc, char** argv) {
  const int groups = size_argument(argc, argv, 64, 1);
  const int requests = argc > 2 ? size_argument(argc - 1, argv + 1, 10, 1) : 10;
  return run_example([&] {
    shmem::Options options;
    options.work_groups = groups;
    shmem::init(options);
    const auto answered = shmem::malloc<unsigned>(1);
    for (int pe = 0; pe < shmem::n_pes(); ++pe)
      shmem::launch({pe, options.work_groups, 64}, ask, shmem::handle(pe), answered.on(pe), requests);
    synchronize();
    bool right = true;
    for (int pe = 0; pe < shmem::n_pes(); ++pe)
      right &= values_of(answered.on(pe), 1)[0] == static_cast<unsigned>(groups * requests);
    std::printf("%d work-groups on each PE, %d requests each\n", groups, requests);
    shmem::finalize();
    return right;
  });
}
