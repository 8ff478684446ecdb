#include "lower/unroll.hpp"

#include <algorithm>

#include "lower/counted_loops.hpp"
#include "lower/iterations.hpp"
#include "lower/known_bits.hpp"
#include "lower/partial_unroll.hpp"
#include "ptx/liveness.hpp"
#include "ptx/pragmas.hpp"

namespace lockstep::lower {

namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::RegisterId;

bool fits(const CountedLoop& loop, std::uint32_t instructions, unsigned arch) {
  constexpr unsigned kIgnoresNests = 90;  // and later ones
  if (loop.nested && arch < kIgnoresNests) return instructions <= kMaxInNest;
  const std::uint32_t body = instructions / loop.count;
  const std::uint32_t most = body <= kShortBody  ? kMaxOfShortAlone
                             : body <= kLongBody ? kMaxAlone
                                                 : kMaxOfLongAlone;
  return instructions <= most;
}

/// Puts all iterations in the loop's place.
void unroll_whole(Unrolled& all, const CountedLoop& loop, const Iterations& by) {
  InPlace whole;
  whole.code = by.code();
  whole.added.resize(by.code().size());
  for (std::uint32_t at = 0; at < by.code().size(); ++at) {
    const std::uint32_t from = loop.first + at % (loop.end - loop.first);
    whole.origin.push_back(all.origin[from]);
    whole.gone.push_back(by.gone()[at] || all.gone[from]);
  }
  all.function.registers = by.registers();
  replace(all, loop.first, loop.end, whole);
}

/// Moves to a register that nothing reads: what counted an unrolled loop.
void remove_unread_moves(Unrolled& all) {
  std::vector<bool> read(all.function.registers.size());
  for (const Instruction& i : all.function.instructions)
    for (const RegisterId id : ptx::register_use(i).reads) read[id] = true;
  for (std::size_t at = 0; at < all.gone.size(); ++at) {
    Instruction& i = all.function.instructions[at];
    if (i.op() != Opcode::kMov || i.guard || i.operands[0].kind != OperandKind::kRegister ||
        (i.operands[1].kind != OperandKind::kImmediate && i.operands[1].kind != OperandKind::kRegister) ||
        read[i.operands[0].reg])
      continue;
    i = nothing_of(i);
    all.gone[at] = true;
  }
}

}  // namespace

Unrolled not_unrolled(const ptx::Function& function) {
  Unrolled all{.function = function,
               .origin = std::vector<std::uint32_t>(function.instructions.size()),
               .gone = std::vector<bool>(function.instructions.size()),
               .added = std::vector<bool>(function.instructions.size()),
               .partial = {}};
  for (std::uint32_t at = 0; at < all.origin.size(); ++at) all.origin[at] = at;
  return all;
}

void replace(Unrolled& all, std::uint32_t first, std::uint32_t end, const InPlace& by) {
  const auto more = static_cast<std::uint32_t>(by.code.size()) - (end - first);
  const auto splice = [&](auto& list, const auto& with) {
    list.erase(list.begin() + first, list.begin() + end);
    list.insert(list.begin() + first, with.begin(), with.end());
  };
  splice(all.function.instructions, by.code);
  splice(all.origin, by.origin);
  splice(all.gone, by.gone);
  splice(all.added, by.added);
  for (ptx::Label& label : all.function.labels)
    if (label.instruction >= end) label.instruction += more;
}

Unrolled unroll(const ptx::Function& function, const std::vector<ptx::Variable>& variables, unsigned arch) {
  constexpr std::uint64_t kMaxCopied = 16384;  // instructions that are looked at for one loop
  Unrolled all = not_unrolled(function);
  if (std::ranges::count(function.directives.pragmas, "nounroll") > 0) return all;
  bool any = false;
  for (std::uint32_t from = 0;;) {
    const auto loop = find_counted_loop(all.function, from);
    if (!loop) break;
    from = loop->end;
    if (ptx::has_pragma(all.function, loop->first, "nounroll")) continue;
    const auto possible = possible_bits(all.function, variables);
    const std::uint64_t copied = std::uint64_t{loop->end - loop->first} * loop->count;
    if (copied > 0 && copied <= kMaxCopied) {
      const Iterations whole(all.function, *loop, loop->count, false, all.function.registers, possible);
      if (fits(*loop, whole.instructions(), arch)) {
        unroll_whole(all, *loop, whole);
        from = loop->first;
        any = true;
        continue;
      }
    }
    const auto behind = static_cast<std::uint32_t>(all.function.instructions.size()) - loop->end;
    if (!unroll_in_part(all, *loop, possible)) continue;
    from = static_cast<std::uint32_t>(all.function.instructions.size()) - behind;
    any = true;
  }
  if (any) remove_unread_moves(all);
  return all;
}

}  // namespace lockstep::lower
