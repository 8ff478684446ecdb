// Collective calls, carried out by all members: that they end, who then knows whose data, and how many bytes
// have been sent (closed forms).
#include "messages/algorithms.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <tuple>

namespace lockstep::messages {
namespace {

struct CollectiveStep {
  enum class What { kSend, kAccept, kWait, kCombine } what;
  std::uint32_t other = 0, step = 0;
  std::uint64_t bytes = 0;
};

class Recorder final : public CollectiveSteps {
 public:
  void send(std::uint32_t to, std::uint32_t step, std::uint64_t bytes) override {
    steps.push_back({CollectiveStep::What::kSend, to, step, bytes});
  }
  void accept(std::uint32_t from, std::uint32_t step) override {
    steps.push_back({CollectiveStep::What::kAccept, from, step});
  }
  void wait() override { steps.push_back({CollectiveStep::What::kWait}); }
  void combine(std::uint64_t bytes) override {
    steps.push_back({CollectiveStep::What::kCombine, 0, 0, bytes});
  }
  std::vector<CollectiveStep> steps;
};

/// What came of a call. A message is there when it has been sent and accepted, so that sends need a receiver.
struct Done {
  bool ended = true;                           // nothing waits, and every message has both ends
  std::vector<std::set<std::uint32_t>> knows;  // by member: whose data have reached it
  std::vector<std::uint64_t> sent, combined;   // bytes by member
  std::vector<std::size_t> messages;           // sent by member
};

Done carry_out(const std::vector<Call>& calls, AllReduce all_reduce = AllReduce::kAuto) {
  const auto members = static_cast<std::uint32_t>(calls.size());
  std::vector<Recorder> of(members);
  Done done;
  using Message = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // from, to, step
  std::map<Message, std::set<std::uint32_t>> sent;
  std::set<Message> accepted, taken;
  std::vector<std::vector<Message>> open(members);
  std::vector<std::size_t> next(members);
  done.sent.resize(members), done.combined.resize(members), done.messages.resize(members);
  for (std::uint32_t m = 0; m < members; ++m) {
    perform(calls[m], m, members, all_reduce, of[m]);
    done.knows.push_back({m});
  }
  const auto step = [&](std::uint32_t m) {
    if (next[m] == of[m].steps.size()) return false;
    const CollectiveStep& s = of[m].steps[next[m]];
    switch (s.what) {
      case CollectiveStep::What::kSend:
        REQUIRE(s.other < members);
        REQUIRE(s.other != m);
        REQUIRE(sent.emplace(Message{m, s.other, s.step}, done.knows[m]).second);
        open[m].emplace_back(m, s.other, s.step);
        done.sent[m] += s.bytes;
        ++done.messages[m];
        break;
      case CollectiveStep::What::kAccept:
        REQUIRE(accepted.insert({s.other, m, s.step}).second);
        open[m].emplace_back(s.other, m, s.step);
        break;
      case CollectiveStep::What::kWait:
        for (const Message& message : open[m])
          if (!sent.contains(message) || !accepted.contains(message)) return false;
        for (const Message& message : open[m])
          if (std::get<1>(message) == m) done.knows[m].merge(std::set(sent.at(message)));
        open[m].clear();
        break;
      case CollectiveStep::What::kCombine:
        done.combined[m] += s.bytes;
    }
    ++next[m];
    return true;
  };
  for (bool further = true; further;) {
    further = false;
    for (std::uint32_t m = 0; m < members; ++m)
      while (step(m)) further = true;
  }
  for (std::uint32_t m = 0; m < members; ++m)
    done.ended = done.ended && next[m] == of[m].steps.size() && open[m].empty();
  for (const auto& [message, data] : sent) done.ended = done.ended && accepted.contains(message);
  done.ended = done.ended && sent.size() == accepted.size();
  return done;
}

Call call_of(Collective collective, std::vector<std::uint64_t> bytes, std::uint32_t root = 0) {
  Call call;
  call.kind = Call::Kind::kCollective;
  call.collective = collective;
  call.bytes = std::move(bytes);
  call.root = root;
  return call;
}

Done carry_out(Collective collective, std::uint32_t members, const std::vector<std::uint64_t>& bytes,
               std::uint32_t root = 0, AllReduce all_reduce = AllReduce::kAuto) {
  return carry_out(std::vector<Call>(members, call_of(collective, bytes, root)), all_reduce);
}

std::uint64_t sum(const std::vector<std::uint64_t>& values) {
  std::uint64_t all = 0;
  for (const std::uint64_t v : values) all += v;
  return all;
}

bool all_know_all(const Done& done) {
  return std::ranges::all_of(done.knows, [&](const auto& k) { return k.size() == done.knows.size(); });
}

constexpr std::uint32_t kMax = 20;  // members

}  // namespace

TEST_CASE("Collectives: after log2 n rounds each member of a barrier depends on all others") {
  for (std::uint32_t n = 1; n <= kMax; ++n) {
    INFO(n << " members");
    const Done done = carry_out(Collective::kBarrier, n, {});
    CHECK(done.ended);
    CHECK(all_know_all(done));
    CHECK(sum(done.sent) == 0);
    for (const std::size_t messages : done.messages) CHECK(messages == std::bit_width(n - 1));
  }
}

TEST_CASE("Collectives: a broadcast reaches all from any root, once; a reduction has all at the root") {
  constexpr std::uint64_t kBytes = 1000;
  for (std::uint32_t n = 1; n <= kMax; ++n)
    for (std::uint32_t root = 0; root < n; ++root) {
      INFO(n << " members, root " << root);
      const Done spread = carry_out(Collective::kBroadcast, n, {kBytes}, root);
      CHECK(spread.ended);
      for (const auto& knows : spread.knows) CHECK(knows.contains(root));
      CHECK(sum(spread.sent) == (n - 1) * kBytes);
      CHECK(spread.messages[root] == std::bit_width(n - 1));
      const Done reduced = carry_out(Collective::kReduce, n, {kBytes}, root);
      CHECK(reduced.ended);
      CHECK(reduced.knows[root].size() == n);
      CHECK(sum(reduced.sent) == (n - 1) * kBytes);
      CHECK(sum(reduced.combined) == (n - 1) * kBytes);
      CHECK(reduced.sent[root] == 0);
    }
}

TEST_CASE("Collectives: recursive doubling gives all the sum, with two more messages beyond a power of two") {
  for (std::uint32_t n = 1; n <= kMax; ++n) {
    INFO(n << " members");
    const Done done = carry_out(Collective::kAllReduce, n, {64}, 0, AllReduce::kRecursiveDoubling);
    CHECK(done.ended);
    CHECK(all_know_all(done));
    const std::uint64_t most = std::bit_floor(n), rest = n - most;
    const auto rounds = static_cast<std::uint64_t>(std::countr_zero(most));
    CHECK(sum(done.sent) == 64 * (most * rounds + 2 * rest));
    CHECK(sum(done.combined) == 64 * (most * rounds + rest));
  }
}

TEST_CASE("Collectives: a ring sends 2 (n - 1) / n of the data from each, and combines half of that") {
  for (std::uint32_t n = 1; n <= kMax; ++n)
    for (const std::uint64_t chunk : {1u, 7u, 4096u}) {
      INFO(n << " members");
      const Done done = carry_out(Collective::kAllReduce, n, {n * chunk}, 0, AllReduce::kRing);
      CHECK(done.ended);
      CHECK(all_know_all(done));
      for (std::uint32_t m = 0; m < n; ++m) {
        CHECK(done.sent[m] == 2 * (n - 1) * chunk);
        CHECK(done.combined[m] == (n - 1) * chunk);
      }
    }
  // What does not divide: chunks of 3, 3 and 4 bytes, of which each is sent 4 times.
  CHECK(sum(carry_out(Collective::kAllReduce, 3, {10}, 0, AllReduce::kRing).sent) == 40);
}

TEST_CASE("Collectives: all-reduces up to 2048 bytes double, longer ones go round") {
  CHECK(carry_out(Collective::kAllReduce, 8, {2048}).messages[0] == 3);
  CHECK(carry_out(Collective::kAllReduce, 8, {2049}).messages[0] == 14);
}

TEST_CASE("Collectives: gathers, scatters and exchanges send each block where it belongs") {
  for (std::uint32_t n = 1; n <= kMax; ++n) {
    INFO(n << " members");
    std::vector<std::uint64_t> blocks;
    for (std::uint32_t m = 0; m < n; ++m) blocks.push_back(100 + 3 * m);
    const Done ring = carry_out(Collective::kAllGather, n, blocks);
    CHECK((ring.ended && all_know_all(ring)));
    // Member m passes on all blocks but that of the one behind it.
    for (std::uint32_t m = 0; m < n; ++m) CHECK(ring.sent[m] == sum(blocks) - blocks[(m + 1) % n]);

    const Done each = carry_out(Collective::kAllToAll, n, blocks);
    CHECK((each.ended && all_know_all(each)));
    for (std::uint32_t m = 0; m < n; ++m) CHECK(each.sent[m] == sum(blocks) - blocks[m]);

    const Done scattered = carry_out(Collective::kReduceScatter, n, blocks);
    CHECK((scattered.ended && all_know_all(scattered)));
    // A block goes round, from the member behind its own to its own.
    for (std::uint32_t m = 0; m < n; ++m) {
      CHECK(scattered.sent[m] == sum(blocks) - blocks[m]);
      CHECK(scattered.combined[m] == sum(blocks) - blocks[(m + n - 1) % n]);
    }
    for (std::uint32_t root = 0; root < n; ++root) {
      std::vector<Call> gather, scatter;
      for (std::uint32_t m = 0; m < n; ++m) {
        gather.push_back(call_of(Collective::kGather, {blocks[m]}, root));
        scatter.push_back(
            call_of(Collective::kScatter, m == root ? blocks : std::vector<std::uint64_t>{}, root));
      }
      const Done in = carry_out(gather), out = carry_out(scatter);
      CHECK((in.ended && in.knows[root].size() == n));
      CHECK((in.sent[root] == 0 && sum(in.sent) == sum(blocks) - blocks[root]));
      CHECK((out.ended && sum(out.sent) == out.sent[root] && out.sent[root] == sum(blocks) - blocks[root]));
      for (const auto& knows : out.knows) CHECK(knows.contains(root));
    }
  }
}

TEST_CASE("Collectives: after a scan each member knows of all before it") {
  for (std::uint32_t n = 1; n <= kMax; ++n)
    for (const Collective kind : {Collective::kScan, Collective::kExclusiveScan}) {
      INFO(n << " members");
      const Done done = carry_out(kind, n, {8});
      CHECK(done.ended);
      std::uint64_t pairs = 0;  // exchanges, each of two messages
      for (std::uint32_t m = 0; m < n; ++m) {
        std::uint64_t below = 0, partners = 0;
        for (std::uint32_t bit = 1; bit < n; bit *= 2) {
          if ((m ^ bit) >= n) continue;
          ++partners;
          below += (m ^ bit) < m;
        }
        pairs += partners;
        for (std::uint32_t before = 0; before < m; ++before) CHECK(done.knows[m].contains(before));
        // Each exchange adds to what is passed on, and what comes from below to the result; the first is
        // copied where the own operand does not belong to it.
        const std::uint64_t copied = kind == Collective::kExclusiveScan && below > 0 ? 1 : 0;
        CHECK(done.combined[m] == 8 * (partners + below - copied));
      }
      CHECK(sum(done.sent) == 8 * pairs);
    }
}

TEST_CASE("Collectives: neighbours exchange along their edges, in both directions or one") {
  // A directed ring with a chord: i to i + 1, and 0 to 2.
  std::vector<Call> calls;
  for (std::uint32_t m = 0; m < 4; ++m) {
    Call call = call_of(Collective::kNeighborhood, {10});
    call.to = {(m + 1) % 4};
    call.from = {(m + 3) % 4};
    calls.push_back(call);
  }
  calls[0].to.push_back(2);
  calls[0].bytes.push_back(5);
  calls[2].from.push_back(0);
  const Done done = carry_out(calls);
  CHECK(done.ended);
  CHECK(done.sent == std::vector<std::uint64_t>{15, 10, 10, 10});
  CHECK(done.knows[2] == std::set<std::uint32_t>{0, 1, 2});
  CHECK(done.knows[3] == std::set<std::uint32_t>{2, 3});
}

}  // namespace lockstep::messages
