#include "lower/schedule.hpp"

#include <algorithm>

#include "lower/constants.hpp"
#include "lower/dependences.hpp"
#include "ptx/liveness.hpp"

namespace lockstep::lower {

namespace {

using ptx::Opcode;
using ptx::RegisterId;
using ptx::Space;

/// A run longer than this is cut, so that the work stays near linear in the kernel's length.
constexpr std::uint32_t kLongestRun = 4096;

/// Cycles that a compiler has to cover before a result is there; their order of size is what counts. Loads:
/// an L2 hit, a shared memory access (pointer chases of the models); the rest as the models' pipes.
std::uint32_t latency(const ptx::Instruction& i) {
  constexpr std::uint32_t kGlobal = 250, kShared = 30, kFunction = 40, kDouble = 8, kFixed = 5;
  switch (i.op()) {
    case Opcode::kLd:
    case Opcode::kLdu: {
      const Space space = i.form.space();
      if (space == Space::kParam || space == Space::kParamEntry || space == Space::kParamFunc) return 0;
      const bool near = space == Space::kShared || space == Space::kSharedCta || space == Space::kConst;
      return near ? kShared : kGlobal;
    }
    case Opcode::kAtom:
    case Opcode::kTex:
    case Opcode::kTld4:
    case Opcode::kSuld:
      return kGlobal;
    case Opcode::kLdmatrix:
    case Opcode::kWmma:
    case Opcode::kMma:
    case Opcode::kShfl:
      return kShared;
    case Opcode::kDiv:
    case Opcode::kRem:
    case Opcode::kSqrt:
    case Opcode::kRcp:
    case Opcode::kRsqrt:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kEx2:
    case Opcode::kLg2:
      return kFunction;
    default:
      return ptx::bits(i.form.type()) == 64 && ptx::is_float(i.form.type()) ? kDouble : kFixed;
  }
}

/// By register: the one that stands for all that a vector load fills and nothing else writes. They have
/// consecutive registers (registers.hpp), which another vector can have when the last of them is read.
std::vector<RegisterId> vectors(const ptx::Function& function) {
  std::vector<std::uint32_t> writes(function.registers.size());
  for (const ptx::Instruction& i : function.instructions)
    for (const RegisterId id : ptx::register_use(i).writes) ++writes[id];
  std::vector<RegisterId> first(function.registers.size());
  for (RegisterId id = 0; id < first.size(); ++id) first[id] = id;
  for (const ptx::Instruction& i : function.instructions) {
    if (i.op() != Opcode::kLd || i.operands[0].kind != ptx::OperandKind::kVector) continue;
    const auto& elements = i.operands[0].elements;
    if (std::ranges::all_of(elements, [&](const ptx::Operand& e) {
          return e.kind == ptx::OperandKind::kRegister && writes[e.reg] == 1;
        }))
      for (const ptx::Operand& e : elements) first[e.reg] = elements[0].reg;
  }
  return first;
}

/// Live registers while instructions are taken one after the other from the top of a run.
class Pressure {
 public:
  /// `unit`: vectors(). `words`: by register, of all that it stands for.
  Pressure(const ptx::Function& function, const std::vector<RegisterId>& unit, const std::vector<int>& words,
           Run run, const std::vector<RegisterId>& before, const std::vector<RegisterId>& after)
      : of_(words), left_(function.registers.size()), live_(function.registers.size()) {
    for (std::uint32_t at = run.first; at < run.end; ++at) {
      const ptx::RegisterUse use = ptx::register_use(function.instructions[at]);
      uses_.push_back({units(use.reads, unit), units(use.writes, unit)});
      for (const RegisterId id : uses_.back().reads) ++left_[id];
    }
    for (const RegisterId id : units(after, unit)) ++left_[id];
    for (const RegisterId id : units(before, unit)) live_[id] = true, words_ += of_[id];
  }
  [[nodiscard]] int words() const { return words_; }
  /// How many registers more are live after instruction `at` of the run.
  [[nodiscard]] int growth(std::uint32_t at) const {
    int more = 0;
    for (const RegisterId id : uses_[at].reads)
      if (live_[id] && left_[id] == 1) more -= of_[id];
    for (const RegisterId id : uses_[at].writes)
      if (!live_[id]) more += of_[id];
    return more;
  }
  void take(std::uint32_t at) {
    for (const RegisterId id : uses_[at].reads)
      if (--left_[id] == 0 && live_[id]) live_[id] = false, words_ -= of_[id];
    for (const RegisterId id : uses_[at].writes)
      if (!live_[id] && left_[id] > 0) live_[id] = true, words_ += of_[id];
  }

 private:
  static std::vector<RegisterId> units(const std::vector<RegisterId>& ids,
                                       const std::vector<RegisterId>& unit) {
    std::vector<RegisterId> all;
    for (const RegisterId id : ids)
      if (std::ranges::count(all, unit[id]) == 0) all.push_back(unit[id]);
    return all;
  }
  const std::vector<int>& of_;
  struct Use {
    std::vector<RegisterId> reads, writes;
  };
  std::vector<Use> uses_;
  std::vector<std::uint32_t> left_;  // reads to come, by register
  std::vector<bool> live_;
  int words_ = 0;
};

class ListScheduler {
 public:
  ListScheduler(const ptx::Function& function, const Dependences& dependences, Run run, Pressure pressure,
                int limit)
      : dependences_(dependences),
        first_(run.first),
        size_(run.end - run.first),
        pressure_(std::move(pressure)),
        limit_(limit),
        latency_(size_),
        path_(size_),
        earliest_(size_),
        waits_for_(size_) {
    for (std::uint32_t at = 0; at < size_; ++at) latency_[at] = latency(function.instructions[first_ + at]);
    for (std::uint32_t at = size_; at-- > 0;)
      for (const Dependence& d : dependences_.after(at)) {
        ++waits_for_[d.to];
        path_[at] = std::max(path_[at], path_[d.to] + (d.value ? latency_[at] : 1));
      }
  }

