// One SM with a memory that answers every request after a fixed time: kernels written instruction by
// instruction.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/issue_table.hpp"
#include "core/sm.hpp"
#include "icnt/fabric.hpp"
#include "sim/engine.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::core::test {

using trace::OpClass;
using trace::StaticInst;

/// A kernel in memory: every CTA runs the same warps.
class Program final : public trace::CtaFeed {
 public:
  explicit Program(unsigned ctas = 1) : ctas_(ctas) { header_.registers = 32; }

  /// Adds an instruction to the current warp; equal (pc, inst) share a static entry.
  StaticInst& add(OpClass c, std::initializer_list<unsigned> destinations,
                  std::initializer_list<unsigned> sources, LaneMask mask = 0xffffffff) {
    StaticInst inst;
    inst.pc = pc;
    inst.op_class = c;
    inst.mnemonic[0] = 'X';
    for (const unsigned d : destinations)
      inst.destinations.push({trace::RegSpace::kVector, static_cast<std::uint8_t>(d), 1, 0});
    std::uint8_t position = 0;
    for (const unsigned s : sources)
      inst.sources.push({trace::RegSpace::kVector, static_cast<std::uint8_t>(s), 1, position++});
    pc += 16;
    pending_.push_back({inst, mask, trace::AddressForm::kNone, {}});
    warps_.back().push_back(pending_.size() - 1);
    return pending_.back().inst;
  }
  /// Addresses of the last instruction: base + stride * lane.
  void address(Address base, std::int64_t stride) {
    pending_.back().form = trace::AddressForm::kAffine;
    pending_.back().words = {base, static_cast<std::uint64_t>(stride)};
    pending_.back().inst.has_addresses = true;
  }
  /// Words of the last instruction, whatever they mean.
  void words(trace::AddressForm form, std::vector<std::uint64_t> values) {
    pending_.back().form = form;
    pending_.back().words = std::move(values);
    pending_.back().inst.has_addresses = true;
  }
  StaticInst& memory(OpClass c, trace::MemSpace space, std::initializer_list<unsigned> destinations,
                     std::initializer_list<unsigned> sources, Address base, std::int64_t stride) {
    StaticInst& inst = add(c, destinations, sources);
    inst.space = space;
    inst.access_bytes = 4;
    address(base, stride);
    return inst;
  }
  void next_warp() {
    warps_.emplace_back();
    pc = 0;
  }
  /// Builds tables and CTAs.
  void finish() {
    std::map<std::pair<std::uint32_t, unsigned>, std::uint32_t> known;
    cta_.resize(ctas_);
    for (unsigned c = 0; c < ctas_; ++c) {
      cta_[c].index = c;
      for (const auto& warp : warps_) {
        trace::WarpSpan span{static_cast<std::uint32_t>(cta_[c].records.size()),
                             static_cast<std::uint32_t>(warp.size()),
                             static_cast<std::uint32_t>(cta_[c].words.size())};
        for (const std::size_t i : warp) {
          const Item& item = pending_[i];
          const auto key = std::make_pair(item.inst.pc, static_cast<unsigned>(item.inst.op_class));
          if (!known.count(key)) known[key] = table_.push(item.inst);
          cta_[c].records.push_back(trace::Record::make(known[key], item.form, item.mask));
          cta_[c].words.insert(cta_[c].words.end(), item.words.begin(), item.words.end());
        }
        cta_[c].warps.push_back(span);
      }
    }
    header_.block = {static_cast<std::uint32_t>(32 * warps_.size()), 1, 1};
    header_.grid = {ctas_, 1, 1};
  }
  [[nodiscard]] std::uint64_t records() const { return cta_.at(0).records.size() * ctas_; }

  const trace::KernelHeader& header() const override { return header_; }
  const trace::StaticTable& instructions() const override { return table_; }
  void want(std::uint64_t) override {}
  std::size_t plan() override { return 0; }
  void run(std::size_t) noexcept override {}
  void settle() override {}
  trace::CtaTrace* take(std::uint64_t i) override { return &cta_[i]; }
  void release(trace::CtaTrace*) noexcept override { ++released; }
  const trace::TraceNotes& notes() const override { return notes_; }

  std::uint32_t pc = 0;
  unsigned released = 0;

 private:
  struct Item {
    StaticInst inst;
    LaneMask mask;
    trace::AddressForm form;
    std::vector<std::uint64_t> words;
  };
  unsigned ctas_;
  std::vector<Item> pending_;
  std::vector<std::vector<std::size_t>> warps_{{}};
  trace::StaticTable table_;
  std::vector<trace::CtaTrace> cta_;
  trace::KernelHeader header_;
  trace::TraceNotes notes_;
};

