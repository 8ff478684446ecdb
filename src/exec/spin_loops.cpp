// Which loops wait for words of global memory. Their rounds are not executed one by one (warp_wait.cpp).
#include <algorithm>
#include <iterator>
#include <vector>

#include "exec/passes.hpp"

namespace lockstep::exec {

namespace {

constexpr unsigned kMaxPolledBytes = 16;  // of one of its loads

bool is_poll(const Operation& op, const MemoryForm& form) {
  const bool global = form.state_space == StateSpace::kGlobal || form.state_space == StateSpace::kGeneric;
  return form.polls && global && !op.guard.exists() && form.bytes <= 8 &&
         unsigned{form.bytes} * form.count <= kMaxPolledBytes;
}

/// A round of a loop: from its first polling load back to it, by operations that compute and decide, and by
/// more polling loads. All else in the loop is what a round does rarely, such as a look at a flag that ends
/// the program, once in some thousand rounds.
///
/// The loop waits where what is loaded alone decides whether a round ends it. A round may count: what depends
/// on registers that it takes over from the round before may decide nothing but whether the rare part comes.
class SpinRound {
 public:
  SpinRound(const Operation* code, const OperandRef* operands, const MemoryForm* memory, const SpinLoop& loop)
      : code_(code), operands_(operands), memory_(memory), loop_(loop), size_(loop.end - loop.begin + 1) {}

  [[nodiscard]] bool waits() {
    if (!follow()) return false;
    for (std::uint32_t k = 0; k + 1 < size_; ++k)
      if (steps_[k].reached) read_and_write(k);
    std::ranges::copy_if(early_, std::back_inserter(carried_),
                         [&](OperandRef operand) { return has(written_, operand); });
    return polls_same_places() && (carried_.empty() || only_counts());
  }
  /// Does the loop's rare part only compute, from clocks too, what no round reads, and lead back?
  [[nodiscard]] bool rarely_paces() const {
    OperandRefs rare;
    for (std::uint32_t k = 0; k < size_; ++k) {
      if (steps_[k].reached) continue;
      const Operation& op = code_[pc(k)];
      const bool pauses = op.handler == Handler::kLane || op.handler == Handler::kNothing ||
                          op.handler == Handler::kNanosleep;
      const bool stays = op.handler == Handler::kBranch && inside(op.target) && op.target > pc(k);
      if ((!pauses && !stays) || pc(k) == loop_.end) return false;
      for_results(op, [&](OperandRef operand) { rare.push_back(operand); });
    }
    for (std::uint32_t k = 0; k < size_; ++k) {
      if (!steps_[k].reached) continue;
      bool reads = false;
      for_sources(code_[pc(k)], [&](OperandRef operand) { reads |= has(rare, operand); });
      if (reads) return false;
    }
    return true;
  }
  /// What it may write.
  [[nodiscard]] const std::vector<OperandRef>& written() const { return written_; }
  /// Its polling loads: operations, in its order.
  [[nodiscard]] const std::vector<std::uint32_t>& loads() const { return loads_; }

 private:
  struct Step {
    bool reached = false;
    bool certain = false;  // in every round
  };
  using OperandRefs = std::vector<OperandRef>;

  static bool has(const OperandRefs& operands, OperandRef operand) {
    return std::ranges::any_of(operands, [&](OperandRef other) { return other.code == operand.code; });
  }
  /// Steps are the operations after the load, then those before it, then the load.
  [[nodiscard]] std::uint32_t pc(std::uint32_t step) const {
    return loop_.begin + (loop_.load - loop_.begin + 1 + step) % size_;
  }
  [[nodiscard]] std::uint32_t step(std::uint32_t pc) const {
    return (pc - loop_.begin + size_ - (loop_.load - loop_.begin) - 1) % size_;
  }
  [[nodiscard]] bool inside(std::uint32_t pc) const { return pc >= loop_.begin && pc <= loop_.end; }

  [[nodiscard]] bool computes(const Operation& op, bool certain) const {
    switch (op.handler) {
      case Handler::kLane:
        return !op.reads_clock;
      case Handler::kLoad:
        return certain && is_poll(op, memory_[op.detail]);
      case Handler::kLaneSync:
      case Handler::kBranch:
      case Handler::kNothing:
      case Handler::kNanosleep:
        return true;
      default:
        return false;
    }
  }

