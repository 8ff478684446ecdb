#include "gpu/l2_warm_up.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "core/known_blocks.hpp"
#include "core/l2_hint.hpp"
#include "trace/bulk_runs.hpp"
#include "trace/moved_addresses.hpp"

namespace lockstep::gpu {
namespace {

using trace::OpClass;

bool writes(OpClass c) { return c == OpClass::kStore || c == OpClass::kAtomic || c == OpClass::kReduction; }

/// Joins accesses to a line that follow one another.
class Toucher {
 public:
  Toucher(Device& device, const trace::L2Launch& launch, std::uint32_t half, bool translations)
      : device_(device),
        launch_(&launch),
        shares_(core::L2Shares::of(launch, device.config().l2)),
        translations_(translations) {
    touch_.half = half;
  }
  void begin(bool store, trace::L2Policy policy) {
    touch_.store = store;
    policy_ = policy;
  }
  void access(Address first, std::uint64_t bytes) {
    for (Address a = first / kSectorBytes * kSectorBytes; a < first + bytes; a += kSectorBytes) {
      if (line_of(a) != touch_.line) flush();
      touch_.line = line_of(a);
      touch_.sectors = static_cast<SectorMask>(touch_.sectors | 1u << sector_in_line(a));
    }
  }
  void flush() {
    if (touch_.sectors != 0) {
      touch_.placing = core::placing_of(*launch_, shares_, policy_, touch_.line);
      device_.touch_l2(touch_);
      if (translations_) learn(core::KnownBlocks::block_of(touch_.line));
    }
    touch_.sectors = 0;
  }

 private:
  void learn(std::uint64_t block) {
    std::uint64_t& recent = learnt_[block % learnt_.size()];
    if (recent != block) device_.learn(touch_.line);
    recent = block;
  }

  Device& device_;
  const trace::L2Launch* launch_;
  core::L2Shares shares_;
  trace::L2Policy policy_ = trace::kNoL2Policy;
  bool translations_;
  mem::Touch touch_;
  std::array<std::uint64_t, 32> learnt_{};  // blocks that all SMs have learnt; block 0 is never memory's
};

void access(Toucher& toucher, const trace::StaticInst& inst, const trace::KernelHeader& kernel,
            const trace::Record& record, const std::uint64_t* words) {
  if (!inst.has_addresses || record.mask == 0 || record.form() == trace::AddressForm::kNone) return;
  if (inst.signal == trace::SignalOp::kAwaits) return;  // its words are no addresses
  Address lanes[kWarpSize] = {};
  trace::expand_addresses(record.form(), record.mask, words, lanes);
  if (inst.bulk != trace::BulkCopy::kNone) {
    toucher.begin(trace::writes(inst.bulk), inst.l2_policy);
    trace::each_bulk_run(lanes, static_cast<unsigned>(std::popcount(record.mask)),
                         [&](const trace::BulkRun& run) {
                           for (std::uint32_t row = 0; row < run.rows; ++row)
                             toucher.access(run.first + static_cast<Address>(run.stride) * row, run.bytes);
                         });
  } else if (trace::is_global(inst, lanes[std::countr_zero(record.mask)], kernel)) {
    toucher.begin(writes(inst.op_class), inst.l2_policy);
    for (LaneMask rest = record.mask; rest != 0; rest &= rest - 1)
      toucher.access(lanes[std::countr_zero(rest)], std::max<std::uint64_t>(inst.access_bytes, 1));
  }
  toucher.flush();
}

}  // namespace

void warm_l2(Device& device, const trace::KernelHeader& kernel, const trace::StaticTable& instructions,
             const trace::CtaTrace& cta, bool translations) {
  Toucher toucher(device, kernel.l2,
                  device.config().l2.halves > 1 ? static_cast<std::uint32_t>(cta.index % 2) : 0,
                  translations);
  for (const trace::WarpSpan& warp : cta.warps) {
    const std::uint64_t* words = cta.words.data() + warp.first_word;
    for (std::uint32_t i = 0; i < warp.record_count; ++i) {
      const trace::Record& record = cta.records[warp.first_record + i];
      access(toucher, instructions[record.inst()], kernel, record, words);
      words += trace::address_words(record.form(), record.mask);
    }
  }
}

void warm_l2(Device& device, const trace::TraceSet& trace, std::uint32_t kernel) {
  const auto feed = trace.open(kernel);
  const std::uint64_t ctas = feed->header().grid.count();
  for (std::uint64_t next = 0; next < ctas;) {
    const std::uint64_t end = std::min(ctas, next + trace::CtaFeed::kAtOnce);
    feed->decode_now(end);
    for (; next < end; ++next) {
      trace::CtaTrace* const cta = feed->take(next);
      warm_l2(device, feed->header(), feed->instructions(), *cta, false);
      feed->release(cta);
    }
  }
}

}  // namespace lockstep::gpu
