// One PTX instruction: form (mnemonic with its dotted words), guard, operands, place in the source.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ptx/words.hpp"

namespace lockstep::ptx {

/// A list of at most N values without allocation.
template <class T, std::size_t N>
class ShortList {
 public:
  [[nodiscard]] bool full() const { return size_ == N; }
  void push_back(T value) { items_[size_++] = value; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T operator[](std::size_t i) const { return items_[i]; }
  [[nodiscard]] const T* begin() const { return items_.data(); }
  [[nodiscard]] const T* end() const { return items_.data() + size_; }
  friend bool operator==(const ShortList& a, const ShortList& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::array<T, N> items_{};
  std::uint8_t size_ = 0;
};

/// "setp.lt.and.s32": the mnemonic and its dotted words, each sort in the order written.
struct Form {
  enum class Word : std::uint8_t { kType, kSpace, kMod, kShape, kVector };

  Opcode op{};
  std::uint8_t vector = 1;  // .v2, .v4, .v8
  ShortList<Type, 6> types;
  ShortList<Space, 3> spaces;
  ShortList<Mod, 14> mods;
  Shape shape;                // all zero when none is written
  ShortList<Word, 20> order;  // sorts of the words as they follow each other, for printing

  [[nodiscard]] bool has(Mod mod) const { return std::find(mods.begin(), mods.end(), mod) != mods.end(); }
  /// The first type (the destination's in cvt and set); kB32 where none is written.
  [[nodiscard]] Type type() const { return types.empty() ? Type::kB32 : types[0]; }
  /// The last type (the source's in cvt, the data's in ld, st, atom).
  [[nodiscard]] Type last_type() const { return types.empty() ? Type::kB32 : types[types.size() - 1]; }
  /// The first state space; kGeneric where none is written.
  [[nodiscard]] Space space() const { return spaces.empty() ? Space::kGeneric : spaces[0]; }
  friend bool operator==(const Form&, const Form&) = default;
};

using RegisterId = std::uint32_t;  // index into Function::registers

/// What a name that is neither a register nor a label stands for. Before linking, ids of variables and
/// functions are those of the Module; link() turns them into those of the Program.
enum class SymbolKind : std::uint8_t {
  kVariable,   // Module::variables / Program::variables
  kFunction,   // Module::functions / Program::functions
  kLocal,      // Function::variables
  kParameter,  // Function::parameters
  kResult,     // Function::results
};
struct Symbol {
  SymbolKind kind{};
  std::uint32_t id = 0;
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

enum class OperandKind : std::uint8_t {
  kRegister,     // reg; negated ("!%p"); selector (video)
  kImmediate,    // bits, literal
  kSpecial,      // special, index
  kAddress,      // [base + offset]
  kSymbol,       // symbol + offset: an address as a value, or a .param variable in a call's lists
  kVector,       // {a, b, ...}: elements
  kPair,         // p|q: two elements
  kSink,         // _
  kLabel,        // index: Function::labels
  kBranchTable,  // index: Function::branch_tables
  kCallTable,    // index: Function::call_tables
  kPrototype,    // index: Function::prototypes
  kCoordinates,  // [tex, {x, y}] and the like: elements; the first is the address (kAddress)
  kList,         // (a, b, ...) of a call: elements
};

enum class Literal : std::uint8_t {
  kSigned,    // bits: two's complement, 64 bits
  kUnsigned,  // bits: 64-bit unsigned (suffix U, or too large for a signed one)
  kFloat32,   // 0f...: bits hold the binary32 pattern
  kFloat64,   // 0d... or decimal: bits hold the binary64 pattern
};

enum class AddressBase : std::uint8_t { kNone, kRegister, kSymbol };

/// Which part of a 32-bit register a video instruction takes: none, .bN, .hN, or up to four of them (.b3210,
/// .h10).
struct Selector {
  enum class Unit : std::uint8_t { kNone, kByte, kHalf };
  Unit unit = Unit::kNone;
  std::uint8_t count = 0;               // digits written
  std::array<std::uint8_t, 4> parts{};  // as written, left to right
  friend bool operator==(const Selector&, const Selector&) = default;
};

struct Operand {
  OperandKind kind = OperandKind::kSink;
  Literal literal = Literal::kSigned;
  AddressBase base = AddressBase::kNone;
  Special special{};
  bool negated = false;  // !%p
  Selector selector;
  RegisterId reg = 0;  // kRegister; kAddress with base kRegister
  std::uint32_t index =
      0;          // kSpecial: component 0..3 (.x .y .z .w) or member of the family; labels and tables
  Symbol symbol;  // kSymbol; kAddress with base kSymbol
  std::uint64_t bits = 0;   // kImmediate
  std::int64_t offset = 0;  // kAddress, kSymbol: bytes; with base kNone the whole address
  std::vector<Operand> elements;
  friend bool operator==(const Operand&, const Operand&) = default;
};

/// The bits of an immediate as a value of `type` (integers are cut to its width; floating-point literals are
/// rounded to nearest even); nullopt when PTX does not allow this literal there (a float for an integer type,
/// an integer for a floating-point one).
[[nodiscard]] std::optional<std::uint64_t> immediate_bits(const Operand& immediate, Type type);

struct Guard {
  RegisterId reg = 0;
  bool negated = false;
  bool whole = false;  // the old values of lanes that it leaves out are never read
  friend bool operator==(const Guard&, const Guard&) = default;
};

/// Line and column of a statement in the PTX text, from 1.
struct Place {
  std::uint32_t line = 0, column = 0;
};
/// From the latest .loc directive: index into Module::files, and line; line 0 if there is none. For an
/// inlined function, `caller` says where it was called: 1 + its index in Function::callers; else 0.
struct SourceLine {
  std::uint32_t file = 0, line = 0, caller = 0;
  friend bool operator==(const SourceLine&, const SourceLine&) = default;
};

/// Operands are in the order written. `call` has always: target (kSymbol of a function, or kRegister),
/// results (kList), arguments (kList), and for indirect calls kPrototype or kCallTable.
struct Instruction {
  Form form;
  std::optional<Guard> guard;
  std::vector<Operand> operands;
  Place place;
  SourceLine source;

  [[nodiscard]] Opcode op() const { return form.op; }
  [[nodiscard]] bool has(Mod mod) const { return form.has(mod); }
};

/// How many leading operands the instruction writes (never those of `call`, whose results are its second
/// operand).
[[nodiscard]] unsigned destination_count(const Form& form);

}  // namespace lockstep::ptx
