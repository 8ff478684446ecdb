#include "tests/fuzz/support/ptx_change.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "ptx/words.hpp"

namespace lockstep::fuzz {
namespace {

using Strings = std::vector<std::string>;

constexpr std::size_t kMaxBytes = 24 * 1024;  // of an example: larger ones take too long to read each time

struct Sample {
  const char *form, *operands;
};
constexpr Sample kSamples[] = {
#define FORM(form, operands) {form, operands},
#include "paths.hpp"
#include "tests/ptx/forms.inc"
#include "tests/ptx/forms_rare.inc"
#undef FORM
};

/// A text in lines, and which of them are instructions.
struct Base {
  Strings lines;
  std::vector<std::size_t> instructions;
};

bool is_instruction(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != line.npos && line.ends_with(';') &&
         (line[first] == '@' || (line[first] >= 'a' && line[first] <= 'z'));
}

Base base_of(std::string_view text) {
  Base base;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    base.lines.emplace_back(text.substr(0, end));
    if (is_instruction(base.lines.back())) base.instructions.push_back(base.lines.size() - 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return base;
}

std::vector<Base> read_bases() {
  std::vector<std::filesystem::path> files;
  for (const char* const folder :
       {LOCKSTEP_SOURCE_DIR "/examples/ptx", LOCKSTEP_SOURCE_DIR "/tests/ptx/data"})
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".ptx" && entry.file_size() < kMaxBytes) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Base> bases;
  for (const auto& path : files) {
    std::ifstream file(path);
    bases.push_back(base_of(std::string(std::istreambuf_iterator<char>(file), {})));
  }
  for (const Sample& s : kSamples)
    bases.push_back(base_of(
        ".version 8.0\n.target sm_90\n.address_size 64\n.func callee() { ret; }\n"
        ".visible .entry k(.param .u64 arg) {\n.reg .b32 %r<100>; .reg .b64 %d<100>; .reg .f32 %f<100>;\n"
        ".reg .b16 %h<100>; .reg .b128 %q<10>; .reg .pred %p<100>; .shared .align 128 .b8 sh[256];\n"
        "table: .branchtargets L, L;\nld.param.u64 %d1, [arg];\nld.param.u64 %d9, [arg];\nmov.u32 %r1, "
        "sh;\nL:\n" +
        std::string(s.form) + " " + s.operands + ";\nst.global.u32 [%d1], %r1;\nret;\n}\n"));
  std::erase_if(bases, [](const Base& base) { return base.instructions.empty(); });
  return bases;
}

/// "@%p1 add.s32 %r1, %r2, 5;" in its parts.
struct Statement {
  std::string guard;
  Strings words;  // mnemonic and modifiers
  Strings operands;

  explicit Statement(std::string_view text) {
    text.remove_suffix(1);
    skip_space(text);
    if (text.starts_with('@')) {
      const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
      guard = std::string(text.substr(0, end)) + " ";
      text.remove_prefix(end);
      skip_space(text);
    }
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    split(text.substr(0, end), '.', words);
    split(text.substr(end), ',', operands);
  }

  [[nodiscard]] std::string text() const {
    std::string out = guard;
    for (std::size_t i = 0; i < words.size(); ++i) out += (i ? "." : "") + words[i];
    for (std::size_t i = 0; i < operands.size(); ++i) out += (i ? ", " : " ") + operands[i];
    return out + ";";
  }

