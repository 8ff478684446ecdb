// What goes into a compact trace comes out of it.
#include "compact_support.hpp"
#include "paths.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;
namespace fs = std::filesystem;

namespace {

/// `traces` relative to the project; bytes of `cat *.traceg | xz -9e` (XZ Utils 5.4.1) where it is a real
/// one.
struct Real {
  const char* name;
  std::uint64_t xz_bytes;
};
constexpr Real kReal[] = {
    {"vectoradd-a100", 5136}, {"bfs-a100", 313684}, {"ffma-h100-10", 784}, {"ffma-h100-40", 808}};

std::string list_of(const TemporaryFolder& dir, const std::string& lines) {
  return dir.write("kernelslist.g", lines);
}

/// One warp, four loads per CTA: a plane in CTA and warp, a random gather, the same elements of an array of
/// other size, and a list with distances beyond 32 bits.
std::string gather_text(unsigned ctas, unsigned warps, std::uint32_t seed) {
  Random random(seed);
  HeaderText header;
  header.grid = "(" + std::to_string(ctas) + ",1,1)";
  header.block = "(" + std::to_string(32 * warps) + ",1,1)";
  std::string text = header.text();
  const auto hex = [](std::uint64_t v) {
    char out[24];
    std::snprintf(out, sizeof out, " 0x%llx", static_cast<unsigned long long>(v));
    return std::string(out);
  };
  for (unsigned c = 0; c < ctas; ++c) {
    std::string body;
    for (unsigned w = 0; w < warps; ++w) {
      std::string small, wide, far;
      const LaneMask mask = random() | 1;
      for (int n = std::popcount(mask); n > 0; --n) {
        const std::uint64_t id = random() % 4096;
        small += hex(0x700000000 + id);
        wide += hex(0x710000000 + 4 * id);
        far += hex(std::uint64_t{random()} << 32 | random());
      }
      char start[16];
      std::snprintf(start, sizeof start, " %08x ", mask);
      const std::string m = start;
      body += warp_text(
          w, {"0000 ffffffff 1 R2 LDG.E 1 R4 4 1" + hex(0x720000000 + 4096 * c + 128 * w) + " 4",
              "0010" + m + "1 R2 LDG.E.U8 1 R4 1 0" + small, "0020" + m + "0 STG.E 2 R4 R2 4 0" + wide,
              "0030" + m + "0 STG.E 2 R4 R2 4 0" + far, "0040 00000000 1 R2 LDG.E 1 R4 4 1 0x0 0",
              "0050 80000000 1 R2 LDG.E 1 R4 4 1 0x8 0", "0060 ffffffff 0 EXIT 0 0"});
    }
    text += block_text(std::to_string(c) + ",0,0", body);
  }
  return text;
}

}  // namespace

TEST_CASE("The bundled traces survive conversion") {
  const TemporaryFolder dir;
  for (const char* name : {"streaming", "sgemm", "random", "chain", "mixed"}) {
    INFO(name);
    const auto text = open_trace(std::string(LOCKSTEP_SOURCE_DIR "/traces/") + name);
    const std::string out = dir / "t.lst";
    const ConvertProgress done = write_compact(*text, out);
    CHECK(done.bytes == fs::file_size(out));
    const auto compact = open_trace(out);
    require_same_trace(*text, *compact);
    std::uint64_t stored = 0;
    for (const auto& entry : fs::directory_iterator(std::string(LOCKSTEP_SOURCE_DIR "/traces/") + name))
      stored += entry.file_size();
    CHECK(done.bytes < stored);  // which is xz
  }
}

TEST_CASE("Warps with the same records share them in memory") {
  const TemporaryFolder dir;
  const std::string out = dir / "t.lst";
  write_compact(*open_trace(LOCKSTEP_SOURCE_DIR "/traces/sgemm"), out);
  const auto feed = open_trace(out)->open(0);
  feed->decode_now(1);
  const CtaTrace& cta = *feed->take(0);
  REQUIRE(cta.warps.size() == 8);
  CHECK(cta.records.size() == 938);  // traces/README.md
  for (const WarpSpan& warp : cta.warps) CHECK(warp.record_count == 938);
}

