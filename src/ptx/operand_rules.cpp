#include "ptx/operand_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "ptx/printer.hpp"

namespace lockstep::ptx {
namespace {

struct TableRow {
  std::string_view mnemonic, words, operands;
};
constexpr TableRow kLines[] = {
#define OPERANDS(mnemonic, words, operands) {mnemonic, words, operands},
#include "ptx/table_operands.inc"
#undef OPERANDS
};

enum class Kind : std::uint8_t {
  kTo,
  kToPredicate,
  kTos,
  kTosPredicate,
  kPartsTo,
  kValue,
  kValues,
  kParts,
  kVector,
  kPredicate,
  kConstant,
  kAddress,
  kMatrix,
  kPlace,
  kTable,
  kLabel,
};
struct KindName {
  std::string_view word, text;  // in the table, in messages
};
constexpr KindName kKinds[] = {
    {"to", "register"},
    {"to|p", "register or register|predicate"},
    {"tos", "register"},
    {"tos|p", "registers"},
    {"parts_to", "registers"},
    {"value", "value"},
    {"values", "value"},
    {"parts", "values"},
    {"vector", "{values}"},
    {"predicate", "predicate"},
    {"constant", "constant"},
    {"address", "[address]"},
    {"matrix", "value or [address]"},
    {"place", "[object, coordinates]"},
    {"table", "name of a .branchtargets list"},
    {"label", "label"},
};

/// A modifier, type or state space.
struct Word {
  std::optional<Mod> mod;
  std::optional<Type> type;
  std::optional<Space> space;

  [[nodiscard]] bool in(const Form& form) const {
    const auto among = [](const auto& list, const auto& word) {
      return word && std::find(list.begin(), list.end(), *word) != list.end();
    };
    return among(form.mods, mod) || among(form.types, type) || among(form.spaces, space);
  }
};

struct OperandRule {
  Kind kind{};
  bool optional = false;
  bool with_word = false;  // only where the form has `word`
  Word word;

  [[nodiscard]] bool stands_in(const Form& form) const { return !with_word || word.in(form); }
};

struct Row {
  std::vector<Word> words;
  std::vector<OperandRule> operands;
};

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

Word word_of(std::string_view text) {
  Word word{find_mod(text), find_type(text), find_space(text)};
  if (!word.mod && !word.type && !word.space)
    throw std::logic_error("table_operands.inc: no such word: " + std::string(text));
  return word;
}

OperandRule rule_of(std::string_view text) {
  OperandRule rule;
  if (text.ends_with('?')) {
    rule.optional = true;
    text.remove_suffix(1);
  }
  if (const std::size_t at = text.find('@'); at != text.npos) {
    rule.with_word = true;
    rule.word = word_of(text.substr(at + 1));
    text = text.substr(0, at);
  }
  const auto* const found = std::ranges::find(kKinds, text, &KindName::word);
  if (found == std::end(kKinds))
    throw std::logic_error("table_operands.inc: no such operand: " + std::string(text));
  rule.kind = static_cast<Kind>(found - std::begin(kKinds));
  return rule;
}

using Rows = std::array<std::vector<Row>, static_cast<std::size_t>(Opcode::kWmma) + 1>;

Rows read_table() {
  Rows rows;
  for (const TableRow& line : kLines) {
    const auto opcode = find_opcode(line.mnemonic);
    if (!opcode)
      throw std::logic_error("table_operands.inc: no such mnemonic: " + std::string(line.mnemonic));
    Row& row = rows[static_cast<std::size_t>(*opcode)].emplace_back();
    for (const std::string_view word : split(line.words)) row.words.push_back(word_of(word));
    for (const std::string_view operand : split(line.operands)) row.operands.push_back(rule_of(operand));
  }
  return rows;
}

const Row* row_of(const Form& form) {
  static const Rows kRows = read_table();
  for (const Row& row : kRows[static_cast<std::size_t>(form.op)])
    if (std::ranges::all_of(row.words, [&](const Word& word) { return word.in(form); })) return &row;
  return nullptr;
}

bool is_video(Opcode op) { return op >= Opcode::kVabsdiff && op <= Opcode::kVsub4; }

/// What one form allows of its operands.
class Rules {
 public:
  explicit Rules(const Form& form) : form_(form) {}

  [[nodiscard]] bool allows(Kind kind, const Operand& o) const {
    switch (kind) {
      case Kind::kTo:
        return written(o);
      case Kind::kToPredicate:
        return written(o) || (pair(o) && written(o.elements[0]));
      case Kind::kTos:
        return several(o, &Rules::written, true);
      case Kind::kTosPredicate:
        return several(o, &Rules::written, true) ||
               (pair(o) && several(o.elements[0], &Rules::written, true));
      case Kind::kPartsTo:
        return several(o, &Rules::written, false);
      case Kind::kValue:
        return value(o);
      case Kind::kValues:
        return several(o, &Rules::value, true);
      case Kind::kParts:
        return several(o, &Rules::value, false);
      case Kind::kVector:
        return o.kind == OperandKind::kVector && several(o, &Rules::value, false);
      case Kind::kPredicate:
        return o.kind == OperandKind::kRegister ? plain(o) : o.kind == OperandKind::kImmediate;
      default:
        return other(kind, o);
    }
  }

 private:
  [[nodiscard]] bool other(Kind kind, const Operand& o) const {
    switch (kind) {
      case Kind::kConstant:
        return o.kind == OperandKind::kImmediate;
      case Kind::kAddress:
        return o.kind == OperandKind::kAddress;
      case Kind::kMatrix:
        return o.kind == OperandKind::kAddress || value(o);
      case Kind::kPlace:
        return place(o);
      case Kind::kTable:
        return o.kind == OperandKind::kBranchTable;
      default:
        return o.kind == OperandKind::kLabel;
    }
  }