/// Stands for every memory partition: answers each request in full `delay` cycles after taking it.
class Memory final : public sim::Domain {
 public:
  /// `asleep`: from the first of these cycles to the second it is not called.
  Memory(const config::GpuConfig&, icnt::Fabric& fabric, std::uint32_t partition, Cycle delay,
         std::pair<Cycle, Cycle> asleep = {0, 0})
      : delay_(delay), asleep_(asleep), slices_(fabric.numbering().slices_per_partition) {
    for (std::uint32_t s = 0; s < slices_; ++s) {
      const std::uint32_t slice = partition * slices_ + s;
      in_.emplace_back(*fabric.request, *fabric.request_credit, slice, fabric.slice_request_eject());
      auto spec = fabric.slice_reply_port();
      spec.capacity = 1024;
      out_.emplace_back(*fabric.reply, *fabric.reply_credit, slice, spec);
      waiting_.emplace_back();
    }
  }
  Cycle advance(Cycle from, Cycle to) override {
    for (std::uint32_t s = 0; s < slices_; ++s) {
      in_[s].gather(from);
      out_[s].gather(from);
      for (Cycle t = from; t < to; ++t) {
        (void)in_[s].tick(
            t, true, [](const icnt::Request&) { return 1u; },
            [&](const icnt::Request& r) {
              waiting_[s].emplace_back(t + delay_, r);
              ++requests;
            });
        while (!waiting_[s].empty() && waiting_[s].front().first <= t) {
          const icnt::Request r = waiting_[s].front().second;
          waiting_[s].erase(waiting_[s].begin());
          out_[s].push(t, r.reply_to, 1, {r.line, r.tag, r.kind, r.sectors, r.kernel});
        }
        out_[s].tick(t);
      }
    }
    // Else always awake: simple, and time jumps are the SM's business here.
    return to >= asleep_.first && to < asleep_.second ? asleep_.second : to;
  }
  void settle(Cycle) override {}
  void dump(std::string&) const override {}
  std::uint64_t requests = 0;

 private:
  Cycle delay_;
  std::pair<Cycle, Cycle> asleep_;
  std::uint32_t slices_;
  std::vector<icnt::EjectionPort<icnt::Request>> in_;
  std::vector<icnt::InjectionPort<icnt::Reply>> out_;
  std::vector<std::vector<std::pair<Cycle, icnt::Request>>> waiting_;
};

/// Launches the first CTA of the program at once and all others at cycle `rest_at`, and records what the SM
/// reports.
class Launcher final : public sim::Domain {
 public:
  Launcher(icnt::Fabric& fabric, const config::GpuConfig& config, unsigned ctas, Cycle rest_at)
      : fabric_(fabric), latency_(config.cta_latency()), ctas_(ctas), rest_at_(rest_at), inbox_(4096) {}
  Cycle advance(Cycle from, Cycle to) override {
    inbox_.gather(*fabric_.cta_event, 0, from);
    for (; sent_ < ctas_ && due() < to; ++sent_)
      fabric_.launch->send(0, 0, std::max(from, due()) + latency_, {sent_, 0, 0});
    inbox_.drain(to - 1, [&](std::uint32_t, const icnt::CtaEvent& e) { events.push_back(e); });
    return std::min(inbox_.next_arrival(), sent_ < ctas_ ? due() : kNever);
  }
  void settle(Cycle) override {}
  void dump(std::string&) const override {}
  std::vector<icnt::CtaEvent> events;

 private:
  [[nodiscard]] Cycle due() const { return sent_ == 0 ? 0 : rest_at_; }

  icnt::Fabric& fabric_;
  Cycle latency_;
  unsigned ctas_, sent_ = 0;
  Cycle rest_at_;
  sim::Inbox<icnt::CtaEvent> inbox_;
};

struct Result {
  Cycle cycles = 0;  // first CTA's arrival to the last drained
  Cycle freed = 0;   // likewise to the last freed
  Cycle rest = 0;    // with rest_at: second CTA's arrival to the last drained
  stats::KernelCounters counters;
  std::uint64_t empty = 0;
  Cycle settled_at = 0;
  std::size_t events = 0;
  std::vector<Cycle> event_times;
  bool finished = false, quiescent = false;
  std::string dump;
};