TEST_CASE("Real traces survive conversion and become smaller than xz -9e makes their text") {
  if (!fs::exists(shared_traces())) {
    WARN("no traces in ../shared: skipped");
    return;
  }
  const TemporaryFolder dir;
  for (const Real& real : kReal) {
    INFO(real.name);
    const auto text = open_trace((shared_traces() / real.name).string());
    const std::string out = dir / "t.lst";
    const ConvertProgress done = write_compact(*text, out);
    CHECK(done.bytes <= real.xz_bytes);
    require_same_trace(*text, *open_trace(out));
  }
}

TEST_CASE("Random kernels survive conversion") {
  const TemporaryFolder dir;
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    RandomTrace random;
    random.seed = seed;
    random.ctas = 1 + seed % 7 * 5;
    random.warps = 1 + seed % 4;
    INFO("seed " << seed);
    const auto text = open_trace(dir.write("kernel-1.traceg", random.text()));
    const std::string out = dir / "t.lst";
    write_compact(*text, out);
    require_same_trace(*text, *open_trace(out));
  }
}

TEST_CASE("Gathers survive conversion; the same elements of a second array cost next to nothing") {
  const TemporaryFolder dir;
  const auto text = open_trace(dir.write("kernel-1.traceg", gather_text(40, 4, 3)));
  const std::string out = dir / "t.lst";
  const ConvertProgress done = write_compact(*text, out);
  require_same_trace(*text, *open_trace(out));
  // 160 warps of about 16 lanes: masks of 32 bits, 12 bits per lane for the first gather and 64 for the last.
  const double entropy = 160 * (32 + 16.5 * (12 + 64)) / 8;
  CHECK(static_cast<double>(done.bytes) < 1.1 * entropy);
}

TEST_CASE("Values at the ends of their ranges survive conversion") {
  HeaderText header;
  header.block = "(33,1,1)";
  header.grid = "(2,2,1)";
  const std::string full = "ffffffff", top = "0xffffffffffffffff";
  std::string text = header.text();
  // Blocks out of order, warps out of order, an empty warp, strides and deltas that wrap.
  for (const char* id : {"1,1,0", "0,0,0", "1,0,0", "0,1,0"}) {
    text += block_text(
        id, warp_text(1, {}) +
                warp_text(
                    0, {"fffffff0 " + full + " 1 R2 LDG.E 1 R4 4 1 " + top + " -9223372036854775808",
                        "0010 " + full + " 1 R2 LDG.E 1 R4 4 1 0x0 9223372036854775807",
                        "0020 80000001 1 R2 LDG.E 1 R4 4 0 " + top + " 0x0",
                        "0030 80000001 1 R2 LDG.E 1 R4 4 0 0x100000000 0x80000000",
                        "0040 80000001 1 R2 LDG.E 1 R4 4 0 0x0 0x80000000", "0050 ffffffff 0 BAR.SYNC 0 0 15",
                        "0050 ffffffff 0 BAR.SYNC 0 0 -3", "0060 00000001 0 WHATEVER.X 0 0"}));
  }
  const TemporaryFolder dir;
  const auto set = open_trace(dir.write("kernel-1.traceg", text));
  const std::string out = dir / "t.lst";
  write_compact(*set, out);
  require_same_trace(*set, *open_trace(out));
  OpenOptions strict;
  strict.strict = true;
  CHECK_THROWS_WITH(open_trace(out, strict)->open(0), Catch::Contains("WHATEVER.X' is not known (--strict)"));
}

