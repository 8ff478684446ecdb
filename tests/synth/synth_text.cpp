// The writer of trace folders: lines worked out by hand from the format line of each tracer version.
#include <fmt/format.h>

#include <array>
#include <fstream>
#include <functional>
#include <sstream>
#include <vector>

#include "support.hpp"
#include "synth/compressor.hpp"
#include "synth/trace_folder.hpp"
#include "tests/random.hpp"

using namespace lockstep;
using namespace lockstep::synth;

namespace {

trace::KernelHeader header_of(std::uint32_t threads, std::uint64_t id = 1) {
  trace::KernelHeader header;
  header.name = "k";
  header.id = id;
  header.grid = {1, 1, 1};
  header.block = {threads, 1, 1};
  return header;
}

/// The instruction lines of warp `warp` of CTA (3, 1, 2).
std::string lines_in(const Dialect& dialect, const std::function<void(WarpText&)>& emit,
                     std::uint32_t threads = 64, std::uint32_t warp = 1) {
  TemporaryFolder folder;
  {
    KernelFile file(folder / "k.traceg", header_of(threads), dialect);
    file.begin_cta({3, 1, 2});
    emit(file.begin_warp(warp));
    file.end_cta();
    file.close();
  }
  const std::string text = text_of(folder / "k.traceg");
  const std::size_t count = text.find("insts = "), first = text.find('\n', count) + 1;
  REQUIRE(text.find("\nthread block = 3,1,2\n") < count);
  REQUIRE(text.find(fmt::format("\nwarp = {}\n", warp)) < count);
  const std::string lines = text.substr(first, text.find("\n#END_TB") - first);
  CHECK(std::stoi(text.substr(count + 8)) == std::count(lines.begin(), lines.end(), '\n'));
  return lines;
}

const Dialect kVersion2{.tracer_version = 2}, kVersion3{.tracer_version = 3}, kVersion5{};

const Line kLoad{.opcode = "LDG.E", .to = 4, .from = {6, 255}, .access = strided(4, 0x7f00, -8)};

}  // namespace

TEST_CASE("lanes of a CTA's warps are those of its threads") {
  for (std::uint32_t threads = 1; threads <= 100; ++threads)
    for (std::uint32_t warp = 0; warp < 5; ++warp)
      for (std::uint32_t lane = 0; lane < 32; ++lane)
        REQUIRE((live_lanes(threads, warp) >> lane & 1) == (warp * 32 + lane < threads));
}

TEST_CASE(
    "a line has PC, mask, registers, opcode, width and addresses, and from version 5 on the immediate") {
  const auto load = [](WarpText& w) { w.emit(kLoad); };
  CHECK(lines_in(kVersion5, load) == "0000 ffffffff 1 R4 LDG.E 2 R6 R255 4 1 0x7f00 -8 0 \n");
  CHECK(lines_in(kVersion3, load) == "0000 ffffffff 1 R4 LDG.E 2 R6 R255 4 1 0x7f00 -8 \n");
  CHECK(lines_in(kVersion5, [](WarpText& w) { w.emit({.opcode = "BRA", .mask = 0, .immediate = -32}); }) ==
        "0000 00000000 0 BRA 0 0 -32 \n");
  CHECK(lines_in({.line_info = true}, [](WarpText& w) {
          w.jump(0x20);
          w.emit({.opcode = "EXIT"});
        }) == "3 0020 ffffffff 0 EXIT 0 0 0 \n");
}

TEST_CASE("before version 3 a line begins with CTA and warp, and every address is listed") {
  const auto with_mask = [](LaneMask mask) {
    return [mask](WarpText& w) {
      Line line = kLoad;
      line.mask = mask;
      w.emit(line);
    };
  };
  CHECK(lines_in(kVersion2, with_mask(0b11)) ==
        "3 1 2 1 0000 00000003 1 R4 LDG.E 2 R6 R255 4 0 0x0000000000007f00 0x0000000000007ef8 \n");
  // The first address is that of the first active lane; the stride is that from lane to lane.
  CHECK(lines_in(kVersion2, with_mask(0b10100)) ==
        "3 1 2 1 0000 00000014 1 R4 LDG.E 2 R6 R255 4 0 0x0000000000007f00 0x0000000000007ef0 \n");
  CHECK(lines_in(kVersion2, with_mask(0)) == "3 1 2 1 0000 00000000 1 R4 LDG.E 2 R6 R255 4 0 \n");
}

