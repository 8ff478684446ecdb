#include "cuda/launch_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "util/error.hpp"

namespace lockstep::cuda {

namespace {

struct TypeName {
  std::string_view name;
  unsigned bytes;
};
constexpr TypeName kElementTypes[] = {{"u8", 1},  {"s8", 1},  {"u16", 2}, {"s16", 2}, {"u32", 4},
                                      {"s32", 4}, {"u64", 8}, {"s64", 8}, {"f32", 4}, {"f64", 8}};
constexpr std::size_t kMaxShown = 40;                              // of a word in a message
constexpr std::uint64_t kMaxBufferBytes = std::uint64_t{1} << 40;  // of a buffer

std::string shown(std::string_view word) {
  std::string text = "'";
  for (const char c : word.substr(0, kMaxShown)) text += c >= 0x20 && c < 0x7f ? c : '?';
  return text + (word.size() > kMaxShown ? "...'" : "'");
}

/// The words of one line, taken from front to back.
class Words {
 public:
  Words(std::string_view text, const std::string& file, std::uint64_t line) : file_(&file), line_(line) {
    text = text.substr(0, text.find('#'));
    constexpr std::string_view kBlanks = " \t\r";
    for (std::size_t at = 0; (at = text.find_first_not_of(kBlanks, at)) < text.size();) {
      const bool quoted = text[at] == '"';
      const std::size_t end =
          quoted ? text.find('"', at + 1) : std::min(text.find_first_of(kBlanks, at), text.size());
      if (end == std::string_view::npos)
        fail("a quotation mark is not closed; expected a second one in the line");
      words_.push_back(text.substr(at + quoted, end - at - quoted));
      at = end + quoted;
    }
  }

  [[noreturn]] void fail(const std::string& message) const { throw InputError(*file_, line_, message); }
  [[noreturn]] void expected(const std::string& what) const {
    fail(fmt::format("{}; expected {}", done() ? "the line ends here" : "found " + shown(words_[next_]),
                     what));
  }
  [[nodiscard]] bool done() const { return next_ == words_.size(); }
  /// Takes the next word when it is this one.
  bool take(std::string_view word) {
    if (done() || words_[next_] != word) return false;
    ++next_;
    return true;
  }
  std::string_view word(const char* what) {
    if (done() || words_[next_].empty()) expected(what);
    return words_[next_++];
  }
  std::uint64_t count(const char* what, std::uint64_t least, std::uint64_t most) {
    const auto found = done() ? std::nullopt : parse(words_[next_]);
    if (!found || !found->whole || found->bits < least || found->bits > most)
      expected(fmt::format("{} from {} to {}", what, least, most));
    ++next_;
    return found->bits;
  }
  ScriptNumber number(const char* what) {
    const auto found = done() ? std::nullopt : parse(words_[next_]);
    if (!found) expected(what);
    ++next_;
    return *found;
  }
  ElementType type() {
    const auto* found = done() ? std::end(kElementTypes)
                               : std::find_if(std::begin(kElementTypes), std::end(kElementTypes),
                                              [&](const auto& t) { return t.name == words_[next_]; });
    if (found == std::end(kElementTypes)) expected("a type: u8 s8 u16 s16 u32 s32 u64 s64 f32 f64");
    ++next_;
    return static_cast<ElementType>(found - std::begin(kElementTypes));
  }
  /// Decimal, 0x hexadecimal, or with a point or exponent.
  [[nodiscard]] static std::optional<ScriptNumber> parse(std::string_view text);

 private:
  const std::string* file_;
  std::uint64_t line_;
  std::vector<std::string_view> words_;
  std::size_t next_ = 0;
};

std::optional<ScriptNumber> Words::parse(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::string_view digits = text.substr(negative);
  const bool hex = digits.starts_with("0x");
  if (hex) digits.remove_prefix(2);
  ScriptNumber number;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number.bits, hex ? 16 : 10);
  if (!digits.empty() && error == std::errc{} && end == digits.data() + digits.size()) {
    number.real = negative ? -static_cast<double>(number.bits) : static_cast<double>(number.bits);
    if (negative) number.bits = 0 - number.bits;
    return number;
  }
  number.whole = false;
  const auto [last, bad] = std::from_chars(text.data(), text.data() + text.size(), number.real);
  if (bad != std::errc{} || last != text.data() + text.size() || !std::isfinite(number.real))
    return std::nullopt;
  return number;
}

class Reader {
 public:
  explicit Reader(const std::string& file) { script_.file = file; }

  void line(std::string_view text) {
    Words words(text, script_.file, ++line_);
    if (words.done()) return;
    ScriptStep step;
    step.line = line_;
    if (words.take("buffer")) {
      step.what = buffer(words);
    } else if (words.take("launch")) {
      step.what = launch(words);
    } else if (words.take("wait")) {
      step.what = ScriptWait{};
    } else if (words.take("expect")) {
      step.what = expect(words);
    } else if (words.take("print")) {
      step.what = print(words);
    } else {
      words.expected("buffer, launch, wait, expect or print");
    }
    if (!words.done()) words.expected("the end of the line");
    script_.steps.push_back(std::move(step));
  }
  LaunchScript take() { return std::move(script_); }

 private:
  static void whole_where_needed(const Words& words, ElementType type, const ScriptNumber& number) {
    if (!number.whole && !is_float(type))
      words.fail("a number with a fraction; expected a whole one for this type");
  }

