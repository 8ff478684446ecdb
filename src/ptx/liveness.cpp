#include "ptx/liveness.hpp"

#include <algorithm>

#include "ptx/dominators.hpp"
#include "util/error.hpp"

namespace lockstep::ptx {
namespace {

/// Most pairs of a block and a register that is live at its end that a function may have (4 bytes each).
constexpr std::size_t kMaxLiveEntries = std::size_t{1} << 28;

void add_once(std::vector<RegisterId>& list, RegisterId id) {
  if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
}

void add_registers(std::vector<RegisterId>& list, const Operand& o) {
  if (o.kind == OperandKind::kRegister ||
      (o.kind == OperandKind::kAddress && o.base == AddressBase::kRegister))
    add_once(list, o.reg);
  for (const Operand& element : o.elements) add_registers(list, element);
}

bool may_be_written(const Operand& o) {
  switch (o.kind) {
    case OperandKind::kRegister:
    case OperandKind::kVector:
    case OperandKind::kPair:
    case OperandKind::kList:
      return true;
    default:
      return false;
  }
}

/// What one block needs at its beginning, and what it writes.
struct BlockUse {
  std::vector<RegisterId> needs, writes;
};

BlockUse block_use(const Function& f, const Block& block, std::vector<std::uint32_t>& written,
                   std::uint32_t stamp, std::vector<std::uint32_t>& needed) {
  BlockUse use;
  for (std::uint32_t i = block.first; i < block.end; ++i) {
    const RegisterUse r = register_use(f.instructions[i]);
    for (const RegisterId id : r.reads) {
      if (written[id] == stamp || needed[id] == stamp) continue;
      needed[id] = stamp;
      use.needs.push_back(id);
    }
    for (const RegisterId id : r.writes) {
      if (written[id] == stamp) continue;
      written[id] = stamp;
      use.writes.push_back(id);
    }
  }
  return use;
}

/// Spreads each register in turn from the blocks that need it backwards to those that write it, so the work
/// is that of the result.
class Spread {
 public:
  Spread(const Function& f, const ControlFlow& flow)
      : blocks_(flow.blocks()),
        predecessors_(blocks_.size()),
        needs_(f.registers.size()),
        writes_(f.registers.size()),
        at_end_(blocks_.size()),
        at_start_(blocks_.size()),
        written_(blocks_.size()) {
    std::vector<std::uint32_t> written(f.registers.size()), needed(f.registers.size());
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      if (!blocks_[b].reachable) continue;
      for (const std::uint32_t s : blocks_[b].successors) predecessors_[s].push_back(b);
      const BlockUse use = block_use(f, blocks_[b], written, b + 1, needed);
      for (const RegisterId id : use.needs) needs_[id].push_back(b);
      for (const RegisterId id : use.writes) writes_[id].push_back(b);
    }
  }

  std::vector<std::vector<RegisterId>> run(const Function& f) {
    std::vector<std::vector<RegisterId>> live_out(blocks_.size());
    for (RegisterId id = 0; id < needs_.size(); ++id) spread(id, live_out, f);
    return live_out;
  }

 private:
  void spread(RegisterId id, std::vector<std::vector<RegisterId>>& live_out, const Function& f) {
    const std::uint32_t stamp = id + 1;
    for (const std::uint32_t b : writes_[id]) written_[b] = stamp;
    todo_ = needs_[id];
    for (const std::uint32_t b : todo_) at_start_[b] = stamp;
    while (!todo_.empty()) {
      const std::uint32_t b = todo_.back();
      todo_.pop_back();
      for (const std::uint32_t p : predecessors_[b]) {
        if (at_end_[p] == stamp) continue;
        at_end_[p] = stamp;
        live_out[p].push_back(id);
        if (++entries_ > kMaxLiveEntries)
          throw UserError("function " + f.name +
                          " has too many registers and branches to find which are live where");
        if (written_[p] == stamp || at_start_[p] == stamp) continue;
        at_start_[p] = stamp;
        todo_.push_back(p);
      }
    }
  }

  std::span<const Block> blocks_;
  Graph predecessors_;
  std::vector<std::vector<std::uint32_t>> needs_, writes_;  // blocks by register
  std::vector<std::uint32_t> at_end_, at_start_, written_;  // by block: stamp of the register at hand
  std::vector<std::uint32_t> todo_;
  std::size_t entries_ = 0;
};

/// The live registers while walking backwards through a block.
class LiveSet {
 public:
  explicit LiveSet(const Function& f) : f_(f), live_(f.registers.size()) {}

