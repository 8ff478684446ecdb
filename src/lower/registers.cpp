#include "lower/registers.hpp"

#include <algorithm>
#include <set>

#include "lower/constants.hpp"
#include "lower/live_points.hpp"
#include "ptx/control_flow.hpp"

namespace lockstep::lower {

namespace {

constexpr std::uint32_t kNoGroup = ~0u;
/// Instructions for which a register rests where others are free; assumed: the longest fixed-latency result.
constexpr std::uint32_t kRest = 8;

bool is_register_copy(const ptx::Instruction& i) {
  return i.op() == ptx::Opcode::kMov && !i.guard && i.operands.size() == 2 &&
         i.operands[0].kind == ptx::OperandKind::kRegister &&
         i.operands[1].kind == ptx::OperandKind::kRegister;
}

/// Conversions to and from generic addresses do nothing but copy.
bool is_address_copy(const ptx::Instruction& i) {
  return i.op() == ptx::Opcode::kCvta && !i.guard && i.operands.size() == 2 &&
         i.operands[1].kind == ptx::OperandKind::kRegister;
}

/// What is live before each instruction of a block, and after its last.
class BlockLiveness {
 public:
  BlockLiveness(const ptx::Function& function, const ptx::ControlFlow& flow, const ptx::Liveness& liveness,
                const ptx::Block& block)
      : first_(block.first), live_(block.end - block.first + 1) {
    std::set<ptx::RegisterId> now;
    for (const std::uint32_t next : block.successors)
      for (const ptx::RegisterId id : liveness.live_before(flow.blocks()[next].first)) now.insert(id);
    live_.back().assign(now.begin(), now.end());
    for (std::uint32_t at = block.end; at-- > block.first;) {
      const auto use = ptx::register_use(function.instructions[at]);
      for (const ptx::RegisterId id : use.writes) now.erase(id);
      for (const ptx::RegisterId id : use.reads) now.insert(id);
      live_[at - first_].assign(now.begin(), now.end());
    }
  }
  [[nodiscard]] bool before(std::uint32_t at, ptx::RegisterId id) const {
    return std::ranges::binary_search(live_[at - first_], id);
  }
  /// The move at `at` ends a value that was made in this block while `to` held none.
  [[nodiscard]] bool makes_and_ends(std::uint32_t at, ptx::RegisterId from, ptx::RegisterId to) const {
    if (before(at + 1, from)) return false;
    std::uint32_t made = at;  // just after the instruction that makes `from`
    while (made > first_ && before(made, from) && !before(made, to)) --made;
    return !before(made, from) && !before(made + 1, to);
  }

