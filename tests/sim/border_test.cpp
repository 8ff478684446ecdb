// One system of toy domains in one engine, and divided among several that meet at borders as the processes of
// a run do: the same history.
#include "sim/border.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sim/elsewhere.hpp"
#include "sim/rank_channels.hpp"
#include "tests/sim/toy_nodes.hpp"

namespace lockstep::sim {
namespace {

using test::Ping;
using test::Recorder;

constexpr std::uint32_t kTalkers = 7;  // the first is everywhere
constexpr Cycle kLatePeriod = 3000;    // the late network carries what is sent at its multiples
constexpr Time kMesh = 400, kUp = 250, kDown = 300, kLate = 20;

/// As the host, domain 0 hears all and sends to all over networks of its own.
struct Networks {
  static std::vector<DomainId> talkers() {
    std::vector<DomainId> ids;
    for (DomainId d = 1; d < kTalkers; ++d) ids.push_back(d);
    return ids;
  }
  Network<Ping> mesh{"mesh", talkers(), talkers(), kMesh}, up{"up", talkers(), {0}, kUp},
      down{"down", {0}, talkers(), kDown}, late{"late", talkers(), {0}, kLate};
};

/// Mixes what it hears into a hash, and sends at times that follow from it.
class Talker final : public Domain {
 public:
  /// It sends at most `budget` times; without limit, on the late network, too.
  Talker(std::uint32_t index, Networks& networks, std::optional<std::uint64_t> budget)
      : index_(index),
        networks_(networks),
        uses_late_(!budget),
        budget_(budget.value_or(kNever)),
        inboxes_(2, Inbox<Ping>(4096)) {}

  Cycle advance(Cycle from, Cycle to) override {
    const std::uint32_t place = index_ == 0 ? 0 : index_ - 1;
    inboxes_[0].gather(index_ == 0 ? networks_.up : networks_.mesh, place, from);
    inboxes_[1].gather(index_ == 0 ? networks_.late : networks_.down, place, from);
    for (Cycle t = due(); t < to; t = due()) {
      for (Inbox<Ping>& inbox : inboxes_)
        inbox.drain(t, [&](std::uint32_t source, const Ping& ping) { mix(t, source, ping.value); });
      if (next_ == t) act(t);
    }
    return due();
  }
  void settle(Cycle) override {}
  void dump(std::string&) const override {}
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  [[nodiscard]] Cycle due() const {
    return std::min({next_, inboxes_[0].next_arrival(), inboxes_[1].next_arrival()});
  }
  void mix(Cycle t, std::uint32_t source, std::uint64_t value) {
    hash_ = (hash_ ^ (t * 0x9e3779b97f4a7c15 + source * 31 + value)) * 0xbf58476d1ce4e5b9;
    hash_ ^= hash_ >> 29;
    if (next_ == kNever && budget_ > 0) next_ = t + 1 + hash_ % 300;
  }
  void act(Cycle t) {
    mix(t, index_, 1);
    next_ = kNever;
    if (budget_ == 0) return;
    --budget_;
    const auto to = static_cast<std::uint32_t>(hash_ % (kTalkers - 1));
    if (index_ == 0) {
      networks_.down.send(0, to, t + kDown, {hash_});
    } else {
      networks_.mesh.send(index_ - 1, to, t + kMesh, {hash_});
      if (hash_ % 3 == 0) networks_.up.send(index_ - 1, 0, t + kUp + hash_ % 5, {hash_});
      if (uses_late_ && t % kLatePeriod == 0) networks_.late.send(index_ - 1, 0, t + kLate, {hash_});
    }
    if (index_ > 1 && hash_ % 4 != 0) return;  // it waits for a message
    const Cycle after = t + 1 + (hash_ >> 8) % 700, late = (t / kLatePeriod + 1) * kLatePeriod;
    next_ = uses_late_ && after > late ? late : after;
  }

  std::uint32_t index_;
  Networks& networks_;
  bool uses_late_;
  std::uint64_t budget_;
  std::vector<Inbox<Ping>> inboxes_;
  Cycle next_ = 0;
  std::uint64_t hash_ = 1;
};

/// What the processes exchange, here over memory. None writes for the meeting after next before all have
/// read.
struct Meeting {
  struct Brought {
    Time time = 0;
    std::vector<std::string> parcels;
  };
  explicit Meeting(Rank ranks)
      : brought{std::vector<Brought>(ranks), std::vector<Brought>(ranks)},
        distances(ranks),
        all(static_cast<std::ptrdiff_t>(ranks)) {}
  std::array<std::vector<Brought>, 2> brought;  // in turn
  std::vector<RankChannels::Distances> distances;
  std::barrier<> all;
  std::atomic<bool> failed{false};
  /// Throws in all when one has failed, since the others would wait for it forever.
  void wait() {
    all.arrive_and_wait();
    if (failed) throw std::runtime_error("another process failed");
  }
};

/// One process: its own talkers, domain 0, and the others' places.
class Process final : public Border {
 public:
  Process(Rank here, Rank ranks, const EngineOptions& options, std::optional<std::uint64_t> budget,
          Meeting* meeting)
      : here_(here), limited_(budget), engine_(options), meeting_(meeting) {
    std::vector<Rank> places;
    for (std::uint32_t i = 0; i < kTalkers; ++i) {
      places.push_back(i == 0 ? kEverywhere : i % ranks);
      talkers_.push_back(std::make_unique<Talker>(i, networks_, budget));
      const bool own = i == 0 || places.back() == here;
      own ? engine_.add(*talkers_.back(), DomainKind::kOther) : engine_.add(elsewhere_, DomainKind::kOther);
    }
    for (NetworkBase* network :
         {static_cast<NetworkBase*>(&networks_.mesh), static_cast<NetworkBase*>(&networks_.up),
          static_cast<NetworkBase*>(&networks_.down), static_cast<NetworkBase*>(&networks_.late)})
      engine_.add(*network);
    if (meeting == nullptr) return;
    channels_ = std::make_unique<RankChannels>(engine_, places, here, ranks,
                                               std::vector<const NetworkBase*>{&networks_.late});
    engine_.set_border(*this);
  }

