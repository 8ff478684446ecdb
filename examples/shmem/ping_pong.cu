// Two PEs send each other a message in turn, from within their kernels: put_signal there, wait_until here.
// Usage: ping_pong [bytes of a message] [rounds].
#include "common.hpp"

/// `box` and `signal` are in the symmetric heap; `out` is what this PE sends.
__global__ void ping_pong(shmem::Handle handle, int* box, const int* out, std::uint64_t* signal, int words,
                          int rounds) {
  shmem::Context context(handle);
  const int me = context.my_pe(), other = 1 - me;
  for (int round = 1; round <= rounds; ++round) {
    if (me == 0) context.put_signal(box, out, words, signal, round, shmem::SignalOp::kSet, other);
    context.wait_until<std::uint64_t>(signal, shmem::Compare::kGreaterEqual, round);
    if (me == 1) context.put_signal(box, out, words, signal, round, shmem::SignalOp::kSet, other);
  }
  context.destroy();
}

int main(int argc, char** argv) {
  const int words = size_argument(argc, argv, 64, 4) / 4;
  const int rounds = argc > 2 ? size_argument(argc - 1, argv + 1, 10, 1) : 10;
  return run_example([&] {
    shmem::init();
    if (shmem::n_pes() < 2) throw shmem::Error("ping_pong needs two devices: lockstep exec --gpus 2");
    const auto box = shmem::malloc<int>(words), out = shmem::malloc<int>(words);
    const auto signal = shmem::malloc<std::uint64_t>(1);
    for (int pe = 0; pe < 2; ++pe) upload(out.on(pe), std::vector<int>(words, 100 + pe));
    for (int pe = 0; pe < 2; ++pe)
      shmem::launch({pe, 1, 64}, ping_pong, shmem::handle(pe), box.on(pe), out.on(pe), signal.on(pe), words,
                    rounds);
    synchronize();
    bool right = true;
    for (int pe = 0; pe < 2; ++pe) {
      for (const int value : values_of(box.on(pe), words)) right &= value == 100 + (1 - pe);
      right &= values_of(signal.on(pe), 1)[0] == static_cast<std::uint64_t>(rounds);
    }
    std::printf("%d round trips of %d bytes\n", rounds, 4 * words);
    shmem::finalize();
    return right;
  });
}
