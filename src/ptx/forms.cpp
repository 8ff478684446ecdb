#include "ptx/forms.hpp"

#include <fmt/format.h>

namespace lockstep::ptx {
namespace {

[[noreturn]] void fail_word(const Lexer& lexer, Place at, std::string_view sort, std::string_view word,
                            std::string_view nearest) {
  std::string message = fmt::format("unknown {} {}", sort, quote(word));
  if (!nearest.empty()) message += fmt::format("; did you mean '{}'?", nearest);
  lexer.fail(at, message);
}

std::uint8_t vector_width(std::string_view word) {
  if (word == "v2") return 2;
  if (word == "v4") return 4;
  if (word == "v8") return 8;
  return 0;
}

template <class List, class Value>
void append(Form& form, List& list, Value value, Form::Word sort, const Lexer& lexer, Place at) {
  if (list.full() || form.order.full()) lexer.fail(at, "this instruction has too many dotted words");
  list.push_back(value);
  form.order.push_back(sort);
}

bool is_empty(const Shape& shape) { return shape == Shape{}; }

void add_words(Form& form, std::string_view words, const Lexer& lexer, Place at) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find('.'), words.size());
    const std::string_view word = words.substr(0, end);
    if (!add_word(form, word, lexer, at))
      fail_word(lexer, at, "modifier", "." + std::string(word), nearest_suffix(word));
    at.column += static_cast<std::uint32_t>(end + 1);
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

}  // namespace

bool add_word(Form& form, std::string_view word, const Lexer& lexer, Place at) {
  using Word = Form::Word;
  if (const auto type = find_type(word)) {
    append(form, form.types, *type, Word::kType, lexer, at);
  } else if (const auto space = find_space(word)) {
    append(form, form.spaces, *space, Word::kSpace, lexer, at);
  } else if (const auto mod = find_mod(word)) {
    append(form, form.mods, *mod, Word::kMod, lexer, at);
  } else if (const unsigned width = vector_width(word)) {
    if (form.vector != 1 || form.order.full()) lexer.fail(at, "a second vector width in one instruction");
    form.vector = static_cast<std::uint8_t>(width);
    form.order.push_back(Word::kVector);
  } else if (const auto shape = find_shape(word)) {
    if (!is_empty(form.shape) || form.order.full())
      lexer.fail(at, "a second matrix shape in one instruction");
    form.shape = *shape;
    form.order.push_back(Word::kShape);
  } else {
    return false;
  }
  return true;
}

Form FormReader::read(Lexer& lexer) {
  const Place at = lexer.token().place;
  const std::size_t mnemonic = lexer.token().text.size();
  const std::string_view text = lexer.take_dotted_run();
  auto known = known_.find(text);
  if (known == known_.end()) {
    Form form;
    const auto op = find_opcode(text.substr(0, mnemonic));
    if (!op)
      fail_word(lexer, at, "instruction", text.substr(0, mnemonic), nearest_opcode(text.substr(0, mnemonic)));
    form.op = *op;
    const std::size_t words = std::min(mnemonic + 1, text.size());
    add_words(form, text.substr(words), lexer, {at.line, at.column + static_cast<std::uint32_t>(words)});
    known = known_.emplace(text, form).first;
  }
  Form form = known->second;
  while (lexer.token().kind == TokenKind::kDotted) {  // ".global .u32": words apart from each other
    const Token token = lexer.token();
    if (!add_word(form, token.text, lexer, token.place))
      fail_word(lexer, token.place, "modifier", "." + std::string(token.text), nearest_suffix(token.text));
    lexer.advance();
  }
  return form;
}

}  // namespace lockstep::ptx
