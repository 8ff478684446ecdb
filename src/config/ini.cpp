#include "config/ini.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "config/schema.hpp"
#include "config/value.hpp"
#include "util/error.hpp"

namespace lockstep::config {
namespace {

constexpr std::size_t kMaxFileBytes = 1u << 20;
constexpr std::size_t kLongestLine = 4096;

/// Where a comment starts, or the line's size.
std::size_t comment_start(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool mark = line[i] == ';' || line[i] == '#';
    if (mark && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t')) return i;
  }
  return line.size();
}

bool is_key(std::string_view text) {
  for (const char c : text) {
    const bool word =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
    if (!word) return false;
  }
  return !text.empty();
}

class Parser {
 public:
  explicit Parser(const std::string& file) : file_(file) {}

  void line(std::string_view raw) {
    ++number_;
    if (raw.size() > kLongestLine) fail(fmt::format("the line is longer than {} characters", kLongestLine));
    const std::size_t comment = comment_start(raw);
    const std::string_view content = trimmed(raw.substr(0, comment));
    const std::string_view note =
        comment < raw.size() ? trimmed(raw.substr(comment + 1)) : std::string_view{};
    if (content.empty()) return;
    if (content.front() == '[') return section(content);
    assignment(content, note);
  }

  IniText take() { return std::move(text_); }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw InputError(file_, number_, message); }

  void section(std::string_view content) {
    const std::string_view name = trimmed(content.substr(1, content.size() - 2));
    if (content.back() != ']' || content.size() < 3 || !is_key(name))
      fail(fmt::format("found '{}', expected [group]", printable(content)));
    section_ = std::string(name) + ".";
  }

  void assignment(std::string_view content, std::string_view note) {
    const std::size_t equals = content.find('=');
    const std::string_view key = trimmed(content.substr(0, equals));
    if (equals == std::string_view::npos || !is_key(key))
      fail(fmt::format("found '{}', expected key = value, [group] or a comment", printable(content)));
    Assignment a{std::string(key), std::string(trimmed(content.substr(equals + 1))), std::string(note), file_,
                 number_};
    if (key == "include") return include(std::move(a));
    if (!section_.empty() && (find(section_ + a.key).parameter || !find(a.key).parameter))
      a.key = section_ + a.key;
    text_.assignments.push_back(std::move(a));
  }

  void include(Assignment a) {
    if (!section_.empty() || !text_.assignments.empty())
      fail("include must stand before the first section and key");
    if (a.value.empty()) fail("include names nothing; expected a GPU model or a file");
    text_.includes.push_back(std::move(a));
  }

  const std::string& file_;
  std::uint64_t number_ = 0;
  std::string section_;
  IniText text_;
};

}  // namespace

IniText parse_ini(std::string_view text, const std::string& file) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // byte order mark
  Parser parser(file);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    parser.line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parser.take();
}

std::string read_text_file(const std::string& file, std::string_view what) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    throw InputError(file, 0, fmt::format("is a directory, expected {}", what));
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError(file, 0, std::string("cannot be opened: ") + std::strerror(errno));
  std::string text(kMaxFileBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) throw InputError(file, 0, "cannot be read");
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kMaxFileBytes)
    throw InputError(file, 0, fmt::format("is larger than 1 MiB, expected {}", what));
  return text;
}

}  // namespace lockstep::config
