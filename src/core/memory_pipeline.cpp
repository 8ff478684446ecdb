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

}  // namespace

MemoryPipeline::MemoryPipeline(const config::GpuConfig& config, icnt::Fabric& fabric,
                               const mem::AddressMap& map, std::uint32_t sm, const uvm::AddressSpace* managed)
    : latencies_(config),
      shuffle_interval_(config.mio.shuffle_interval),
      special_interval_(config.mio.special_interval),
      texture_interval_(config.mio.texture_interval),
      texture_extra_(static_cast<std::uint16_t>(config.mio.texture_latency)),
      data_bytes_(std::clamp(config.l1.data_bytes_per_cycle, 1u, kLineBytes)),
      cache_global_(config.l1.cache_global),
      empties_caches_(config.launch.cache_control == config::CacheControl::kAll),
      sm_(sm),
      max_warps_(config.sm.max_warps),
      carveouts_kib_(config.l1.shared_carveouts_kib),
      queue_(config.mio, latencies_.residence),
      counters_(config.launch.max_kernels),
      port_(config, fabric, map, sm),
      results_(config.l1.pending_instructions, latencies_),
      translator_(managed || config.tlb.miss_latency > 0
                      ? std::make_unique<Translator>(config, fabric, managed, sm)
                      : nullptr),
      instructions_(config.frontend, port_),
      constants_(config.mio, latencies_, port_, results_, counters_),
      l1_(config.l1, port_, results_, counters_),
      bypass_(latencies_.hit_rest, config.tma, config.sync, port_, results_, translator_.get(), counters_),
      tags_(config.l1.tags_per_cycle, latencies_.hit_rest, l1_, results_, translator_.get(), counters_) {
  if (translator_) parked_.emplace(*translator_, tags_, bypass_, l1_, port_, results_);
  if (fabric.cluster)
    cluster_ = std::make_unique<ClusterUnit>(config, fabric, sm, latencies_, port_, results_, counters_);
}

Cycle MemoryPipeline::push(Cycle now, unsigned subcore) {
  const MioOperation& operation = queue_.next(subcore);
  // The addresses are read when the operation leaves its queue; the host fetches them until then.
  if (operation.form != trace::AddressForm::kNone) __builtin_prefetch(operation.words);
  return queue_.push(now, subcore, unit_of(operation));
}

void MemoryPipeline::tick(Cycle now) {
  results_.begin_cycle();
  receive_reply(now);                     // 1. one reply from the crossbar
  if (cluster_) receive_of_cluster(now);  // and messages of other SMs
  if (tags_.active()) {
    tags_.go_on(now);  // 2. further lines of the operation in the tag stage
    set_memory_free(now);
  }
  if (!queue_.empty()) dispatch(now);              // 3. one operation out of the local queues, into its unit
  if (constants_.sending()) constants_.tick(now);  // 4. a request of the constant caches
  if (instructions_.sending()) instructions_.send(now);  // and the rest of an instruction line
  if (translates()) {
    parked_->serve(now);  // 5. lines whose page has come, shootdowns
    set_memory_free(now);
  }
  if (bypass_.busy()) send_past_l1(now);  // 6. bulk copies, and polls of warps that wait for signals
  if (cluster_) send_to_cluster(now);     // 7. messages to other SMs
  results_.deliver(now);                  // 8. results that are due
  port_.tick(now);                        // 9. requests into the crossbar
}

Cycle MemoryPipeline::next_event(Cycle now) const {
  Cycle next = std::min({results_.next_due(), port_.next_event(now), bypass_.next_event(now)});
  if (constants_.sending()) next = std::min(next, constants_.next_event(now));
  if (instructions_.sending() && !port_.full()) next = now + 1;
  if (LsuUnitTimes changed; !queue_.empty())
    next = std::min(next, std::max(now + 1, queue_.next_event(unit_times(changed))));
  if (tags_.can_go_on(port_.full())) next = now + 1;
  if (translates()) next = std::min(next, parked_->next_event(now));
  if (cluster_) next = std::min(next, cluster_->next_event(now));
  return next;
}

void MemoryPipeline::receive_of_cluster(Cycle now) {
  cluster_->clear_news();
  if (!cluster_->active(now)) return;
  const Cycle before = data_free_;
  cluster_->receive(now, data_free_);
  if (data_free_ != before) set_memory_free(now);
}

void MemoryPipeline::send_to_cluster(Cycle now) {
  if (!cluster_->active(now)) return;
  cluster_->send(now, data_free_);
  set_memory_free(now);
}

