// What may not change places in straight code: pairs of random instructions against the definition, and
// accesses to memory by hand.
#include "lower/dependences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "lower/schedule.hpp"
#include "ptx/control_flow.hpp"
#include "tests/lower/support.hpp"

namespace lockstep::lower::test {
namespace {

/// An instruction of random code as the test made it.
struct Made {
  std::string text;
  std::set<int> reads, writes;  // registers %i; predicates from 100 on
  int load = -1, store = -1;    // words of `window`
};

class RandomCode {
 public:
  explicit RandomCode(unsigned seed) : random_(seed) {}

  Made instruction() {
    const int a = word(), b = word(), to = word(), place = below(4), p = 100 + below(3);
    switch (below(7)) {
      case 0:
        return {fmt::format("ld.shared.b32 %i{}, [window+{}];\n", to, 4 * place), {}, {to}, place, -1};
      case 1:
        return {fmt::format("st.shared.b32 [window+{}], %i{};\n", 4 * place, a), {a}, {}, -1, place};
      case 2:
        return {fmt::format("setp.lt.s32 %p{}, %i{}, %i{};\n", p - 100, a, b), {a, b}, {p}};
      case 3:  // lanes that the guard leaves out keep what they had
        return {fmt::format("@%p{} add.s32 %i{}, %i{}, 3;\n", p - 100, to, a), {p, a, to}, {to}};
      case 4:
        return {fmt::format("mov.b32 %i{}, {};\n", to, place), {}, {to}};
      default:
        return {fmt::format("add.s32 %i{}, %i{}, %i{};\n", to, a, b), {a, b}, {to}};
    }
  }

 private:
  int below(unsigned bound) { return static_cast<int>(random_() % bound); }
  int word() { return below(6); }
  std::mt19937 random_;
};

bool meet(const std::set<int>& a, const std::set<int>& b) {
  return std::ranges::any_of(a, [&](int x) { return b.contains(x); });
}

bool in_order(const Made& a, const Made& b) {
  const bool words =
      (a.store >= 0 && (a.store == b.load || a.store == b.store)) || (a.load >= 0 && a.load == b.store);
  return words || meet(a.writes, b.reads) || meet(a.reads, b.writes) || meet(a.writes, b.writes);
}

struct Straight {
  std::vector<Made> made;
  ptx::Function function;
};

Straight straight(unsigned seed, unsigned length) {
  RandomCode code(seed);
  Straight all;
  std::string text;
  for (unsigned i = 0; i < length; ++i) {
    all.made.push_back(code.instruction());
    text += all.made.back().text;
  }
  all.function = function_of(text);
  return all;
}

/// Whether the second of two instructions has to stay behind the first, behind `head`.
bool ordered(const std::string& first, const std::string& second, const std::string& head = "") {
  const ptx::Function f = function_of(head + first + second);
  const auto end = static_cast<std::uint32_t>(f.instructions.size() - 1);
  const Dependences all(f, address_roots(f), product_registers(f), 0, end);
  const auto& after = all.after(end - 2);
  return std::ranges::count(after, end - 1, &Dependence::to) > 0;
}

}  // namespace

TEST_CASE("instructions of random code are in order, at once or by others between, where one needs it") {
  std::size_t kept = 0, apart = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Straight all = straight(seed, 20);
    const auto n = static_cast<std::uint32_t>(all.made.size());
    const Dependences found(all.function, address_roots(all.function), {}, 1, n + 1);  // behind the parameter
    std::vector<std::set<std::uint32_t>> reach(n);  // which instructions an edge or several lead to
    for (std::uint32_t at = n; at-- > 0;)
      for (const Dependence& d : found.after(at)) {
        CAPTURE(seed, at, d.to);
        REQUIRE(d.to > at);
        CHECK(in_order(all.made[at], all.made[d.to]));
        if (d.value) CHECK(meet(all.made[at].writes, all.made[d.to].reads));
        reach[at].insert(d.to);
        reach[at].insert(reach[d.to].begin(), reach[d.to].end());
      }
    for (std::uint32_t a = 0; a < n; ++a)
      for (std::uint32_t b = a + 1; b < n; ++b) {
        CAPTURE(seed, a, b);
        if (in_order(all.made[a], all.made[b])) CHECK(reach[a].contains(b));
        ++(reach[a].contains(b) ? kept : apart);
      }
  }
  CHECK(kept > 5000);
  CHECK(apart > 5000);
}

