#include "lower/merge.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "lower/dependences.hpp"
#include "lower/iterations.hpp"
#include "lower/known_bits.hpp"
#include "lower/linear_values.hpp"
#include "lower/schedule.hpp"
#include "lower/unroll.hpp"
#include "ptx/control_flow.hpp"
#include "ptx/liveness.hpp"

namespace lockstep::lower {

namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::RegisterId;
using Root = Dependences::Root;

constexpr std::int64_t kWord = 4, kPair = 8, kQuad = 16;  // bytes

struct Member {
  std::uint32_t at = 0;
  std::int64_t offset = 0;  // from the root
};

/// Accesses of one kind within kQuad aligned bytes.
struct Window {
  bool store = false;
  ptx::Space space{};
  Root root;  // its offset: where the window begins
  std::uint32_t version = 0;
  std::int64_t element = 0;  // bytes
  std::int64_t aligned = 0;  // bytes to which the root is aligned
  std::vector<Member> members;
  bool open = true;
};

bool is_memory_operation(const Instruction& i) {
  switch (i.op()) {
    case Opcode::kLd:
    case Opcode::kLdu:
    case Opcode::kSt:
    case Opcode::kAtom:
    case Opcode::kRed:
    case Opcode::kLdmatrix:
    case Opcode::kStmatrix:
    case Opcode::kWmma:
      return true;
    default:
      return false;
  }
}

bool is_own_shared(ptx::Space space) {
  return space == ptx::Space::kShared || space == ptx::Space::kSharedCta;
}

class Merger {
 public:
  Merger(Predicated& shape, const std::vector<ptx::Variable>& variables)
      : shape_(shape),
        variables_(variables),
        possible_(possible_bits(shape.function, variables)),
        roots_(address_roots(shape.function)),
        touched_(shape.function.registers.size()),
        written_(shape.function.registers.size()),
        versions_(shape.function.registers.size()),
        in_vector_(shape.function.registers.size()) {}

  void run() {
    const ptx::ControlFlow flow(shape_.function);
    for (const Instruction& i : shape_.function.instructions) note_vectors(i);
    for (const Run run : find_runs(shape_.function, flow)) {
      if (!flow.blocks()[flow.block_of(run.first)].reachable) continue;
      for (std::uint32_t at = run.first; at < run.end; ++at) visit(at);
      close_all();
    }
  }

 private:
  [[nodiscard]] const Instruction& instruction(std::uint32_t at) const {
    return shape_.function.instructions[at];
  }
  void note_vectors(const Instruction& i) {
    for (const ptx::Operand& operand : i.operands)
      for (const ptx::Operand& element : operand.elements)
        if (element.kind == OperandKind::kRegister) in_vector_[element.reg] = true;
  }

  void visit(std::uint32_t at) {
    const Instruction& i = instruction(at);
    if (shape_.gone[at]) return;
    if (keeps_order(i)) close_all();
    if (is_memory_operation(i)) access(at);
    const auto use = ptx::register_use(i);
    for (const RegisterId id : use.reads) touched_[id] = at + 1;
    for (const RegisterId id : use.writes) touched_[id] = written_[id] = at + 1, ++versions_[id];
  }

  void access(std::uint32_t at) {
    const Instruction& i = instruction(at);
    const ptx::Space space = i.form.space();
    if (space == ptx::Space::kGlobal || space == ptx::Space::kParam || space == ptx::Space::kParamEntry ||
        space == ptx::Space::kParamFunc || space == ptx::Space::kConst)
      return;
    const auto one = single(i);
    close_meeting(i, one);
    if (!one) return;
    Window& window = window_of(*one);
    if (fits(window, at, *one)) {
      window.members.push_back({at, one->root.offset});
    } else {
      window.open = false;
      Window& other = window_of(*one);
      other.members.push_back({at, one->root.offset});
    }
  }

