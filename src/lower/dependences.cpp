#include "lower/dependences.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "ptx/liveness.hpp"

namespace lockstep::lower {

namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::Space;
using Root = Dependences::Root;

bool reads_clock(const ptx::Instruction& i) {
  return std::ranges::any_of(i.operands, [](const ptx::Operand& o) {
    return o.kind == OperandKind::kSpecial &&
           (o.special == ptx::Special::kClock || o.special == ptx::Special::kClock64 ||
            o.special == ptx::Special::kClockHi || o.special == ptx::Special::kGlobaltimer);
  });
}

/// Warp-wide instructions keep their order among themselves.
bool is_warp_wide(Opcode op) {
  switch (op) {
    case Opcode::kShfl:
    case Opcode::kVote:
    case Opcode::kMatch:
    case Opcode::kRedux:
    case Opcode::kActivemask:
    case Opcode::kElect:
      return true;
    default:
      return false;
  }
}

bool uses_carry(const ptx::Instruction& i) {
  return i.has(Mod::kCc) || i.op() == Opcode::kAddc || i.op() == Opcode::kSubc || i.op() == Opcode::kMadc;
}

struct Access {
  std::uint32_t at = 0;
  bool write = false;
  bool ordered = false;  // atomic or volatile: stays among all others of its space
  Space space{};
  std::optional<Root> root;  // nothing: unknown
  std::uint32_t version = 0;
  std::uint32_t bytes = 0;
};

Space plain(Space space) {
  return space == Space::kSharedCta || space == Space::kSharedCluster ? Space::kShared : space;
}

bool spaces_meet(Space a, Space b) {
  if (a == b) return true;
  return a == Space::kGeneric || b == Space::kGeneric;
}

bool meet(const Access& a, const Access& b) {
  if (!spaces_meet(a.space, b.space)) return false;
  if (a.ordered || b.ordered) return true;
  if (!a.write && !b.write) return false;
  if (!a.root || !b.root) return true;
  if (a.root->symbol != b.root->symbol) return true;
  if (a.root->id != b.root->id) return !a.root->symbol;
  if (a.version != b.version) return true;
  return a.root->offset < b.root->offset + std::int64_t{b.bytes} &&
         b.root->offset < a.root->offset + std::int64_t{a.bytes};
}

std::uint64_t symbol_id(const ptx::Symbol& symbol) {
  return static_cast<std::uint64_t>(symbol.kind) << 32 | symbol.id;
}

/// The access that an instruction makes, or nothing: parameters, constants and textures are never written.
std::optional<Access> access_of(const ptx::Instruction& i, const std::vector<Root>& roots) {
  Access access;
  if (keeps_order(i)) {
    access.write = access.ordered = true;
    access.space = Space::kGeneric;
    return access;
  }
  const bool load = i.op() == Opcode::kLd || i.op() == Opcode::kLdu, store = i.op() == Opcode::kSt;
  const bool atomic = i.op() == Opcode::kAtom || i.op() == Opcode::kRed;
  const bool matrix = i.op() == Opcode::kLdmatrix || i.op() == Opcode::kStmatrix ||
                      (i.op() == Opcode::kWmma && !i.has(Mod::kMma));
  const bool surface = i.op() == Opcode::kSuld || i.op() == Opcode::kSust;
  if (!load && !store && !atomic && !matrix && !surface) return std::nullopt;
  access.space = plain(i.form.space());
  if (access.space == Space::kParam || access.space == Space::kParamEntry ||
      access.space == Space::kParamFunc || access.space == Space::kConst || (load && i.has(Mod::kNc)))
    return std::nullopt;
  access.write = store || atomic || i.op() == Opcode::kStmatrix || i.op() == Opcode::kSust ||
                 (matrix && i.has(Mod::kStore));
  access.ordered =
      atomic || i.has(Mod::kVolatile) || i.has(Mod::kAcquire) || i.has(Mod::kRelease) || i.has(Mod::kRelaxed);
  access.bytes = ptx::bytes(i.form.last_type()) * std::max<unsigned>(i.form.vector, 1);
  const ptx::Operand& address = i.operands[store ? 0 : std::min<std::size_t>(1, i.operands.size() - 1)];
  if ((!load && !store) || address.kind != OperandKind::kAddress) return access;
  if (address.base == ptx::AddressBase::kRegister) {
    access.root = roots[address.reg];
    access.root->offset += address.offset;
  } else if (address.base == ptx::AddressBase::kSymbol) {
    access.root = Root{true, symbol_id(address.symbol), address.offset};
  }
  return access;
}

}  // namespace

bool keeps_order(const ptx::Instruction& i) {
  if (i.op() == Opcode::kWgmma) return i.has(Mod::kWaitGroup);
  return i.op() == Opcode::kMbarrier && (i.has(Mod::kArrive) || i.has(Mod::kArriveDrop));
}