TEST_CASE("the latest writer of a register is an edge that carries a value") {
  for (unsigned seed = 200; seed < 260; ++seed) {
    const Straight all = straight(seed, 15);
    const auto n = static_cast<std::uint32_t>(all.made.size());
    const Dependences found(all.function, address_roots(all.function), {}, 1, n + 1);
    for (std::uint32_t b = 0; b < n; ++b)
      for (const int id : all.made[b].reads)
        for (std::uint32_t a = b; a-- > 0;) {
          if (!all.made[a].writes.contains(id)) continue;
          CAPTURE(seed, a, b, id);
          CHECK(
              std::ranges::any_of(found.after(a), [&](const Dependence& d) { return d.to == b && d.value; }));
          break;
        }
  }
}

TEST_CASE("a schedule keeps the order of random code where it matters, with many registers and few") {
  std::size_t moved = 0;
  for (unsigned seed = 300; seed < 400; ++seed) {
    const Straight all = straight(seed, 30);
    for (const unsigned registers : {4u, 64u}) {
      const Schedule s = schedule(all.function, ptx::ControlFlow(all.function), registers);
      std::vector<std::uint32_t> place(s.order.size());
      for (std::uint32_t j = 0; j < s.order.size(); ++j) place.at(s.order[j]) = j;
      for (std::uint32_t a = 0; a < all.made.size(); ++a)
        for (std::uint32_t b = a + 1; b < all.made.size(); ++b) {
          CAPTURE(seed, registers, all.made[a].text, all.made[b].text);
          if (in_order(all.made[a], all.made[b])) REQUIRE(place[a + 1] < place[b + 1]);
          moved += place[a + 1] > place[b + 1];
        }
    }
  }
  CHECK(moved > 1000);
}

TEST_CASE("accesses meet where they may have bytes in common") {
  const std::string store = "st.shared.b32 [%i1+8], %i2;\n";
  CHECK(ordered(store, "ld.shared.b32 %i3, [%i1+8];\n"));
  CHECK(ordered(store, "ld.shared.b64 %l3, [%i1+4];\n"));
  CHECK(ordered(store, "ld.shared.u8 %i3, [%i1+11];\n"));
  CHECK_FALSE(ordered(store, "ld.shared.u8 %i3, [%i1+12];\n"));
  CHECK_FALSE(ordered(store, "ld.shared.b32 %i3, [%i1+4];\n"));
  CHECK(ordered(store, "ld.shared.v4.b32 {%i3, %i4, %i5, %i6}, [%i1];\n"));
  CHECK_FALSE(ordered(store, "ld.shared.v2.b32 {%i3, %i4}, [%i1];\n"));
  CHECK(ordered(store, "st.shared.b32 [%i1+8], %i3;\n"));
  CHECK(ordered("ld.shared.b32 %i3, [%i1];\n", "st.shared.b32 [%i1], %i2;\n"));
  CHECK_FALSE(ordered("ld.shared.b32 %i3, [%i1];\n", "ld.shared.b32 %i4, [%i1];\n"));
}

TEST_CASE("addresses from different registers may meet, those of different variables do not") {
  const std::string variables = ".shared .align 4 .b8 other[64];\n";
  CHECK(ordered("st.shared.b32 [%i1], %i2;\n", "ld.shared.b32 %i3, [%i4];\n"));
  CHECK(ordered("st.shared.b32 [window], %i2;\n", "ld.shared.b32 %i3, [%i4];\n"));
  CHECK_FALSE(ordered("st.shared.b32 [window], %i2;\n", "ld.shared.b32 %i3, [other];\n", variables));
  CHECK(ordered("st.shared.b32 [window+4], %i2;\n", "ld.shared.b32 %i3, [window+4];\n", variables));
  const std::string sums = "ld.global.b32 %i1, [%r1];\nadd.s32 %i5, %i1, 16;\nadd.s32 %i6, %i5, -12;\n";
  CHECK(ordered("st.shared.b32 [%i6], %i2;\n", "ld.shared.b32 %i3, [%i1+4];\n", sums));
  CHECK_FALSE(ordered("st.shared.b32 [%i6], %i2;\n", "ld.shared.b32 %i3, [%i5];\n", sums));
  const std::string address = "mov.u32 %i5, window;\nadd.s32 %i6, %i5, 8;\n";
  CHECK(ordered("st.shared.b32 [%i6], %i2;\n", "ld.shared.b32 %i3, [window+8];\n", address));
  CHECK_FALSE(ordered("st.shared.b32 [%i6], %i2;\n", "ld.shared.b32 %i3, [window];\n", address));
}

