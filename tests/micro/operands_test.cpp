// Register-file ports and the register-file cache.
//
// The probe of Huerta et al., MICRO 2025 (listing 1), repeated on an A100 by the public Strelizia control-bit
// study: clock, NOP, IADD3 of three even registers, FFMA of an even register and two others, NOP, clock. With
// one read port a bank and three cycles to read, the clocks are 5, 6 or 7 cycles apart when the two others
// are odd, one of each, or even.
#include <catch2/catch.hpp>

#include "micro.hpp"

namespace lockstep::test {
namespace {

constexpr const char* kSecond[] = {"odd-odd", "even-odd", "even-even"};

double clocks_apart(const Micro& micro, const char* second, unsigned reuse) {
  return micro.each("operands", "repeats", 32, 64, {{"second", second}, {"reuse", std::to_string(reuse)}});
}

/// Independent of the code: reads of a bank queue for its ports; the FFMA issues a cycle after the IADD3, and
/// each has `window` cycles from the one after its issue.
double expected(unsigned evens_of_ffma, unsigned ports, unsigned window) {
  const auto cycles = [&](unsigned reads) { return (reads + ports - 1) / ports; };
  const unsigned first_done = 1 + cycles(3);
  const unsigned done = std::max(first_done, 2u) + cycles(evens_of_ffma);
  const unsigned end = 2 + window;
  return 5.0 + (done > end ? done - end : 0);
}

TEST_CASE("operands of one bank hold up the next instruction as on an A100") {
  for (const char* model : {"v100", "rtx3080ti", "a100", "h100_pcie"}) {
    const Micro micro(model);
    for (unsigned evens = 0; evens < 3; ++evens) {
      INFO(model << " " << kSecond[evens]);
      CHECK(clocks_apart(micro, kSecond[evens], 0) == 5 + evens);
      CHECK(expected(1 + evens, 1, 3) == 5 + evens);
    }
  }
}

TEST_CASE("an operand in the register-file cache needs no port") {
  const Micro micro("a100"), without("a100", {"rf.cache=false"});
  for (unsigned evens = 0; evens < 3; ++evens)
    for (unsigned reuse = 0; reuse < 3; ++reuse) {
      INFO(kSecond[evens] << " " << reuse << " reused");
      // The reused ones are the first, even, and the second: even but with odd-odd.
      const unsigned saved = reuse == 0 ? 0 : reuse == 1 || evens == 0 ? 1 : 2;
      // An odd second operand is read from the other bank by the IADD3 too.
      const bool odd_first = reuse == 2 && evens == 0;
      if (!odd_first) CHECK(clocks_apart(micro, kSecond[evens], reuse) == expected(1 + evens - saved, 1, 3));
      if (!odd_first) CHECK(clocks_apart(without, kSecond[evens], reuse) == expected(1 + evens, 1, 3));
    }
}

TEST_CASE("more ports or a longer window relieve the banks as the closed form says") {
  for (const unsigned ports : {1u, 2u})
    for (const unsigned window : {2u, 3u, 4u}) {
      // The window is at least the interval of the unit: 2 cycles of ALU and FMA.
      const Micro micro(
          "a100", {"rf.read_ports=" + std::to_string(ports), "rf.read_window=" + std::to_string(window)});
      if (window >= (3 + ports - 1) / ports)  // the IADD3 itself is not held up
        for (unsigned evens = 0; evens < 3; ++evens) {
          INFO(ports << " ports, window " << window << ", " << kSecond[evens]);
          CHECK(clocks_apart(micro, kSecond[evens], 0) == expected(1 + evens, ports, std::max(window, 2u)));
        }
    }
}

TEST_CASE("hits of the register-file cache are counted one by one") {
  const Micro micro("a100");
  const auto hits = [&](unsigned reuse, const char* repeats) {
    return micro
        .run("operands", {{"second", "even-even"},
                          {"reuse", std::to_string(reuse)},
                          {"repeats", repeats},
                          {"passes", "1"}})
        .counters.sm.rfc_hits;
  };
  for (unsigned reuse = 0; reuse < 3; ++reuse) CHECK(hits(reuse, "50") == 50 * reuse);
}

}  // namespace
}  // namespace lockstep::test
