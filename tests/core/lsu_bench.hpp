// One memory pipeline with an L2 that answers every request after a time of the test's choosing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "config/gpu_config.hpp"
#include "core/memory_pipeline.hpp"
#include "icnt/fabric.hpp"
#include "mem/address_map.hpp"

namespace lockstep::core::test {

using trace::AddressForm;
using trace::MemSpace;
using trace::OpClass;

inline constexpr Address kData = 0x7f0000000000;
inline constexpr Cycle kL2 = 100;  // until the reply of an L2, in most tests

/// All clocks at 1 GHz, latencies easy to add up.
inline config::GpuConfig lsu_config() {
  config::GpuConfig c;
  c.clock.core_khz = c.clock.icnt_khz = c.clock.l2_khz = c.clock.dram_khz = 1'000'000;
  c.gpu.sms = 4;
  c.gpu.gpcs = 2;
  c.l2.partitions = 4;
  c.l2.slices_per_partition = 2;
  c.l2.halves = 1;
  c.launch.max_kernels = 4;
  c.tlb.miss_latency = 0;
  return c;
}

/// Operations with addresses that live as long as the list.
class OpList {
 public:
  struct Entry {
    MioOperation op;
    Cycle from;  // pushed at the first cycle >= from with room in the queue, in order of its sub-core
  };

  MioOperation& add(Cycle from, OpClass op_class, MemSpace space, unsigned bytes, LaneMask mask,
                    const std::array<Address, kWarpSize>& lanes) {
    auto& words = words_.emplace_back();
    MioOperation op = plain(op_class);
    op.space = space;
    op.access_bytes = static_cast<std::uint8_t>(bytes);
    op.mask = mask;
    op.form = trace::pack_addresses(mask, lanes.data(), words);
    op.words = words.data();
    entries_.push_back({op, from});
    return entries_.back().op;
  }
  /// base + stride * lane.
  MioOperation& strided(Cycle from, OpClass op_class, MemSpace space, unsigned bytes, Address base,
                        std::int64_t stride, LaneMask mask = 0xffffffff) {
    std::array<Address, kWarpSize> lanes{};
    for (unsigned l = 0; l < kWarpSize; ++l) lanes[l] = base + static_cast<Address>(stride * l);
    return add(from, op_class, space, bytes, mask, lanes);
  }
  MioOperation& bulk(Cycle from, trace::BulkCopy kind, const std::vector<trace::BulkRun>& runs) {
    std::array<Address, kWarpSize> words{};
    for (std::size_t i = 0; i < runs.size(); ++i) {
      words[2 * i + 2] = trace::pack(runs[i]).place;
      words[2 * i + 3] = trace::pack(runs[i]).shape;
    }
    const auto mask = static_cast<LaneMask>((std::uint64_t{1} << (2 * runs.size() + 2)) - 1);
    MioOperation& op = add(from, OpClass::kBulkCopy, MemSpace::kNone, 0, mask, words);
    op.bulk = kind;
    return op;
  }
  MioOperation& fixed(Cycle from, OpClass op_class) {
    MioOperation op = plain(op_class);
    op.mask = 0xffffffff;
    entries_.push_back({op, from});
    return entries_.back().op;
  }
  [[nodiscard]] const std::deque<Entry>& entries() const { return entries_; }

 private:
  MioOperation plain(OpClass op_class) const {
    MioOperation op;
    op.handle = static_cast<std::uint32_t>(entries_.size());
    op.op_class = op_class;
    return op;
  }
  std::deque<Entry> entries_;
  std::deque<std::vector<std::uint64_t>> words_;
};

struct LsuRun {
  using Event = std::tuple<Cycle, MioEvent::Kind, std::uint32_t>;
  struct Sent {
    Cycle arrival;
    std::uint32_t slice;
    icnt::Request request;
  };
  struct Taken {  // a reply, at the cycle at which the SM took it
    Cycle time;
    icnt::Reply reply;
  };
  std::vector<Event> events;
  std::vector<Sent> requests;
  std::vector<Taken> replies;
  std::vector<Cycle> pushed;                     // by handle
  std::vector<std::pair<Cycle, Address>> lines;  // of instructions
  std::uint64_t ticks = 0;
  Cycle end = 0;

  [[nodiscard]] Cycle when(MioEvent::Kind kind, std::uint32_t handle) const {
    for (const auto& [time, k, h] : events)
      if (k == kind && h == handle) return time;
    return kNever;
  }
  [[nodiscard]] Cycle result(std::uint32_t handle) const { return when(MioEvent::Kind::kResult, handle); }
  [[nodiscard]] Cycle dispatched(std::uint32_t handle) const {
    return when(MioEvent::Kind::kOperandsRead, handle);
  }
  [[nodiscard]] Cycle latency(std::uint32_t handle) const { return result(handle) - pushed[handle]; }
};

class LsuBench {
 public:
  static constexpr std::uint32_t kSm = 1;
  /// Cycles from a request's arrival at its slice until each part of the answer leaves, and the part's
  /// sectors.
  using Answer = std::function<std::vector<std::pair<Cycle, SectorMask>>(const icnt::Request&)>;

  explicit LsuBench(const config::GpuConfig& config, Cycle l2_latency = 100)
      : config_(config),
        fabric_(config),
        map_(config),
        pipeline_(std::make_unique<MemoryPipeline>(config, fabric_, map_, kSm)),
        sent_(fabric_.numbering().slices()) {
    answer = [l2_latency](const icnt::Request& r) {
      return std::vector<std::pair<Cycle, SectorMask>>{{l2_latency, r.sectors}};
    };
    for (sim::DomainId d = 0; d <= fabric_.numbering().dispatcher(); ++d) domains_.push_back(d);
    due_.resize(domains_.size());
  }