TEST_CASE("spaces do not meet unless one is generic; loads of what does not change wait for nothing") {
  CHECK_FALSE(ordered("st.shared.b32 [%i1], %i2;\n", "ld.global.b32 %i3, [%l1];\n"));
  CHECK(ordered("st.shared.b32 [%i1], %i2;\n", "ld.b32 %i3, [%l1];\n"));
  CHECK(ordered("st.b32 [%l1], %i2;\n", "ld.local.b32 %i3, [%l2];\n"));
  CHECK(ordered("st.shared::cluster.b32 [%i1], %i2;\n", "ld.shared.b32 %i3, [%i4];\n"));
  CHECK_FALSE(ordered("st.global.b32 [%l1], %i2;\n", "ld.global.nc.b32 %i3, [%l2];\n"));
  CHECK_FALSE(ordered("st.b32 [%l1], %i2;\n", "ld.const.b32 %i3, [%l2];\n"));
  CHECK_FALSE(ordered("st.b32 [%l1], %i2;\n", "ld.param.b32 %i3, [n];\n"));
}

TEST_CASE("atomics and volatile accesses keep their order with all of their space") {
  CHECK(ordered("red.global.add.u32 [%l1], %i2;\n", "ld.global.b32 %i3, [%l1+64];\n"));
  CHECK(ordered("ld.global.b32 %i3, [%l1+64];\n", "atom.global.add.u32 %i4, [%l1], 1;\n"));
  CHECK(ordered("ld.volatile.global.b32 %i3, [%l1];\n", "ld.global.b32 %i4, [%l1+64];\n"));
  CHECK(ordered("ld.relaxed.gpu.global.b32 %i3, [%l1];\n", "ld.global.b32 %i4, [%l1+64];\n"));
  CHECK_FALSE(ordered("red.global.add.u32 [%l1], %i2;\n", "ld.shared.b32 %i3, [%i4];\n"));
}

TEST_CASE("the carry flag and warp-wide instructions have an order of their own") {
  CHECK(ordered("add.cc.u32 %i1, %i2, %i3;\n", "addc.u32 %i4, %i5, %i6;\n"));
  CHECK(ordered("addc.u32 %i4, %i5, %i6;\n", "add.cc.u32 %i1, %i2, %i3;\n"));
  CHECK_FALSE(ordered("add.u32 %i1, %i2, %i3;\n", "addc.u32 %i4, %i5, %i6;\n"));
  CHECK(ordered("shfl.sync.bfly.b32 %i1, %i2, 1, 31, -1;\n", "vote.sync.ballot.b32 %i3, %p1, -1;\n"));
  CHECK_FALSE(ordered("shfl.sync.bfly.b32 %i1, %i2, 1, 31, -1;\n", "add.s32 %i3, %i4, %i5;\n"));
}

TEST_CASE("arrivals at mbarriers keep their order with accesses to memory; arithmetic passes them") {
  const std::string arrival = "mbarrier.arrive.shared.b64 _, [%i1];\n";
  CHECK(ordered("st.shared.b32 [%i2], %i3;\n", arrival));
  CHECK(ordered("ld.global.b32 %i3, [%l1];\n", arrival));
  CHECK(ordered(arrival, "ld.shared.b32 %i3, [%i2];\n"));
  CHECK(ordered(arrival, "mbarrier.arrive.shared.b64 _, [%i2];\n"));
  CHECK(ordered("add.s32 %i1, %i2, 8;\n", arrival));
  CHECK_FALSE(ordered("add.s32 %i4, %i2, 8;\n", arrival));
  CHECK_FALSE(ordered(arrival, "ex2.approx.f32 %f1, %f2;\n"));
}

