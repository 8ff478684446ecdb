// Random barriers among the warps of a CTA, and among the CTAs of a cluster: what was written before an
// arrival is read behind the barrier, and reductions are over those that take part.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/exec/support.hpp"
#include "tests/random.hpp"

namespace lockstep::exec::test {
namespace {

enum class Role { kNone, kSync, kArrive };

/// One use of a barrier by some warps of the CTA.
struct BarrierUse {
  unsigned barrier = 1;
  int reduction = -1;  // popc, and, or
  std::vector<Role> roles;
  std::vector<unsigned> reads;  // whose cell a warp that waits reads behind it

  [[nodiscard]] unsigned members() const {
    return static_cast<unsigned>(std::ranges::count_if(roles, [](Role r) { return r != Role::kNone; }));
  }
};

constexpr unsigned kRounds = 4, kUses = 6;

std::uint32_t value_of(unsigned use, unsigned thread) {
  return (use + 1) * 0x9e3779b1u ^ thread * 2654435761u;
}
bool bit_of(int reduction, unsigned use, unsigned thread) {
  const std::uint32_t noise = value_of(use, thread) >> 13;
  if (reduction == 0) return (noise & 1) != 0;
  return reduction == 1 ? noise % 97 != 0 : noise % 97 == 0;  // all of few threads, one of many
}

class BarrierProgram {
 public:
  BarrierProgram(std::uint32_t seed, unsigned warps) : warps_(warps), random_(seed) {
    for (unsigned round = 0; round < kRounds; ++round)
      for (unsigned u = 0; u < kUses; ++u) uses.push_back(make(1 + u * 2 + below(2)));
  }
  std::vector<BarrierUse> uses;

  [[nodiscard]] std::string text() const {
    std::string text = fmt::format(
        ".visible .entry k(.param .u64 out) {{\n.reg .b64 %o, %x; .reg .b32 %t, %w, %c, %v, %i, %s, %m; .reg "
        ".pred %p, "
        "%q;\n.shared .align 4 .b8 cells[{}];\nld.param.u64 %o, [out]; mov.u32 %t, %tid.x; shr.u32 %w, %t, "
        "5;\n"
        "mul.wide.u32 %x, %t, {}; add.u64 %o, %o, %x; mov.u32 %c, cells; shl.b32 %s, %t, 2; add.u32 %c, %c, "
        "%s;\n",
        4 * 32 * warps_ * kUses, 4 * uses.size());
    for (unsigned w = 0; w < warps_; ++w) {
      text += fmt::format("W{0}: setp.ne.u32 %p, %w, {0};\n@%p bra W{1};\n", w, w + 1);
      for (unsigned u = 0; u < uses.size(); ++u) {
        if (u % kUses == 0) text += "barrier.sync 0;\n";
        text += part(w, u);
      }
      text += "bra END;\n";
    }
    return text + fmt::format("W{}: END: ret;\n}}\n", warps_);
  }

  /// What thread `t` stores for a use; 0 where it takes no part or only arrives.
  [[nodiscard]] std::uint32_t expected(unsigned u, unsigned t) const {
    const BarrierUse& use = uses[u];
    if (use.roles[t / 32] != Role::kSync) return 0;
    if (use.reduction < 0) return value_of(u, use.reads[t / 32] * 32 + t % 32);
    unsigned count = 0;
    for (unsigned other = 0; other < 32 * warps_; ++other)
      count += use.roles[other / 32] != Role::kNone && bit_of(use.reduction, u, other) ? 1 : 0;
    if (use.reduction == 0) return count;
    return use.reduction == 1 ? count == 32 * use.members() : count > 0;
  }

 private:
  unsigned below(unsigned n) { return random_() % n; }

  BarrierUse make(unsigned barrier) {
    BarrierUse use;
    use.barrier = barrier;
    use.reduction = static_cast<int>(below(6)) - 3;
    use.roles.resize(warps_), use.reads.resize(warps_);
    std::vector<unsigned> members;
    for (unsigned w = 0; w < warps_; ++w) {
      use.roles[w] = below(4) == 0                        ? Role::kNone
                     : use.reduction < 0 && below(3) == 0 ? Role::kArrive
                                                          : Role::kSync;
      if (use.roles[w] != Role::kNone) members.push_back(w);
    }
    if (std::ranges::count(use.roles, Role::kSync) == 0) {
      use.roles[0] = Role::kSync;
      if (std::ranges::find(members, 0u) == members.end()) members.push_back(0);
    }
    for (unsigned& from : use.reads) from = members[below(static_cast<unsigned>(members.size()))];
    return use;
  }