  /// Finds the round's steps. False: none leads back to the load, or there is a loop in the loop.
  bool follow() {
    steps_.assign(size_, {});
    steps_[0].reached = true;
    loads_ = {loop_.load};
    std::uint32_t skipped = 0;  // steps before this one are jumped over by some
    for (std::uint32_t k = 0; k + 1 < size_; ++k) {
      if (!steps_[k].reached) continue;
      const Operation& op = code_[pc(k)];
      steps_[k].certain = k >= skipped;
      if (!computes(op, steps_[k].certain)) {
        steps_[k].reached = false;
        continue;
      }
      if (op.handler == Handler::kLoad) loads_.push_back(pc(k));
      const bool branches = op.handler == Handler::kBranch;
      if (branches && inside(op.target)) {
        const std::uint32_t to = step(op.target);
        if (to <= k) return false;
        steps_[to].reached = true;
        skipped = std::max(skipped, to);
      }
      if ((!branches || op.guard.exists()) && pc(k) < loop_.end) steps_[k + 1].reached = true;
    }
    return steps_[size_ - 1].reached;
  }

  void read_and_write(std::uint32_t k) {
    if (surely_.empty()) add_results(code_[loop_.load], true);
    const Operation& op = code_[pc(k)];
    for_sources(op, [&](OperandRef operand) {
      if (!has(surely_, operand)) early_.push_back(operand);
    });
    if (op.handler == Handler::kLoad) {
      const OperandRef base = memory_[op.detail].base;
      if (base.exists() && !has(surely_, base)) early_.push_back(base);
    }
    add_results(op, steps_[k].certain && !op.guard.exists());
  }
  void add_results(const Operation& op, bool certain) {
    for_results(op, [&](OperandRef operand) {
      written_.push_back(operand);
      if (certain) surely_.push_back(operand);
    });
  }
  template <class Body>
  void for_sources(const Operation& op, Body body) const {
    if (op.guard.exists()) body(op.guard);
    const OperandRef* const operands = operands_ + op.operands + op.destinations;
    for (unsigned i = 0; i < op.sources; ++i)
      if (operands[i].exists()) body(operands[i]);
  }
  template <class Body>
  void for_results(const Operation& op, Body body) const {
    const OperandRef* const operands = operands_ + op.operands;
    for (unsigned i = 0; i < op.destinations; ++i)
      if (operands[i].exists()) body(operands[i]);
  }

  /// Does no load's address depend on what was loaded, or on the rounds before?
  [[nodiscard]] bool polls_same_places() const {
    const OperandRef first = memory_[code_[loop_.load].detail].base;
    bool moves = false;  // the first load's address, between this round's and the next one's
    for (std::uint32_t k = 0; k + 1 < size_; ++k)
      if (steps_[k].reached && pc(k) > loop_.load)
        for_results(code_[pc(k)], [&](OperandRef operand) { moves |= operand.code == first.code; });
    if (moves) return false;
    OperandRefs varying = carried_;
    for (const std::uint32_t load : loads_)
      for_results(code_[load], [&](OperandRef operand) { varying.push_back(operand); });
    for (std::uint32_t k = 0; k < size_; ++k) {
      if (!steps_[k].reached) continue;
      const Operation& op = code_[pc(k)];
      if (op.handler == Handler::kLoad && has(varying, memory_[op.detail].base)) return false;
      bool depends = false;
      for_sources(op, [&](OperandRef operand) { depends |= has(varying, operand); });
      if (depends) for_results(op, [&](OperandRef operand) { varying.push_back(operand); });
    }
    return true;
  }

  /// Does what is carried from round to round only decide whether the rare part comes, which leads back?
  [[nodiscard]] bool only_counts() const {
    const std::vector<bool> back = leading_back();
    const auto stays = [&](std::uint32_t to) { return inside(to) && back[to - loop_.begin]; };
    OperandRefs tainted = carried_;
    std::uint32_t conditional = 0;  // steps before this one come or not as what is carried says
    for (std::uint32_t k = 0; k + 1 < size_; ++k) {
      if (!steps_[k].reached) continue;
      const Operation& op = code_[pc(k)];
      bool depends = k < conditional;
      for_sources(op, [&](OperandRef operand) { depends |= has(tainted, operand); });
      if (!depends) continue;
      for_results(op, [&](OperandRef operand) { tainted.push_back(operand); });
      if (op.handler != Handler::kBranch) continue;
      if (!stays(op.target) || (op.guard.exists() && !stays(pc(k) + 1))) return false;
      conditional = std::max(conditional, step(op.target));
    }
    return true;
  }
  /// From which of the loop's operations, of the rare part too, a way leads to the load.
  [[nodiscard]] std::vector<bool> leading_back() const {
    std::vector<bool> back(size_);
    back[loop_.load - loop_.begin] = true;
    for (bool more = true; more;) {
      more = false;
      for (std::uint32_t i = size_; i-- > 0;) {
        const Operation& op = code_[loop_.begin + i];
        const bool branches = op.handler == Handler::kBranch;
        const bool ends =
            !op.guard.exists() && (branches || op.handler == Handler::kExit ||
                                   op.handler == Handler::kReturn || op.handler == Handler::kTrap);
        const bool leads = (branches && inside(op.target) && back[op.target - loop_.begin]) ||
                           (!ends && i + 1 < size_ && back[i + 1]);
        more |= leads && !back[i];
        back[i] = back[i] || leads;
      }
    }
    return back;
  }