TEST_CASE("listed addresses, and their differences") {
  const std::array<Address, 3> some{0x100, 0xf0, 0x7f0000000100};
  const auto with = [](const Access& access, LaneMask mask) {
    return [access, mask](WarpText& w) { w.emit({.opcode = "LD", .access = access, .mask = mask}); };
  };
  const std::span<const Address> all(some), one = all.first(1);
  CHECK(lines_in(kVersion3, with(listed(8, all), 0b111)) ==
        "0000 00000007 0 LD 0 8 0 0x0000000000000100 0x00000000000000f0 0x00007f0000000100 \n");
  CHECK(lines_in(kVersion3, with(deltas(8, all), 0b111)) ==
        "0000 00000007 0 LD 0 8 2 0x100 -16 139637976727568 \n");  // 0x7f0000000010
  CHECK(lines_in(kVersion2, with(deltas(8, all), 0b111)) ==
        "3 1 2 1 " + lines_in(kVersion3, with(listed(8, all), 0b111)));
  CHECK(lines_in(kVersion5, with(deltas(8, one), 0b1)) == "0000 00000001 0 LD 0 8 2 0x100  0 \n");
  CHECK(lines_in(kVersion3, with(deltas(8, {}), 0)) == "0000 00000000 0 LD 0 8 2 0x0 \n");
}

TEST_CASE("PCs go on by an instruction of the architecture, and have eight digits from 64 KiB on") {
  const auto three = [](WarpText& w) {
    w.jump(0xfff0);
    for (int i = 0; i < 3; ++i) w.emit({.opcode = "NOP"});
    CHECK(w.live() == 0x1f);
  };
  CHECK(lines_in({.binary_version = 70}, three, 37) ==
        "fff0 0000001f 0 NOP 0 0 0 \n00010000 0000001f 0 NOP 0 0 0 \n00010010 0000001f 0 NOP 0 0 0 \n");
  CHECK(lines_in({.binary_version = 61}, three, 37) ==
        "fff0 0000001f 0 NOP 0 0 0 \nfff8 0000001f 0 NOP 0 0 0 \n00010000 0000001f 0 NOP 0 0 0 \n");
}

TEST_CASE("warps begin at PC 0 with all their lanes, whatever the one before did") {
  TemporaryFolder folder;
  KernelFile file(folder / "k.traceg", header_of(40), kVersion5);
  file.begin_cta({0, 0, 0});
  file.begin_warp(1).jump(0x400);
  WarpText& first = file.begin_warp(0);
  CHECK(first.pc() == 0);
  CHECK(first.live() == kAllLanes);
  CHECK(file.begin_warp(1).live() == 0xff);
  file.end_cta();
  file.close();
}

TEST_CASE("a kernel list has copies and launches in order, without kernels that were dropped") {
  TemporaryFolder folder;
  TraceFolder trace(folder / "t", {.compression = Compression::kGzip});
  const auto write = [&](std::uint64_t id) { trace.kernel(header_of(32, id)).close(); };
  trace.copy_to_device(0x7f0000001000, 300);
  write(1);
  trace.launch_again();
  write(12);
  trace.copy_to_device(0x20, 4);
  trace.drop_last_kernel();
  write(2);
  trace.close();
  CHECK(text_of(folder / "t/kernelslist.g") ==
        "MemcpyHtoD,0x00007f0000001000,300\nkernel-1.traceg.gz\nkernel-1.traceg.gz\n"
        "MemcpyHtoD,0x0000000000000020,4\nkernel-2.traceg.gz\n");
  CHECK(text_of(folder / "t/kernel-2.traceg.gz").starts_with("-kernel name = k\n-kernel id = 2\n"));
}

namespace {

constexpr Compression kCompressions[] = {Compression::kNone, Compression::kGzip, Compression::kXz,
                                         Compression::kZstd};

/// Takes a number of bytes, and then none.
class SmallDisk : public std::streambuf {
 public:
  explicit SmallDisk(std::streamsize room) : room_(room) {}

 protected:
  std::streamsize xsputn(const char*, std::streamsize size) override {
    const std::streamsize taken = std::min(size, room_);
    room_ -= taken;
    return taken;
  }
  int_type overflow(int_type c) override { return room_-- > 0 ? c : traits_type::eof(); }

 private:
  std::streamsize room_;
};

}  // namespace

TEST_CASE("what is compressed comes back, at every length around the buffers") {
  lockstep::test::Random32 random(3);
  for (const Compression compression : kCompressions)
    for (const std::size_t size : {0u, 1u, 65535u, 65536u, 65537u, 200001u})
      for (const bool same : {false, true}) {
        CAPTURE(static_cast<int>(compression), size, same);
        std::string text(size, 'x');
        if (!same)
          for (char& c : text) c = static_cast<char>(random() & 0xff);
        TemporaryFolder folder;
        {
          std::ofstream file(folder / "t", std::ios::binary);
          compressed(compression, file)->write(text.data(), static_cast<std::streamsize>(size));
          CHECK(file.good());
        }
        CHECK(text_of(folder / "t") == text);
        if (same && size > 1 && compression != Compression::kNone)
          CHECK(std::filesystem::file_size(folder / "t") < size / 50);
      }
}

TEST_CASE("a compressed stream's sink says when it did not take everything") {
  for (const Compression compression : kCompressions) {
    CAPTURE(static_cast<int>(compression));
    SmallDisk disk(10);
    std::ostream sink(&disk);
    compressed(compression, sink)->write("0123456789abcdefghij", 20);
    CHECK_FALSE(sink.good());
  }
}