void MemoryPipeline::receive_reply(Cycle now) {
  port_.receive(now, [&](const icnt::Reply& reply) {
    if (icnt::is_remote(reply.kind)) return parked_->receive_remote(now, reply.tag);
    if (BypassPath::is_copy(reply.tag)) return bypass_.copied(now, reply.tag, bit_count(reply.sectors));
    switch (reply.kind) {
      case icnt::AccessKind::kInstruction:
        return instructions_.receive(reply);
      case icnt::AccessKind::kConstant:
        return constants_.receive(now, reply);
      case icnt::AccessKind::kAwait:
        return bypass_.polled(now, reply);
      default:
        return l1_.receive(now, reply);
    }
  });
}

// --- Dispatch ---

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
  if (!constants_.sending()) return unit_free_;
  changed = unit_free_;
  changed[static_cast<unsigned>(LsuUnit::kConstant)] = kNever;
  return changed;
}

/// The load/store unit takes the next operation when the banks and the tags have done with this one.
void MemoryPipeline::set_memory_free(Cycle now) {
  Cycle from = std::max(data_free_, tags_.free_from(now));
  if (cluster_ && cluster_->holds_stores()) from = kNever;
  free_from(LsuUnit::kMemory) = from;
  free_from(LsuUnit::kTexture) = std::max(from, free_from(LsuUnit::kTextureOnly));
}

void MemoryPipeline::dispatch(Cycle now) {
  LsuUnitTimes changed;
  const unsigned subcore = queue_.pick(now, unit_times(changed));
  if (subcore == LsuQueue::kNone) return;
  const MioOperation& op = queue_.front(subcore);
  results_.emit(MioEvent::Kind::kOperandsRead, op.handle);
  start(now, op, queue_.front_unit(subcore));
  queue_.pop(now, subcore);
}

void MemoryPipeline::start(Cycle now, const MioOperation& op, LsuUnit unit) {
  switch (unit) {
    case LsuUnit::kShuffle:
      free_from(unit) = now + shuffle_interval_;
      return results_.add(now, now + latencies_.shuffle_rest, op.handle);
    case LsuUnit::kSpecial:
      free_from(unit) = now + special_interval_;
      return fixed_latency(now, op, latencies_.special_rest);
    case LsuUnit::kConstant:
      free_from(unit) = constants_.load(now, op);
      return;
    case LsuUnit::kBulk:
      return bulk(now, op);
    case LsuUnit::kTextureOnly:
      free_from(unit) = now + texture_interval_;
      set_memory_free(now);
      return fixed_latency(now, op, latencies_.hit_rest + texture_extra_);
    default:
      const bool in_shared = op.space == MemSpace::kShared && op.op_class != OpClass::kAsyncCopy;
      return in_shared ? shared(now, op) : global(now, op, unit);
  }
}

void MemoryPipeline::fixed_latency(Cycle now, const MioOperation& op, Cycle latency) {
  if (is_acknowledged(op)) {  // a store without addresses: nothing leaves the SM
    results_.emit(MioEvent::Kind::kResult, op.handle);
    results_.emit(MioEvent::Kind::kAcknowledged, op.handle);
    return;
  }
  results_.add(now, now + latency, op.handle);
}

// --- Past the L1 ---

void MemoryPipeline::bulk(Cycle now, const MioOperation& op) {
  if (op.bulk == trace::BulkCopy::kBetween) {
    free_from(LsuUnit::kBulk) = now + 1;
    if (!op.ranks) return fixed_latency(now, op, latencies_.special_rest);
    return cluster_->copy(op);
  }
  if (!bypass_.copy(op)) {
    if (op.multicast) results_.emit(MioEvent::Kind::kDelivered, op.handle);
    return fixed_latency(now, op, latencies_.special_rest);
  }
  free_from(LsuUnit::kBulk) = bypass_.takes_copies() ? now + 1 : kNever;
}

void MemoryPipeline::send_past_l1(Cycle now) {
  bypass_.send(now);
  if (bypass_.takes_copies() && free_from(LsuUnit::kBulk) == kNever) free_from(LsuUnit::kBulk) = now + 1;
}

void MemoryPipeline::await_signals(Cycle now, const MioOperation& op) {
  data_free_ = now + 1;
  set_memory_free(now);
  bypass_.await(now, op);
}

// --- Shared, global and local memory ---

void MemoryPipeline::shared(Cycle now, const MioOperation& op) {
  if (op.ranks && cluster_->access(now, op, data_free_)) {
    if (profile_) profile_->add_wavefronts(op.handle, op.kernel, cluster_->wavefronts());
    return set_memory_free(now);
  }
  addresses_.load(op);
  const bool atomic = op.op_class == OpClass::kAtomic || op.op_class == OpClass::kReduction;
  const unsigned wavefronts = op.matrix ? matrix_wavefronts(addresses_, std::max(1u, op.access_bytes / 4u))
                              : atomic  ? atomic_wavefronts(addresses_)
                              : op.op_class == OpClass::kLoad ? wavefronts_(addresses_, Returns::kPairs)
                                                              : wavefronts_(addresses_);
  stats::SmCounters& c = counters_[op.kernel];
  ++c.shared_instructions;
  c.shared_wavefronts += wavefronts;
  if (profile_) profile_->add_wavefronts(op.handle, op.kernel, wavefronts);
  data_free_ = now + wavefronts;
  set_memory_free(now);
  if (op.op_class == OpClass::kStore || op.op_class == OpClass::kReduction) {
    results_.emit(MioEvent::Kind::kResult, op.handle);
  } else {
    results_.add(now, now + latencies_.shared_rest + wavefronts - 1, op.handle);
  }
}

