#include "ptx/body.hpp"

#include <fmt/format.h>

#include "ptx/declarations.hpp"
#include "ptx/functions.hpp"
#include "ptx/operand_rules.hpp"
#include "ptx/pragmas.hpp"

namespace lockstep::ptx {
namespace {

constexpr std::uint32_t kMaxScopeNesting = 256;
constexpr std::size_t kMaxOperands = 32;
constexpr std::uint64_t kMaxRegisters = std::uint64_t{1} << 32;

Binding binding_of(Binding::Kind kind, std::size_t id) {
  Binding binding;
  binding.kind = kind;
  binding.id = static_cast<std::uint32_t>(id);
  return binding;
}

bool ends_function(const Instruction& i) {
  if (i.guard) return false;
  switch (i.op()) {
    case Opcode::kBra:
    case Opcode::kBrx:
    case Opcode::kRet:
    case Opcode::kExit:
    case Opcode::kTrap:
      return true;
    default:
      return false;
  }
}

}  // namespace

void BodyParser::declare(const Token& name, const Binding& binding) {
  if (!names_.declare(name.text, binding))
    lexer_.fail(name.place, quote(name.text) + " is declared twice in this scope");
}

void BodyParser::open_scope() {
  if (use_marks_.size() == kMaxScopeNesting) lexer_.fail("scopes are nested more than 256 deep");
  lexer_.expect("{");
  names_.open();
  labels_.open();
  use_marks_.push_back(uses_.size());
}

/// Branches in this scope find its labels; what they do not find may be a label of a scope around it.
void BodyParser::close_scope() {
  std::size_t kept = use_marks_.back();
  for (std::size_t i = kept; i < uses_.size(); ++i) {
    const LabelUse use = uses_[i];
    const auto* const found = labels_.find(use.name);
    if (!found || found->depth != labels_.depth()) {
      uses_[kept++] = use;
    } else if (use.in_table) {
      function_.branch_tables[use.index].labels[use.position] = found->value;
    } else {
      function_.instructions[use.index].operands[0].index = found->value;
    }
  }
  uses_.resize(kept);
  use_marks_.pop_back();
  labels_.close();
  names_.close();
}

void BodyParser::parse() {
  open_scope();
  for (;;) {
    const Place at = lexer_.token().place;
    if (lexer_.token().is("{")) {
      open_scope();
    } else if (lexer_.accept("}")) {
      close_scope();
      if (use_marks_.empty()) return finish(at);
    } else {
      statement();
    }
  }
}

void BodyParser::finish(Place end) {
  if (!uses_.empty())
    lexer_.fail(uses_[0].at, "unknown label " + quote(uses_[0].name) + "; expected one of this function");
  const auto size = static_cast<std::uint32_t>(function_.instructions.size());
  bool falls_through = size == 0 || !ends_function(function_.instructions.back());
  for (const Label& l : function_.labels) falls_through |= l.instruction == size;
  if (!falls_through) return;
  Instruction ret;
  ret.form.op = Opcode::kRet;
  ret.place = end;
  ret.source = source_.line(function_.callers);
  function_.instructions.push_back(std::move(ret));
}

void BodyParser::statement() {
  if (lexer_.token().kind == TokenKind::kDotted) return directive();
  if (lexer_.token().kind == TokenKind::kIdentifier && lexer_.followed_by(':')) {
    const Token name = lexer_.take();
    lexer_.advance();
    return label(name);
  }
  if (lexer_.accept(";")) return;
  instruction();
}

void BodyParser::directive() {
  const std::string_view word = lexer_.token().text;
  if (word == "reg") return registers();
  if (word == "loc") return location();
  if (find_space(word)) return variables();
  if (word == "pragma") {
    lexer_.advance();
    std::vector<std::string> pragmas;
    parse_pragma(lexer_, pragmas);
    for (const std::string& text : pragmas)
      function_.labels.push_back(
          {pragma_label(text), static_cast<std::uint32_t>(function_.instructions.size())});
    return;
  }
  if (word == "file") {
    lexer_.advance();
    return parse_file_directive(state_);
  }
  lexer_.unexpected("a statement: .reg, a variable, .loc, .pragma, a label or an instruction");
}

/// ".reg .b32 %r<100>, %t;"
void BodyParser::registers() {
  lexer_.advance();
  const TypeWords words = parse_type_words(lexer_);
  do {
    const Token name = lexer_.expect(TokenKind::kIdentifier, "a register's name");
    bool is_new = false;
    if (lexer_.accept("<")) {
      const std::uint64_t count = lexer_.expect_integer("a number of registers", kMaxRegisters);
      lexer_.expect(">");
      is_new = names_.declare_registers(name.text, count, words.type, words.vector);
    } else {
      is_new = names_.declare_register(name.text, words.type, words.vector);
    }
    if (!is_new) lexer_.fail(name.place, quote(name.text) + " is declared twice in this scope");
  } while (lexer_.accept(","));
  lexer_.expect(";");
}

/// A .global or .const variable in a body lives as long as the module: it becomes one of the module's.
void BodyParser::variables() {
  for (NamedVariable& v : parse_variables(state_, Linkage::kInternal)) {
    const Place at = v.variable.place;
    const bool local = v.variable.space != Space::kGlobal && v.variable.space != Space::kConst;
    auto& list = local ? function_.variables : state_.module.variables;
    if (!local)
      v.variable.name = fmt::format("{}${}${}", function_.name, v.name.substr(v.name[0] == '%'), list.size());
    list.push_back(std::move(v.variable));
    Binding binding = binding_of(Binding::Kind::kSymbol, list.size() - 1);
    binding.symbol = local ? SymbolKind::kLocal : SymbolKind::kVariable;
    Token name;
    name.text = v.name;
    name.place = at;
    declare(name, binding);
  }
}

SourceLines::Position BodyParser::position() {
  constexpr std::uint64_t kLimit = 0xffffffff;
  SourceLines::Position at;
  at.file = state_.file(lexer_.expect_integer("a file's number", kLimit));
  at.line = static_cast<std::uint32_t>(lexer_.expect_integer("a line", kLimit));
  at.column = static_cast<std::uint32_t>(lexer_.expect_integer("a column", kLimit));
  return at;
}

/// ".loc 1 12 5", ".loc 1 12 5, function_name NAME+4, inlined_at 1 20 3"
void BodyParser::location() {
  lexer_.advance();
  const SourceLines::Position at = position();
  std::optional<SourceLines::Position> caller;
  while (lexer_.accept(",")) {
    const Token word = lexer_.expect(TokenKind::kIdentifier, "function_name or inlined_at");
    if (word.text == "function_name") {
      lexer_.expect(TokenKind::kIdentifier, "a label");
      if (lexer_.accept("+")) lexer_.expect_integer("an offset", 0xffffffff);
    } else if (word.text == "inlined_at") {
      caller = position();
    } else {
      lexer_.fail(word.place, "found " + quote(word.text) + "; expected function_name or inlined_at");
    }
  }
  source_.locate(at, caller);
}

void BodyParser::label(const Token& name) {
  if (lexer_.token().kind == TokenKind::kDotted) {
    const std::string_view word = lexer_.token().text;
    const bool table = word == "branchtargets", calls = word == "calltargets",
               prototypes = word == "callprototype";
    if (table || calls || prototypes) {
      lexer_.advance();
      const auto kind = table   ? Binding::Kind::kBranchTable
                        : calls ? Binding::Kind::kCallTable
                                : Binding::Kind::kPrototype;
      declare(name, binding_of(kind, table   ? function_.branch_tables.size()
                                     : calls ? function_.call_tables.size()
                                             : function_.prototypes.size()));
      return table ? branch_table(name.text) : calls ? call_table(name.text) : prototype(name.text);
    }
  }
  const auto id = static_cast<std::uint32_t>(function_.labels.size());
  if (!labels_.declare(name.text, id))
    lexer_.fail(name.place, "label " + quote(name.text) + " is defined twice in this scope");
  function_.labels.push_back(
      {std::string(name.text), static_cast<std::uint32_t>(function_.instructions.size())});
}

void BodyParser::use_label(bool in_table, std::uint32_t index, std::uint32_t position) {
  const Token name = lexer_.expect(TokenKind::kIdentifier, "a label");
  uses_.push_back({name.text, name.place, in_table, index, position});
}

void BodyParser::branch_table(std::string_view name) {
  const auto index = static_cast<std::uint32_t>(function_.branch_tables.size());
  function_.branch_tables.push_back({std::string(name), {}});
  auto& labels = function_.branch_tables.back().labels;
  do {
    use_label(true, index, static_cast<std::uint32_t>(labels.size()));
    labels.push_back(0);
  } while (lexer_.accept(","));
  lexer_.expect(";");
}

void BodyParser::call_table(std::string_view name) {
  CallTable table{std::string(name), {}};
  do {
    const Token function = lexer_.expect(TokenKind::kIdentifier, "a function");
    table.functions.push_back(state_.symbol(function.text, function.place));
  } while (lexer_.accept(","));
  lexer_.expect(";");
  function_.call_tables.push_back(std::move(table));
}

/// "prototype_0 : .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;"
void BodyParser::prototype(std::string_view name) {
  Prototype prototype;
  prototype.name = name;
  if (lexer_.token().is("(")) {
    for (NamedParameter& p : parse_parameters(state_)) prototype.results.push_back(std::move(p.parameter));
  }
  lexer_.expect(TokenKind::kIdentifier, "'_'");
  if (lexer_.token().is("(")) {
    for (NamedParameter& p : parse_parameters(state_)) prototype.parameters.push_back(std::move(p.parameter));
  }
  while (lexer_.token().kind == TokenKind::kDotted) {
    if (lexer_.accept_dotted("noreturn")) {
      prototype.noreturn = true;
    } else if (lexer_.accept_dotted("abi_preserve") || lexer_.accept_dotted("abi_preserve_control")) {
      lexer_.expect_integer("a number of registers", 255);
    } else {
      lexer_.unexpected(".noreturn, .abi_preserve or ';'");
    }
  }
  lexer_.expect(";");
  function_.prototypes.push_back(std::move(prototype));
}

void BodyParser::instruction() {
  Instruction instruction;
  instruction.place = lexer_.token().place;
  instruction.source = source_.line(function_.callers);
  if (lexer_.accept("@")) {
    Guard guard;
    guard.negated = lexer_.accept("!");
    guard.reg = operands_.predicate();
    instruction.guard = guard;
  }
  if (lexer_.token().kind != TokenKind::kIdentifier) lexer_.unexpected("a statement");
  instruction.form = state_.forms.read(lexer_);
  scratch_.clear();
  switch (instruction.op()) {
    case Opcode::kBra:
      branch(instruction);
      break;
    case Opcode::kCall:
      call(instruction);
      break;
    default:
      plain(instruction);
  }
  if (!lexer_.token().is(";")) lexer_.unexpected("',' or ';'");
  check_operands(instruction.form, scratch_, lexer_, instruction.place);
  lexer_.advance();
  instruction.operands.assign(std::make_move_iterator(scratch_.begin()),
                              std::make_move_iterator(scratch_.end()));
  function_.instructions.push_back(std::move(instruction));
}

void BodyParser::plain(Instruction& instruction) {
  if (lexer_.token().is(";")) return;
  operands_.allow_negation(instruction.form.op == Opcode::kVmad);
  do {
    if (scratch_.size() == kMaxOperands) lexer_.fail("more than 32 operands");
    scratch_.push_back(operands_.operand());
    if (lexer_.token().is_dotted("unified")) {  // "[a].unified"
      add_word(instruction.form, "unified", lexer_, lexer_.token().place);
      lexer_.advance();
    }
  } while (lexer_.accept(","));
  operands_.allow_negation(false);
}

void BodyParser::branch(Instruction&) {
  use_label(false, static_cast<std::uint32_t>(function_.instructions.size()), 0);
  Operand target;
  target.kind = OperandKind::kLabel;
  scratch_.push_back(target);
}

/// "call (r), f, (a, b), p;", in which results, arguments and prototype are each optional.
void BodyParser::call(Instruction& instruction) {
  scratch_.resize(3);
  scratch_[1].kind = scratch_[2].kind = OperandKind::kList;
  if (lexer_.token().is("(")) {
    scratch_[1] = operands_.list();
    lexer_.expect(",");
  }
  if (lexer_.token().kind != TokenKind::kIdentifier) lexer_.unexpected("a function or a register");
  scratch_[0] = operands_.operand();
  bool arguments = false;
  while (lexer_.accept(",")) {
    if (!arguments && scratch_.size() == 3 && lexer_.token().is("(")) {
      scratch_[2] = operands_.list();
      arguments = true;
      continue;
    }
    const Place at = lexer_.token().place;
    const Operand last = operands_.operand();
    if (scratch_.size() == 4 ||
        (last.kind != OperandKind::kPrototype && last.kind != OperandKind::kCallTable))
      lexer_.fail(at, "expected the name of a .callprototype or .calltargets before the call");
    scratch_.push_back(last);
  }
  const Operand& target = scratch_[0];
  const bool direct = target.kind == OperandKind::kSymbol && target.offset == 0 &&
                      (target.symbol.kind == SymbolKind::kFunction || target.symbol.id >= kPending);
  if (!direct && target.kind != OperandKind::kRegister)
    lexer_.fail(instruction.place, "a call's target is a function or a register");
  if (direct == (scratch_.size() == 4))
    lexer_.fail(instruction.place, direct ? "a direct call takes no prototype"
                                          : "an indirect call needs a .callprototype or .calltargets");
}

}  // namespace lockstep::ptx
