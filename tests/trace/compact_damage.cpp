// Damaged and hostile compact traces: one InputError that names file and byte, or a valid trace.
#include <zlib.h>
#include <zstd.h>

#include "compact_support.hpp"
#include "trace/compact_blocks.hpp"
#include "trace/compact_chunk.hpp"
#include "trace/compact_directory.hpp"
#include "trace/shared_offsets.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;
namespace fs = std::filesystem;

namespace {

std::string small_compact(const TemporaryFolder& dir) {
  RandomTrace random;
  random.ctas = 3;
  random.lines = 6;
  const auto set = open_trace(dir.write("kernel-1.traceg", random.text()));
  const std::string out = dir / "t.lst";
  write_compact(*set, out);
  return slurp(out);
}

std::string little_endian(std::uint64_t value, unsigned bytes) {
  std::string out;
  for (unsigned i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

/// A block as docs/trace-format.md describes it.
std::string block(unsigned kind, const std::string& raw, std::uint64_t said_size) {
  std::string frame(ZSTD_compressBound(raw.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), raw.data(), raw.size(), 3));
  std::string head = little_endian(kind, 1) + little_endian(frame.size(), 4) + little_endian(said_size, 4);
  const std::string summed = head + frame;
  const auto sum =
      ::crc32(0, reinterpret_cast<const Bytef*>(summed.data()), static_cast<uInt>(summed.size()));
  return head + little_endian(sum, 4) + frame;
}

std::string file_of(const std::string& blocks, std::uint64_t directory) {
  const std::string at = little_endian(directory, 8);
  const auto sum = ::crc32(0, reinterpret_cast<const Bytef*>(at.data()), 8);
  return std::string("\x89LST\r\n\x1a\n") + little_endian(1, 4) + blocks + at + little_endian(sum, 4) +
         "LSTe";
}

std::string text_field(const std::string& text) { return static_cast<char>(text.size()) + text; }

/// One kernel of one CTA of one warp that runs NOP and EXIT, byte by byte from the format's description.
struct ByHand {
  std::string table = std::string("\x02\x02", 2) + text_field("0 NOP 0 0") + text_field("0 EXIT 0 0") +
                      std::string("\0\0\0\1\0\0", 6);
  std::string chunk = std::string("\2\1\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20) + std::string("\0\0", 2) +
                      "\2" + std::string("\0\0", 2);
  std::uint64_t chunk_said = 25, table_said = 0;
  std::string kernel_tail = std::string("\x20\1\1", 3);  // block dimensions
  [[nodiscard]] std::string file() const {
    const std::string blocks = block(1, chunk, chunk_said);
    const std::uint64_t table_at = 12 + blocks.size();
    const std::string table_block = block(2, table, table_said == 0 ? table.size() : table_said);
    std::string directory = text_field("hand") + little_endian(0x1122334455667788, 8) + "\1" +
                            text_field("k") + "\7" + std::string("\1\1\1", 3) + kernel_tail +
                            std::string("\0\x0c\x46\0\0\0\5\0", 8) + text_field("1.7") + std::string("\0", 1);
    directory += static_cast<char>(table_at);  // below 128
    directory +=
        std::string("\1", 1) + static_cast<char>(2 * (table_at - 12) - 1) + "\1";  // zigzag of a negative
    directory += std::string("\1\2\0", 3);
    const std::uint64_t at = table_at + table_block.size();
    return file_of(blocks + table_block + block(3, directory, directory.size()), at);
  }
};

void mutate(Bytes& bytes, Random& random) {
  if (bytes.empty()) return;
  const std::size_t at = random() % bytes.size();
  switch (random() % 5) {
    case 0:
      bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ 1 << random() % 8);
      break;
    case 1:
      bytes[at] = static_cast<std::uint8_t>(random());
      break;
    case 2:
      bytes.resize(at);
      break;
    case 3:
      bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::uint8_t>(random()));
      break;
    default:
      bytes[at] = random() % 2 == 0 ? 0xff : 0;
      break;
  }
}

template <typename Read>
void read_or_refuse(const Read& read, Tally& tally) {
  try {
    read();
    ++tally.good;
  } catch (const BrokenBlock& error) {
    REQUIRE(std::string(error.what()).size() < 500);
    ++tally.refused;
  }
}

}  // namespace

TEST_CASE("A compact trace written by hand after its description is read") {
  const TemporaryFolder dir;
  const std::string path = dir.write("hand.lst", ByHand{}.file());
  CHECK(compact_error(path).empty());
  const auto set = open_trace(path);
  CHECK(set->name() == "hand");
  CHECK(set->content_hash() == 0x1122334455667788);
  CHECK(set->kernels()[0].name == "k");
  CHECK(set->kernels()[0].id == 7);
  CHECK(set->kernels()[0].registers == 12);
  CHECK(set->kernels()[0].binary_version == 70);
  CHECK(set->kernels()[0].nvbit_version == "1.7");
  const auto seen = read_all(*set->open(0));
  REQUIRE(seen.size() == 2);
  CHECK((seen[0] == Seen{0, 0, 0, ~0u, "NOP", {}}));
  CHECK((seen[1] == Seen{0, 0, 16, ~0u, "EXIT", {}}));
}

TEST_CASE("Every damaged bit of a compact trace is found") {
  const TemporaryFolder dir;
  const std::string good = small_compact(dir);
  const std::string path = dir / "t.lst";
  REQUIRE(compact_error(path).empty());
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 1 << at % 8);
    dir.write("t.lst", bytes);
    INFO("byte " << at);
    REQUIRE_THAT(compact_error(path), Catch::Contains("compact trace, byte "));
    if (at >= 8) REQUIRE_THROWS_AS(open_trace(path)->open(0)->decode_now(3), InputError);
  }
}