  /// A part of a register (.b0) stands only in video instructions.
  [[nodiscard]] bool plain(const Operand& o) const { return o.selector == Selector{} || is_video(form_.op); }
  [[nodiscard]] bool written(const Operand& o) const {
    return o.kind == OperandKind::kSink || (o.kind == OperandKind::kRegister && !o.negated && plain(o));
  }
  [[nodiscard]] bool value(const Operand& o) const {
    return (o.kind == OperandKind::kRegister && plain(o)) || o.kind == OperandKind::kImmediate ||
           o.kind == OperandKind::kSpecial || o.kind == OperandKind::kSymbol;
  }
  [[nodiscard]] bool pair(const Operand& o) const {
    return o.kind == OperandKind::kPair && o.elements.size() == 2 && written(o.elements[1]);
  }
  /// One, or as many as a vector has; `by_width`: as the form's .vN says.
  [[nodiscard]] bool several(const Operand& o, bool (Rules::*one)(const Operand&) const,
                             bool by_width) const {
    if (o.kind != OperandKind::kVector) return (!by_width || form_.vector == 1) && (this->*one)(o);
    if (by_width && o.elements.size() != form_.vector) return false;
    return std::ranges::all_of(o.elements, [&](const Operand& element) { return (this->*one)(element); });
  }
  [[nodiscard]] bool place(const Operand& o) const {
    return o.kind == OperandKind::kCoordinates &&
           std::all_of(o.elements.begin() + 1, o.elements.end(),
                       [&](const Operand& element) { return several(element, &Rules::value, false); });
  }

  const Form& form_;
};

std::string_view kind_text(const Operand& o) {
  switch (o.kind) {
    case OperandKind::kRegister:
      return o.negated                  ? "a negated predicate"
             : o.selector == Selector{} ? "a register"
                                        : "a part of a register";
    case OperandKind::kImmediate:
      return "a constant";
    case OperandKind::kSpecial:
      return "a special register";
    case OperandKind::kAddress:
      return "an address";
    case OperandKind::kSymbol:
      return "a name";
    case OperandKind::kPair:
      return "a pair";
    case OperandKind::kSink:
      return "'_'";
    case OperandKind::kCoordinates:
      return "an object with coordinates";
    default:
      return "the name of a table";
  }
}

std::string found_text(const Operand& o) {
  if (o.kind != OperandKind::kVector) return std::string(kind_text(o));
  const auto odd =
      std::ranges::find_if(o.elements, [](const Operand& e) { return e.kind != OperandKind::kRegister; });
  return fmt::format("a vector of {}{}", o.elements.size(),
                     odd == o.elements.end() ? "" : fmt::format(" with {}", kind_text(*odd)));
}

std::string expected_text(const OperandRule& rule, const Form& form) {
  const std::string_view text = kKinds[static_cast<std::size_t>(rule.kind)].text;
  const bool by_width =
      rule.kind == Kind::kTos || rule.kind == Kind::kTosPredicate || rule.kind == Kind::kValues;
  if (by_width && form.vector > 1)
    return fmt::format("{{{} {}}}", form.vector, rule.kind == Kind::kValues ? "values" : "registers");
  return std::string(text);
}

/// "register, value, value (may be left out)"
std::string expected_text(const Row& row, const Form& form) {
  std::string text;
  for (const OperandRule& rule : row.operands) {
    if (!rule.stands_in(form)) continue;
    if (!text.empty()) text += ", ";
    text += expected_text(rule, form);
    if (rule.optional) text += " (may be left out)";
  }
  return text.empty() ? "none" : text;
}

}  // namespace

void check_operands(const Form& form, std::span<const Operand> operands, const Lexer& lexer, Place at) {
  if (form.op == Opcode::kCall) return;
  const Row* const row = row_of(form);
  if (row == nullptr)
    lexer.fail(at, fmt::format("{}: a modifier is missing; there is no such instruction", print(form)));
  const auto stands = [&](const OperandRule& rule) { return rule.stands_in(form); };
  const auto most = static_cast<std::size_t>(std::ranges::count_if(row->operands, stands));
  const auto least = static_cast<std::size_t>(std::ranges::count_if(
      row->operands, [&](const OperandRule& rule) { return stands(rule) && !rule.optional; }));
  if (operands.size() < least || operands.size() > most)
    lexer.fail(at, fmt::format("{} has {} operand{}; expected {}", print(form), operands.size(),
                               operands.size() == 1 ? "" : "s", expected_text(*row, form)));
  const Rules rules(form);
  std::size_t spare = operands.size() - least, next = 0;
  for (const OperandRule& rule : row->operands) {
    if (!stands(rule)) continue;
    const bool fits = next < operands.size() && rules.allows(rule.kind, operands[next]);
    if (rule.optional) {
      if (spare == 0 || !fits) continue;
      --spare;
    } else if (!fits) {
      lexer.fail(at, fmt::format("operand {} of {} is {}; expected {}", next + 1, print(form),
                                 found_text(operands[next]), expected_text(rule, form)));
    }
    ++next;
  }
  if (next < operands.size())
    lexer.fail(at, fmt::format("operand {} of {} is {}; expected {}", next + 1, print(form),
                               found_text(operands[next]), expected_text(*row, form)));
}

}  // namespace lockstep::ptx
