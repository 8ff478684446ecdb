#include "accelsim/option.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "config/ini.hpp"
#include "config/value.hpp"
#include "util/error.hpp"

namespace lockstep::accelsim {
namespace {

using config::printable;
using config::trimmed;

constexpr std::size_t kLongestValue = 4096;
constexpr std::string_view kForms = "a gpgpusim.config, trace.config or BookSim file";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

/// "-gpgpu_n_mem", but not "-1".
bool is_option_name(std::string_view token) {
  return token.size() > 1 && token[0] == '-' && is_letter(token[1]);
}

/// Comments become blanks, so that places stay. A comment mark inside quotes is one too, as in Accel-Sim.
std::string without_comments(std::string_view text, std::string_view mark) {
  std::string out(text);
  for (std::size_t at = 0; (at = out.find(mark, at)) != std::string::npos;) {
    const std::size_t end = std::min(out.find('\n', at), out.size());
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(at), out.begin() + static_cast<std::ptrdiff_t>(end),
              ' ');
    at = end;
  }
  return out;
}

/// Runs of blanks, line ends among them, become one space.
std::string collapsed(std::string_view text) {
  std::string out;
  for (const char c : trimmed(text)) {
    if (!is_blank(c)) {
      out.push_back(c);
    } else if (!out.empty() && out.back() != ' ') {
      out.push_back(' ');
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

class Reader {
 public:
  Reader(std::string text, const std::string& file) : text_(std::move(text)), file_(file) {}

  std::vector<Option> options() {
    std::vector<Option> options;
    while (skip_blanks()) {
      const std::uint64_t line = line_;
      std::string name = token();
      if (!is_option_name(name))
        fail(line, fmt::format("found '{}', expected -option value", printable(name)));
      if (!skip_blanks()) fail(line, fmt::format("{} has no value", printable(name)));
      std::string value = text_[at_] == '"' ? quoted() : token();
      if (is_option_name(value))
        fail(line, fmt::format("{} has no value; '{}' follows", printable(name), printable(value)));
      options.push_back({std::move(name), std::move(value), file_, line});
    }
    return options;
  }

  std::vector<Option> booksim() {
    std::vector<Option> options;
    while (skip_blanks()) {
      const std::uint64_t line = line_;
      const std::string statement = until_semicolon(line);
      const std::size_t equals = statement.find('=');
      std::string key(trimmed(std::string_view(statement).substr(0, equals)));
      const bool named = !key.empty() && is_letter(key[0]) && std::all_of(key.begin(), key.end(), is_word);
      if (equals == std::string::npos || !named)
        fail(line, fmt::format("found '{}', expected key = value;", printable(statement)));
      options.push_back(
          {std::move(key), collapsed(std::string_view(statement).substr(equals + 1)), file_, line});
    }
    return options;
  }

 private:
  [[noreturn]] void fail(std::uint64_t line, const std::string& message) const {
    throw InputError(file_, line, message);
  }

  void advance() {
    if (text_[at_] == '\n') ++line_;
    ++at_;
  }

  /// Whether anything is left.
  bool skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) advance();
    return at_ < text_.size();
  }

  std::string token() {
    const std::size_t start = at_;
    while (at_ < text_.size() && !is_blank(text_[at_])) advance();
    return checked(text_.substr(start, at_ - start), line_);
  }

  std::string quoted() {
    const std::uint64_t line = line_;
    const std::size_t end = text_.find('"', at_ + 1);
    if (end == std::string::npos) fail(line, "the quoted value has no end");
    const std::string value = collapsed(std::string_view(text_).substr(at_ + 1, end - at_ - 1));
    while (at_ <= end) advance();
    if (at_ < text_.size() && !is_blank(text_[at_]))
      fail(line_, fmt::format("found '{}' behind a quoted value, expected a blank", printable(token())));
    return checked(value, line);
  }

  std::string until_semicolon(std::uint64_t line) {
    const std::size_t end = text_.find(';', at_);
    const std::string_view rest(text_);
    if (end == std::string::npos)
      fail(line,
           fmt::format("found '{}', expected key = value;", printable(collapsed(rest.substr(at_, 100)))));
    const std::string statement(rest.substr(at_, end - at_));
    while (at_ <= end) advance();
    return checked(collapsed(statement), line);
  }

  std::string checked(std::string value, std::uint64_t line) const {
    if (value.size() > kLongestValue)
      fail(line, fmt::format("the value is longer than {} characters", kLongestValue));
    return value;
  }

  std::string text_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 1;
};

/// The first character that is neither blank nor in a comment of either form.
char first_character(std::string_view text) {
  const std::string plain = without_comments(without_comments(text, "//"), "#");
  const auto at = std::find_if_not(plain.begin(), plain.end(), is_blank);
  return at == plain.end() ? '-' : *at;
}

}  // namespace

std::vector<Option> parse_options(std::string_view text, const std::string& file) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // byte order mark
  if (is_letter(first_character(text))) return Reader(without_comments(text, "//"), file).booksim();
  return Reader(without_comments(text, "#"), file).options();
}

std::vector<Option> read_files(const std::vector<std::string>& files) {
  std::vector<Option> all;
  for (const std::string& file : files) {
    std::error_code error;
    if (std::filesystem::is_directory(file, error))
      throw InputError(file, 0, fmt::format("is a directory, expected {}", kForms));
    for (Option& option : parse_options(config::read_text_file(file, kForms), file))
      all.push_back(std::move(option));
  }
  return all;
}

}  // namespace lockstep::accelsim
