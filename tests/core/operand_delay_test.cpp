// How long after a result the instructions that leave the sub-core may be issued.
#include <catch2/catch.hpp>

#include "sm_bench.hpp"

namespace lockstep::core::test {
namespace {

/// Cycles of a warp whose shared-memory load takes its address from the instruction before, or does not.
Cycle cycles(unsigned delay, bool dependent, OpClass producer) {
  auto c = small_gpu();
  c.mio.operand_delay = delay;
  Program p;
  p.add(producer, {1}, {2});
  p.add(OpClass::kShuffle, {3}, {dependent ? 1u : 2u});
  p.add(OpClass::kAlu, {4}, {3});
  return run(p, c).cycles;
}

TEST_CASE(
    "results of a pipe are there operand_delay later for what leaves the sub-core: not at N-1, yes at N") {
  // Latency of small_gpu's FP32 pipe; 4 + 1 on an A100 (Strelizia control bits: LDG address consumer 5).
  const auto latency = small_gpu().pipe[static_cast<unsigned>(OpClass::kFp32)].latency;
  for (const unsigned delay : {0u, 1u, 4u})
    CHECK(cycles(delay, true, OpClass::kFp32) - cycles(delay, false, OpClass::kFp32) == latency - 1 + delay);
}

TEST_CASE("results that come from outside the sub-core are there for all readers at once") {
  for (const OpClass producer : {OpClass::kShuffle, OpClass::kSpecialReg})
    CHECK(cycles(0, true, producer) == cycles(4, true, producer));
}

}  // namespace
}  // namespace lockstep::core::test