  [[nodiscard]] std::string part(unsigned w, unsigned u) const {
    const BarrierUse& use = uses[u];
    if (use.roles[w] == Role::kNone) return {};
    const unsigned offset = 4 * 32 * warps_ * (u % kUses), threads = 32 * use.members();
    std::string text =
        fmt::format("mul.lo.u32 %v, %t, 2654435761; xor.b32 %v, %v, {};\nst.shared.u32 [%c+{}], %v;\n",
                    (u + 1) * 0x9e3779b1u, offset);
    const bool all = threads == 32 * warps_ && use.reduction < 0;
    if (use.roles[w] == Role::kArrive)
      return text + fmt::format("barrier.arrive {}, {};\n", use.barrier, threads);
    if (use.reduction < 0) {
      text += all && u % 2 == 0 ? fmt::format("barrier.sync {};\n", use.barrier)
                                : fmt::format("bar.sync {}, {};\n", use.barrier, threads);
      text += fmt::format(
          "mov.u32 %i, cells; and.b32 %m, %s, 127; add.u32 %i, %i, %m; ld.shared.u32 %v, [%i+{}];\n",
          offset + 128 * use.reads[w]);
    } else {
      static const char* const kTests[] = {"and.b32 %v, %v, 1; setp.ne.u32 %p, %v, 0;\n",
                                           "rem.u32 %v, %v, 97; setp.ne.u32 %p, %v, 0;\n",
                                           "rem.u32 %v, %v, 97; setp.eq.u32 %p, %v, 0;\n"};
      static const char* const kForms[] = {"barrier.red.popc.u32 %v, ", "barrier.red.and.pred %q, ",
                                           "barrier.red.or.pred %q, "};
      const auto kind = static_cast<std::size_t>(use.reduction);
      text += std::string("shr.u32 %v, %v, 13; ") + kTests[kind] +
              fmt::format("{}{}, {}, %p;\n", kForms[kind], use.barrier, threads);
      if (kind > 0) text += "selp.u32 %v, 1, 0, %q;\n";
    }
    return text + fmt::format("st.global.u32 [%o+{}], %v;\n", 4 * u);
  }