  static ScriptData data(Words& words, bool typed) {
    ScriptData d;
    using Kind = ScriptData::Kind;
    if (words.take("file")) {
      d.kind = Kind::kFile;
      d.file = words.word("the file's name");
      return d;
    }
    if (!typed && words.take("zero")) return d;
    const bool random = words.take("random");
    if (!random && !words.take("sequence"))
      words.expected(typed ? "sequence, random or file" : "zero, sequence, random or file");
    d.kind = random ? Kind::kRandom : Kind::kSequence;
    if (!typed) d.type = words.type();
    if (random) d.seed = words.count("a seed", 0, ~std::uint64_t{0});
    (random ? d.low : d.first) = words.number(random ? "the lowest value" : "the first element");
    (random ? d.high : d.step) =
        words.number(random ? "the highest value" : "the step from element to element");
    return d;
  }
  static void check(const Words& words, const ScriptData& d) {
    for (const ScriptNumber* n : {&d.first, &d.step, &d.low, &d.high}) whole_where_needed(words, d.type, *n);
    if (d.kind == ScriptData::Kind::kRandom && d.low.real > d.high.real)
      words.fail("the lowest value is above the highest");
  }

  ScriptBuffer buffer(Words& words) {
    ScriptBuffer b;
    b.name = words.word("a name");
    if (Words::parse(b.name) || b.name.find('+') != std::string::npos)
      words.fail(fmt::format("{} cannot be a name: no number, and no '+' in it", shown(b.name)));
    b.bytes = words.count("a size in bytes", 1, kMaxBufferBytes);
    if (!words.done()) b.data = data(words, false);
    check(words, b.data);
    if (!buffers_.emplace(b.name, b.bytes).second)
      words.fail(fmt::format("buffer {} is there already", shown(b.name)));
    return b;
  }

  /// NAME or NAME+OFFSET.
  void place(Words& words, std::string_view text, std::string& name, std::uint64_t& offset) const {
    const std::size_t plus = text.find('+');
    name = text.substr(0, plus);
    const auto found = buffers_.find(name);
    if (found == buffers_.end()) words.fail(fmt::format("there is no buffer {}", shown(name)));
    if (plus == std::string_view::npos) return;
    const auto number = Words::parse(text.substr(plus + 1));
    if (!number || !number->whole || number->bits >= found->second)
      words.fail(fmt::format("offset {}; expected one from 0 to {}", shown(text.substr(plus + 1)),
                             found->second - 1));
    offset = number->bits;
  }

  ScriptLaunch launch(Words& words);
  ScriptExpect expect(Words& words);
  ScriptPrint print(Words& words);

  LaunchScript script_;
  std::map<std::string, std::uint64_t, std::less<>> buffers_;  // bytes
  std::uint64_t line_ = 0;
};

/// "X", "XxY" or "XxYxZ".
Dim3 geometry(Words& words) {
  constexpr const char* kWhat = "X, XxY or XxYxZ, each at least 1";
  std::string_view rest = words.word(kWhat);
  const std::string_view whole = rest;
  std::uint32_t sizes[3] = {1, 1, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t x = std::min(rest.find('x'), rest.size());
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + x, sizes[i]);
    if (error != std::errc{} || end != rest.data() + x || sizes[i] == 0) break;
    if (x == rest.size()) return {sizes[0], sizes[1], sizes[2]};
    rest.remove_prefix(x + 1);
  }
  words.fail(fmt::format("found {}; expected {}", shown(whole), kWhat));
}

ScriptLaunch Reader::launch(Words& words) {
  ScriptLaunch l;
  l.kernel = words.word("a kernel's name");
  bool grid = false, block = false;
  while (!words.done() && !words.take("args")) {
    if (words.take("grid")) {
      l.grid = geometry(words);
      grid = true;
    } else if (words.take("block")) {
      l.block = geometry(words);
      block = true;
    } else if (words.take("cluster")) {
      l.cluster = geometry(words);
    } else if (words.take("shared")) {
      l.shared = words.count("bytes", 0, 1 << 24);
    } else if (words.take("stream")) {
      l.stream = words.count("a stream", 0, 1 << 16);
    } else if (words.take("cooperative")) {
      l.cooperative = true;
    } else {
      words.expected("grid, block, cluster, shared, stream, cooperative or args");
    }
  }
  if (!grid || !block) words.fail("the launch has no grid or no block; expected 'grid X block X'");
  while (!words.done()) {
    ScriptArgument a;
    const std::string_view text = words.word("an argument");
    if (const auto number = Words::parse(text)) {
      a.number = *number;
    } else {
      place(words, text, a.buffer, a.offset);
    }
    l.arguments.push_back(std::move(a));
  }
  return l;
}

ScriptExpect Reader::expect(Words& words) {
  ScriptExpect e;
  place(words, words.word("a buffer"), e.buffer, e.offset);
  const ElementType type = words.type();
  e.data = data(words, true);
  e.data.type = type;
  check(words, e.data);
  while (!words.done()) {
    if (words.take("count")) {
      e.count = words.count("elements", 1, kMaxBufferBytes);
    } else if (words.take("within")) {
      e.within = words.number("a relative tolerance").real;
      if (e.within < 0) words.fail("the tolerance is negative");
    } else {
      words.expected("count or within");
    }
  }
  if (e.count > (buffers_.find(e.buffer)->second - e.offset) / bytes_of(type))
    words.fail("the buffer has fewer elements");
  return e;
}

ScriptPrint Reader::print(Words& words) {
  ScriptPrint p;
  place(words, words.word("a buffer"), p.buffer, p.offset);
  p.type = words.type();
  p.count = words.count("elements", 1, (buffers_.find(p.buffer)->second - p.offset) / bytes_of(p.type));
  return p;
}

}  // namespace

unsigned bytes_of(ElementType type) { return kElementTypes[static_cast<unsigned>(type)].bytes; }
bool is_float(ElementType type) { return type >= ElementType::kF32; }

LaunchScript read_launch_script(std::string_view text, const std::string& file) {
  Reader reader(file);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.take();
}

}  // namespace lockstep::cuda
