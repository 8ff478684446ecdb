// PTX programs in memory: modules as parsed, and the program that link() makes of them.
//
// Contract of a parsed Function with a body: every operand is resolved; registers of all nested scopes have
// dense ids in order of first use; names are made unique by a suffix "$1", "$2" ... where scopes shadow each
// other; vector registers (.reg .v4 .f32 v) are split into scalar ones (v$x, v$y ...); the last instruction
// never falls through (a `ret` is added where the text has none); labels are instruction indices below
// instructions.size().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/instruction.hpp"

namespace lockstep::ptx {

enum class Linkage : std::uint8_t { kInternal, kVisible, kExtern, kWeak, kCommon };

/// A symbol's address inside an initialiser. The stored value is (address + addend) >> shift, in `bytes`
/// bytes at `offset`; mask() of PTX gives shift 0, 8, ... with one byte.
struct Relocation {
  std::uint64_t offset = 0;  // in the variable
  std::uint8_t bytes = 8;
  std::uint8_t shift = 0;  // bits
  bool generic = false;    // generic(symbol): the generic address, otherwise that in the symbol's space
  Symbol symbol;           // kVariable or kFunction
  std::int64_t addend = 0;
  friend bool operator==(const Relocation&, const Relocation&) = default;
};

/// A variable of a module (.global .const .shared .local) or of a function's body (.shared .local .param
/// ...).
struct Variable {
  std::string name;
  Linkage linkage = Linkage::kInternal;
  Space space{};
  Type type{};
  std::uint8_t vector = 1;            // .v2 / .v4 elements
  bool managed = false;               // .attribute(.managed)
  bool unified = false;               // .attribute(.unified(...))
  bool unsized = false;               // first dimension not given: extern arrays, dynamic shared memory
  std::uint32_t align = 1;            // bytes; natural alignment of the element where none is written
  std::vector<std::uint64_t> dims;    // empty: a scalar; an unsized first dimension is 0
  std::uint64_t size = 0;             // bytes; 0 when unsized
  std::vector<std::uint8_t> initial;  // the first bytes of the variable; the rest is zero
  std::vector<Relocation> relocations;
  Place place;
  std::uint32_t module = 0;  // Program::modules it came from

  /// `.extern .shared` without a size: begins where the CTA's static shared memory ends.
  [[nodiscard]] bool is_dynamic_shared() const { return unsized && space == Space::kShared; }
};

struct Parameter {
  std::string name;
  Type type{};
  std::uint8_t vector = 1;
  bool array = false;        // .b8 name[size]
  bool in_register = false;  // a .func's .reg parameter: `reg` is its register
  RegisterId reg = 0;
  bool pointer = false;             // .ptr
  Space pointer_space{};            // kGeneric where .ptr names none
  std::uint32_t pointer_align = 1;  // what it points to
  std::uint32_t align = 1;          // of the parameter itself
  std::uint64_t size = 0;           // bytes
  std::uint64_t offset = 0;  // in the parameter buffer, as kernels are launched: running, rounded up to align
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

struct Register {
  std::string name;
  Type type{};
  friend bool operator==(const Register&, const Register&) = default;
};

struct Label {
  std::string name;
  std::uint32_t instruction = 0;
  friend bool operator==(const Label&, const Label&) = default;
};

struct BranchTable {  // name: .branchtargets L0, L1;
  std::string name;
  std::vector<std::uint32_t> labels;  // Function::labels
  friend bool operator==(const BranchTable&, const BranchTable&) = default;
};

struct CallTable {  // name: .calltargets f, g;
  std::string name;
  std::vector<Symbol> functions;
  friend bool operator==(const CallTable&, const CallTable&) = default;
};

struct Prototype {  // name: .callprototype (results) _ (parameters);
  std::string name;
  std::vector<Parameter> results, parameters;
  bool noreturn = false;
  friend bool operator==(const Prototype&, const Prototype&) = default;
};

/// Directives between a function's header and its body. 0 in a triple or number: not given.
struct Directives {
  std::array<std::uint32_t, 3> maxntid{}, reqntid{}, reqnctapercluster{};
  std::uint32_t minnctapersm = 0, maxnctapersm = 0, maxnreg = 0, maxclusterrank = 0, abi_preserve = 0,
                abi_preserve_control = 0;
  bool noreturn = false, explicitcluster = false, blocksareclusters = false;
  std::vector<std::string> pragmas;  // of the function: before or inside its body, in order
  friend bool operator==(const Directives&, const Directives&) = default;
};

struct Function {
  std::string name;
  Linkage linkage = Linkage::kInternal;
  bool entry = false;     // .entry (a kernel) or .func
  bool has_body = false;  // otherwise a declaration
  bool unified = false;   // .attribute(.unified(...))
  std::vector<Parameter> results, parameters;
  std::vector<Register> registers;
  std::vector<Variable> variables;
  std::vector<Instruction> instructions;
  std::vector<Label> labels;
  std::vector<BranchTable> branch_tables;
  std::vector<CallTable> call_tables;
  std::vector<Prototype> prototypes;
  std::vector<SourceLine>
      callers;  // lines at which inlined functions are called, each once; a line's own caller is before it
  Directives directives;
  Place place;
  std::uint32_t module = 0;  // Program::modules it came from
};

struct Alias {  // .alias name, target;
  Symbol name, target;
  Place place;
};

struct Module {
  std::string name;                  // file name, for messages
  unsigned major = 0, minor = 0;     // .version
  std::string target;                // "sm_75", "sm_90a" ...
  std::vector<std::string> options;  // further words of .target ("texmode_unified", "debug")
  unsigned address_bits = 32;        // .address_size
  std::vector<std::string> files;    // of .file directives
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<Alias> aliases;
  std::vector<std::string> pragmas;
};

/// What a program needs to know of a module after linking.
struct ModuleInfo {
  std::string name, target;
  unsigned major = 0, minor = 0, address_bits = 64;
  std::vector<std::string> files;
};

/// Linked modules. Function and variable ids are dense. A function without a body that is used is one that
/// the runtime provides (LinkOptions::provided); a used variable is defined or dynamic shared memory. Others
/// may be left that nothing uses.
struct Program {
  std::vector<ModuleInfo> modules;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::unordered_map<std::string, std::uint32_t> function_ids, variable_ids;

  /// The kernel, function or variable of this name; nullopt if there is none. Internal ones of several
  /// modules may share a name: the first is given; one that other modules see comes before them. An alias
  /// gives its target.
  [[nodiscard]] std::optional<std::uint32_t> find_function(std::string_view name) const;
  [[nodiscard]] std::optional<std::uint32_t> find_variable(std::string_view name) const;
};

}  // namespace lockstep::ptx