TEST_CASE("what a product of a warpgroup reads or writes stays behind the wait for it") {
  // 64 x 8 products: four accumulators; A is in four registers.
  const std::string product =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, {%i1, %i2, %i3, %i4}, %l1, "
      "1, 1, 1, 0;\n";
  const std::string wait = "wgmma.wait_group.sync.aligned 0;\n";
  const auto stays = [&](const std::string& i) { return ordered(wait, i, product); };
  CHECK(stays("mul.f32 %f3, %f3, %f9;\n"));
  CHECK(stays("add.f32 %f9, %f4, %f9;\n"));
  CHECK(stays("mov.b32 %i2, 7;\n"));
  CHECK(stays("st.shared.b32 [%i9], %i8;\n"));
  CHECK(stays("mbarrier.arrive.shared.b64 _, [%i9];\n"));
  CHECK_FALSE(stays("mul.f32 %f5, %f6, %f9;\n"));
  CHECK_FALSE(stays("cvt.rn.f16x2.f32 %i9, %f6, %f7;\n"));
  CHECK_FALSE(ordered("cvt.rn.f16x2.f32 %i9, %f6, %f7;\n", wait, product));
  const auto first = [](const std::string& text) { return function_of(text).instructions.at(1); };
  CHECK(keeps_its_place(first(product)));
  CHECK_FALSE(keeps_its_place(first(wait)));
}

TEST_CASE("what a register is a constant offset from") {
  const ptx::Function f = function_of(
      "ld.global.b64 %l1, [%r1];\nadd.s64 %l2, %l1, 24;\nmov.b64 %l3, %l2;\nadd.s64 %l4, %l3, -8;\n"
      "mov.b64 %l5, %l1;\nmov.b64 %l5, %l2;\nmov.u32 %i1, window+12;\nadd.s32 %i2, %i1, 4;\n"
      "@%p1 mov.b32 %i3, %i1;\nadd.s64 %l6, %l5, 8;\nadd.s64 %l7, %l1, %l2;\n");
  const auto roots = address_roots(f);
  using Root = Dependences::Root;
  const auto root = [&](const std::string& name) { return roots[register_of(f, name)]; };
  const std::uint64_t base = register_of(f, "%l1");
  CHECK(root("%l1") == Root{false, base, 0});
  CHECK(root("%l2") == Root{false, base, 24});
  CHECK(root("%l3") == Root{false, base, 24});
  CHECK(root("%l4") == Root{false, base, 16});
  for (const char* const own : {"%l5", "%l6", "%l7", "%i3"})
    CHECK(root(own) == Root{false, register_of(f, own), 0});
  CHECK((root("%i1").symbol && root("%i2").symbol));
  CHECK(root("%i1").id == root("%i2").id);
  CHECK(root("%i1").offset == 12);
  CHECK(root("%i2").offset == 16);
}

TEST_CASE("what nothing passes by") {
  const auto keeps = [](const std::string& text) {
    return keeps_its_place(function_of(text).instructions.at(1));
  };
  for (const char* const text :
       {"bar.sync 0;\n", "membar.cta;\n", "fence.acq_rel.gpu;\n",
        "cp.async.ca.shared.global [%i1], [%l1], 4;\n", "cp.async.wait_all;\n",
        "mbarrier.init.shared.b64 [%i1], 1;\n", "nanosleep.u32 20;\n", "exit;\n", "trap;\n",
        "mov.u32 %i1, %clock;\n", "mov.u64 %l1, %clock64;\n", "mov.u64 %l1, %globaltimer;\n"}) {
    CAPTURE(text);
    CHECK(keeps(text));
  }
  for (const char* const text :
       {"ld.global.b32 %i1, [%r1];\n", "atom.global.add.u32 %i1, [%r1], 1;\n",
        "shfl.sync.bfly.b32 %i1, %i2, 1, 31, -1;\n", "mov.u32 %i1, %tid.x;\n", "div.s32 %i1, %i2, %i3;\n"}) {
    CAPTURE(text);
    CHECK_FALSE(keeps(text));
  }
}

}  // namespace lockstep::lower::test
