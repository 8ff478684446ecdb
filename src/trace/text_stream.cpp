#include "trace/text_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "trace/text_scan.hpp"
#include "util/error.hpp"

namespace lockstep::trace {
namespace {

constexpr std::size_t kBufferBytes = 256 * 1024;
static_assert(kBufferBytes >= 2 * kLongestLine);

bool only_blank_or_comment(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first < end && (text[first] != '#' || text.substr(first).starts_with("#BEGIN_TB"))) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

}  // namespace

void TextBuffer::append(const char* text, std::size_t size) {
  if (size_ + size + 1 > capacity_) {
    const std::size_t capacity = std::max({2 * capacity_, size_ + size + 1, std::size_t{4096}});
    auto grown = std::make_unique_for_overwrite<char[]>(capacity);
    if (size_ > 0) std::memcpy(grown.get(), data_.get(), size_);
    data_ = std::move(grown);
    capacity_ = capacity;
  }
  if (size > 0) std::memcpy(data_.get() + size_, text, size);
  size_ += size;
  data_[size_] = '\n';
}

TextStream::TextStream(std::unique_ptr<ByteSource> source, std::string file)
    : source_(std::move(source)), file_(std::move(file)), buffer_(kBufferBytes + 1) {}

void TextStream::fail(const std::string& message) const { throw InputError(file_, line_number_, message); }

bool TextStream::refill() {
  if (at_end_) return false;
  if (position_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + position_, length_ - position_);
    length_ -= position_;
    position_ = 0;
  }
  const std::size_t got = source_->read(buffer_.data() + length_, kBufferBytes - length_);
  at_end_ = got == 0;
  length_ += got;
  buffer_[length_] = '\n';  // ends the last line where the file does not
  return !at_end_;
}

bool TextStream::line(std::string_view& out) {
  std::size_t scanned = position_;
  for (;;) {
    const void* found = std::memchr(buffer_.data() + scanned, '\n', length_ - scanned);
    if (found == nullptr && length_ - position_ <= kLongestLine) {
      scanned = length_ - position_;
      if (refill()) continue;
      if (position_ == length_) return false;
    }
    const std::size_t end =
        found ? static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data()) : length_;
    ++line_number_;
    if (end - position_ > kLongestLine) fail(fmt::format("line longer than {} characters", kLongestLine));
    out = {buffer_.data() + position_, end - position_};
    previous_ = position_;
    position_ = std::min(end + 1, length_);
    return true;
  }
}

void TextStream::unread() {
  position_ = previous_;
  --line_number_;
}

const char* TextStream::find_end_of_cta(const char* from) const {
  constexpr std::string_view kEnd = "#END_TB";
  const char* const end = buffer_.data() + length_;
  for (const char* p = from; p < end; ++p) {
    p = static_cast<const char*>(std::memchr(p, '#', static_cast<std::size_t>(end - p)));
    if (p == nullptr) return nullptr;
    if (static_cast<std::size_t>(end - p) < kEnd.size() || !starts_with(p, kEnd)) continue;
    const char* before = p;
    while (before > from && is_blank(before[-1])) --before;
    if (before > from && before[-1] != '\n') continue;
    const void* newline = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
    if (newline != nullptr) return static_cast<const char*>(newline) + 1;
    return at_end_ ? end : nullptr;
  }
  return nullptr;
}

void TextStream::take(TextPiece& piece, const char* end) {
  const char* const begin = buffer_.data() + position_;
  piece.text.append(begin, static_cast<std::size_t>(end - begin));
  line_number_ += static_cast<std::uint64_t>(std::count(begin, end, '\n'));
  position_ += static_cast<std::size_t>(end - begin);
}

void TextStream::cut(TextPiece& piece, std::size_t limit) {
  piece.text.clear();
  piece.lines.clear();
  piece.first_line = line_number_ + 1;
  piece.last = true;
  piece.end_of_file = false;
  for (;;) {
    const char* const begin = buffer_.data() + position_;
    if (const char* end = find_end_of_cta(begin)) return take(piece, end);
    const char* const filled = buffer_.data() + length_;
    const char* whole = filled;  // end of the last whole line
    while (whole > begin && whole[-1] != '\n' && static_cast<std::size_t>(filled - whole) <= kLongestLine)
      --whole;
    if (static_cast<std::size_t>(filled - whole) > kLongestLine) {
      line_number_ += static_cast<std::uint64_t>(std::count(begin, whole, '\n')) + 1;
      fail(fmt::format("line longer than {} characters", kLongestLine));
    }
    take(piece, whole);
    if (piece.text.size() >= limit) {
      piece.last = false;
      return;
    }
    if (refill()) continue;
    if (const char* end = find_end_of_cta(buffer_.data() + position_)) return take(piece, end);
    take(piece, buffer_.data() + length_);
    piece.end_of_file = only_blank_or_comment({piece.text.begin(), piece.text.size()});
    return;
  }
}

void FileCtaSource::expect_end(std::uint64_t ctas) {
  std::string_view line;
  while (stream_.line(line)) {
    if (only_blank_or_comment(line)) continue;
    stream_.fail(
        fmt::format("found {} after the last of the grid's {} thread blocks; expected the end of the file",
                    shown(line), ctas));
  }
}

}  // namespace lockstep::trace
