// The simulator as a library: a trace on a machine with more and more of its L2, then a kernel of one's own
// records, and a prefetcher of one's own for managed memory. Usage: study TRACE [GPU]
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "lockstep/policies.hpp"
#include "lockstep/simulator.hpp"
#include "lockstep/trace_builder.hpp"

namespace {

void compare_schedulers(const lockstep::Trace& trace, const std::string& gpu) {
  for (const char* scheduler : {"gto", "lrr", "cggty"}) {
    const lockstep::Machine machine(gpu, {std::string("sm.scheduler=") + scheduler});
    const lockstep::Result result = lockstep::simulate(trace, machine, {.threads = 2});
    std::uint64_t hits = 0;
    for (const lockstep::Kernel& kernel : result.kernels()) hits += kernel.counter("l2.read_hits");
    std::printf("sm.scheduler=%s: %llu cycles, %llu L2 read hits\n", scheduler,
                static_cast<unsigned long long>(result.cycles()), static_cast<unsigned long long>(hits));
  }
}

constexpr std::uint64_t kData = 0x7f0000000000, kPage = 4096;
constexpr unsigned kPages = 64;

/// A warp that reads the first bytes of one page after another, each load when the one before has come.
lockstep::Trace page_by_page() {
  lockstep::TraceBuilder builder;
  builder.kernel({.name = "page_by_page"},
                 [](const lockstep::Warp&, std::vector<lockstep::Instruction>& code) {
                   for (unsigned page = 0; page < kPages; ++page)
                     code.push_back({.opcode = "LDG.E",
                                     .destination = 4,
                                     .sources = {4},
                                     .access_bytes = 4,
                                     .base = kData + page * kPage,
                                     .stride = 4});
                   code.push_back({.opcode = "EXIT"});
                 });
  return builder.finish();
}

/// The page behind each one that faults comes along.
void prefetch_next(const lockstep::PrefetchTree& tree, lockstep::Pages& along) { along |= tree.faults << 1; }

void compare_prefetchers(const std::string& gpu) {
  const lockstep::Trace trace = page_by_page();
  lockstep::Options options;
  options.managed = std::to_string(kData) + "+" + std::to_string(kPages * kPage);
  for (const char* prefetcher : {"none", "next"}) {
    const lockstep::Machine machine(gpu, {std::string("uvm.prefetcher=") + prefetcher});
    const lockstep::Result result = lockstep::simulate(trace, machine, options);
    std::printf("uvm.prefetcher=%s: %llu cycles\n", prefetcher,
                static_cast<unsigned long long>(result.kernels().at(0).cycles));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) return std::fputs("usage: study TRACE [GPU]\n", stderr), 2;
  const std::string gpu = argc > 2 ? argv[2] : "v100";
  try {
    lockstep::add_prefetcher("next", "the page behind each one that faults", prefetch_next);
    const lockstep::Trace trace(argv[1]);
    compare_schedulers(trace, gpu);
    compare_prefetchers(gpu);
    lockstep::simulate(trace, lockstep::Machine(gpu), {.threads = 2}).write("study-results");
  } catch (const lockstep::Error& error) {
    return std::fprintf(stderr, "study: %s\n", error.what()), 2;
  }
}