bool keeps_its_place(const ptx::Instruction& i) {
  if (keeps_order(i)) return false;
  switch (i.op()) {
    case Opcode::kBra:
    case Opcode::kBrx:
    case Opcode::kCall:
    case Opcode::kRet:
    case Opcode::kExit:
    case Opcode::kTrap:
    case Opcode::kBar:
    case Opcode::kBarrier:
    case Opcode::kMembar:
    case Opcode::kFence:
    case Opcode::kCp:
    case Opcode::kMbarrier:
    case Opcode::kTensormap:
    case Opcode::kNanosleep:
    case Opcode::kWgmma:
    case Opcode::kGriddepcontrol:
    case Opcode::kSetmaxnreg:
    case Opcode::kAlloca:
    case Opcode::kStacksave:
    case Opcode::kStackrestore:
    case Opcode::kTcgen05:
    case Opcode::kMultimem:
    case Opcode::kClusterlaunchcontrol:
    case Opcode::kBrkpt:
    case Opcode::kPmevent:
    case Opcode::kDiscard:
      return true;
    default:
      return reads_clock(i);
  }
}

std::vector<Root> address_roots(const ptx::Function& function) {
  std::vector<std::uint32_t> writes(function.registers.size());
  for (const auto& i : function.instructions)
    for (const ptx::RegisterId id : ptx::register_use(i).writes) ++writes[id];
  std::vector<Root> roots(function.registers.size());
  for (ptx::RegisterId id = 0; id < roots.size(); ++id) roots[id].id = id;
  for (const auto& i : function.instructions) {
    if (i.guard || i.operands.size() < 2 || i.operands[0].kind != OperandKind::kRegister) continue;
    const ptx::RegisterId to = i.operands[0].reg;
    const ptx::Operand& from = i.operands[1];
    if (writes[to] != 1) continue;
    const bool copy = i.op() == Opcode::kMov || i.op() == Opcode::kCvta;
    const bool sum = i.op() == Opcode::kAdd && i.operands.size() == 3 &&
                     i.operands[2].kind == OperandKind::kImmediate && !ptx::is_float(i.form.type());
    if (!copy && !sum) continue;
    if (from.kind == OperandKind::kSymbol && copy) {
      roots[to] = {true, symbol_id(from.symbol), from.offset};
    } else if (from.kind == OperandKind::kRegister && (writes[from.reg] == 1 || roots[from.reg].symbol)) {
      roots[to] = roots[from.reg];
      if (sum) roots[to].offset += static_cast<std::int64_t>(i.operands[2].bits);
    }
  }
  return roots;
}

std::vector<ptx::RegisterId> product_registers(const ptx::Function& function) {
  std::set<ptx::RegisterId> all;
  for (const ptx::Instruction& i : function.instructions) {
    if (i.op() != Opcode::kWgmma) continue;
    const ptx::RegisterUse use = ptx::register_use(i);
    all.insert(use.reads.begin(), use.reads.end());
    all.insert(use.writes.begin(), use.writes.end());
  }
  return {all.begin(), all.end()};
}

Dependences::Dependences(const ptx::Function& function, const std::vector<Root>& roots,
                         const std::vector<ptx::RegisterId>& products, std::uint32_t first, std::uint32_t end)
    : after_(end - first) {
  registers(function, products, first);
  memory(function, roots, first);
}

void Dependences::registers(const ptx::Function& function, const std::vector<ptx::RegisterId>& products,
                            std::uint32_t first) {
  constexpr std::uint32_t kNone = ~0u;
  struct Last {
    std::uint32_t write = kNone;
    std::vector<std::uint32_t> reads;
  };
  const auto carry = static_cast<ptx::RegisterId>(function.registers.size()), wide = carry + 1;
  std::map<ptx::RegisterId, Last> last;
  for (std::uint32_t at = 0; at < after_.size(); ++at) {
    const ptx::Instruction& i = function.instructions[first + at];
    ptx::RegisterUse use = ptx::register_use(i);
    if (uses_carry(i)) use.reads.push_back(carry), use.writes.push_back(carry);
    if (is_warp_wide(i.op())) use.writes.push_back(wide);
    if (i.op() == Opcode::kWgmma)  // a wait
      use.writes.insert(use.writes.end(), products.begin(), products.end());
    for (const ptx::RegisterId id : use.reads)
      if (Last& l = last[id]; l.write != kNone) add(l.write, at, true);
    for (const ptx::RegisterId id : use.writes) {
      Last& l = last[id];
      if (l.write != kNone) add(l.write, at, false);
      for (const std::uint32_t reader : l.reads) add(reader, at, false);
      l.reads.clear();
      l.write = at;
    }
    for (const ptx::RegisterId id : use.reads)
      if (Last& l = last[id]; l.write != at) l.reads.push_back(at);
  }
}

void Dependences::memory(const ptx::Function& function, const std::vector<Root>& roots, std::uint32_t first) {
  std::map<std::uint64_t, std::uint32_t> versions;  // writes so far in this run, by register
  std::vector<Access> accesses;
  for (std::uint32_t at = 0; at < after_.size(); ++at) {
    const ptx::Instruction& i = function.instructions[first + at];
    if (auto access = access_of(i, roots)) {
      access->at = at;
      if (access->root && !access->root->symbol) access->version = versions[access->root->id];
      for (const Access& earlier : accesses)
        if (meet(earlier, *access)) add(earlier.at, at, false);
      accesses.push_back(*access);
    }
    for (const ptx::RegisterId id : ptx::register_use(i).writes) ++versions[id];
  }
}

}  // namespace lockstep::lower
