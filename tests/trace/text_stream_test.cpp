// Lines and CTAs of a text that comes in pieces of any size, against a walk over the whole text.
#include "trace/text_stream.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include "util/error.hpp"

namespace lockstep::trace {
namespace {

/// Gives the text in random pieces.
class PieceSource final : public ByteSource {
 public:
  PieceSource(std::string text, std::mt19937& random, std::size_t most)
      : text_(std::move(text)), random_(random), most_(most) {}
  std::size_t read(char* to, std::size_t size) override {
    const std::size_t n = std::min({size, text_.size() - at_, 1 + random_() % most_});
    std::copy_n(text_.data() + at_, n, to);
    at_ += n;
    return n;
  }

 private:
  std::string text_;
  std::mt19937& random_;
  std::size_t most_, at_ = 0;
};

/// The whole text with a place in it.
class Whole {
 public:
  explicit Whole(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] std::uint64_t lines_before() const {
    return static_cast<std::uint64_t>(
        std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
  }
  /// With its end.
  std::string line() {
    const std::size_t end = text_.find('\n', at_), start = at_;
    at_ = end == std::string::npos ? text_.size() : end + 1;
    return text_.substr(start, at_ - start);
  }
  /// To the end of the CTA, or of the text.
  std::string cta(bool& ended) {
    std::string all;
    for (ended = false; !ended && !at_end();) {
      const std::string next = line();
      all += next;
      const std::size_t first = next.find_first_not_of(" \t");
      ended = first != std::string::npos && next.substr(first).starts_with("#END_TB");
    }
    return all;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

std::string random_text(std::mt19937& random) {
  static const char* const kLines[] = {"#BEGIN_TB",    "#END_TB",   " \t#END_TB  ", "thread block = 0,0,0",
                                       "x #END_TB",    "#END_T",    "##END_TB",     "",
                                       "#END_TB more", "insts = 3", "  ",           "\r"};
  std::string text;
  for (auto n = random() % 60; n > 0; --n) text += std::string(kLines[random() % std::size(kLines)]) + "\n";
  if (random() % 2 && !text.empty()) text.pop_back();
  return text;
}

std::string without_end(std::string line) {
  if (line.ends_with('\n')) line.pop_back();
  return line;
}

/// Cuts one CTA and compares its pieces.
void check_cut(TextStream& stream, Whole& whole, std::size_t limit) {
  std::string text;
  const std::uint64_t first = whole.lines_before() + 1;
  bool ended = false;
  const std::string expected = whole.cta(ended);
  TextPiece piece;
  for (;;) {
    stream.cut(piece, limit);
    REQUIRE(piece.first_line ==
            first + static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n')));
    REQUIRE(*piece.text.end() == '\n');  // which scanners rely on
    text.append(piece.text.begin(), piece.text.size());
    if (piece.last) break;
    REQUIRE(piece.text.size() >= limit);
    REQUIRE(text.back() == '\n');  // whole lines only
    REQUIRE_FALSE(piece.end_of_file);
  }
  REQUIRE(text == expected);
  if (ended) REQUIRE_FALSE(piece.end_of_file);
}

}  // namespace

TEST_CASE("text stream: lines and CTAs are those of the whole text, however it comes") {
  std::mt19937 random(47);
  for (int round = 0; round < 400; ++round) {
    const std::string text = random_text(random);
    TextStream stream(std::make_unique<PieceSource>(text, random, 1 + random() % 40), "f");
    Whole whole(text);
    INFO(text);
    while (!whole.at_end()) {
      if (random() % 3 == 0) {
        check_cut(stream, whole, 1 + random() % 100);
        continue;
      }
      std::string_view line;
      REQUIRE(stream.line(line));
      if (random() % 4 == 0) {
        stream.unread();
        if (random() % 2) {
          check_cut(stream, whole, 1 + random() % 100);
          continue;
        }
        REQUIRE(stream.line(line));
      }
      const std::uint64_t number = whole.lines_before() + 1;
      REQUIRE(line == without_end(whole.line()));
      REQUIRE(stream.line_number() == number);
    }
    std::string_view line;
    REQUIRE_FALSE(stream.line(line));
  }
}

TEST_CASE("text stream: a text of several buffers has every line once") {
  std::mt19937 random(53);
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += std::to_string(i) + std::string(random() % 40, 'x') + "\n";
  TextStream stream(std::make_unique<PieceSource>(text, random, 100'000), "f");
  Whole whole(text);
  std::string_view line;
  std::uint64_t lines = 0;
  while (stream.line(line)) {
    if (line != without_end(whole.line())) FAIL("line " << stream.line_number());
    ++lines;
  }
  CHECK(lines == 40'000);
  CHECK(stream.line_number() == lines);
}

TEST_CASE("text stream: the longest line is read, and one more character is refused with its number") {
  std::mt19937 random(59);
  const auto error_of = [&](std::size_t length, bool cuts, const std::string& end) {
    TextStream stream(
        std::make_unique<PieceSource>("first\nsecond\n" + std::string(length, 'a') + end, random, 10'000),
        "f.traceg");
    try {
      if (cuts) {
        TextPiece piece;
        for (piece.last = false; !piece.last;) stream.cut(piece, 4096);
      } else {
        for (std::string_view line; stream.line(line);) continue;
      }
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  for (const std::string end : {"\n", "\nlast\n"}) {
    CHECK(error_of(kLongestLine, false, end) == "");
    CHECK(error_of(kLongestLine + 1, false, end) == "f.traceg:3: line longer than 65536 characters");
  }
  CHECK(error_of(kLongestLine, true, "\n") == "");
  CHECK(error_of(300'000, true, "") == "f.traceg:3: line longer than 65536 characters");
}

TEST_CASE("text stream: what follows the last CTA may be blank or a comment, and nothing else") {
  const auto error_of = [](const std::string& after) {
    std::mt19937 random(61);
    FileCtaSource source(
        TextStream(std::make_unique<PieceSource>("#BEGIN_TB\n#END_TB\n" + after, random, 7), "f.traceg"), 16);
    TextPiece piece;
    source.next(piece);
    CHECK(piece.last);
    try {
      source.expect_end(1);
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  for (const char* fine : {"", "\n", "\n\n \t\n", "# a comment", " # one\r\n\r\n"})
    CHECK(error_of(fine) == "");
  CHECK(error_of("\n#BEGIN_TB\n") ==
        "f.traceg:4: found '#BEGIN_TB' after the last of the grid's 1 thread blocks; expected the end of the "
        "file");
  CHECK(error_of("x") ==
        "f.traceg:3: found 'x' after the last of the grid's 1 thread blocks; expected the end of the file");
}

TEST_CASE("text stream: a text without a further CTA is the file's end") {
  std::mt19937 random(67);
  for (const auto& [text, at_end] : std::vector<std::pair<std::string, bool>>{{"", true},
                                                                              {"\n \n# comment\n", true},
                                                                              {"# a\nb\n", false},
                                                                              {"#BEGIN_TB\n", false},
                                                                              {"#END_TB", false}}) {
    TextStream stream(std::make_unique<PieceSource>(text, random, 3), "f");
    TextPiece piece;
    stream.cut(piece, 1000);
    INFO(text);
    CHECK(piece.last);
    CHECK(piece.end_of_file == at_end);
  }
}

}  // namespace lockstep::trace