  [[nodiscard]] Pressure pressure() const { return pressure_; }
  void add(RegisterId id) {
    if (live_[id]) return;
    live_[id] = 1;
    members_.push_back(id);
    count(id, 1);
  }
  void remove(RegisterId id) {
    if (!live_[id]) return;
    live_[id] = 0;
    count(id, ~std::uint32_t{0});
  }
  void clear() {
    for (const RegisterId id : members_) remove(id);
    members_.clear();
  }
  /// Ascending.
  [[nodiscard]] std::vector<RegisterId> list() const {
    std::vector<RegisterId> out;
    for (const RegisterId id : members_) {
      if (live_[id]) out.push_back(id);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

 private:
  void count(RegisterId id, std::uint32_t times) {
    const Pressure p = pressure_of(f_.registers[id].type);
    pressure_.words += times * p.words;
    pressure_.predicates += times * p.predicates;
  }

  const Function& f_;
  std::vector<std::uint8_t> live_;
  std::vector<RegisterId> members_;  // may name what is live no more, or one twice
  Pressure pressure_;
};

Pressure larger(Pressure a, Pressure b) {
  return {std::max(a.words, b.words), std::max(a.predicates, b.predicates)};
}

}  // namespace

RegisterUse register_use(const Instruction& i) {
  RegisterUse use;
  if (i.guard) add_once(use.reads, i.guard->reg);
  const std::size_t written = destination_count(i.form);
  for (std::size_t k = 0; k < i.operands.size(); ++k) {
    const bool result = i.op() == Opcode::kCall ? k == 1 : k < written;
    const bool writes = result && may_be_written(i.operands[k]);
    add_registers(writes ? use.writes : use.reads, i.operands[k]);
  }
  // Accumulators are updated in place; lanes that a guard leaves out keep the old value.
  if ((i.guard && !i.guard->whole) || i.op() == Opcode::kWgmma) {
    for (const RegisterId id : use.writes) add_once(use.reads, id);
  }
  return use;
}

Pressure pressure_of(Type type) {
  if (type == Type::kPred) return {0, 1};
  return {std::max(1u, bits(type) / 32), 0};
}

Liveness::Liveness(const Function& function, const ControlFlow& flow)
    : function_(&function),
      flow_(&flow),
      live_out_(Spread(function, flow).run(function)),
      ranges_(function.registers.size()),
      pressure_(function.instructions.size()) {
  LiveSet live(function);
  for (std::uint32_t b = 0; b < live_out_.size(); ++b) {
    const Block& block = flow.blocks()[b];
    if (!block.reachable) continue;
    for (const RegisterId id : live_out_[b]) {
      live.add(id);
      ranges_[id].extend(block.end - 1);
    }
    for (std::uint32_t i = block.end; i-- > block.first;) {
      const RegisterUse use = register_use(function.instructions[i]);
      for (const RegisterId id : use.writes) live.add(id);
      for (const RegisterId id : use.writes) ranges_[id].extend(i);
      for (const RegisterId id : use.reads) ranges_[id].extend(i);
      const Pressure after = live.pressure();
      for (const RegisterId id : use.writes) live.remove(id);
      for (const RegisterId id : use.reads) live.add(id);
      pressure_[i] = larger(after, live.pressure());
      max_ = larger(max_, pressure_[i]);
    }
    for (const RegisterId id : live.list()) ranges_[id].extend(block.first);
    live.clear();
  }
}

std::vector<RegisterId> Liveness::live_before(std::uint32_t instruction) const {
  const std::uint32_t b = flow_->block_of(instruction);
  const Block& block = flow_->blocks()[b];
  LiveSet live(*function_);
  if (!block.reachable) return {};
  for (const RegisterId id : live_out_[b]) live.add(id);
  for (std::uint32_t i = block.end; i-- > instruction;) {
    const RegisterUse use = register_use(function_->instructions[i]);
    for (const RegisterId id : use.writes) live.remove(id);
    for (const RegisterId id : use.reads) live.add(id);
  }
  return live.list();
}

}  // namespace lockstep::ptx