TEST_CASE("Every truncation of a compact trace is found") {
  const TemporaryFolder dir;
  const std::string good = small_compact(dir);
  for (std::size_t size = 0; size < good.size(); ++size) {
    const std::string path = dir.write("t.lst", good.substr(0, size));
    INFO("size " << size);
    REQUIRE_FALSE(compact_error(path).empty());
  }
}

TEST_CASE("Versions, kinds and sizes that cannot be are refused") {
  const TemporaryFolder dir;
  const auto error = [&](const std::string& bytes) { return compact_error(dir.write("t.lst", bytes)); };
  ByHand hand;
  std::string other = hand.file();
  other[8] = 2;
  CHECK_THAT(error(other),
             Catch::EndsWith("byte 8: format version 2; expected 1 for what the directory says"));
  other[8] = 14;
  CHECK_THAT(error(other),
             Catch::EndsWith("t.lst: compact trace, byte 8: format version 14; expected 1 to 13"));
  hand.chunk_said = 0xffffffff;
  CHECK_THAT(error(hand.file()),
             Catch::Contains("byte 12: block of 4294967295 bytes decompressed; expected at most"));
  hand.chunk_said = 24;
  CHECK_THAT(error(hand.file()), Catch::Contains("byte 12: the block's Zstandard frame is not of the size"));
  hand = {};
  hand.table_said = 1 << 20;
  CHECK_THAT(error(hand.file()), Catch::Contains("the block's Zstandard frame is not of the size"));
  hand = {};
  hand.kernel_tail = std::string("\x20\x20\2", 3);
  CHECK_THAT(error(hand.file()), Catch::Contains("more than 1024 threads"));
  hand.kernel_tail = std::string("\x1f\1\1", 3);  // the last lane has no thread now
  CHECK_THAT(error(hand.file()), Catch::Contains("lanes without a thread"));
  hand = {};
  hand.chunk[22] = 3;  // a sequence longer than its tokens
  CHECK_THAT(error(hand.file()),
             Catch::Contains("byte 12: the length of a sequence is 3; expected at most 2"));
  CHECK_THAT(error(file_of(block(3, "", 0), 1ull << 60)), Catch::Contains("a block is said to be here"));
  CHECK_THAT(error(file_of(block(1, std::string(20, '\0'), 20), 12)),
             Catch::Contains("block of kind 1; expected 3"));
}

TEST_CASE("Mutated blocks with right checksums are read or refused") {
  const TemporaryFolder dir;
  RandomTrace trace;
  trace.ctas = 5;
  trace.warps = 3;
  trace.lines = 12;
  const auto feed = open_trace(dir.write("kernel-1.traceg", trace.text()))->open(0);
  std::vector<CtaTrace> ctas;
  feed->decode_now(5);
  for (std::uint64_t i = 0; i < 5; ++i) copy_plain(*feed->take(i), ctas.emplace_back());
  Bytes chunk, table, directory;
  ChunkEncoder encoder;
  encoder.encode({feed->header(), 0}, ctas, chunk);
  encode_table(
      feed->instructions().size(),
      [&](std::uint32_t i) {
        TracedInstruction traced = feed->traced(i);
        traced.source_line = 10 + i % 3;
        traced.source_file = i % 4 == 0 ? "a.cu" : i % 4 == 1 ? "b.cuh" : "";
        return traced;
      },
      table);
  encode_directory(
      {"t", 1, {{}}, {{feed->header(), {"remark"}, 900, {{12, 3}, {500, 2}}, KernelSize{200, 90}}}},
      directory);
  ChunkDecoder decoder;
  Random random(5);
  Tally chunks, tables, directories;
  for (int i = 0; i < 6000; ++i) {
    Bytes bytes = i % 3 == 0 ? chunk : i % 3 == 1 ? table : directory;
    for (unsigned n = 1 + random() % 3; n > 0; --n) mutate(bytes, random);
    INFO("iteration " << i);
    if (i % 3 == 1) {
      read_or_refuse([&] { (void)decode_table(bytes); }, tables);
    } else if (i % 3 == 2) {
      read_or_refuse([&] { (void)decode_directory(bytes, kSizeVersion); }, directories);
    } else {
      std::vector<CtaTrace> out(5);
      std::vector<CtaTrace*> pointers;
      for (CtaTrace& cta : out) pointers.push_back(&cta);
      const auto read = [&] {
        decoder.decode({feed->header(), 0}, feed->instructions(), bytes, pointers);
        std::vector<Seen> seen;
        for (const CtaTrace& cta : out) append_seen(cta, feed->instructions(), seen);
      };
      read_or_refuse(read, chunks);
    }
  }
  for (const Tally& tally : {chunks, tables, directories}) {
    CHECK(tally.good > 50);
    CHECK(tally.refused > 300);
  }
}

TEST_CASE("A conversion that fails leaves nothing behind and what was there alone") {
  const TemporaryFolder dir;
  const std::string text = RandomTrace{}.text();
  const auto broken = open_trace(dir.write("kernel-1.traceg", text.substr(0, text.size() / 2)));
  const std::string out = dir.write("t.lst", "precious");
  CHECK_THROWS_AS(write_compact(*broken, out), InputError);
  CHECK(slurp(out) == "precious");
  CHECK(std::distance(fs::directory_iterator(dir.path()), fs::directory_iterator{}) == 2);
  const auto good = open_trace(dir.write("kernel-1.traceg", text));
  CHECK_THROWS_AS(write_compact(*good, (dir.path() / "no" / "t.lst").string()), UserError);
  CHECK_THROWS_WITH(write_compact(*good, dir.path().string()),
                    Catch::Contains("cannot be written: Is a directory"));
}