LineKind MemoryPipeline::kind_of(const MioOperation& op) const {
  switch (op.op_class) {
    case OpClass::kStore:
      return LineKind::kStore;
    case OpClass::kAtomic:
      return LineKind::kAtomic;
    case OpClass::kReduction:
      return LineKind::kReduction;
    default:
      if (op.prefetch && op.bypass_l1) return LineKind::kPrefetch;
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
                              tags_.lines());
  } else {
    coalescer_.coalesce(addresses_, detail, tags_.lines());
  }
  if (!op.prefetch) return;
  LineList& lines = tags_.lines();
  for (unsigned i = 0; i < lines.count; ++i) lines.line[i].sectors = (1u << kSectorsPerLine) - 1;
}

void MemoryPipeline::global(Cycle now, const MioOperation& op, LsuUnit unit) {
  if (op.signal == trace::SignalOp::kAwaits) return await_signals(now, op);
  addresses_.load(op);
  const bool local = op.space == MemSpace::kLocal;
  ++(local ? counters_[op.kernel].local_instructions : counters_[op.kernel].global_instructions);
  const LineKind kind = kind_of(op);
  list_lines(op, kind);
  // Local memory: a row of words in bank order for each 4 bytes of a lane, never a conflict.
  const unsigned wavefronts = op.prefetch ? 1
                              : local     ? (addresses_.width() + 3) / 4
                                          : wavefronts_(addresses_);
  const Cycle cycles = (wavefronts * kLineBytes + data_bytes_ - 1) / data_bytes_;
  data_free_ = now + cycles;
  LsuAccess access;
  access.kind = kind;
  access.kernel = op.kernel;
  access.l2 = op.l2;
  access.local = local;
  access.signals = op.signal == trace::SignalOp::kSignals;
  access.handle = op.handle;
  const unsigned passes = op.op_class == OpClass::kAsyncCopy || op.prefetch ? 1 : bank_passes(addresses_);
  // A load's passes reach the registers one after the other, those that bank conflicts make as well.
  const unsigned transfers = op.op_class == OpClass::kLoad ? std::max(passes, wavefronts) : passes;
  const Cycle last_wavefront = now + std::max(cycles - 1, (transfers - 1) * LsuLatencies::kPassTransfer);
  access.transfer =
      static_cast<std::uint16_t>((passes - 1) / tags_.lines().count * LsuLatencies::kPassTransfer);
  if (unit == LsuUnit::kTexture) {
    access.extra = texture_extra_;
    free_from(LsuUnit::kTextureOnly) = now + texture_interval_;
  }
  if (is_acknowledged(kind)) results_.emit(MioEvent::Kind::kResult, op.handle);
  tags_.begin(now, access, last_wavefront);
  set_memory_free(now);
}

// --- Kernel boundaries ---

void MemoryPipeline::invalidate() {
  l1_.cache().invalidate();
  constants_.invalidate();
  if (translator_ && empties_caches_) translator_->forget_blocks();
}

void MemoryPipeline::set_carveout(unsigned index) {
  assert(index < carveouts_kib_.size());
  l1_.cache().set_shared_bytes(carveouts_kib_[index] * 1024);
}

bool MemoryPipeline::quiescent() const {
  return queue_.empty() && !tags_.active() && results_.idle() && l1_.missing() == 0 && bypass_.idle() &&
         constants_.idle() && instructions_.idle() && port_.idle() &&
         (!translator_ || translator_->quiescent()) && (!cluster_ || cluster_->idle());
}

void MemoryPipeline::dump(std::string& out) const {
  out += "  memory pipeline: queues";
  for (unsigned s = 0; s < LsuQueue::kMaxSubcores; ++s)
    fmt::format_to(std::back_inserter(out), " {}", queue_.size(s));
  fmt::format_to(std::back_inserter(out),
                 ", results under way {}, pending instructions {}, lines missing {}, port {}",
                 results_.under_way(), results_.pending(), l1_.missing(), port_.queued());
  tags_.dump(out);
  bypass_.dump(out);
  if (translator_) translator_->dump(out);
  if (cluster_) cluster_->dump(out);
  if (!constants_.idle()) fmt::format_to(std::back_inserter(out), ", constant lines missing");
  out += '\n';
}

}  // namespace lockstep::core