 private:
  std::uint32_t first_;
  std::vector<std::vector<ptx::RegisterId>> live_;
};

/// Its machine instruction has a mask of the components that it writes, to a pair of registers each two.
bool has_mask(const ptx::Instruction& i) {
  return i.op() == ptx::Opcode::kTex || i.op() == ptx::Opcode::kTld4;
}

/// Registers that a move copies from or to.
std::vector<bool> moved(const ptx::Function& function) {
  std::vector<bool> found(function.registers.size());
  for (const ptx::Instruction& i : function.instructions)
    if (is_register_copy(i) || is_address_copy(i)) found[i.operands[0].reg] = found[i.operands[1].reg] = true;
  return found;
}

}  // namespace

RegisterAssignment::RegisterAssignment(const ptx::Function& function, unsigned target, Passes passes,
                                       const Folded& folded, Holes holes)
    : alias_(function.registers.size()),
      part_(function.registers.size()),
      intervals_(function.registers.size()),
      place_(function.registers.size(), kNoRegister),
      group_of_(function.registers.size(), kNoGroup),
      folded_(function.instructions.size(), false),
      constant_(passes.constants ? constant_operands(function, passes.integers)
                                 : std::vector<bool>(function.registers.size())),
      target_(target),
      rest_(passes.rest) {
  for (ptx::RegisterId id = 0; id < alias_.size(); ++id) {
    alias_[id] = id;
    intervals_[id].words = constant_[id] ? 0 : ptx::pressure_of(function.registers[id].type).words;
  }
  for (std::uint32_t at = 0; at < function.instructions.size(); ++at)
    if (folded.fusions.gone(at)) intervals_[function.instructions[at].operands[0].reg].words = 0;
  fold_addresses(folded.addresses, function);
  const ptx::ControlFlow flow(function);
  const ptx::Liveness liveness(function, flow);
  if (passes.fusion) {
    fold_moves(function, flow, liveness, passes.integers);
    fold_halves(function);
    if (passes.integers) fold_extensions(function);
  }
  measure(function, flow, liveness, folded.fusions);
  if (holes == Holes::kUsed) find_ranges(function, flow, liveness, folded.fusions);
  mask_components(function);
  group_vectors(function);
  if (passes.setup) busy_until_[kStackPointer] = ~0u;
  if (passes.setup && !ranges_.empty())
    taken_[kStackPointer].take({0, static_cast<std::uint32_t>(function.instructions.size())});
  scan();
}

ptx::RegisterId RegisterAssignment::root(ptx::RegisterId id) const {
  while (alias_[id] != id) id = alias_[id];
  return id;
}

std::uint8_t RegisterAssignment::operator[](ptx::RegisterId id) const {
  unsigned part = 0;
  for (; alias_[id] != id; id = alias_[id]) part += part_[id];
  return place_[id] == kNoRegister ? kNoRegister : static_cast<std::uint8_t>(place_[id] + part);
}

std::vector<HeldRegisters> RegisterAssignment::held() const {
  std::vector<HeldRegisters> all;
  if (busy_until_[kStackPointer] == ~0u) all.push_back({0, ~0u - 1, kStackPointer, 1});
  for (ptx::RegisterId id = 0; id < place_.size(); ++id) {
    if (place_[id] == kNoRegister) continue;
    const Interval& interval = intervals_[id];
    if (ranges_.empty())
      all.push_back({interval.first, interval.last, place_[id], interval.words});
    else
      for (const HeldRange& range : ranges_[id])
        all.push_back({range.first, range.last, place_[id], interval.words});
  }
  return all;
}

void RegisterAssignment::fold_addresses(const std::vector<FoldedAddress>& addresses,
                                        const ptx::Function& function) {
  for (const FoldedAddress& address : addresses) {
    alias_[function.instructions[address.at].operands[0].reg] = address.from;
    folded_[address.at] = true;
  }
}

/// In one block: the copy d <- s can share a register when s was made in this block, dies in the copy, and d
/// is not live in between, nor anywhere else together with s; neither with what shares a register with them
/// already. With `copies` also when each is written once, as they are the same then.
void RegisterAssignment::fold_moves(const ptx::Function& function, const ptx::ControlFlow& flow,
                                    const ptx::Liveness& liveness, bool copies) {
  const UseCounts uses(function);
  LivePoints points(function, flow, liveness, moved(function));
  std::vector<bool> mixed(function.registers.size());  // by root: its registers hold several values
  for (const ptx::Block& block : flow.blocks()) {
    if (!block.reachable) continue;
    const BlockLiveness live(function, flow, liveness, block);
    for (std::uint32_t at = block.first; at < block.end; ++at) {
      const ptx::Instruction& move = function.instructions[at];
      if (!is_register_copy(move) && !is_address_copy(move)) continue;
      const ptx::RegisterId to = move.operands[0].reg, from = move.operands[1].reg;
      if (intervals_[to].words == 0 || intervals_[to].words != intervals_[from].words) continue;
      const ptx::RegisterId shares = root(from), with = root(to);
      if (shares == with) continue;
      const bool same = copies && uses.writes[to] == 1 && uses.writes[from] == 1 && with == to &&
                        shares == from && !mixed[to] && !mixed[from];
      if (!same && !(live.makes_and_ends(at, from, to) && points.apart(shares, with))) continue;
      mixed[with] = mixed[with] || mixed[shares] || !same;
      points.join(shares, with);
      alias_[shares] = with;
      folded_[at] = true;
    }
  }
}

std::vector<std::uint32_t> RegisterAssignment::writes_of_roots(const ptx::Function& function) const {
  std::vector<std::uint32_t> writes(function.registers.size());
  for (const auto& i : function.instructions)
    for (const ptx::RegisterId id : ptx::register_use(i).writes) ++writes[root(id)];
  return writes;
}

/// cvt.s64.s32 d, a and cvt.s32.s64 a, d: a is the low half of d.
void RegisterAssignment::fold_extensions(const ptx::Function& function) {
  const auto writes = writes_of_roots(function);
  ptx::Operand nothing;
  nothing.kind = ptx::OperandKind::kSink;
  for (std::uint32_t at = 0; at < function.instructions.size(); ++at) {
    const ptx::Instruction& i = function.instructions[at];
    if (i.op() != ptx::Opcode::kCvt || i.guard || i.operands.size() != 2 || folded_[at]) continue;
    if (i.operands[0].kind != ptx::OperandKind::kRegister ||
        i.operands[1].kind != ptx::OperandKind::kRegister)
      continue;
    const ptx::Type to = i.form.type(), from = i.form.last_type();
    if (ptx::is_float(to) || ptx::is_float(from)) continue;
    const bool extends = ptx::bits(to) == 64 && ptx::bits(from) == 32;
    if (!extends && (ptx::bits(to) != 32 || ptx::bits(from) != 64)) continue;
    const ptx::Operand &whole = i.operands[extends ? 0 : 1], &half = i.operands[extends ? 1 : 0];
    const bool shared = share_halves(root(whole.reg), {half, nothing}, writes);
    folded_[at] = shared && !extends;
  }
}

/// mov.b64 {a, b}, d and mov.b64 d, {a, b}.
void RegisterAssignment::fold_halves(const ptx::Function& function) {
  const auto writes = writes_of_roots(function);
  for (std::uint32_t at = 0; at < function.instructions.size(); ++at) {
    const ptx::Instruction& i = function.instructions[at];
    if (i.op() != ptx::Opcode::kMov || i.guard || i.operands.size() != 2 || folded_[at]) continue;
    const bool takes_out = i.operands[0].kind == ptx::OperandKind::kVector;
    const ptx::Operand &vector = i.operands[takes_out ? 0 : 1], &scalar = i.operands[takes_out ? 1 : 0];
    if (vector.kind != ptx::OperandKind::kVector || scalar.kind != ptx::OperandKind::kRegister) continue;
    folded_[at] = share_halves(root(scalar.reg), vector.elements, writes);
  }
}

/// False, and nothing done, where one of them cannot share.
bool RegisterAssignment::share_halves(ptx::RegisterId whole, const std::vector<ptx::Operand>& halves,
                                      const std::vector<std::uint32_t>& writes) {
  if (intervals_[whole].words != 2 || writes[whole] != 1 || halves.size() != 2) return false;
  for (const ptx::Operand& half : halves) {
    if (half.kind == ptx::OperandKind::kSink) continue;
    if (half.kind != ptx::OperandKind::kRegister) return false;
    const ptx::RegisterId id = root(half.reg);
    if (intervals_[id].words != 1 || writes[id] != 1) return false;
  }
  if (halves[0].kind == halves[1].kind && root(halves[0].reg) == root(halves[1].reg)) return false;
  for (std::uint8_t part = 0; part < 2; ++part) {
    if (halves[part].kind == ptx::OperandKind::kSink) continue;
    const ptx::RegisterId id = root(halves[part].reg);
    alias_[id] = whole;
    part_[id] = part;
  }
  return true;
}

void RegisterAssignment::measure(const ptx::Function& function, const ptx::ControlFlow& flow,
                                 const ptx::Liveness& liveness, const Fusions& fusions) {
  const auto reach = [&](ptx::RegisterId id, std::uint32_t at) {
    Interval& interval = intervals_[root(id)];
    interval.first = std::min(interval.first, at);
    interval.last = std::max(interval.last, at);
  };
  for (const ptx::Block& block : flow.blocks()) {
    if (!block.reachable || block.first == block.end) continue;
    for (const ptx::RegisterId id : liveness.live_before(block.first)) reach(id, block.first);
    for (const std::uint32_t next : block.successors)
      for (const ptx::RegisterId id : liveness.live_before(flow.blocks()[next].first)) reach(id, block.end);
    for (std::uint32_t at = block.first; at < block.end; ++at) {
      const auto use = ptx::register_use(function.instructions[at]);
      for (const ptx::RegisterId id : use.reads) reach(id, at);
      for (const ptx::RegisterId id : use.writes) reach(id, at + 1);
      if (const Fused* fused = fusions.at(at))
        for (const ptx::RegisterId id : ptx::register_use(function.instructions[fused->producer]).reads)
          reach(id, at);
    }
  }
}

void RegisterAssignment::find_ranges(const ptx::Function& function, const ptx::ControlFlow& flow,
                                     const ptx::Liveness& liveness, const Fusions& fusions) {
  std::vector<ptx::RegisterId> roots(alias_.size());
  std::vector<bool> whole(alias_.size());
  for (ptx::RegisterId id = 0; id < alias_.size(); ++id) {
    roots[id] = root(id);
    whole[id] = ptx::pressure_of(function.registers[id].type).words == intervals_[roots[id]].words;
  }
  ranges_ = held_ranges(function, flow, liveness, fusions, roots, whole);
  taken_.resize(kMaxRegisters);
}

/// Components of a texel that nothing reads take no register.
void RegisterAssignment::mask_components(const ptx::Function& function) {
  std::vector<bool> read(function.registers.size());
  for (const ptx::Instruction& i : function.instructions)
    for (const ptx::RegisterId id : ptx::register_use(i).reads) read[root(id)] = true;
  for (const ptx::Instruction& i : function.instructions) {
    if (!has_mask(i) || i.operands[0].kind != ptx::OperandKind::kVector) continue;
    for (const ptx::Operand& component : i.operands[0].elements)
      if (component.kind == ptx::OperandKind::kRegister && !read[root(component.reg)])
        intervals_[root(component.reg)].words = 0;
  }
}

void RegisterAssignment::group_vectors(const ptx::Function& function) {
  for (const ptx::Instruction& instruction : function.instructions) {
    for (const ptx::Operand& operand : instruction.operands) {
      if (operand.kind != ptx::OperandKind::kVector) continue;
      std::vector<ptx::RegisterId> members;
      for (const ptx::Operand& element : operand.elements)
        if (element.kind == ptx::OperandKind::kRegister) members.push_back(root(element.reg));
      if (!has_mask(instruction) || &operand != &instruction.operands[0]) {
        group(members);
        continue;
      }
      std::erase_if(members, [this](auto id) { return intervals_[id].words == 0; });
      for (std::size_t m = 0; m + 1 < members.size(); m += 2) group({members[m], members[m + 1]});
    }
  }
}

/// Registers of a vector follow one another where none of them belongs to another vector.
void RegisterAssignment::group(std::vector<ptx::RegisterId> members) {
  const bool free = std::ranges::all_of(
      members, [this](auto id) { return group_of_[id] == kNoGroup && intervals_[id].words > 0; });
  auto sorted = members;
  std::ranges::sort(sorted);
  const bool distinct = std::ranges::adjacent_find(sorted) == sorted.end();
  if (!free || !distinct || members.size() < 2) return;
  for (const ptx::RegisterId id : members) group_of_[id] = static_cast<std::uint32_t>(groups_.size());
  groups_.push_back({std::move(members)});
}

void RegisterAssignment::scan() {
  std::vector<ptx::RegisterId> order;
  for (ptx::RegisterId id = 0; id < alias_.size(); ++id)
    if (alias_[id] == id && intervals_[id].words > 0 && intervals_[id].first != ~0u) order.push_back(id);
  std::ranges::stable_sort(order, {}, [this](ptx::RegisterId id) { return intervals_[id].first; });
  for (const ptx::RegisterId id : order)
    if (place_[id] == kNoRegister) place(id, intervals_[id].first);
}

void RegisterAssignment::place(ptx::RegisterId id, std::uint32_t at) {
  const auto free_since = [&](unsigned first, unsigned words, std::uint32_t since) {
    return std::all_of(busy_until_.begin() + first, busy_until_.begin() + first + words,
                       [since](std::uint32_t until) { return until <= since; });
  };
  const auto find = [&](const std::vector<ptx::RegisterId>& members, unsigned words, unsigned align) {
    if (!ranges_.empty()) return find_in_holes(members, words, align);
    for (unsigned first = 0; rest_ && first + words <= std::min(target_, kMaxRegisters); first += align)
      if (free_since(first, words, at < kRest ? 0 : at - kRest)) return first;
    for (unsigned first = 0; first + words <= kMaxRegisters; first += align)
      if (free_since(first, words, at)) return first;
    return 0u;  // more values than registers: a spill's place is not modelled
  };
  const auto aligned = [](unsigned words) { return words <= 1 ? 1u : words == 2 ? 2u : 4u; };
  if (group_of_[id] == kNoGroup)
    return take(id, find({id}, intervals_[id].words, aligned(intervals_[id].words)));
  Group& group = groups_[group_of_[id]];
  unsigned words = 0;
  for (const ptx::RegisterId member : group.members) words += intervals_[member].words;
  unsigned first = find(group.members, words, aligned(words));
  for (const ptx::RegisterId member : group.members) {
    take(member, first);
    first += intervals_[member].words;
  }
}

/// The first registers that hold nothing wherever one of the members does.
unsigned RegisterAssignment::find_in_holes(const std::vector<ptx::RegisterId>& members, unsigned words,
                                           unsigned align) const {
  const auto is_free = [&](unsigned at) {
    for (const ptx::RegisterId id : members)
      for (unsigned w = 0; w < intervals_[id].words; ++w, ++at)
        if (std::ranges::any_of(ranges_[id], [&](HeldRange range) { return taken_[at].overlaps(range); }))
          return false;
    return true;
  };
  for (unsigned first = 0; first + words <= kMaxRegisters; first += align)
    if (is_free(first)) return first;
  return 0;
}

void RegisterAssignment::take(ptx::RegisterId id, unsigned at) {
  place_[id] = static_cast<std::uint8_t>(at);
  for (unsigned i = 0; i < intervals_[id].words; ++i) {
    busy_until_[at + i] = std::max(busy_until_[at + i], intervals_[id].last + 1);
    if (!ranges_.empty())
      for (const HeldRange& range : ranges_[id]) taken_[at + i].take(range);
  }
  used_ = std::max(used_, at + intervals_[id].words);
}

}  // namespace lockstep::lower
