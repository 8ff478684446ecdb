// The side of a NIC that serves others: requests in order after their time, signals behind their data.
#include "net/target.hpp"

#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "net/span.hpp"
#include "tests/net/port_bench.hpp"
#include "tests/persisted.hpp"

namespace lockstep::test {
namespace {

constexpr std::uint16_t kNode = 5, kNodes = 8;
constexpr std::uint32_t kOperationsOfNic = 3, kMark = 0x80000000;
constexpr Cycle kProcess = 7;

/// Requests of NICs 6 and 7 to devices 0 and 1.
class TargetRun {
 public:
  TargetRun(std::uint32_t seed, bool restores) : random_(seed), pending_(seed), restores_(restores) {
    target_ = std::make_unique<net::Target>(bench_.port, kProcess, kNodes, kOperationsOfNic, kMark);
    for (Cycle now = 0; now < 3000 || !target_->idle(); ++now) {
      REQUIRE(now < 100'000);
      if (now < 3000 && random_() % 4 == 0) ask(now);
      if (restores_ && now % 37 == 0) replace();
      target_->tick(now);
      for (const link::Message& m : bench_.sent(now)) take(now, m);
      if (random_() % 4 == 0 && !pending_.empty())
        pending_.reply_to_one([&](const link::Message& request, const link::Message& reply) {
          note(request);
          target_->replied(reply);
        });
      for (const link::Message& m : bench_.sent(now)) take(now, m);
    }
    CHECK(pending_.empty());
    CHECK(unanswered_.empty());
    CHECK(target_->counters().reads == asked_[0]);
    CHECK(target_->counters().writes == asked_[1]);
    CHECK(target_->counters().atomics == asked_[2]);
    CHECK(signals_ > 50);
    CHECK(held_ > 10);
  }

 private:
  struct Asked {
    Cycle due = 0;
    link::Message request;
    SectorMask missing = 0;
    bool passed = false;
  };
  using Operation = std::pair<std::uint16_t, std::uint16_t>;

  void ask(Cycle now) {
    link::Message m;
    m.from = static_cast<std::uint16_t>(6 + random_() % 2);
    const auto device = static_cast<std::uint16_t>(random_() % 2);
    m.operation = static_cast<std::uint16_t>(random_() % kOperationsOfNic);
    const Operation operation{m.from, m.operation};
    if (signalling_.contains(operation)) return;  // nothing of it follows
    const auto what = random_() % 4;
    using Kind = icnt::AccessKind;
    m.access = what == 0   ? net::read_of(Kind::kLoad, 128 * serial_ + 32 * (random_() % 3), 40)
               : what == 1 ? net::write_of(Kind::kAtomic, 128 * serial_, 8)
                           : net::write_of(Kind::kStore, 128 * serial_ + random_() % 64, 64);
    m.set_device(device);
    m.after_data = what == 3;
    if (m.after_data) signalling_.insert(operation);
    m.access.tag = serial_;
    ++asked_[what == 0 ? 0 : what == 1 ? 2 : 1];
    signals_ += m.after_data;
    unanswered_[serial_++] = {now + kProcess, m, m.access.sectors};
    target_->accept(now, m);
  }
  void take(Cycle now, const link::Message& m) { m.is_reply ? take_reply(m) : take_request(now, m); }
  /// To a device: in the order of coming but for signals, which come when their data are acknowledged.
  void take_request(Cycle now, const link::Message& m) {
    const auto serial = static_cast<std::uint32_t>(m.access.line / 128);
    Asked& asked = unanswered_.at(serial);
    REQUIRE_FALSE(asked.passed);
    asked.passed = true;
    REQUIRE(m.to == asked.request.device());
    REQUIRE((m.access.tag & kMark) != 0);
    REQUIRE(m.access.bytes == asked.request.access.bytes);
    std::uint64_t& writes = writes_[{asked.request.from, asked.request.operation}];
    if (asked.request.after_data) {
      REQUIRE(writes == 0);
      REQUIRE(now >= asked.due);
      held_ += now > asked.due;
    } else {
      REQUIRE(now == asked.due);
      REQUIRE(serial >= next_);
      next_ = serial + 1;
    }
    writes += icnt::is_store(m.access.kind);
    pending_.add(m);
  }
  void note(const link::Message& request) {
    const Asked& asked = unanswered_.at(static_cast<std::uint32_t>(request.access.line / 128));
    if (icnt::is_store(request.access.kind)) --writes_[{asked.request.from, asked.request.operation}];
  }
  void take_reply(const link::Message& m) {
    Asked& asked = unanswered_.at(m.access.tag);
    REQUIRE(m.to == asked.request.from);
    REQUIRE(m.access.line == asked.request.access.line);
    REQUIRE((m.access.sectors & ~asked.missing) == 0);
    asked.missing = static_cast<SectorMask>(asked.missing & ~m.access.sectors);
    if (asked.missing != 0) return;
    if (asked.request.after_data) signalling_.erase({asked.request.from, asked.request.operation});
    unanswered_.erase(m.access.tag);
  }
  void replace() {
    auto fresh = std::make_unique<net::Target>(bench_.port, kProcess, kNodes, kOperationsOfNic, kMark);
    restore(*target_, *fresh);
    target_ = std::move(fresh);
  }

  Random32 random_;
  Pending pending_;
  bool restores_;
  PortBench bench_{kNode, kNodes};
  std::unique_ptr<net::Target> target_;
  std::map<std::uint32_t, Asked> unanswered_;  // by tag
  std::map<Operation, std::uint64_t> writes_;  // not acknowledged
  std::set<Operation> signalling_;
  std::uint32_t serial_ = 0, next_ = 0;
  std::uint64_t asked_[3] = {}, signals_ = 0, held_ = 0;
};

}  // namespace

TEST_CASE("Target: requests go on in order after their time, a signal when its data are acknowledged") {
  for (std::uint32_t seed = 0; seed < 8; ++seed) {
    CAPTURE(seed);
    const TargetRun run(seed, seed % 2 == 1);
  }
}

}  // namespace lockstep::test
