// .tracez files give what the text that they were made from gives; damaged ones are refused with file and
// offset.
#include "trace/tracez.hpp"

#include "compact_support.hpp"
#include "paths.hpp"
#include "tracez_writer.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

std::string error_in(const TemporaryFolder& dir, const std::string& bytes) {
  const std::string path = dir.write("bad.tracez", bytes);
  try {
    read_all(*open_tracez(path));
  } catch (const InputError& error) {
    const std::string what = error.what();
    return what.starts_with(path + ": ") || what.starts_with(path + ":") ? what : "no file in: " + what;
  }
  return {};
}

std::string two_warps() {
  HeaderText header;
  header.grid = "(2,1,1)";
  header.block = "(64,1,1)";
  const std::vector<std::string> lines{"0000 ffffffff 1 R1 MOV 0 0 0",
                                       "0010 00000003 1 R2 LDG.E 1 R4 4 1 0x700000 4 0",
                                       "0020 ffffffff 0 EXIT 0 0 0"};
  const std::string warps = warp_text(0, lines) + warp_text(1, {lines[2]});
  return header.text() + block_text("0,0,0", warps) + block_text("1,0,0", warps);
}

void put(std::string& bytes, std::size_t at, std::uint64_t value, unsigned count = 4) {
  for (unsigned i = 0; i < count; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i) & 0xff);
}

std::uint64_t index_of(const std::string& bytes) {
  std::uint64_t at = 0;
  for (unsigned i = 0; i < 8; ++i)
    at |= std::uint64_t{static_cast<unsigned char>(bytes[bytes.size() - 8 + i])} << (8 * i);
  return at;
}

}  // namespace

TEST_CASE("The bundled traces as .tracez give the same kernels, whatever sub-chunks and dictionary") {
  const TemporaryFolder dir;
  const TracezOptions forms[] = {{2048, true, 1}, {3, false, 1}, {0, true, 1}};
  for (const char* name : {"mixed", "chain"}) {
    const fs::path folder = fs::path(LOCKSTEP_SOURCE_DIR) / "traces" / name;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() != ".xz") continue;
      const std::string text = text_of(entry.path());
      for (const TracezOptions& form : forms) {
        INFO(entry.path().string() << ", sub-chunks of " << form.subchunk);
        const std::string file = dir.write("kernel-1.tracez", tracez_of(text, form));
        const auto plain = open_kernel_text(open_memory(text), "k");
        require_same_kernel(*plain, *open_tracez(file));
      }
    }
  }
}

TEST_CASE("A list names .tracez files; a file is known by its content, too, and converted") {
  const TemporaryFolder dir;
  const std::string text = two_warps();
  dir.write("kernel-1.tracez", tracez_of(text));
  dir.write("mine.tracez", tracez_of(text, {1, false, 1}));
  dir.write("kernelslist.g", "MemcpyHtoD,0x700000,64\nkernel-1.tracez\nmine.tracez\n");
  const auto set = open_trace(dir.path().string());
  REQUIRE(set->kernels().size() == 2);
  REQUIRE(set->commands().size() == 3);
  for (std::uint32_t k : {0u, 1u}) require_same_kernel(*feed_of(text), *set->open(k));
  const std::string compact = dir / "t.lst";
  write_compact(*set, compact, {});
  require_same_trace(*set, *open_trace(compact));
  const auto bare = open_trace(dir.write("kernel", tracez_of(text)));
  require_same_kernel(*feed_of(text), *bare->open(0));
}

TEST_CASE("Clusters of a .tracez are in the header and kept by a compact trace; what is unknown is said") {
  const TemporaryFolder dir;
  const auto file = [&](std::uint32_t cluster) {
    return dir.write("kernel-1.tracez", tracez_of(two_warps(), {2048, false, cluster}));
  };
  CHECK(open_tracez(file(1))->notes().remarks.empty());
  CHECK(open_tracez(file(1))->header().cluster == Dim3{1, 1, 1});
  const auto set = open_trace(file(2));
  CHECK(set->kernels()[0].cluster == Dim3{2, 1, 1});
  CHECK_FALSE(set->kernels()[0].shared_ranks);
  const auto remarks = set->open(0)->notes().remarks;
  REQUIRE(remarks.size() == 1);
  CHECK_THAT(remarks[0], Contains("which thread block of a cluster (2,1,1)"));
  const std::string compact = dir / "t.lst";
  write_compact(*set, compact, {});
  const auto again = open_trace(compact);
  CHECK(again->kernels()[0].cluster == Dim3{2, 1, 1});
  require_same_trace(*set, *again);
}