  void run(std::vector<std::uint32_t>& order) {
    for (std::uint32_t at = 0; at < size_; ++at)
      if (waits_for_[at] == 0) ready_.push_back(at);
    for (std::uint64_t now = 0; !ready_.empty(); ++now) {
      const std::size_t chosen = choose(now);
      const std::uint32_t at = ready_[chosen];
      ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(chosen));
      now = std::max(now, earliest_[at]);
      pressure_.take(at);
      order.push_back(first_ + at);
      for (const Dependence& d : dependences_.after(at)) {
        earliest_[d.to] = std::max(earliest_[d.to], now + (d.value ? latency_[at] : 1));
        if (--waits_for_[d.to] == 0) ready_.push_back(d.to);
      }
    }
  }

 private:
  /// Smaller is better: fits into the registers, has its operands, lies on the longer path, stood first.
  [[nodiscard]] std::size_t choose(std::uint64_t now) const {
    std::size_t best = 0;
    for (std::size_t r = 1; r < ready_.size(); ++r)
      if (better(ready_[r], ready_[best], now)) best = r;
    return best;
  }
  [[nodiscard]] bool better(std::uint32_t a, std::uint32_t b, std::uint64_t now) const {
    const int growth_a = pressure_.growth(a), growth_b = pressure_.growth(b);
    const bool over_a = growth_a > 0 && pressure_.words() + growth_a > limit_,
               over_b = growth_b > 0 && pressure_.words() + growth_b > limit_;
    if (over_a != over_b) return over_b;
    if (over_a && growth_a != growth_b) return growth_a < growth_b;
    const std::uint64_t start_a = std::max(earliest_[a], now), start_b = std::max(earliest_[b], now);
    if (start_a != start_b) return start_a < start_b;
    if (path_[a] != path_[b]) return path_[a] > path_[b];
    return a < b;
  }

  const Dependences& dependences_;
  std::uint32_t first_, size_;
  Pressure pressure_;
  int limit_;
  std::vector<std::uint32_t> latency_;
  std::vector<std::uint64_t> path_, earliest_;
  std::vector<std::uint32_t> waits_for_, ready_;
};

std::vector<RegisterId> live_after(const ptx::ControlFlow& flow, const ptx::Liveness& liveness, Run run) {
  const ptx::Block& block = flow.blocks()[flow.block_of(run.first)];
  if (run.end < block.end) return liveness.live_before(run.end);
  std::vector<RegisterId> all;
  for (const std::uint32_t next : block.successors)
    for (const RegisterId id : liveness.live_before(flow.blocks()[next].first)) all.push_back(id);
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

unsigned registers_at_full_occupancy(unsigned arch) {
  // CUDA C++ Programming Guide, technical specifications by compute capability: 64 K registers; threads of an
  // SM.
  const unsigned threads = arch == 75                                              ? 1024
                           : arch == 86 || arch == 87 || arch == 89 || arch >= 120 ? 1536
                                                                                   : 2048;
  return 65536 / threads / 8 * 8;
}

std::vector<Run> find_runs(const ptx::Function& function, const ptx::ControlFlow& flow) {
  std::vector<Run> runs;
  for (std::uint32_t at = 0; at < function.instructions.size();) {
    const ptx::Block& block = flow.blocks()[flow.block_of(at)];
    Run run{at, at};
    while (run.end < block.end && run.end - run.first < kLongestRun &&
           !keeps_its_place(function.instructions[run.end]))
      ++run.end;
    if (run.end == run.first) ++run.end;
    runs.push_back(run);
    at = run.end;
  }
  return runs;
}

Schedule schedule(const ptx::Function& function, const ptx::ControlFlow& flow, unsigned registers,
                  Passes passes) {
  Schedule result;
  result.runs = find_runs(function, flow);
  const ptx::Liveness liveness(function, flow);
  const auto roots = address_roots(function);
  const auto constant = passes.constants ? constant_operands(function, passes.integers)
                                         : std::vector<bool>(function.registers.size());
  const auto unit = vectors(function);
  std::vector<int> words(function.registers.size());
  for (RegisterId id = 0; id < words.size(); ++id)
    if (!constant[id])
      words[unit[id]] += static_cast<int>(ptx::pressure_of(function.registers[id].type).words);
  for (const Run run : result.runs) {
    const bool reachable = flow.blocks()[flow.block_of(run.first)].reachable;
    if (run.end - run.first < 3 || !reachable || !passes.schedule) {
      for (std::uint32_t at = run.first; at < run.end; ++at) result.order.push_back(at);
      continue;
    }
    const Dependences dependences(function, roots, run.first, run.end);
    Pressure pressure(function, unit, words, run, liveness.live_before(run.first),
                      live_after(flow, liveness, run));
    ListScheduler(function, dependences, run, std::move(pressure), static_cast<int>(registers))
        .run(result.order);
  }
  return result;
}

ptx::Function reordered(const ptx::Function& function, const Schedule& schedule) {
  ptx::Function copy = function;
  for (std::size_t j = 0; j < schedule.order.size(); ++j)
    copy.instructions[j] = function.instructions[schedule.order[j]];
  return copy;
}

}  // namespace lockstep::lower