struct BenchOptions {
  Cycle window = 16, delay = 100, limit = 1'000'000;
  bool skip = true;
  Cycle rest_at = 0;  // when all CTAs but the first are launched; beyond kFirstDone the first is long gone
  std::function<void(Cycle, Sm&)> between_windows{};
};
inline constexpr Cycle kFirstDone = 100'000;

inline config::GpuConfig small_gpu() {
  config::GpuConfig c;
  c.gpu.sms = 1;
  c.l2.partitions = 1;
  c.l2.slices_per_partition = 2;
  c.clock.core_khz = c.clock.icnt_khz = c.clock.l2_khz = 1'000'000;
  c.launch.warp_interval_milli = 0;
  c.frontend.launch_prefetch = 0;
  const auto pipe = [&](OpClass op, config::Unit unit, std::uint32_t latency, std::uint32_t interval) {
    c.pipe[static_cast<unsigned>(op)] = {config::unit_bit(unit), latency, interval};
  };
  pipe(OpClass::kAlu, config::Unit::kAlu, 4, 2);
  pipe(OpClass::kFp32, config::Unit::kFma, 4, 2);
  pipe(OpClass::kFp64, config::Unit::kFp64, 8, 4);
  pipe(OpClass::kSfu, config::Unit::kXu, 18, 8);
  pipe(OpClass::kBranch, config::Unit::kBranch, 1, 1);
  pipe(OpClass::kExit, config::Unit::kBranch, 1, 1);
  pipe(OpClass::kTensor, config::Unit::kTensor, 10, 1);
  return c;
}

struct Stopper final : sim::Controller {
  Launcher& launcher;
  std::size_t expected;
  Cycle limit;
  bool done = false, dead = false;
  Cycle end = 0;
  std::function<void(Cycle)> between_windows{};
  Stopper(Launcher& l, std::size_t e, Cycle lim) : launcher(l), expected(e), limit(lim) {}
  Cycle boundary(Cycle now) override {
    done = launcher.events.size() >= expected || now >= limit;
    end = now;
    if (between_windows) between_windows(now);
    return limit > now ? limit : kNever;
  }
  bool stop() const override { return done; }
  void exhausted(Cycle) override { dead = true; }
};

inline Result run(Program& program, const config::GpuConfig& config = small_gpu(),
                  const BenchOptions& o = {}) {
  program.finish();
  icnt::Fabric fabric(config);
  const mem::AddressMap map(config);
  KernelTable kernels(config.launch.max_kernels);
  IssueTable instructions(config);
  instructions.extend(program.instructions());
  kernels[0].feed = &program;
  kernels[0].header = &program.header();
  kernels[0].instructions = &instructions;
  kernels[0].launch_sequence = 1;
  kernels[0].code_base = 1 << 20;
  sim::EngineOptions options;
  options.window = o.window;
  options.skip = o.skip;
  sim::Engine engine(options);
  Sm sm(config, fabric, map, kernels, 0, o.skip);
  Memory memory(config, fabric, 0, o.delay, {kFirstDone, o.rest_at});
  const auto ctas = static_cast<unsigned>(program.header().grid.x);
  Launcher launcher(fabric, config, ctas, o.rest_at);
  struct Nobody final : sim::Domain {
    Cycle advance(Cycle, Cycle) override { return kNever; }
    void settle(Cycle) override {}
    void dump(std::string&) const override {}
  } copy_engine;
  engine.add(sm, sim::DomainKind::kSm);
  engine.add(memory, sim::DomainKind::kMemory);
  engine.add(copy_engine, sim::DomainKind::kOther);
  engine.add(launcher, sim::DomainKind::kOther);  // in the host's place
  fabric.register_with(engine);
  Stopper stopper(launcher, 2 * ctas, o.limit);
  if (o.between_windows) stopper.between_windows = [&](Cycle now) { o.between_windows(now, sm); };
  engine.run(stopper);
  Result r;
  sm.settle(stopper.end);
  sm.take_counters(0, r.counters);
  r.empty = sm.empty_subcore_cycles();
  r.settled_at = stopper.end;
  r.events = launcher.events.size();
  r.finished = r.events == 2 * ctas;
  r.quiescent = sm.quiescent();
  for (const auto& e : launcher.events) {
    r.event_times.push_back(e.time);
    const Cycle since = e.time - config.cta_latency();
    r.cycles = std::max(r.cycles, since);
    if (e.cta > 0 && since > o.rest_at) r.rest = std::max(r.rest, since - o.rest_at);
    if (e.kind == icnt::CtaEvent::Kind::kFreed) r.freed = std::max(r.freed, since);
  }
  sm.dump(r.dump);
  return r;
}

}  // namespace lockstep::core::test
