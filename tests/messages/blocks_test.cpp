// Collective calls whose blocks all differ in size, so that a message's size says what it has: no member
// sends what it does not have, and no contribution is counted twice.
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <vector>

#include "messages/algorithms.hpp"

namespace lockstep::messages {
namespace {

constexpr std::uint64_t kSmallest = 1000;  // block i has i bytes more

/// By block: whose contributions are in it.
using Blocks = std::map<std::uint64_t, std::set<std::uint32_t>>;

struct BlockStep {
  enum class What { kSend, kAccept, kWait, kCombine } what;
  std::uint32_t other = 0, step = 0;
  std::uint64_t block = 0;
};
struct BlockSteps final : CollectiveSteps {
  void send(std::uint32_t to, std::uint32_t step, std::uint64_t bytes) override {
    all.push_back({BlockStep::What::kSend, to, step, bytes - kSmallest});
  }
  void accept(std::uint32_t from, std::uint32_t step) override {
    all.push_back({BlockStep::What::kAccept, from, step});
  }
  void wait() override { all.push_back({BlockStep::What::kWait}); }
  void combine(std::uint64_t bytes) override {
    all.push_back({BlockStep::What::kCombine, 0, 0, bytes - kSmallest});
  }
  std::vector<BlockStep> all;
};

/// `own`: what each member has at first. Whether what arrives replaces a block, or is combined with it by the
/// next kCombine.
std::vector<Blocks> exchange(Collective collective, std::vector<Blocks> own, bool combines) {
  const auto members = static_cast<std::uint32_t>(own.size());
  Call call;
  call.collective = collective;
  for (std::uint32_t i = 0; i < members; ++i) call.bytes.push_back(kSmallest + i);
  std::vector<BlockSteps> steps(members);
  std::vector<std::size_t> next(members);
  using Message = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // from, to, step
  std::map<Message, std::pair<std::uint64_t, std::set<std::uint32_t>>> sent;
  std::vector<std::vector<Message>> accepted(members);
  std::vector<Blocks> arrived(members);
  for (std::uint32_t m = 0; m < members; ++m) perform(call, m, members, AllReduce::kAuto, steps[m]);
  const auto go_on = [&](std::uint32_t m) {
    const BlockStep& s = steps[m].all[next[m]];
    if (s.what == BlockStep::What::kSend) {
      REQUIRE(own[m].contains(s.block));  // no member sends what it has not
      sent[{m, s.other, s.step}] = {s.block, own[m].at(s.block)};
    } else if (s.what == BlockStep::What::kAccept) {
      accepted[m].emplace_back(s.other, m, s.step);
    } else if (s.what == BlockStep::What::kWait) {
      for (const Message& message : accepted[m])
        if (!sent.contains(message)) return false;
      for (const Message& message : accepted[m]) {
        const auto& [block, of] = sent.at(message);
        (combines ? arrived : own)[m][block] = of;
      }
      accepted[m].clear();
    } else {
      REQUIRE(arrived[m].size() == 1);
      REQUIRE(arrived[m].contains(s.block));
      for (const std::uint32_t contributor : arrived[m].at(s.block))
        REQUIRE(own[m][s.block].insert(contributor).second);  // not counted yet
      arrived[m].clear();
    }
    ++next[m];
    return true;
  };
  for (bool further = true; further;) {
    further = false;
    for (std::uint32_t m = 0; m < members; ++m)
      while (next[m] < steps[m].all.size() && go_on(m)) further = true;
  }
  for (std::uint32_t m = 0; m < members; ++m) REQUIRE(next[m] == steps[m].all.size());
  return own;
}

}  // namespace

TEST_CASE("Collectives: an all-gather passes on blocks that have come, until each member has all") {
  for (std::uint32_t members = 1; members <= 13; ++members) {
    std::vector<Blocks> own(members);
    Blocks all;
    for (std::uint32_t m = 0; m < members; ++m) own[m] = {{m, {m}}}, all[m] = {m};
    for (const Blocks& blocks : exchange(Collective::kAllGather, own, false)) CHECK(blocks == all);
  }
}

TEST_CASE("Collectives: a reduce-scatter counts each contribution to a block once, at the block's member") {
  for (std::uint32_t members = 1; members <= 13; ++members) {
    std::vector<Blocks> own(members);
    std::set<std::uint32_t> everyone;
    for (std::uint32_t m = 0; m < members; ++m) {
      everyone.insert(m);
      for (std::uint32_t block = 0; block < members; ++block) own[m][block] = {m};
    }
    const std::vector<Blocks> result = exchange(Collective::kReduceScatter, own, true);
    for (std::uint32_t m = 0; m < members; ++m) CHECK(result[m].at(m) == everyone);
  }
}

}  // namespace lockstep::messages