  Answer answer;
  Cycle window = 1;
  bool skip = false;
  std::vector<std::pair<Cycle, Address>> fetches;  // instruction lines to fetch, by cycle

  [[nodiscard]] MemoryPipeline& pipeline() { return *pipeline_; }
  [[nodiscard]] const mem::AddressMap& map() const { return map_; }
  [[nodiscard]] Cycle now() const { return now_; }

  /// Until everything is done and the credits are home, or `limit` cycles.
  LsuRun run(const OpList& list, Cycle limit = 200'000) {
    LsuRun r;
    r.pushed.resize(list.entries().size(), kNever);
    std::array<std::deque<const OpList::Entry*>, 4> waiting;
    for (const auto& e : list.entries()) waiting[e.op.subcore].push_back(&e);
    const Cycle stop = now_ + limit;
    const auto idle = [&] {
      return std::all_of(waiting.begin(), waiting.end(), [](const auto& q) { return q.empty(); }) &&
             pipeline_->quiescent() && pipeline_->credits_missing() == 0 && parts_.empty() &&
             fetches.empty() &&
             std::all_of(sent_.begin(), sent_.end(), [](const auto& q) { return q.empty(); });
    };
    do {
      serve_memory();
      run_window(r, waiting);
      flip();
      now_ += window;
    } while (!idle() && now_ < stop);
    r.end = now_;
    r.requests = std::exchange(requests_, {});
    r.replies = std::exchange(replies_, {});
    return r;
  }

 private:
  void run_window(LsuRun& r, std::array<std::deque<const OpList::Entry*>, 4>& waiting) {
    pipeline_->gather(now_);
    next_ = std::min(next_, pipeline_->next_event(now_ > 0 ? now_ - 1 : 0));
    for (Cycle t = now_; t < now_ + window; ++t) {
      if (!skip || next_ <= t) {
        pipeline_->tick(t);
        ++r.ticks;
        for (const MioEvent& e : pipeline_->events()) r.events.emplace_back(t, e.kind, e.handle);
        for (const Address line : pipeline_->instructions().lines()) r.lines.emplace_back(t, line);
        pipeline_->instructions().clear_lines();
        next_ = pipeline_->next_event(t);
      }
      for (auto& queue : waiting) {
        if (queue.empty() || queue.front()->from > t) continue;
        if (!pipeline_->can_accept(queue.front()->op.subcore)) continue;
        r.pushed[queue.front()->op.handle] = t;
        pipeline_->next(queue.front()->op.subcore) = queue.front()->op;
        pipeline_->push(t, queue.front()->op.subcore);
        queue.pop_front();
        next_ = std::min(next_, pipeline_->next_event(t));
      }
      if (!fetches.empty() && fetches.front().first <= t && pipeline_->instructions().can_fetch()) {
        pipeline_->instructions().fetch(t, fetches.front().second, 0);
        fetches.erase(fetches.begin());
        next_ = std::min(next_, pipeline_->next_event(t));
      }
    }
  }

  /// The slices' side of the window that begins at now_.
  void serve_memory() {
    for (std::uint32_t s = 0; s < fabric_.numbering().slices(); ++s) {
      fabric_.request->collect(s, [&](std::uint32_t, Cycle arrival, const icnt::Request& request) {
        requests_.push_back({arrival, s, request});
        arriving_.emplace(arrival, std::pair{s, request});
      });
      fabric_.reply_credit->collect(s, [&](std::uint32_t, Cycle arrival, const icnt::Credit&) {
        replies_.push_back({arrival - config_.icnt.reply_latency, sent_[s].front()});
        sent_[s].pop_front();
      });
    }
    for (Cycle t = now_; t < now_ + window; ++t) {
      for (; !arriving_.empty() && arriving_.begin()->first == t; arriving_.erase(arriving_.begin())) {
        const auto& [slice, request] = arriving_.begin()->second;
        fabric_.request_credit->send(slice, kSm, t + config_.icnt.request_latency, {});
        for (const auto& [delay, sectors] : answer(request))
          parts_.emplace(t + std::max<Cycle>(delay, 1),
                         std::pair{slice, icnt::Reply{request.line, request.tag, request.kind, sectors,
                                                      request.kernel}});
      }
      for (; !parts_.empty() && parts_.begin()->first == t; parts_.erase(parts_.begin())) {
        const auto& [slice, reply] = parts_.begin()->second;
        fabric_.reply->send(slice, kSm, t + config_.icnt.reply_latency, reply);
        sent_[slice].push_back(reply);
      }
    }
  }

  void flip() {
    for (sim::NetworkBase* n :
         std::initializer_list<sim::NetworkBase*>{fabric_.request.get(), fabric_.request_credit.get(),
                                                  fabric_.reply.get(), fabric_.reply_credit.get()})
      n->flip(domains_, now_, due_);
  }

  config::GpuConfig config_;
  icnt::Fabric fabric_;
  mem::AddressMap map_;
  std::unique_ptr<MemoryPipeline> pipeline_;
  Cycle now_ = 0, next_ = 0;
  std::vector<sim::DomainId> domains_;
  std::vector<Cycle> due_;
  std::multimap<Cycle, std::pair<std::uint32_t, icnt::Request>> arriving_;
  std::multimap<Cycle, std::pair<std::uint32_t, icnt::Reply>> parts_;
  std::vector<std::deque<icnt::Reply>> sent_;  // by slice: not yet taken by the SM
  std::vector<LsuRun::Sent> requests_;
  std::vector<LsuRun::Taken> replies_;
};

}  // namespace lockstep::core::test