  void run(Recorder& recorder) {
    try {
      if (meeting_ != nullptr) join();
      engine_.run(recorder);
    } catch (...) {
      if (meeting_ == nullptr) throw;
      meeting_->failed = true;
      meeting_->all.arrive_and_drop();
    }
  }
  void window_ended(std::vector<Time>& next) override { channels_->take_out(next); }
  Time meet(Time now, std::vector<Time>& next) override {
    std::vector<Meeting::Brought>& brought = meeting_->brought[meetings++ % 2];
    const Time late = limited_ ? kNever : (now + kLatePeriod - 1) / kLatePeriod * kLatePeriod;
    brought[here_] = {channels_->earliest_arrival(now, next, late), {}};
    brought[here_].parcels = channels_->hand_over();
    meeting_->wait();
    Time until = kNever;
    for (const Meeting::Brought& one : brought) {
      channels_->take_in(one.parcels[here_], now, next);
      until = std::min(until, one.time);
    }
    return until;
  }
  [[nodiscard]] std::uint64_t hash(std::uint32_t talker) const { return talkers_[talker]->hash(); }
  unsigned meetings = 0;

 private:
  void join() {
    meeting_->distances[here_] = channels_->own();
    meeting_->wait();
    for (Rank r = 0; r < meeting_->distances.size(); ++r)
      if (r != here_) channels_->join(meeting_->distances[r]);
  }

  Rank here_;
  bool limited_;
  Networks networks_;
  Elsewhere elsewhere_;
  std::vector<std::unique_ptr<Talker>> talkers_;
  Engine engine_;
  std::unique_ptr<RankChannels> channels_;
  Meeting* meeting_;
};

struct Outcome {
  std::vector<std::uint64_t> hashes;
  bool exhausted = false;
};

Outcome run_alone(std::optional<std::uint64_t> budget, Time stop_at) {
  Process process(0, 1, {.window = 1}, budget, nullptr);
  Recorder recorder;
  recorder.stop_at = stop_at;
  process.run(recorder);
  Outcome outcome;
  for (std::uint32_t i = 0; i < kTalkers; ++i) outcome.hashes.push_back(process.hash(i));
  outcome.exhausted = recorder.exhausted_called;
  return outcome;
}

/// Checks that all processes have the same copy of domain 0.
Outcome run_divided(Rank ranks, const EngineOptions& options, std::optional<std::uint64_t> budget,
                    Time stop_at) {
  Meeting meeting(ranks);
  std::vector<std::unique_ptr<Process>> processes;
  std::vector<Recorder> recorders(ranks);
  for (Rank r = 0; r < ranks; ++r) {
    recorders[r].stop_at = stop_at;
    processes.push_back(std::make_unique<Process>(r, ranks, options, budget, &meeting));
  }
  std::vector<std::thread> threads;
  for (Rank r = 0; r < ranks; ++r) threads.emplace_back([&, r] { processes[r]->run(recorders[r]); });
  for (std::thread& thread : threads) thread.join();
  REQUIRE_FALSE(meeting.failed);
  Outcome outcome;
  for (std::uint32_t i = 0; i < kTalkers; ++i) outcome.hashes.push_back(processes[i % ranks]->hash(i));
  outcome.exhausted = recorders[0].exhausted_called;
  for (Rank r = 0; r < ranks; ++r) {
    CHECK(processes[r]->hash(0) == outcome.hashes[0]);
    CHECK(processes[r]->meetings == processes[0]->meetings);
    CHECK(recorders[r].exhausted_called == outcome.exhausted);
    CHECK(recorders[r].ended == recorders[0].ended);
  }
  return outcome;
}

TEST_CASE("a system divided among processes has the history of one process") {
  constexpr Time kStop = 12'000;
  const Outcome alone = run_alone({}, kStop);
  for (const Rank ranks : {Rank{2}, Rank{3}})
    for (const Time window : {50u, 1000u}) {
      CAPTURE(ranks, window);
      CHECK(run_divided(ranks, {.window = window, .shuffle = window}, {}, kStop).hashes == alone.hashes);
    }
}

TEST_CASE("all processes find together that nothing is left to do") {
  const Outcome alone = run_alone(12, kNever);
  REQUIRE(alone.exhausted);
  for (const Rank ranks : {Rank{2}, Rank{3}}) {
    const Outcome divided = run_divided(ranks, {.window = 1000}, 12, kNever);
    CHECK(divided.exhausted);
    CHECK(divided.hashes == alone.hashes);
  }
}

}  // namespace
}  // namespace lockstep::sim
