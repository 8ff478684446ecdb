#include "correlate/csv.hpp"

#include "util/error.hpp"

namespace lockstep::correlate {
namespace {

class Parser {
 public:
  Parser(std::string_view text, const std::string& file, std::uint64_t first_line)
      : text_(text), file_(file), line_(first_line) {
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    if (text_.starts_with(kMark)) at_ = kMark.size();
  }

  std::vector<CsvRow> run() {
    std::vector<CsvRow> rows;
    while (at_ < text_.size()) {
      CsvRow row = read_row();
      if (row.fields.size() > 1 || !row.fields.front().empty()) rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  [[nodiscard]] bool at_line_end() const {
    return at_ == text_.size() || text_[at_] == '\n' || text_.substr(at_, 2) == "\r\n";
  }

  CsvRow read_row() {
    CsvRow row{line_, {}};
    for (;;) {
      row.fields.push_back(at_ < text_.size() && text_[at_] == '"' ? read_quoted() : read_plain());
      if (at_line_end()) break;
      ++at_;  // the comma
    }
    if (at_ < text_.size()) at_ += text_[at_] == '\r' ? 2 : 1;
    ++line_;
    return row;
  }

  std::string read_plain() {
    const std::size_t start = at_;
    while (!at_line_end() && text_[at_] != ',') ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  std::string read_quoted() {
    const std::uint64_t start = line_;
    std::string field;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '"') {
        field += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        field += '"';
        ++at_;
      } else {
        ++at_;
        if (!at_line_end() && text_[at_] != ',')
          throw InputError(file_, line_,
                           "found text behind a closing quote, expected a comma or the line's end");
        return field;
      }
    }
    throw InputError(file_, start, "found a quote that is not closed");
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::uint64_t line_;
};

}  // namespace

std::vector<CsvRow> parse_csv(std::string_view text, const std::string& file, std::uint64_t first_line) {
  return Parser(text, file, first_line).run();
}

}  // namespace lockstep::correlate
