#include "core/memory_pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <iterator>

#include "core/shared_memory.hpp"
#include "util/bits.hpp"

namespace lockstep::core {
namespace {

using trace::MemSpace;
using trace::OpClass;

// Constants carry no addresses in traces: each kernel slot has one line of 64 bytes (Jia et al. 2018:
// constant L1 lines), in a part of the address space that no allocation gets.
constexpr Address kConstantArena = Address{1} << 45;
constexpr Address kConstantSpacing = 4096;
constexpr SectorMask kConstantSectors = 0b11;

constexpr Cycle kMostWavefronts = 256;  // of one operation, with the narrowest data array

Cycle shortest_latency(const config::GpuConfig& c) {
  return std::min({c.mio.shuffle_latency, c.mio.special_latency, c.mio.const_latency, c.l1.hit_latency,
                   c.l1.shared_latency});
}

Cycle wheel_span(const config::GpuConfig& c) {
  return Cycle{c.mio.shuffle_latency} + c.mio.special_latency + c.mio.const_latency + c.l1.hit_latency +
         c.l1.shared_latency + c.mio.texture_latency + MemoryPipeline::kMissPath + kMostWavefronts;
}

SectorMask sectors_of_instruction_line(std::uint32_t line_bytes) {
  const std::uint32_t sectors = std::clamp(line_bytes / kSectorBytes, 1u, kSectorsPerLine);
  return static_cast<SectorMask>((1u << sectors) - 1);
}

}  // namespace

MemoryPipeline::MemoryPipeline(const config::GpuConfig& config, icnt::Fabric& fabric,
                               const mem::AddressMap& map, std::uint32_t sm, const uvm::AddressSpace* managed)
    : residence_(std::min(kResidence, shortest_latency(config))),
      hit_rest_(config.l1.hit_latency - residence_),
      shared_rest_(config.l1.shared_latency - residence_),
      shuffle_rest_(config.mio.shuffle_latency - residence_),
      special_rest_(config.mio.special_latency - residence_),
      const_rest_(config.mio.const_latency - residence_),
      shuffle_interval_(config.mio.shuffle_interval),
      special_interval_(config.mio.special_interval),
      const_interval_(config.mio.const_interval),
      texture_interval_(config.mio.texture_interval),
      texture_extra_(static_cast<std::uint16_t>(config.mio.texture_latency)),
      tags_per_cycle_(std::max(1u, config.l1.tags_per_cycle)),
      data_bytes_(std::clamp(config.l1.data_bytes_per_cycle, 1u, kLineBytes)),
      const_cold_miss_(config.mio.const_cold_miss),
      allocate_on_store_(config.l1.allocate_on_store),
      cache_global_(config.l1.cache_global),
      sm_(sm),
      max_warps_(config.sm.max_warps),
      instruction_sectors_(sectors_of_instruction_line(config.frontend.line_bytes)),
      carveouts_kib_(config.l1.shared_carveouts_kib),
      queue_(config.mio, residence_),
      wheel_(wheel_span(config)),
      empties_caches_(config.launch.cache_control == config::CacheControl::kAll),
      l1_(config.l1),
      mshrs_(config.l1.mshrs),
      pending_(config.l1.pending_instructions),
      port_(config, fabric, map, sm),
      translator_(managed || config.tlb.miss_latency > 0
                      ? std::make_unique<Translator>(config, fabric, managed, sm)
                      : nullptr),
      counters_(config.launch.max_kernels) {
  events_.reserve(64);
  const_waiting_.reserve(64);
  fetches_.reserve(config.frontend.l1i_mshrs);
  instruction_lines_.reserve(config.frontend.l1i_mshrs);
}

Cycle MemoryPipeline::push(Cycle now, unsigned subcore) {
  const MioOperation& operation = queue_.next(subcore);
  // The addresses are read when the operation leaves its queue; the host fetches them until then.
  if (operation.form != trace::AddressForm::kNone) __builtin_prefetch(operation.words);
  return queue_.push(now, subcore, unit_of(operation));
}

void MemoryPipeline::tick(Cycle now) {
  events_.clear();
  receive_reply(now);                         // 1. one reply from the crossbar
  if (current_.active) look_up_lines(now);    // 2. further lines of the operation in the tag stage
  if (!queue_.empty()) dispatch(now);         // 3. one operation out of the local queues, into its unit
  if (translates()) serve_translations(now);  // lines whose page has come, shootdowns
  if (beside_) send_beside(now);              // bulk copies, and looks of warps that wait for signals
  deliver_results(now);                       // 4. results that are due
  port_.tick(now);                            // 5. requests into the crossbar
}

Cycle MemoryPipeline::next_event(Cycle now) const {
  Cycle next = std::min(wheel_.next(), port_.next_event(now));
  if (LsuUnitTimes changed; !queue_.empty())
    next = std::min(next, std::max(now + 1, queue_.next_event(unit_times(changed))));
  if (current_.active && (current_.access.blocked == Blocked::kNo ||
                          (current_.access.blocked == Blocked::kPort && !port_.full())))
    next = now + 1;  // blocked by a table: a reply frees it
  if (beside_ && can_send_bulk_line()) next = now + 1;
  if (beside_ && !port_.full()) next = std::min(next, std::max(now + 1, signal_waits_.due()));
  if (translates()) {
    next = std::min(next, std::max(now + 1, translator_->next_arrival()));
    const bool waits = current_.access.blocked == Blocked::kTranslation;
    if (current_.active && waits && !translator_->blocks()) next = now + 1;
    if (translator_->has_remote() && !port_.full()) next = now + 1;
    const bool turn = !current_.active || waits || current_.access.blocked == Blocked::kTable;
    if (turn && translator_->has_work() && translator_->next_is_line()) next = now + 1;
  }
  return next;
}

// --- 1. Replies ---

void MemoryPipeline::receive_reply(Cycle now) {
  port_.receive(now, [&](const icnt::Reply& reply) {
    if (icnt::is_remote(reply.kind)) return receive_remote(now, reply.tag);
    if ((reply.tag & (kDirectTag | BulkCopies::kTag)) == BulkCopies::kTag)
      return heed(now, bulk_.receive(reply.tag, bit_count(reply.sectors)));
    switch (reply.kind) {
      case icnt::AccessKind::kInstruction:
        return receive_instructions(reply);
      case icnt::AccessKind::kConstant:
        return receive_constants(now, reply);
      case icnt::AccessKind::kAwait:
        if (const auto ended = signal_waits_.receive(now, reply)) emit(MioEvent::Kind::kResult, *ended);
        return;
      case icnt::AccessKind::kLoad:
        if (!(reply.tag & kDirectTag)) {
          const Address line =
              mshrs_.fill(static_cast<std::uint16_t>(reply.tag), reply.sectors,
                          [&](std::uint16_t entry, unsigned n) { sectors_back(now, entry, n); });
          return l1_.fill(line, reply.sectors);
        }
        [[fallthrough]];
      default:
        return sectors_back(now, static_cast<std::uint16_t>(reply.tag & ~kDirectTag),
                            bit_count(reply.sectors));
    }
  });
}

void MemoryPipeline::sectors_back(Cycle now, std::uint16_t index, unsigned sectors) {
  LsuPending::Entry& entry = pending_[index];
  assert(entry.sectors >= sectors);
  entry.sectors -= sectors;
  if (entry.sectors > 0) return;
  entry.ready = std::max(entry.ready, now + entry.after);
  if (!entry.issuing) finish_entry(now, index);
}

void MemoryPipeline::finish_entry(Cycle now, std::uint16_t index) {
  const LsuPending::Entry& entry = pending_[index];
  if (entry.store) {
    emit(MioEvent::Kind::kAcknowledged, entry.handle);
  } else {
    wheel_.add(now, std::max(now, entry.ready), entry.handle);
  }
  pending_.release(index);
}

void MemoryPipeline::receive_instructions(const icnt::Reply& reply) {
  InstructionFetch& fetch = fetches_[reply.tag];
  fetch.missing = static_cast<SectorMask>(fetch.missing & ~reply.sectors);
  if (fetch.missing == 0) instruction_lines_.push_back(fetch.line);
}

void MemoryPipeline::receive_constants(Cycle now, const icnt::Reply& reply) {
  const_missing_ = static_cast<SectorMask>(const_missing_ & ~reply.sectors);
  if (const_missing_ != 0) return;
  const_filling_ = false;
  for (const std::uint32_t handle : const_waiting_) wheel_.add(now, now + kMissPath + const_rest_, handle);
  const_waiting_.clear();
}

// --- 3. Dispatch ---

LsuUnit MemoryPipeline::unit_of(const MioOperation& op) {
  const bool addressed = op.form != trace::AddressForm::kNone && op.mask != 0;
  switch (op.op_class) {
    case OpClass::kShuffle:
      return LsuUnit::kShuffle;
    case OpClass::kConstLoad:
      return LsuUnit::kConstant;
    case OpClass::kTexture:
    case OpClass::kSurface:
      return addressed ? LsuUnit::kTexture : LsuUnit::kTextureOnly;
    case OpClass::kLoad:
    case OpClass::kStore:
    case OpClass::kAtomic:
    case OpClass::kReduction:
    case OpClass::kAsyncCopy:
      return addressed ? LsuUnit::kMemory : LsuUnit::kSpecial;
    case OpClass::kBulkCopy:
      return op.bulk != trace::BulkCopy::kNone && addressed ? LsuUnit::kBulk : LsuUnit::kSpecial;
    default:
      return LsuUnit::kSpecial;
  }
}

const LsuUnitTimes& MemoryPipeline::unit_times(LsuUnitTimes& changed) const {
  if (!const_cold_ || !const_cold_miss_ || const_filling_ || !port_.full()) return unit_free_;
  changed = unit_free_;
  changed[static_cast<unsigned>(LsuUnit::kConstant)] = kNever;
  return changed;
}

/// The load/store unit takes the next operation when the banks and the tags have done with this one.
void MemoryPipeline::set_memory_free(Cycle now) {
  const bool tags_gone = tag_cycle_ == now && tags_used_ >= tags_per_cycle_;
  const Cycle from = current_.active ? kNever : tags_gone ? std::max(data_free_, now + 1) : data_free_;
  free_from(LsuUnit::kMemory) = from;
  free_from(LsuUnit::kTexture) = std::max(from, free_from(LsuUnit::kTextureOnly));
}

void MemoryPipeline::dispatch(Cycle now) {
  LsuUnitTimes changed;
  const unsigned subcore = queue_.pick(now, unit_times(changed));
  if (subcore == LsuQueue::kNone) return;
  const MioOperation& op = queue_.front(subcore);
  const LsuUnit unit = queue_.front_unit(subcore);
  emit(MioEvent::Kind::kOperandsRead, op.handle);
  switch (unit) {
    case LsuUnit::kShuffle:
      free_from(LsuUnit::kShuffle) = now + shuffle_interval_;
      wheel_.add(now, now + shuffle_rest_, op.handle);
      break;
    case LsuUnit::kSpecial:
      free_from(LsuUnit::kSpecial) = now + special_interval_;
      fixed_latency(now, op, special_rest_);
      break;
    case LsuUnit::kConstant:
      free_from(LsuUnit::kConstant) = now + const_interval_;
      constant(now, op);
      break;
    case LsuUnit::kBulk:
      bulk(now, op);
      break;
    case LsuUnit::kTextureOnly:
      free_from(LsuUnit::kTextureOnly) = now + texture_interval_;
      set_memory_free(now);
      fixed_latency(now, op, hit_rest_ + texture_extra_);
      break;
    default:
      if (op.space == MemSpace::kShared && op.op_class != OpClass::kAsyncCopy) {
        shared(now, op);
      } else {
        global(now, op, unit);
      }
  }
  queue_.pop(now, subcore);
}

void MemoryPipeline::fixed_latency(Cycle now, const MioOperation& op, Cycle latency) {
  if (is_acknowledged(op)) {  // a store without addresses: nothing leaves the SM
    emit(MioEvent::Kind::kResult, op.handle);
    emit(MioEvent::Kind::kAcknowledged, op.handle);
    return;
  }
  wheel_.add(now, now + latency, op.handle);
}

void MemoryPipeline::constant(Cycle now, const MioOperation& op) {
  ++counters_[op.kernel].const_instructions;
  if (!const_filling_ && (!const_cold_ || !const_cold_miss_)) {
    wheel_.add(now, now + const_rest_, op.handle);
    return;
  }
  const_waiting_.push_back(op.handle);
  if (const_filling_) return;
  const_cold_ = false;
  const_filling_ = true;
  const_missing_ = kConstantSectors;
  icnt::Request request;
  request.line = kConstantArena + op.kernel * kConstantSpacing;
  request.kind = icnt::AccessKind::kConstant;
  request.sectors = kConstantSectors;
  request.kernel = op.kernel;
  port_.send(now, request);
}

void MemoryPipeline::shared(Cycle now, const MioOperation& op) {
  addresses_.load(op);
  const bool atomic = op.op_class == OpClass::kAtomic || op.op_class == OpClass::kReduction;
  const unsigned wavefronts = op.matrix ? matrix_wavefronts(addresses_, std::max(1u, op.access_bytes / 4u))
                              : atomic  ? atomic_wavefronts(addresses_)
                                        : wavefronts_(addresses_);
  stats::SmCounters& c = counters_[op.kernel];
  ++c.shared_instructions;
  c.shared_wavefronts += wavefronts;
  if (profile_) profile_->add_wavefronts(op.handle, op.kernel, wavefronts);
  data_free_ = now + wavefronts;
  set_memory_free(now);
  if (op.op_class == OpClass::kStore || op.op_class == OpClass::kReduction) {
    emit(MioEvent::Kind::kResult, op.handle);
  } else {
    wheel_.add(now, now + shared_rest_ + wavefronts - 1, op.handle);
  }
}

MemoryPipeline::LineKind MemoryPipeline::kind_of(const MioOperation& op) const {
  switch (op.op_class) {
    case OpClass::kStore:
      return LineKind::kStore;
    case OpClass::kAtomic:
      return LineKind::kAtomic;
    case OpClass::kReduction:
      return LineKind::kReduction;
    default:
      return op.bypass_l1 || (op.space == MemSpace::kGlobal && !cache_global_) ? LineKind::kDirectLoad
                                                                               : LineKind::kCachedLoad;
  }
}

void MemoryPipeline::list_lines(const MioOperation& op, LineKind kind) {
  using Detail = Coalescer::Detail;
  const bool atomic = kind == LineKind::kAtomic || kind == LineKind::kReduction;
  const Detail detail = kind == LineKind::kStore                 ? Detail::kBytes
                        : !atomic                                ? Detail::kNone
                        : op.signal == trace::SignalOp::kSignals ? Detail::kOperationsAndBytes
                                                                 : Detail::kOperations;
  if (op.space == MemSpace::kLocal) {
    coalescer_.coalesce_local(addresses_, LocalWindow::of(sm_, max_warps_, op.warp, op.local_base), detail,
                              lines_);
  } else {
    coalescer_.coalesce(addresses_, detail, lines_);
  }
}

void MemoryPipeline::global(Cycle now, const MioOperation& op, LsuUnit unit) {
  if (op.signal == trace::SignalOp::kAwaits) return await_signals(now, op);
  addresses_.load(op);
  const bool local = op.space == MemSpace::kLocal;
  ++(local ? counters_[op.kernel].local_instructions : counters_[op.kernel].global_instructions);
  const LineKind kind = kind_of(op);
  list_lines(op, kind);
  // Local memory: a row of words in bank order for each 4 bytes of a lane, never a conflict.
  const unsigned wavefronts = local ? (addresses_.width() + 3) / 4 : wavefronts_(addresses_);
  const Cycle cycles = (wavefronts * kLineBytes + data_bytes_ - 1) / data_bytes_;
  data_free_ = now + cycles;
  current_ = {};
  current_.active = true;
  Access& access = current_.access;
  access.evict_first = op.evict_first;
  access.local = local;
  access.signals = op.signal == trace::SignalOp::kSignals;
  access.kind = kind;
  access.kernel = op.kernel;
  access.handle = op.handle;
  if (translator_ && !local) current_.untranslated = 0;
  const unsigned passes = op.op_class == OpClass::kAsyncCopy ? 1 : bank_passes(addresses_);
  current_.last_wavefront = now + std::max(cycles - 1, (passes - 1) * kPassTransfer);
  access.transfer = static_cast<std::uint16_t>((passes - 1) / lines_.count * kPassTransfer);
  if (unit == LsuUnit::kTexture) {
    access.extra = texture_extra_;
    free_from(LsuUnit::kTextureOnly) = now + texture_interval_;
  }
  if (kind == LineKind::kStore || kind == LineKind::kReduction) emit(MioEvent::Kind::kResult, op.handle);
  look_up_lines(now);
}

// --- 4. Results ---

void MemoryPipeline::deliver_results(Cycle now) {
  wheel_.drain(now, [&](std::uint32_t handle) { emit(MioEvent::Kind::kResult, handle); });
}

// --- Instruction side, kernel boundaries ---

void MemoryPipeline::fetch_instruction(Cycle now, Address line, std::uint8_t kernel) {
  const auto free = std::find_if(fetches_.begin(), fetches_.end(),
                                 [](const InstructionFetch& f) { return f.missing == 0; });
  const auto index = static_cast<std::uint32_t>(std::distance(fetches_.begin(), free));
  if (free == fetches_.end()) fetches_.emplace_back();
  const auto sectors = static_cast<SectorMask>(instruction_sectors_ << sector_in_line(line) & 0xf);
  fetches_[index] = {line, sectors};
  icnt::Request request;
  request.line = line_of(line);
  request.tag = index;
  request.kind = icnt::AccessKind::kInstruction;
  request.sectors = sectors;
  request.kernel = kernel;
  port_.send(now, request);
}

void MemoryPipeline::set_carveout(unsigned index) {
  assert(index < carveouts_kib_.size());
  l1_.set_shared_bytes(carveouts_kib_[index] * 1024);
}

bool MemoryPipeline::quiescent() const {
  const bool fetching =
      std::any_of(fetches_.begin(), fetches_.end(), [](const auto& f) { return f.missing != 0; });
  return queue_.empty() && !current_.active && wheel_.size() == 0 && pending_.used() == 0 &&
         mshrs_.used() == 0 && bulk_.idle() && signal_waits_.idle() && !const_filling_ && !fetching &&
         port_.idle() && (!translator_ || translator_->quiescent());
}

void MemoryPipeline::dump(std::string& out) const {
  out += "  memory pipeline: queues";
  for (unsigned s = 0; s < LsuQueue::kMaxSubcores; ++s)
    fmt::format_to(std::back_inserter(out), " {}", queue_.size(s));
  fmt::format_to(std::back_inserter(out),
                 ", results under way {}, pending instructions {}, lines missing {}, port {}", wheel_.size(),
                 pending_.used(), mshrs_.used(), port_.queued());
  if (current_.active) {
    const char* why = current_.access.blocked == Blocked::kPort ? ", waiting for the port"
                      : current_.access.blocked == Blocked::kTable
                          ? ", waiting for a miss register or pending entry"
                          : "";
    fmt::format_to(std::back_inserter(out), ", line {} of {}{}", current_.next, lines_.count, why);
  }
  if (!bulk_.idle()) fmt::format_to(std::back_inserter(out), ", bulk copies in the queue {}", bulk_.queued());
  if (!signal_waits_.idle())
    fmt::format_to(std::back_inserter(out), ", warps that wait for signals {}", signal_waits_.waiting());
  if (translator_) translator_->dump(out);
  if (const_filling_) fmt::format_to(std::back_inserter(out), ", constant line missing");
  out += '\n';
}

}  // namespace lockstep::core
