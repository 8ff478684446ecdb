#include "ptx/control_flow.hpp"

#include <algorithm>

#include "ptx/dominators.hpp"

namespace lockstep::ptx {
namespace {

enum class Ending : std::uint8_t { kNone, kBranch, kTable, kExit };

Ending ending(const Instruction& i) {
  switch (i.op()) {
    case Opcode::kBra:
      return Ending::kBranch;
    case Opcode::kBrx:
      return Ending::kTable;
    case Opcode::kRet:
    case Opcode::kExit:
    case Opcode::kTrap:
      return Ending::kExit;
    default:
      return Ending::kNone;
  }
}

/// Instructions that an ending instruction may go to, apart from the next one.
std::vector<std::uint32_t> targets(const Function& f, const Instruction& i) {
  std::vector<std::uint32_t> to;
  if (ending(i) == Ending::kBranch) to.push_back(f.labels[i.operands[0].index].instruction);
  if (ending(i) == Ending::kTable) {
    for (const std::uint32_t label : f.branch_tables[i.operands[1].index].labels)
      to.push_back(f.labels[label].instruction);
  }
  return to;
}

std::vector<std::uint8_t> find_leaders(const Function& f) {
  std::vector<std::uint8_t> leader(f.instructions.size() + 1);
  leader[0] = 1;
  for (std::size_t i = 0; i < f.instructions.size(); ++i) {
    if (ending(f.instructions[i]) == Ending::kNone) continue;
    leader[i + 1] = 1;
    if (ending(f.instructions[i]) == Ending::kBranch)
      leader[f.labels[f.instructions[i].operands[0].index].instruction] = 1;
  }
  for (const BranchTable& table : f.branch_tables) {
    for (const std::uint32_t label : table.labels) leader[f.labels[label].instruction] = 1;
  }
  return leader;
}

/// Who follows each block. A table may name a block many times: `seen` keeps the last block that listed it.
void link_blocks(const Function& f, const std::vector<std::uint32_t>& block_of, std::vector<Block>& blocks) {
  std::vector<std::uint32_t> seen(blocks.size(), ControlFlow::kAtExit);
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    Block& block = blocks[b];
    const Instruction& last = f.instructions[block.end - 1];
    const Ending how = ending(last);
    block.exits = how == Ending::kExit;
    std::vector<std::uint32_t> next = targets(f, last);
    const bool falls_through = how == Ending::kNone || last.guard;
    if (falls_through && block.end < f.instructions.size()) next.insert(next.begin(), block.end);
    for (const std::uint32_t instruction : next) {
      const std::uint32_t to = block_of[instruction];
      if (seen[to] == b) continue;
      seen[to] = b;
      block.successors.push_back(to);
    }
  }
}

void mark_reachable(std::vector<Block>& blocks) {
  if (blocks.empty()) return;
  std::vector<std::uint32_t> todo{0};
  blocks[0].reachable = true;
  while (!todo.empty()) {
    const std::uint32_t b = todo.back();
    todo.pop_back();
    for (const std::uint32_t s : blocks[b].successors) {
      if (blocks[s].reachable) continue;
      blocks[s].reachable = true;
      todo.push_back(s);
    }
  }
}

/// Post-dominators are the dominators of the graph turned around, from one node behind all exits.
std::vector<std::uint32_t> find_post_dominators(const std::vector<Block>& blocks) {
  const auto exit = static_cast<std::uint32_t>(blocks.size());
  Graph backwards(blocks.size() + 1);
  for (std::uint32_t b = 0; b < exit; ++b) {
    for (const std::uint32_t s : blocks[b].successors) backwards[s].push_back(b);
    if (blocks[b].exits) backwards[exit].push_back(b);
  }
  std::vector<std::uint32_t> dominators = immediate_dominators(backwards, exit);
  dominators.pop_back();
  for (std::uint32_t& d : dominators) {
    if (d == exit || d == kNoNode) d = ControlFlow::kAtExit;
  }
  return dominators;
}

}  // namespace

ControlFlow::ControlFlow(const Function& f) : block_of_(f.instructions.size()) {
  const std::vector<std::uint8_t> leader = find_leaders(f);
  const auto size = static_cast<std::uint32_t>(f.instructions.size());
  for (std::uint32_t i = 0; i < size; ++i) {
    if (leader[i]) blocks_.push_back({.first = i, .end = i, .successors = {}});
    blocks_.back().end = i + 1;
    block_of_[i] = static_cast<std::uint32_t>(blocks_.size() - 1);
  }
  link_blocks(f, block_of_, blocks_);
  mark_reachable(blocks_);
  post_dominators_ = find_post_dominators(blocks_);
}

std::uint32_t ControlFlow::reconvergence(std::uint32_t instruction) const {
  const std::uint32_t block = post_dominators_[block_of_[instruction]];
  return block == kAtExit ? kAtExit : blocks_[block].first;
}

}  // namespace lockstep::ptx
