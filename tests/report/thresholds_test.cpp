// Each rule applies from its documented threshold on, and not just below it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "report/diagnosis.hpp"

namespace lockstep::report {
namespace {

using stats::Pipe;
using stats::Stall;

/// A kernel in which no unit is busy and warps wait for branches, with CTAs of one full warp.
struct Case {
  Usage usage;
  double threads = 32, requests = 0, sectors = 0, global_instructions = 0;
  Paging paging;

  Case() {
    usage.cycles = 1000;
    usage.lanes = 32;
    usage.warps = 1;
    set(Stall::kBranch, 0.1);
  }
  void set(Stall reason, double share) { usage.stalls[static_cast<unsigned>(reason)] = share; }
  void set(Pipe unit, double share) { usage.pipes[static_cast<unsigned>(unit)] = share; }

  [[nodiscard]] Diagnosis judge() const {
    const nlohmann::ordered_json object{{"block", {threads, 1, 1}},
                                        {"l1", {{"requests", requests}, {"accesses", sectors}}},
                                        {"sm", {{"global_instructions", global_instructions}}}};
    return diagnose(usage, Values("test", object), paging);
  }
  [[nodiscard]] std::string bound() const { return judge().bound.key; }
  [[nodiscard]] bool says(const std::string& key) const {
    const Diagnosis d = judge();
    return d.bound.key == key ||
           std::any_of(d.also.begin(), d.also.end(), [&](const Finding& f) { return f.key == key; });
  }
};

}  // namespace

TEST_CASE("diagnosis thresholds: a unit bounds a kernel from 60 % of its peak on") {
  const auto check = [](const std::string& key, auto set) {
    INFO(key);
    Case c;
    set(c, 0.599);
    CHECK(c.bound() == "branch");
    set(c, 0.6);
    CHECK(c.bound() == key);
  };
  check("dram", [](Case& c, double share) { c.usage.dram = share; });
  check("l2", [](Case& c, double share) { c.usage.l2 = share; });
  check("l1", [](Case& c, double share) { c.usage.l1 = share; });
  check("issue", [](Case& c, double share) { c.usage.issue = share; });
  check("pipe.fp64", [](Case& c, double share) { c.set(Pipe::kFp64, share); });
}

TEST_CASE("diagnosis thresholds: the busiest unit is named, and of equal ones that farthest from the SM") {
  Case c;
  c.usage.dram = 0.7;
  c.usage.l2 = 0.8;
  CHECK(c.bound() == "l2");
  c.usage.dram = 0.8;
  CHECK(c.bound() == "dram");
}

TEST_CASE("diagnosis thresholds: units of SMs count over the sub-cores that have warps") {
  Case c;
  c.usage.issue = 0.45;
  c.usage.empty = 0.2;  // 0.45 / 0.8 = 56 %
  CHECK(c.bound() == "branch");
  c.usage.empty = 0.25;  // 60 %
  CHECK(c.bound() == "issue");
  CHECK_FALSE(c.says("grid"));
  c.usage.empty = 0.5;  // 90 %: more CTAs would be as fast
  CHECK(c.bound() == "grid");
  c.usage.issue = 0.1;  // it waits, and the grid is only a remark
  CHECK(c.bound() == "branch");
  CHECK(c.says("grid"));
  c.usage.empty = 0.499;
  CHECK_FALSE(c.says("grid"));
}

TEST_CASE("diagnosis thresholds: the launch takes half of the time") {
  Case c;
  c.usage.launch_cycles = 999;
  CHECK(c.bound() == "branch");
  c.usage.launch_cycles = 1000;
  CHECK(c.bound() == "launch");
}

TEST_CASE("diagnosis thresholds: paging needs faults and half of the time waiting for memory") {
  Case c;
  c.paging.faults = 1;
  c.set(Stall::kLongScoreboard, 0.25);
  c.set(Stall::kMioThrottle, 0.125);
  c.set(Stall::kDrain, 0.12);
  CHECK(c.bound() == "memory_latency");
  c.set(Stall::kDrain, 0.125);
  CHECK(c.bound() == "page_faults");
  c.paging.link_busy = 0.499;
  CHECK(c.bound() == "page_faults");
  c.paging.link_busy = 0.5;
  CHECK(c.bound() == "host_link");
  c.paging.faults = 0;
  CHECK(c.bound() == "memory_latency");
}

TEST_CASE("diagnosis thresholds: conflicts are certain above the four passes of 16-byte accesses") {
  Case c;
  c.usage.l1 = 0.8;
  c.usage.shared_share = 0.75;  // 0.8 * 0.75 = 60 %
  c.usage.wavefronts = 4;
  CHECK(c.bound() == "shared_bandwidth");
  c.usage.wavefronts = 4.01;
  CHECK(c.bound() == "shared_conflicts");
  c.usage.shared_share = 0.74;
  CHECK(c.bound() == "shared_bandwidth");
  c.usage.l1 = 0.1;
  CHECK(c.bound() == "branch");
  c.set(Stall::kShortScoreboard, 0.2);  // waits for shared memory instead
  CHECK(c.bound() == "shared_conflicts");
  c.usage.shared_share = 0.49;
  CHECK(c.bound() == "short_latency");
}

TEST_CASE("diagnosis thresholds: constant loads of two passes that take half of the time") {
  Case c;
  c.usage.constant = 0.5;
  c.usage.constant_passes = 1.99;
  CHECK(c.bound() == "branch");
  c.usage.constant_passes = 2;
  CHECK(c.bound() == "constant_replay");
  c.usage.constant = 0.499;
  CHECK(c.bound() == "branch");
}

TEST_CASE("diagnosis thresholds: divergence is less than half of the lanes that the CTA has") {
  Case c;
  c.set(Stall::kIssued, 0.25);
  c.set(Stall::kWait, 0.15);
  c.usage.lanes = 16;
  CHECK_FALSE(c.says("divergence"));
  c.usage.lanes = 15.9;
  CHECK(c.bound() == "divergence");
  c.threads = 48;  // a full warp and a half: 24 lanes on average
  CHECK_FALSE(c.says("divergence"));
  c.usage.lanes = 11.9;
  CHECK(c.bound() == "divergence");
  c.set(Stall::kWait, 0.14);  // with 0.1 of branches: 49 % of work
  CHECK_FALSE(c.says("divergence"));
}

TEST_CASE("diagnosis thresholds: atomics are half of the sectors, and memory or the L2 is what counts") {
  Case c;
  c.usage.atomic_share = 0.5;
  c.usage.l2 = 0.599;
  CHECK(c.bound() == "branch");
  c.usage.l2 = 0.6;
  CHECK(c.bound() == "atomics");
  c.usage.l2 = 0;
  c.set(Stall::kMemBar, 0.5);
  CHECK(c.bound() == "atomics");
  c.usage.atomic_share = 0.499;
  CHECK(c.bound() == "fence");
}

TEST_CASE("diagnosis thresholds: scattered accesses touch eight lines and use half of each, never alone") {
  Case c;
  c.global_instructions = 10;
  c.requests = 80;
  c.sectors = 160;
  CHECK(c.says("uncoalesced"));
  CHECK(c.bound() == "branch");
  c.requests = 79;
  CHECK_FALSE(c.says("uncoalesced"));
  c.requests = 80;
  c.sectors = 161;
  CHECK_FALSE(c.says("uncoalesced"));
}

TEST_CASE("diagnosis thresholds: a kernel that issues nothing has no bottleneck") {
  Case c;
  c.set(Stall::kBranch, 0);
  CHECK(c.bound() == "none");
}

}  // namespace lockstep::report