 private:
  static void skip_space(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  }
  static void split(std::string_view text, char separator, Strings& to) {
    skip_space(text);
    if (text.empty()) return;
    int depth = 0;
    to.emplace_back();
    for (const char c : text) {
      depth += c == '{' || c == '[' || c == '(';
      depth -= c == '}' || c == ']' || c == ')';
      if (c == separator && depth == 0)
        to.emplace_back();
      else
        to.back() += c;
    }
  }
};

std::string any_word(Choices& choices) {
  switch (choices.below(3)) {
    case 0:
      return std::string(ptx::name(
          static_cast<ptx::Mod>(choices.below(std::size_t{static_cast<unsigned>(ptx::Mod::k32x128b)} + 1))));
    case 1:
      return std::string(ptx::name(static_cast<ptx::Type>(
          choices.below(std::size_t{static_cast<unsigned>(ptx::Type::kSurfref)} + 1))));
    default:
      return std::string(ptx::name(
          static_cast<ptx::Space>(choices.below(std::size_t{static_cast<unsigned>(ptx::Space::kTex)} + 1))));
  }
}

/// One that stands anywhere in the text, or one of these.
std::string any_operand(Choices& choices, const Base& base) {
  static const Strings kOperands = {"0",
                                    "-1",
                                    "0f3F800000",
                                    "0d3FF0000000000000",
                                    "[0]",
                                    "{%r1, %r2}",
                                    "%tid.x",
                                    "_",
                                    "%p1",
                                    "!%p1",
                                    "%r1|%p1",
                                    "[%d1, {%r1, %r2}]",
                                    "%tid",
                                    "[sh+252]",
                                    "4294967296",
                                    "{%r1}",
                                    "{%f1, %f2, %f3, %f4}",
                                    "%q1",
                                    "%d1",
                                    "%h1",
                                    "arg",
                                    "callee",
                                    "table"};
  if (choices.below(2) == 0) return kOperands[choices.below(kOperands.size())];
  const Statement other(base.lines[base.instructions[choices.below(base.instructions.size())]]);
  return other.operands.empty() ? "1" : other.operands[choices.below(other.operands.size())];
}

void change_operands(Choices& choices, const Base& base, Strings& operands) {
  const std::size_t at = choices.below(operands.size());
  const auto place = operands.begin() + static_cast<std::ptrdiff_t>(at);
  switch (choices.below(5)) {
    case 0:
      if (!operands.empty()) operands.erase(place);
      break;
    case 1:
      if (!operands.empty()) operands.insert(place, std::string(*place));
      break;
    case 2:
      if (!operands.empty()) std::swap(*place, operands[choices.below(operands.size())]);
      break;
    case 3:
      operands.insert(place, any_operand(choices, base));
      break;
    default:
      if (!operands.empty()) *place = any_operand(choices, base);
  }
}

void change_words(Choices& choices, Strings& words) {
  const std::size_t at = choices.below(words.size());
  const auto place = words.begin() + static_cast<std::ptrdiff_t>(at);
  switch (choices.below(5)) {
    case 0:
      if (at > 0) words.erase(place);
      break;
    case 1:
      if (at > 0) *place = any_word(choices);
      break;
    case 2:
      words.insert(place + 1, any_word(choices));
      break;
    case 3:
      words.resize(1);
      break;
    default:
      words[0] = ptx::name(static_cast<ptx::Opcode>(
          choices.below(std::size_t{static_cast<unsigned>(ptx::Opcode::kWmma)} + 1)));
  }
}

void change(Choices& choices, const Base& base, std::string& line) {
  Statement statement(line);
  switch (choices.below(8)) {
    case 0:
      line.clear();
      return;
    case 1:
      line += "\n" + line;
      return;
    case 2:
      statement.guard = choices.below(2) == 0 ? "@%p1 " : "@!%p1 ";
      break;
    case 3:
    case 4:
      change_words(choices, statement.words);
      break;
    default:
      change_operands(choices, base, statement.operands);
  }
  line = statement.text();
}

}  // namespace

std::string changed_ptx(Choices& choices) {
  static const std::vector<Base> bases = read_bases();
  Base base = bases[choices.below(bases.size())];
  const Base original = base;
  for (std::size_t changes = 1 + choices.below(2); changes > 0; --changes) {
    std::string& line = base.lines[base.instructions[choices.below(base.instructions.size())]];
    if (is_instruction(line)) change(choices, original, line);
  }
  std::string text;
  for (const std::string& line : base.lines) text += line + "\n";
  return text;
}

}  // namespace lockstep::fuzz