  struct Single {
    bool store = false;
    ptx::Space space{};
    Root root;
    std::uint32_t version = 0;
    std::int64_t bytes = 0, aligned = 0;
  };
  /// An access that may be merged.
  [[nodiscard]] std::optional<Single> single(const Instruction& i) const {
    const bool store = i.op() == Opcode::kSt;
    if ((i.op() != Opcode::kLd && !store) || i.guard || !i.form.mods.empty() || i.form.vector != 1)
      return std::nullopt;
    const bool local = i.form.space() == ptx::Space::kLocal;
    if (!is_own_shared(i.form.space()) && !local) return std::nullopt;
    const std::int64_t bytes = ptx::bytes(i.form.last_type());
    const ptx::Operand &address = i.operands[store ? 0 : 1], &data = i.operands[store ? 1 : 0];
    if ((bytes != kWord && bytes != kPair) || data.kind != OperandKind::kRegister || in_vector_[data.reg] ||
        ptx::bytes(shape_.function.registers[data.reg].type) != bytes)
      return std::nullopt;
    Single one{store, local ? ptx::Space::kLocal : ptx::Space::kShared, {}, 0, bytes, 0};
    std::uint64_t possible = 0;
    if (address.base == ptx::AddressBase::kRegister) {
      one.root = roots_[address.reg];
      one.root.offset = wrapped_sum(one.root.offset, address.offset);
      one.version = one.root.symbol ? 0 : versions_[static_cast<RegisterId>(one.root.id)];
      possible = possible_of(address.reg);
    } else if (address.base == ptx::AddressBase::kSymbol) {
      one.root = {true, static_cast<std::uint64_t>(address.symbol.kind) << 32 | address.symbol.id,
                  address.offset};
      possible = possible_bits(shape_.function, variables_, address.symbol, 0);
    } else {
      return std::nullopt;
    }
    constexpr std::int64_t kFarthest = std::int64_t{1} << 32;
    if (one.root.offset > kFarthest || one.root.offset < -kFarthest) return std::nullopt;
    one.aligned = std::int64_t{1} << std::min(4, std::countr_zero(possible | 16u));
    return one;
  }
  /// Of what the register's root holds.
  [[nodiscard]] std::uint64_t possible_of(RegisterId id) const {
    const Root& root = roots_[id];
    if (!root.symbol) return possible_[static_cast<RegisterId>(root.id)];
    return possible_bits(shape_.function, variables_,
                         {static_cast<ptx::SymbolKind>(root.id >> 32), static_cast<std::uint32_t>(root.id)},
                         0);
  }

  /// Accesses that may be to the same place as this one stay before it.
  void close_meeting(const Instruction& i, const std::optional<Single>& one) {
    const bool writes = i.op() != Opcode::kLd && i.op() != Opcode::kLdu;
    for (Window& window : windows_) {
      if (!window.open || (!writes && !window.store)) continue;
      if (one && one->space != window.space) continue;
      const bool same_root = one && one->root.symbol == window.root.symbol &&
                             one->root.id == window.root.id && one->version == window.version;
      if (one && one->root.symbol && window.root.symbol && one->root.id != window.root.id) continue;
      if (same_root && !(window.store ? overlaps(window, *one) : reaches_into(window, *one))) continue;
      window.open = false;
    }
  }
  /// Loads that are still to come go to the first one's place.
  static bool reaches_into(const Window& window, const Single& one) {
    return one.root.offset + one.bytes > window.root.offset && one.root.offset < window.root.offset + kQuad;
  }
  static bool overlaps(const Window& window, const Single& one) {
    return std::ranges::any_of(window.members, [&](const Member& m) {
      return m.offset < one.root.offset + one.bytes && one.root.offset < m.offset + window.element;
    });
  }

  Window& window_of(const Single& one) {
    Root root = one.root;
    root.offset = one.root.offset & ~(kQuad - 1);
    for (Window& window : windows_)
      if (window.open && window.store == one.store && window.space == one.space && window.root == root &&
          window.version == one.version && window.element == one.bytes)
        return window;
    windows_.push_back({one.store, one.space, root, one.version, one.bytes, one.aligned, {}, true});
    return windows_.back();
  }

