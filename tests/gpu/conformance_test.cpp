// The contract of sim/domain.hpp, held against every domain of a whole GPU: SMs and memory partitions run
// behind a checker that also takes their promises at their word.
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "gpu/device.hpp"
#include "gpu/run.hpp"
#include "tests/gpu/end_to_end.hpp"

namespace lockstep::gpu {
namespace {

struct Findings {
  std::uint64_t calls = 0, empty_windows = 0, backwards = 0, promised_past = 0, counted_twice = 0;
};

/// Passes everything on. An engine that calls domains more often than needed must change nothing, so every
/// now and then it says that something is due at once.
class Checked final : public sim::Domain, public stats::CounterSource {
 public:
  Checked(Part part, Findings& findings, bool restless)
      : part_(std::move(part)), findings_(findings), restless_(restless) {}
  Cycle advance(Cycle from, Cycle to) override {
    ++findings_.calls;
    if (to <= from) ++findings_.empty_windows;
    if (from < last_) ++findings_.backwards;
    last_ = to;
    const Cycle next = part_.domain->advance(from, to);
    if (next < to) ++findings_.promised_past;
    return restless_ && findings_.calls % 3 == 0 ? to : next;
  }
  void settle(Cycle at) override {
    part_.domain->settle(at);
    part_.domain->settle(at);  // a second time changes nothing
  }
  void dump(std::string& out) const override { part_.domain->dump(out); }
  void take_counters(std::uint8_t kernel, stats::KernelCounters& total) override {
    part_.counters->take_counters(kernel, total);
    stats::KernelCounters again;
    part_.counters->take_counters(kernel, again);  // they start again from zero
    if (again.sm.warp_instructions || again.mem.l2.accesses || again.icnt.flits) ++findings_.counted_twice;
  }
  [[nodiscard]] bool quiescent() const override { return part_.counters->quiescent(); }

 private:
  Part part_;
  Findings& findings_;
  bool restless_;
  Cycle last_ = 0;
};

Builder checked(Findings& findings, bool restless) {
  const Builder real = real_parts();
  const auto wrap = [&findings, restless](const auto& make) {
    return [&findings, restless, make](const Wiring& wiring, std::uint32_t index) {
      return make_part<Checked>(make(wiring, index), findings, restless);
    };
  };
  return {wrap(real.sm), wrap(real.partition)};
}

TEST_CASE("every domain keeps the contract, and being called without need changes nothing") {
  for (const test::SmallTrace& small : test::small_traces())
    for (const char* model : {"v100", "a100"}) {
      CAPTURE(small.name, model);
      const test::OpenTrace trace(small);
      RunOptions options;
      options.config = test::small_gpu(model);
      const std::string expected = stats::to_json(simulate(*trace, options).report);
      for (const bool restless : {false, true}) {
        Findings findings;
        const std::string actual = stats::to_json(run(*trace, options, checked(findings, restless)).report);
        CHECK(actual == expected);
        CHECK(findings.calls > 100);
        CHECK(findings.empty_windows == 0);
        CHECK(findings.backwards == 0);
        CHECK(findings.promised_past == 0);
        CHECK(findings.counted_twice == 0);
      }
    }
}

}  // namespace
}  // namespace lockstep::gpu
