// Deterministic mutations of valid traces and lists: each must be read or refused with an InputError.
#include <algorithm>
#include <ctime>

#include "reader_generator.hpp"
#include "trace/kernel_list.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;

namespace {

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    lines.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return lines;
}

std::string join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

/// Makes one of the numbers in `text` huge, negative or zero.
void inflate_number(std::string& text, Random& random) {
  static constexpr const char* kNumbers[] = {
      "99999999999999999999", "-1", "4294967296",         "0",   "18446744073709551615",
      "2147483647",           "0x", "ffffffffffffffffff", "1e9", "4294967295"};
  std::size_t at = text.find_first_of("0123456789", random() % text.size());
  if (at == std::string::npos) return;
  std::size_t end = at;
  while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
  text.replace(at, end - at, kNumbers[random() % std::size(kNumbers)]);
}

void mutate_lines(std::string& text, Random& random, unsigned kind) {
  auto lines = split_lines(text);
  const std::size_t a = random() % lines.size(), b = random() % lines.size();
  if (kind == 0) std::swap(lines[a], lines[b]);
  if (kind == 1) lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(a));
  if (kind == 2) lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(b), lines[a]);
  text = join(lines);
}

void mutate(std::string& text, Random& random) {
  if (text.empty()) return;
  const std::size_t at = random() % text.size();
  switch (random() % 8) {
    case 0:
      text.resize(at);
      break;
    case 1:
      text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
      break;
    case 2:
      text[at] = static_cast<char>(random());
      break;
    case 3:
      inflate_number(text, random);
      break;
    case 4:
      mutate_lines(text, random, random() % 3);
      break;
    case 5:
      text.erase(at, random() % 40);
      break;
    case 6:
      text.insert(at, text.substr(random() % text.size(), random() % 200));
      break;
    default:
      text.insert(at, 1, "\n\r\t\0 -,=.#"[random() % 10]);
      break;
  }
}

/// Reads a bounded number of CTAs. Any exception but InputError ends the test.
void read_some(const std::string& text, Tally& tally) {
  try {
    const auto feed = feed_of(text);
    const std::uint64_t end = std::min<std::uint64_t>(feed->header().grid.count(), 50);
    feed->decode_now(end);
    std::vector<Seen> seen;
    for (std::uint64_t i = 0; i < end; ++i) {
      CtaTrace* cta = feed->take(i);
      append_seen(*cta, feed->instructions(), seen);
      feed->release(cta);
    }
    ++tally.good;
  } catch (const InputError& error) {
    REQUIRE(error.file() == "k.traceg");
    REQUIRE(std::string(error.what()).size() < 1000);
    ++tally.refused;
  }
}

std::string without_grouping(const std::string& text) {
  std::string out;
  std::string cta = "0 0 0 ", warp = "0 ";
  for (const std::string& line : split_lines(text)) {
    if (line.starts_with("thread block = ")) cta = line.substr(15, line.find(',') - 15) + " 0 0 ";
    if (line.starts_with("warp = ")) warp = line.substr(7, line.size() - 8) + " ";
    if (line[0] == '-' || line.starts_with("#traces")) out += line;
    if (line.size() > 14 && line[4] == ' ' && line[13] == ' ') out += cta + warp + line;
  }
  return out;
}

}  // namespace

TEST_CASE("Mutated kernel traces are read or refused") {
  const std::clock_t start = std::clock();
  RandomTrace trace;
  trace.ctas = 4;
  trace.lines = 8;
  const std::string processed = trace.text(), interleaved = without_grouping(processed);
  REQUIRE(error_of(processed).empty());
  REQUIRE(error_of(interleaved).empty());
  Random random(2024);
  Tally tally;
  for (int i = 0; i < 4000; ++i) {
    std::string text = i % 4 == 3 ? interleaved : processed;
    for (unsigned n = 1 + random() % 3; n > 0; --n) mutate(text, random);
    INFO("iteration " << i);
    read_some(text, tally);
  }
  CHECK(tally.good > 100);
  CHECK(tally.refused > 1000);
  // Processor time: other work of the machine does not count.
  CHECK((std::clock() - start) / CLOCKS_PER_SEC < 60);
}

TEST_CASE("Mutated lists are read or refused") {
  const std::string list =
      "MemcpyHtoD,0x00007fc841500000,32768\nkernel-1.traceg\nMemcpyDtoH,0x10,8\nkernel-2-ctx_0x55.traceg\n";
  Random random(7);
  Tally tally;
  for (int i = 0; i < 4000; ++i) {
    std::string text = list;
    for (unsigned n = 1 + random() % 3; n > 0; --n) mutate(text, random);
    try {
      const KernelList parsed = read_kernel_list(TextStream(open_memory(text), "l"));
      REQUIRE_FALSE(parsed.files.empty());
      ++tally.good;
    } catch (const InputError&) {
      ++tally.refused;
    }
  }
  CHECK(tally.good > 500);
  CHECK(tally.refused > 100);
}

TEST_CASE("Noise in compressed containers is refused") {
  // A right magic number followed by noise; damaged real streams are in reader_bytes.cpp.
  const TemporaryFolder dir;
  const std::string heads[] = {std::string("\x1f\x8b\x08\x00", 4),
                               std::string("\xfd"
                                           "7zXZ\0\0\4",
                                           8),
                               std::string("\x28\xb5\x2f\xfd\x24", 5),
                               std::string("\x50\x2a\x4d\x18\x05\0\0\0", 8)};
  Random random(11);
  for (int i = 0; i < 400; ++i) {
    std::string bytes = heads[static_cast<std::size_t>(i) % 4];
    for (unsigned n = random() % 300; n > 0; --n) bytes += static_cast<char>(random());
    CHECK_THROWS_AS(open_trace(dir.write("kernel-1.traceg", bytes)), InputError);
  }
}