  const Operation* code_;
  const OperandRef* operands_;
  const MemoryForm* memory_;
  const SpinLoop& loop_;
  std::uint32_t size_;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> loads_;  // operations
  OperandRefs early_, surely_,
      written_;          // read before they are certainly written; certainly written; written
  OperandRefs carried_;  // from one round to the next
};

bool same_word(const MemoryForm& a, const MemoryForm& b) {
  return a.base.code == b.base.code && a.offset == b.offset && a.bytes == b.bytes && a.count == b.count &&
         a.state_space == b.state_space;
}

/// Looks for the entry of a loop with one load.
void find_entry(std::uint32_t first, SpinLoop& loop, Translation& out) {
  const MemoryForm& polled = out.memory[out.operations[loop.load].detail];
  std::vector<OperandRef> written;
  for (std::uint32_t pc = loop.begin; pc > first && loop.begin - pc < kLongestWaitLoop;) {
    const Operation& op = out.operations[--pc];
    for (unsigned i = 0; i < op.destinations; ++i) {
      const OperandRef result = out.operands[op.operands + i];
      if (result.exists()) written.push_back(result);
      if (result.exists() && result.code == polled.base.code) return;
    }
    if (op.handler == Handler::kLoad) {
      MemoryForm& form = out.memory[op.detail];
      if (!is_poll(op, form) || form.spin != 0 || !same_word(form, polled)) return;
      form.spin = polled.spin;
      loop.entry = pc;
      loop.written.insert(loop.written.end(), written.begin(), written.end());
      return;
    }
    const bool leads_on = op.handler == Handler::kBranch && op.target > pc;
    const bool computes = op.handler == Handler::kLane && !op.reads_clock;
    const bool pauses = op.handler == Handler::kNothing || op.handler == Handler::kNanosleep;
    if (!leads_on && !computes && !pauses) return;
  }
}

/// The loop whose last operation is the branch `end`, by the first of its loads for which it waits.
void find_spin_loop(std::uint32_t first, std::uint32_t end, Translation& out) {
  SpinLoop loop;
  loop.load = loop.begin = out.operations[end].target;
  loop.end = end;
  for (; loop.load < end; ++loop.load) {
    const Operation& op = out.operations[loop.load];
    if (op.handler != Handler::kLoad || !is_poll(op, out.memory[op.detail])) continue;
    if (out.memory[op.detail].spin != 0) return;
    SpinRound round(out.operations.data(), out.operands.data(), out.memory.data(), loop);
    if (!round.waits()) continue;
    if (round.rarely_paces())
      for (std::uint32_t pc = loop.begin; pc <= loop.end; ++pc)
        out.operations[pc].paces = out.operations[pc].reads_clock;
    loop.loads = round.loads();
    loop.written = round.written();
    out.spins.push_back(loop);
    for (const std::uint32_t load : {loop.loads.front(), loop.loads.back()})
      out.memory[out.operations[load].detail].spin = static_cast<std::uint32_t>(out.spins.size());
    if (loop.loads.size() == 1) find_entry(first, out.spins.back(), out);
    return;
  }
}

}  // namespace

void find_spin_loops(const FunctionCode& function, Translation& out) {
  const std::uint32_t first = function.first;
  for (std::uint32_t end = first; end < first + function.size; ++end) {
    const Operation& op = out.operations[end];
    if (op.handler != Handler::kBranch || op.target > end || op.target < first) continue;
    if (end - op.target < kLongestWaitLoop) find_spin_loop(first, end, out);
  }
}

}  // namespace lockstep::exec