  unsigned warps_;
  lockstep::test::Random32 random_;
};

TEST_CASE("barriers: random members that wait, arrive and reduce") {
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    const unsigned warps = 2 + seed % 6, threads = 32 * warps;
    const BarrierProgram program(seed, warps);
    Device device(program.text());
    const std::size_t uses = program.uses.size();
    const Address out = device.zeros<std::uint32_t>(threads * uses);
    device.run("k", {1, 1, 1}, {threads, 1, 1}, Arguments(out));
    const auto found = device.read<std::uint32_t>(out, threads * uses);
    for (unsigned t = 0; t < threads; ++t)
      for (unsigned u = 0; u < uses; ++u) {
        INFO("thread " << t << ", use " << u);
        REQUIRE(found[t * uses + u] == program.expected(u, t));
      }
  }
}

/// Each round every thread writes a word of another CTA of its cluster, adds to a word of a third one, and
/// behind the cluster's barrier reads its own.
std::string cluster_kernel(unsigned rounds, unsigned threads, const std::vector<unsigned>& shifts,
                           const std::vector<unsigned>& factors) {
  std::string text = fmt::format(
      ".visible .entry k(.param .u64 out) {{\n.reg .b64 %o, %x; .reg .b32 %t, %c, %r, %n, %a, %g, %v, %s, "
      "%m;\n"
      ".shared .align 4 .b8 cells[{0}]; .shared .align 4 .b8 sums[{1}];\nld.param.u64 %o, [out]; mov.u32 %t, "
      "%tid.x;\n"
      "mov.u32 %c, %ctaid.x; mov.u32 %r, %cluster_ctarank; mov.u32 %n, %cluster_nctarank;\n"
      "mad.lo.u32 %s, %c, {2}, %t; mul.wide.u32 %x, %s, {3}; add.u64 %o, %o, %x;\n"
      "setp.ge.u32 %p, %t, {4}; @%p bra READY; shl.b32 %a, %t, 2; mov.u32 %g, sums; add.u32 %a, %a, %g;\n"
      "st.shared.u32 [%a], 0; READY: barrier.cluster.arrive; barrier.cluster.wait;\n",
      4 * threads * rounds, 4 * rounds, threads, 8 * rounds, rounds);
  text.replace(text.find(".reg .b64"), 0, ".reg .pred %p; ");
  for (unsigned i = 0; i < rounds; ++i) {
    text += fmt::format(
        "add.u32 %m, %r, {0}; rem.u32 %m, %m, %n; mad.lo.u32 %v, %t, {1}, {0}; and.b32 %v, %v, {2};\n"
        "shl.b32 %v, %v, 2; mov.u32 %a, cells; add.u32 %a, %a, %v; mapa.shared::cluster.u32 %g, %a, %m;\n"
        "mad.lo.u32 %v, %s, 977, {3}; st.shared::cluster.u32 [%g+{4}], %v;\n"
        "add.u32 %m, %m, 1; rem.u32 %m, %m, %n; mov.u32 %a, sums; mapa.shared::cluster.u32 %g, %a, %m;\n"
        "red.shared::cluster.add.u32 [%g+{5}], %t;\n{6}"
        "barrier.cluster.arrive.release; mul.lo.u32 %v, %v, 3; barrier.cluster.wait.acquire;\n"
        "mov.u32 %a, cells; shl.b32 %v, %t, 2; add.u32 %a, %a, %v; ld.shared.u32 %v, [%a+{4}];\n"
        "st.global.u32 [%o+{7}], %v; ld.shared.u32 %v, [sums+{5}]; st.global.u32 [%o+{8}], %v;\n",
        shifts[i], factors[i], threads - 1, i, 4 * threads * i, 4 * i,
        i % 2 ? "bar.warp.sync 0xffffffff;\n" : "", 8 * i, 8 * i + 4);
  }
  return text + "barrier.cluster.arrive; barrier.cluster.wait; ret;\n}\n";
}

TEST_CASE("cluster barriers: what other CTAs have written and added is there behind each of them") {
  lockstep::test::Random32 random(5);
  for (const unsigned ctas : {2u, 3u, 4u, 8u})
    for (const unsigned threads : {32u, 64u, 128u}) {
      INFO(ctas << " CTAs of " << threads << " threads");
      constexpr unsigned kTurns = 5;
      std::vector<unsigned> shifts, factors;
      for (unsigned i = 0; i < kTurns; ++i)
        shifts.push_back(random() % 20), factors.push_back(2 * (random() % 50) + 1);
      Device device(cluster_kernel(kTurns, threads, shifts, factors));
      device.cluster = {ctas, 1, 1};
      const unsigned all = 2 * ctas * threads;  // two clusters
      const Address out = device.zeros<std::uint32_t>(all * 2 * kTurns);
      device.run("k", {2 * ctas, 1, 1}, {threads, 1, 1}, Arguments(out));
      const auto found = device.read<std::uint32_t>(out, all * 2 * kTurns);
      for (unsigned s = 0; s < all; ++s)
        for (unsigned i = 0; i < kTurns; ++i) {
          const unsigned t = s % threads, cta = s / threads, first = cta / ctas * ctas;
          // Who wrote: the CTA that is `shift` before, the thread whose place is t.
          const unsigned to = first + (cta - first + shifts[i]) % ctas;
          const unsigned place = (t * factors[i] + shifts[i]) % threads;
          const unsigned reader = to * threads + place;
          REQUIRE(found[(reader * kTurns + i) * 2] == s * 977 + i);
          REQUIRE(found[(s * kTurns + i) * 2 + 1] == threads * (threads - 1) / 2);
        }
    }
}

}  // namespace
}  // namespace lockstep::exec::test
