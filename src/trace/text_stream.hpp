// Lines and CTA-sized pieces of a trace file's text, with line numbers, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/byte_source.hpp"

namespace lockstep::trace {

/// Longest line that is read. A vector load of 32 full addresses takes 700 characters.
inline constexpr std::size_t kLongestLine = 64 * 1024;

/// Growing text that keeps its memory when cleared, always followed by '\n' so that scanners need no end.
class TextBuffer {
 public:
  void clear() { size_ = 0; }
  void append(const char* text, std::size_t size);
  void append(std::string_view text) { append(text.data(), text.size()); }
  [[nodiscard]] const char* begin() const { return data_.get(); }
  [[nodiscard]] const char* end() const { return data_.get() + size_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0, capacity_ = 0;
};

/// Whole lines that belong to one CTA.
struct TextPiece {
  /// The origin of text of a binary file: from this line of the piece on, it is compressed at the offset.
  struct Mark {
    std::uint64_t line, offset;
  };
  TextBuffer text;
  std::uint64_t first_line = 1;      // in the file
  std::vector<std::uint64_t> lines;  // line number of each text line, where they are not consecutive
  std::vector<Mark> marks;           // of a binary file: they take the place of line numbers; from line 0 on
  bool last = true;                  // the CTA ends with it
  bool end_of_file = false;          // nothing but blank lines and comments was left
  [[nodiscard]] std::uint64_t line(std::uint64_t offset) const {
    return lines.empty() ? first_line + offset : lines[offset];
  }
};

/// Where the text of the CTAs comes from, one after the other.
class CtaSource {
 public:
  virtual ~CtaSource() = default;
  /// The next piece; pieces of one CTA follow each other until `last`. Throws InputError.
  virtual void next(TextPiece& piece) = 0;
  /// Throws InputError when something other than blank lines and comments follows the last CTA.
  virtual void expect_end(std::uint64_t ctas) = 0;
};

class TextStream {
 public:
  /// `file` names the text in errors.
  TextStream(std::unique_ptr<ByteSource> source, std::string file);

  /// Next line without its end, false at the end of the file. The view is valid until the next call and is
  /// followed by a line end. Throws InputError on lines longer than kLongestLine.
  bool line(std::string_view& out);
  /// Puts the last line back: the next line() or cut() returns it again.
  void unread();
  /// Number of the line that line() returned last.
  [[nodiscard]] std::uint64_t line_number() const { return line_number_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[noreturn]] void fail(const std::string& message) const;

  /// Text up to and with the next "#END_TB" line, in pieces of about `limit` bytes.
  void cut(TextPiece& piece, std::size_t limit);

 private:
  bool refill();
  /// Position behind the line of the next "#END_TB" at or after `from`, or null; `from` is a line's start.
  const char* find_end_of_cta(const char* from) const;
  void take(TextPiece& piece, const char* end);

  std::unique_ptr<ByteSource> source_;
  std::string file_;
  std::vector<char> buffer_;
  std::size_t position_ = 0, length_ = 0, previous_ = 0;
  std::uint64_t line_number_ = 0;
  bool at_end_ = false;
};

/// CTAs of a processed trace, in file order.
class FileCtaSource final : public CtaSource {
 public:
  explicit FileCtaSource(TextStream stream, std::size_t piece_bytes = 4 << 20)
      : stream_(std::move(stream)), piece_bytes_(piece_bytes) {}
  void next(TextPiece& piece) override { stream_.cut(piece, piece_bytes_); }
  void expect_end(std::uint64_t ctas) override;

 private:
  TextStream stream_;
  std::size_t piece_bytes_;
};

}  // namespace lockstep::trace
