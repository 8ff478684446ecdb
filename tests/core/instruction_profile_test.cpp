// Counters of instructions and sub-cores against sums over everything that was reported.
#include "core/instruction_profile.hpp"

#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <vector>

#include "core/issue_table.hpp"
#include "tests/persisted.hpp"

namespace lockstep::core {
namespace {

constexpr unsigned kProfiled = 2;  // kernel slots
constexpr unsigned kCode = 20;     // instructions; every fifth is a bulk copy

/// Two kernels with a warp of 100 records each, in random order.
class ProfileRig {
 public:
  explicit ProfileRig(std::uint32_t seed, unsigned subcores = 4) : random_(seed), subcores_(subcores) {
    for (unsigned i = 0; i < kCode; ++i) {
      trace::StaticInst inst;
      inst.pc = 16 * i;
      inst.op_class = i % 5 == 4 ? trace::OpClass::kBulkCopy : trace::OpClass::kLoad;
      inst.bulk = i % 5 == 4 ? trace::BulkCopy::kLoad : trace::BulkCopy::kNone;
      code_.push(inst);
    }
    for (unsigned k = 0; k < kProfiled; ++k) {
      tables_.push_back(std::make_unique<IssueTable>(config::GpuConfig{}));
      tables_[k]->extend(code_);
      kernels_[k].instructions = tables_[k].get();
      for (unsigned i = 0; i < 100; ++i)
        records_[k].push_back(trace::Record::make(static_cast<std::uint32_t>(random_() % kCode),
                                                  trace::AddressForm::kNone,
                                                  static_cast<LaneMask>(random_())));
    }
    in_flight_.resize(8);
    profile = std::make_unique<InstructionProfile>(kernels_, in_flight_, subcores_);
    sums_.resize(kProfiled);
    for (stats::KernelProfile& sum : sums_) {
      sum.instructions.resize(kCode);
      sum.subcores.resize(subcores_);
    }
  }

  void step() {
    const auto kernel = static_cast<std::uint8_t>(random_() % kProfiled);
    const auto slot = static_cast<unsigned>(random_() % (kWarpsOfSubcore * subcores_));
    switch (random_() % 4) {
      case 0:
        return stall(kernel, slot);
      case 1:
        return issue(kernel, slot);
      default:
        return count_operation(kernel);
    }
  }
  void take(std::uint8_t kernel) {
    stats::KernelProfile total;
    profile->take(kernel, total);
    total.instructions.resize(kCode);  // what never occurred may be missing at the end
    CHECK(total == sums_[kernel]);
    sums_[kernel] = {};
    sums_[kernel].instructions.resize(kCode);
    sums_[kernel].subcores.resize(subcores_);
  }
  void replace() {
    auto fresh = std::make_unique<InstructionProfile>(kernels_, in_flight_, subcores_);
    lockstep::test::restore(*profile, *fresh);
    profile = std::move(fresh);
  }
  [[nodiscard]] Warp warp_at(std::uint8_t kernel, std::size_t record) const {
    Warp warp;
    warp.kernel = kernel;
    warp.table = tables_[kernel].get();
    warp.next = records_[kernel].data() + record;
    warp.end = records_[kernel].data() + records_[kernel].size();
    return warp;
  }
  std::unique_ptr<InstructionProfile> profile;

 private:
  void stall(std::uint8_t kernel, unsigned slot) {
    const std::size_t at = random_() % 101;  // 100: at its end
    const auto why = static_cast<stats::Stall>(random_() % stats::kStalls);
    const Cycle cycles = random_() % 1000;
    profile->add_stall(warp_at(kernel, at), slot, why, cycles);
    const std::uint32_t inst = records_[kernel][std::min<std::size_t>(at, 99)].inst();
    sums_[kernel].instructions[inst].stalls[static_cast<unsigned>(why)] += cycles;
    sums_[kernel].subcores[slot / 16][static_cast<unsigned>(why)] += cycles;
  }
  void issue(std::uint8_t kernel, unsigned slot) {
    const std::size_t first = random_() % 100, next = first + random_() % (101 - first);
    profile->add_issued(warp_at(kernel, next), slot, records_[kernel].data() + first);
    constexpr auto kIssued = static_cast<unsigned>(stats::Stall::kIssued);
    for (std::size_t i = first; i < next; ++i) {
      const trace::Record& record = records_[kernel][i];
      stats::InstructionCounters& sum = sums_[kernel].instructions[record.inst()];
      ++sum.stalls[kIssued];
      sum.threads += record.inst() % 5 == 4 ? 1u : static_cast<unsigned>(std::popcount(record.mask));
      ++sums_[kernel].subcores[slot / 16][kIssued];
    }
  }
  void count_operation(std::uint8_t kernel) {
    const auto handle = static_cast<std::uint32_t>(random_() % in_flight_.size());
    const auto inst = static_cast<std::uint32_t>(random_() % kCode);
    in_flight_[handle].inst = &(*tables_[kernel])[inst];
    const auto n = static_cast<unsigned>(random_() % 5), sent = static_cast<unsigned>(random_() % 5);
    stats::InstructionCounters& sum = sums_[kernel].instructions[inst];
    switch (random_() % 3) {
      case 0:
        profile->add_line(handle, kernel, n, sent);
        sum.l1_sectors += n;
        sum.l2_sectors += sent;
        break;
      case 1:
        profile->add_wavefronts(handle, kernel, n);
        sum.shared_wavefronts += n;
        break;
      default:
        profile->add_constant_passes(handle, kernel, n);
        sum.constant_passes += n;
    }
  }

  std::mt19937 random_;
  unsigned subcores_;
  trace::StaticTable code_;
  std::vector<std::unique_ptr<IssueTable>> tables_;
  KernelTable kernels_ = KernelTable(kProfiled);
  std::array<std::vector<trace::Record>, kProfiled> records_;
  std::vector<InFlight> in_flight_;
  std::vector<stats::KernelProfile> sums_;
};

TEST_CASE("instruction profile: what is taken is the sum of what was reported, of each kernel by itself") {
  for (const unsigned subcores : {1u, 2u, 4u}) {
    ProfileRig rig(subcores, subcores);
    for (unsigned launch = 0; launch < 10; ++launch) {
      for (int i = 0; i < 400; ++i) rig.step();
      rig.take(static_cast<std::uint8_t>(launch % kProfiled));
    }
    rig.take(0);
    rig.take(1);
  }
}

TEST_CASE("instruction profile: totals of several SMs add up, and what was taken is not taken again") {
  ProfileRig rig(1);
  const Warp warp = rig.warp_at(0, 0);
  const std::uint32_t inst = warp.next->inst();
  stats::KernelProfile total;
  for (unsigned i = 1; i <= 3; ++i) {
    rig.profile->add_stall(warp, 17, stats::Stall::kWait, 10 * i);
    rig.profile->take(0, total);
    rig.profile->take(0, total);
  }
  constexpr auto kWait = static_cast<unsigned>(stats::Stall::kWait);
  CHECK(total.instructions.at(inst).stalls[kWait] == 60);
  CHECK(total.subcores.at(1)[kWait] == 60);
  CHECK(total.subcores.at(0)[kWait] == 0);
}

TEST_CASE("instruction profile: a state restored within a launch goes on as the one that was kept") {
  ProfileRig rig(11);
  for (unsigned part = 0; part < 20; ++part) {
    for (int i = 0; i < 100; ++i) rig.step();
    rig.replace();
  }
  rig.take(0);
  rig.take(1);
}

}  // namespace
}  // namespace lockstep::core