  /// A load can go to the first one's place, or the stores before to this one's.
  [[nodiscard]] bool fits(const Window& window, std::uint32_t at, const Single& one) const {
    if (std::ranges::count(window.members, one.root.offset, &Member::offset) > 0) return false;
    if (window.members.empty()) return true;
    const std::uint32_t first = window.members.front().at;
    if (!window.store) return touched_[instruction(at).operands[0].reg] <= first;
    return std::ranges::all_of(
        window.members, [&](const Member& m) { return written_[instruction(m.at).operands[1].reg] <= m.at; });
  }

  void close_all() {
    for (Window& window : windows_) merge(window);
    windows_.clear();
  }

  void merge(Window& window) {
    std::ranges::sort(window.members, {}, &Member::offset);
    const auto& members = window.members;
    const std::int64_t begin = window.root.offset;
    const bool whole = window.aligned >= kQuad && !members.empty() && members.front().offset == begin;
    const std::size_t full = static_cast<std::size_t>(kQuad / window.element);
    const std::size_t least = window.store || full == 2 ? full : full - 1;
    if (whole && members.size() >= least) return join(window, members, begin, kQuad);
    if (window.element != kWord || window.aligned < kPair) return;
    for (std::size_t m = 0; m + 1 < members.size(); ++m) {
      const std::int64_t offset = members[m].offset;
      if (offset % kPair != 0 || members[m + 1].offset != offset + kWord) continue;
      join(window, {members[m], members[m + 1]}, offset, kPair);
      ++m;
    }
  }

  void join(const Window& window, const std::vector<Member>& members, std::int64_t begin,
            std::int64_t bytes) {
    std::vector<std::uint32_t> places;
    for (const Member& m : members) places.push_back(m.at);
    const std::uint32_t to = window.store ? std::ranges::max(places) : std::ranges::min(places);
    auto& code = shape_.function.instructions;
    const std::size_t data = window.store ? 1 : 0;
    Instruction all = code[to];
    const auto own = std::ranges::find(members, to, &Member::at);
    all.operands[1 - data].offset += begin - own->offset;
    ptx::Operand vector;
    vector.kind = OperandKind::kVector;
    for (std::int64_t offset = begin; offset < begin + bytes; offset += window.element) {
      const auto member = std::ranges::find(members, offset, &Member::offset);
      vector.elements.push_back(member == members.end() ? unread(all) : code[member->at].operands[data]);
      in_vector(vector.elements.back().reg);
    }
    all.form.vector = static_cast<std::uint8_t>(bytes / window.element);
    all.operands[data] = std::move(vector);
    for (const std::uint32_t place : places) {
      shape_.gone[place] = true;
      code[place] = nothing_of(code[place]);
    }
    shape_.gone[to] = false;
    code[to] = std::move(all);
    shape_.carrier[to] = members.front().at;
  }
  /// A register for what is loaded along.
  ptx::Operand unread(const Instruction& like) {
    ptx::Operand operand = like.operands[0];
    operand.reg = static_cast<RegisterId>(shape_.function.registers.size());
    shape_.function.registers.push_back(shape_.function.registers[like.operands[0].reg]);
    return operand;
  }
  void in_vector(RegisterId id) {
    if (id >= in_vector_.size()) in_vector_.resize(id + 1);
    in_vector_[id] = true;
  }

  Predicated& shape_;
  const std::vector<ptx::Variable>& variables_;
  std::vector<std::uint64_t> possible_;
  std::vector<Root> roots_;
  std::vector<std::uint32_t> touched_, written_;  // by register: place + 1 of the latest instruction
  std::vector<std::uint32_t> versions_;           // by register: writes so far
  std::vector<bool> in_vector_;
  std::vector<Window> windows_;  // since the last barrier
};

}  // namespace

void merge_accesses(Predicated& shape, const std::vector<ptx::Variable>& variables) {
  Merger(shape, variables).run();
}

}  // namespace lockstep::lower
