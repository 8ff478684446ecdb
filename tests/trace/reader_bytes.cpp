// Compressed and plain files: the same text, whatever the container and its name; broken ones are errors.
#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_stream.hpp>

#include "reader_support.hpp"
#include "trace/content_hash.hpp"
#include "trace/zstd_frames.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;
using Catch::Matchers::Contains;
namespace io = boost::iostreams;

namespace {

template <class Filter>
std::string compress(const std::string& text) {
  std::ostringstream out;
  io::filtering_ostream stream;
  stream.push(Filter());
  stream.push(out);
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream.reset();
  return out.str();
}

std::string read_file(const std::string& path) {
  const auto source = open_text(path);
  std::string text;
  char buffer[1000];
  while (const std::size_t got = source->read(buffer, sizeof buffer)) text.append(buffer, got);
  return text;
}

std::string long_trace() {
  std::vector<std::string> lines;
  for (int i = 0; i < 3000; ++i) {
    lines.push_back("00" + std::to_string(10 + i % 80) + " ffffffff 1 R" + std::to_string(i * i % 255) +
                    " LDG.E 1 R4 4 1 0x7fc8" + std::to_string(10000000 + i * 7919 % 9999991) + " " +
                    std::to_string(i));
  }
  return small_trace(lines);
}

}  // namespace

TEST_CASE("gzip, xz and Zstandard are recognised by their content") {
  const TemporaryFolder dir;
  const std::string text = long_trace();
  const std::string packed[] = {text, compress<io::gzip_compressor>(text),
                                compress<io::lzma_compressor>(text), compress<io::zstd_compressor>(text)};
  const auto expected = read_text(text);
  for (const std::string& bytes : packed) {
    for (const char* name : {"kernel-1.traceg", "kernel-1.traceg.gz", "kernel-1.traceg.xz", "odd name"}) {
      CHECK(read_file(dir.write(name, bytes)) == text);
      const auto set = open_trace(dir / name);
      CHECK(read_all(*set->open(0)) == expected);
      CHECK(set->name() == name);
    }
    if (&bytes != packed) {
      CHECK(bytes.size() < text.size());
      CHECK(read_file(dir.write("twice", bytes + bytes)) ==
            text + text);  // as parallel compressors write them
    }
  }
}

TEST_CASE("Compressed data that is cut short or damaged is an error") {
  const TemporaryFolder dir;
  const std::string text = long_trace();
  for (const std::string& bytes : {compress<io::gzip_compressor>(text), compress<io::lzma_compressor>(text),
                                   compress<io::zstd_compressor>(text)}) {
    for (const std::size_t size : {bytes.size() - 1, bytes.size() / 2, std::size_t{100}}) {
      CHECK_THROWS_WITH(read_file(dir.write("cut", bytes.substr(0, size))), Contains("broken or cut short"));
    }
    std::string damaged = bytes;
    damaged[bytes.size() / 2] = static_cast<char>(damaged[bytes.size() / 2] ^ 0x55);
    damaged.resize(damaged.size() - 1);
    CHECK_THROWS_AS(read_file(dir.write("bad", damaged)), InputError);
    CHECK_THROWS_WITH(
        open_trace(dir.write("cut.traceg", bytes.substr(0, bytes.size() / 2)))->open(0)->decode_now(1),
        Contains("cut.traceg") && Contains("broken or cut short"));
  }
}

TEST_CASE("Zstandard frames are followed byte by byte and in blocks") {
  // Built by hand after RFC 8878: one raw block, one run-length block, a skippable frame.
  const std::string raw("\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello", 14);
  const std::string run("\x28\xb5\x2f\xfd\x20\x07\x3b\x00\x00x", 10);
  const std::string skippable("\x53\x2a\x4d\x18\x03\x00\x00\x00xyz", 11);
  const TemporaryFolder dir;
  CHECK(read_file(dir.write("raw", raw + skippable + run)) == "helloxxxxxxx");
  const std::string big = compress<io::zstd_compressor>(long_trace());
  const std::string stream = raw + run + skippable + raw;
  ZstdFrames single;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    INFO("byte " << i);
    REQUIRE(single.at_boundary() == (i == 0 || i == 14 || i == 24 || i == 35));
    single.feed(&stream[i], 1);
  }
  CHECK(single.at_boundary());
  ZstdFrames whole;
  whole.feed(big.data(), big.size() - 1);
  CHECK_FALSE(whole.at_boundary());
  whole.feed(&big.back(), 1);
  CHECK(whole.at_boundary());
}

TEST_CASE("Missing files, directories and special files are refused") {
  const TemporaryFolder dir;
  CHECK_THROWS_WITH(open_text(dir / "none"), Contains("cannot open the file: No such file"));
  CHECK_THROWS_WITH(open_text(dir.path().string()), Contains("is a directory"));
  CHECK_THROWS_WITH(open_text("/dev/null"), Contains("not a regular file"));
}

TEST_CASE("The content hash depends on every byte and on nothing else") {
  std::string bytes(1000, 'a');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 37 % 251);
  const auto hash = [](const std::string& s, std::size_t step) {
    ContentHash h;
    for (std::size_t i = 0; i < s.size(); i += step) h.update(s.data() + i, std::min(step, s.size() - i));
    return h.value();
  };
  const std::uint64_t whole = hash(bytes, bytes.size());
  for (const std::size_t step : {1u, 7u, 31u, 32u, 33u, 999u}) CHECK(hash(bytes, step) == whole);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    REQUIRE(hash(changed, 1000) != whole);
    REQUIRE(hash(bytes.substr(0, i), 1000) != whole);
  }
  CHECK(hash(bytes + std::string(1, '\0'), 2000) != whole);
}
