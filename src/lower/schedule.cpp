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

struct Timing {
  std::uint32_t latency = 0;  // cycles between an instruction and the first that needs its result
  bool load = false;          // it takes the machine longer than others (ListScheduler::take)
  bool function = false;      // goes to the special function units
};

/// As ptxas 13.0 has them for sm_75, sm_80, sm_86 and sm_90; see schedule.hpp.
Timing timing(const ptx::Instruction& i) {
  constexpr std::uint32_t kGlobal = 340, kShared = 52, kFunction = 40, kDouble = 8, kFixed = 4;
  switch (i.op()) {
    case Opcode::kLd:
    case Opcode::kLdu: {
      const Space space = i.form.space();
      const bool near = space == Space::kShared || space == Space::kSharedCta || space == Space::kConst ||
                        space == Space::kParam || space == Space::kParamEntry || space == Space::kParamFunc;
      return {near ? kShared : kGlobal, true};
    }
    case Opcode::kAtom:
    case Opcode::kTex:
    case Opcode::kTld4:
    case Opcode::kSuld:
      return {kGlobal, true};
    case Opcode::kLdmatrix:
      return {kShared, true};
    case Opcode::kWmma:
      return {kShared, i.has(ptx::Mod::kLoad)};
    case Opcode::kMma:
    case Opcode::kShfl:
      return {kShared, false};
    case Opcode::kMov:
      return {i.operands[1].kind == ptx::OperandKind::kSpecial ? kShared : kFixed, false};
    case Opcode::kDiv:
    case Opcode::kRem:
    case Opcode::kSqrt:
    case Opcode::kRcp:
    case Opcode::kRsqrt:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kEx2:
    case Opcode::kLg2:
      return {kFunction, false, true};
    default:
      return {ptx::bits(i.form.type()) == 64 && ptx::is_float(i.form.type()) ? kDouble : kFixed, false};
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

/// Live registers while instructions are taken one after the other from the end of a run.
class Pressure {
 public:
  /// `unit`: vectors(). `words`: by register, of all that it stands for. `after`: live behind the run.
  Pressure(const ptx::Function& function, const std::vector<RegisterId>& unit, const std::vector<int>& words,
           Run run, const std::vector<RegisterId>& after)
      : of_(words), live_(function.registers.size()) {
    for (std::uint32_t at = run.first; at < run.end; ++at) {
      const ptx::RegisterUse use = ptx::register_use(function.instructions[at]);
      uses_.push_back({units(use.reads, unit), units(use.writes, unit)});
    }
    for (const RegisterId id : units(after, unit)) live_[id] = true, words_ += of_[id];
  }
  [[nodiscard]] int words() const { return words_; }
  /// How many registers more are live before instruction `at` of the run than behind it.
  [[nodiscard]] int growth(std::uint32_t at) const {
    int more = 0;
    const Use& use = uses_[at];
    for (const RegisterId id : use.writes)
      if (live_[id]) more -= of_[id];
    for (const RegisterId id : use.reads)
      if (!live_[id] || std::ranges::count(use.writes, id) > 0) more += of_[id];
    return more;
  }
  void take(std::uint32_t at) {
    words_ += growth(at);
    for (const RegisterId id : uses_[at].writes) live_[id] = false;
    for (const RegisterId id : uses_[at].reads) live_[id] = true;
  }
  /// Whether something that it writes is needed behind what has been taken.
  [[nodiscard]] bool is_needed(std::uint32_t at) const {
    return std::ranges::any_of(uses_[at].writes, [this](RegisterId id) { return live_[id]; });
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
  std::vector<bool> live_;
  int words_ = 0;
};

/// Cycles for which a warp's instruction occupies the special function units, four lanes of a sub-core (CUDA
/// C++ Programming Guide: 16 results per cycle and SM).
constexpr std::uint64_t kFunctionInterval = 8;

/// Takes the instructions of a run from its end.
class ListScheduler {
 public:
  ListScheduler(const ptx::Function& function, const Dependences& dependences, Run run, Pressure pressure,
                int limit)
      : first_(run.first),
        size_(run.end - run.first),
        pressure_(std::move(pressure)),
        limit_(limit),
        timing_(size_),
        depth_(size_),
        due_(size_),
        waits_for_(size_),
        before_(size_) {
    std::uint64_t functions = 0;  // depth at which the next can begin
    for (std::uint32_t at = 0; at < size_; ++at) {
      timing_[at] = timing(function.instructions[first_ + at]);
      if (timing_[at].function) {
        depth_[at] = std::max(depth_[at], functions);
        functions = depth_[at] + kFunctionInterval;
      }
      if (timing_[at].load && pressure_.is_needed(at)) due_[at] = timing_[at].latency;
      for (const Dependence& d : dependences.after(at)) {
        ++waits_for_[at];
        before_[d.to].push_back({at, d.value});
        depth_[d.to] = std::max(depth_[d.to], depth_[at] + (d.value ? timing_[at].latency : 1));
      }
    }
  }

  void run(std::vector<std::uint32_t>& order) {
    for (std::uint32_t at = 0; at < size_; ++at)
      if (waits_for_[at] == 0) ready_.push_back(at);
    const std::size_t end = order.size() + size_;
    order.resize(end);
    for (std::size_t place = end; !ready_.empty();) {
      const std::size_t chosen = choose();
      const std::uint32_t at = ready_[chosen];
      ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(chosen));
      order[--place] = first_ + at;
      take(at);
    }
  }

 private:
  /// Cycles from the end of the run. Those that loads take are no time in which arithmetic waits.
  struct Clock {
    std::uint64_t all = 0, arithmetic = 0;
    [[nodiscard]] std::uint64_t of(const Timing& what) const { return what.load ? all : arithmetic; }
  };

  void take(std::uint32_t at) {
    constexpr std::uint64_t kLoadCycles = 2;
    const std::uint64_t waited = wait(at);
    now_.all += waited, now_.arithmetic += waited;
    pressure_.take(at);
    if (timing_[at].function) functions_free_ = now_.arithmetic + kFunctionInterval;
    for (const Dependence& d : before_[at]) {
      const Timing& earlier = timing_[d.to];
      due_[d.to] = std::max(due_[d.to], now_.of(earlier) + (d.value ? earlier.latency : 1));
      if (--waits_for_[d.to] == 0) ready_.push_back(d.to);
    }
    if (timing_[at].load)
      now_.all += kLoadCycles;
    else
      ++now_.all, ++now_.arithmetic;
  }
  [[nodiscard]] std::uint64_t wait(std::uint32_t at) const {
    const std::uint64_t now = now_.of(timing_[at]);
    return std::max({due_[at], timing_[at].function ? functions_free_ : 0, now}) - now;
  }
  [[nodiscard]] std::size_t choose() const {
    std::size_t best = 0;
    for (std::size_t r = 1; r < ready_.size(); ++r)
      if (better(ready_[r], ready_[best])) best = r;
    return best;
  }
  /// Fits into the registers; its result is there in time for those that need it; is a load or frees a
  /// register; lies on the longer path; stood last.
  [[nodiscard]] bool better(std::uint32_t a, std::uint32_t b) const {
    const int growth_a = pressure_.growth(a), growth_b = pressure_.growth(b);
    const bool over_a = pressure_.words() + growth_a > limit_, over_b = pressure_.words() + growth_b > limit_;
    if (over_a != over_b) return over_b;
    if (over_a && growth_a != growth_b) return growth_a < growth_b;
    const bool first_a = timing_[a].load || growth_a < 0, first_b = timing_[b].load || growth_b < 0;
    if (over_a && first_a != first_b) return first_a;
    const std::uint64_t wait_a = wait(a), wait_b = wait(b);
    if (wait_a != wait_b) return wait_a < wait_b;
    if (first_a != first_b) return first_a;
    if (depth_[a] != depth_[b]) return depth_[a] > depth_[b];
    return a > b;
  }

  std::uint32_t first_, size_;
  Pressure pressure_;
  int limit_;
  std::vector<Timing> timing_;
  std::vector<std::uint64_t> depth_;  // the longest path from the beginning of the run
  std::vector<std::uint64_t> due_;    // by the clock of what it is
  std::vector<std::uint32_t> waits_for_, ready_;
  std::vector<std::vector<Dependence>> before_;
  Clock now_;
  std::uint64_t functions_free_ = 0;
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

Schedule schedule(const ptx::Function& function, const ptx::ControlFlow& flow, unsigned values,
                  Passes passes) {
  Schedule result;
  result.runs = find_runs(function, flow);
  const ptx::Liveness liveness(function, flow);
  const auto roots = address_roots(function);
  const auto products = product_registers(function);
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
    const Dependences dependences(function, roots, products, run.first, run.end);
    Pressure pressure(function, unit, words, run, live_after(flow, liveness, run));
    ListScheduler(function, dependences, run, std::move(pressure), static_cast<int>(values))
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