TEST_CASE("Clusters of a .tracez whose thread blocks are out of order are placed one by one") {
  const TemporaryFolder dir;
  HeaderText header;
  header.grid = "(2,1,1)";
  header.block = "(32,1,1)";
  const std::string warp = warp_text(0, {"0000 ffffffff 0 EXIT 0 0 0"});
  const std::string text = header.text() + block_text("1,0,0", warp) + block_text("0,0,0", warp);
  const auto feed = open_tracez(dir.write("k.tracez", tracez_of(text, {2048, false, 2})));
  CHECK(feed->header().cluster == Dim3{1, 1, 1});
  REQUIRE(feed->notes().remarks.size() == 1);
  CHECK_THAT(feed->notes().remarks[0], Contains("clusters (2,1,1) are placed one by one"));
}

TEST_CASE("A bad instruction of a .tracez is named by the offset of its sub-chunk and its line there") {
  const TemporaryFolder dir;
  std::string text = two_warps();
  text.replace(text.find("0010 00000003"), 13, "0010 0000000x");
  CHECK_THAT(error_in(dir, tracez_of(text, {1, false, 1})),
             Contains(", line 1 of what stands there: found '0000000x'"));
  CHECK_THAT(error_in(dir, tracez_of(text, {0, false, 1})),
             Contains(", line 2 of what stands there: found '0000000x'"));
}

TEST_CASE("Wrong numbers in a .tracez are refused where they stand") {
  const TemporaryFolder dir;
  const std::string good = tracez_of(two_warps(), {2, false, 1});
  REQUIRE(error_in(dir, good).empty());
  const std::size_t sizes = good.find('\0') + 1, index = index_of(good), warp = sizes + 8;
  const auto changed = [&](std::size_t at, std::uint64_t value, unsigned count = 4) {
    std::string bytes = good;
    put(bytes, at, value, count);
    return error_in(dir, bytes);
  };
  const auto at = [](std::size_t offset) { return "byte " + std::to_string(offset) + ": "; };
  CHECK_THAT(error_in(dir, good.substr(0, sizes - 1)), Contains("no NUL so far"));
  CHECK_THAT(error_in(dir, good.substr(0, sizes + 4)), Contains("the file ends here"));
  CHECK_THAT(error_in(dir, good.substr(0, good.size() - 3)), Contains("is the file cut short?"));
  CHECK_THAT(changed(sizes, 0xffffffff), Contains(at(sizes) + "found a dictionary of 4294967295 bytes"));
  CHECK_THAT(changed(good.size() - 8, ~std::uint64_t{0}, 8), Contains(at(good.size() - 8)));
  CHECK_THAT(changed(index, 3), Contains("the index's next number"));
  CHECK_THAT(changed(index, 1), Contains("the index ends here"));
  CHECK_THAT(changed(index + 4, 7), Contains("thread block '7,0,0'; expected one inside the grid"));
  CHECK_THAT(changed(index + 4 + 24, 99), Contains("99,0,0 in its cluster"));
  CHECK_THAT(changed(index + 44, 0x7fffffff), Contains(at(index + 44) + "found 2147483647 warps"));
  CHECK_THAT(changed(index + 48, 4), Contains("sub-chunks have 3 instructions; expected the 4"));
  CHECK_THAT(changed(index + 52, 0xffffffff), Contains(at(index + 48) + "found 4294967295 sub-chunks"));
  CHECK_THAT(changed(index + 56, index - 7, 8), Contains(at(index + 56)));
  CHECK_THAT(changed(warp, 4), Contains(at(warp) + "found a warp of 4 instructions in 2"));
  CHECK_THAT(changed(warp + 8, 0x10000000), Contains(at(warp + 8) + "found a sub-chunk of 268435456 bytes"));
  CHECK_THAT(changed(warp + 12, 0), Contains(at(warp + 12) + "expected a Zstandard frame"));
  std::string swapped = good;  // 1 and 2 instructions in place of 2 and 1
  put(swapped, index + 64, 1);
  put(swapped, index + 68, 2);
  CHECK_THAT(error_in(dir, swapped), Contains("found a sub-chunk of 2 lines; expected the index's 1"));
}

TEST_CASE("Damaged .tracez files are read or refused with an InputError") {
  const TemporaryFolder dir;
  const std::string good = tracez_of(two_warps(), {2, false, 1});
  Random random(26);
  unsigned refused = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    std::string bytes = good;
    if (random() % 8 == 0) bytes.resize(random() % bytes.size());
    for (unsigned n = random() % 3 + 1; n > 0 && !bytes.empty(); --n)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    refused += !error_in(dir, bytes).empty();
  }
  CHECK(refused > 1000);
}