TEST_CASE("Lists, copies, repeated and unprocessed kernels survive conversion") {
  const TemporaryFolder dir;
  RandomTrace random;
  dir.write("kernel-1.traceg", random.text());
  HeaderText header;
  header.grid = "(2,1,1)";
  dir.write("kernel-2.trace", header.text() +
                                  "1 0 0 0 0000 ffffffff 0 NOP 0 0 0\n0 0 0 0 0000 ffffffff 0 NOP 0 0 0\n"
                                  "1 0 0 0 0010 ffffffff 0 EXIT 0 0 0\n0 0 0 0 0010 ffffffff 0 EXIT 0 0 0\n");
  const auto set = open_trace(list_of(dir,
                                      "MemcpyHtoD,0xffffffffffffff00,18446744073709551615\nkernel-1.traceg\n"
                                      "kernel-2.trace\nkernel-1.traceg\nMemcpyDtoH,0x10,8\n"));
  const std::string out = dir / "t.lst", again = dir / "u.lst";
  write_compact(*set, out);
  const auto compact = open_trace(out);
  require_same_trace(*set, *compact);
  write_compact(*compact, again);
  CHECK((slurp(out) == slurp(again)));
  write_compact(*compact, out);  // onto itself
  CHECK((slurp(out) == slurp(again)));
}

TEST_CASE("The bytes depend on the trace alone") {
  const TemporaryFolder dir;
  const auto set = open_trace(LOCKSTEP_SOURCE_DIR "/traces/mixed");
  std::string first;
  for (const unsigned threads : {1u, 3u}) {
    ConvertOptions options;
    options.threads = threads;
    write_compact(*set, dir / "t.lst", options);
    const std::string bytes = slurp(dir.path() / "t.lst");
    if (first.empty()) first = bytes;
    CHECK((bytes == first));
  }
}

TEST_CASE("Kernels of many chunks: any of them is read without those before it") {
  const TemporaryFolder dir;
  dir.write("kernel-1.traceg", gather_text(600, 8, 1));
  dir.write("kernel-2.traceg", gather_text(20, 1, 2));
  const auto set = open_trace(list_of(dir, "kernel-1.traceg\nkernel-2.traceg\n"));
  const std::string out = dir / "t.lst";
  write_compact(*set, out);
  require_same_trace(*set, *open_trace(out));
  // The first kernel's chunks come first in the file.
  std::string bytes = slurp(out);
  std::fill(bytes.begin() + 100, bytes.begin() + 200, '\0');
  dir.write("t.lst", bytes);
  const auto damaged = open_trace(out);
  require_same_kernel(*set->open(1), *damaged->open(1));
  CHECK_THROWS_WITH(read_all(*damaged->open(0)),
                    Catch::Contains("compact trace, byte 12: ") && Catch::Contains("checksum"));
}

TEST_CASE("A damaged chunk is an error only when its CTAs are wanted") {
  const TemporaryFolder dir;
  const auto set = open_trace(dir.write("kernel-1.traceg", gather_text(600, 8, 1)));
  const std::string out = dir / "t.lst";
  write_compact(*set, out);
  std::string bytes = slurp(out);
  const auto first_end = 12 + 13 + static_cast<unsigned char>(bytes[13]) +
                         256 * static_cast<unsigned char>(bytes[14]) +
                         65536 * static_cast<unsigned char>(bytes[15]);
  bytes[static_cast<std::size_t>(first_end) + 50] ^= 1;
  dir.write("t.lst", bytes);
  const auto feed = open_trace(out)->open(0);
  feed->decode_now(1);
  std::uint64_t good = 0;
  const auto read_on = [&] {
    for (; good < 600; ++good) {
      feed->decode_now(good + 1);
      feed->release(feed->take(good));
    }
  };
  CHECK_THROWS_WITH(read_on(), Catch::Contains("byte " + std::to_string(first_end) + ": "));
  CHECK(good > 50);
  CHECK(good < 550);
  CHECK_THROWS_AS(feed->decode_now(good + 1), InputError);
}
