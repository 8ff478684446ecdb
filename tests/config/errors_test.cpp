// What a user can get wrong, each with the one message that names place, finding and expectation.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "config/checks.hpp"
#include "config/config.hpp"
#include "config/schema.hpp"
#include "helpers.hpp"

using namespace lockstep;
using namespace lockstep::config;
using lockstep::config::test::error_of;
using lockstep::config::test::TemporaryFolder;

namespace {

std::string set_error(const std::string& option) {
  return error_of([&] { (void)resolve("v100", {option}); });
}

/// The error of a file with this text, its path cut off.
std::string file_error(const std::string& text) {
  const TemporaryFolder folder;
  const std::string file = folder.write("my.ini", text);
  const std::string message = error_of([&] { (void)resolve(file); });
  return message.starts_with(file) ? message.substr(file.size()) : message;
}

}  // namespace

TEST_CASE("--set errors name the option") {
  const std::pair<const char*, const char*> cases[] = {
      {"l1.wayz=3", "--set 'l1.wayz=3': unknown key 'l1.wayz'; did you mean 'l1.ways'?"},
      {"core.clock_mhs=3",
       "--set 'core.clock_mhs=3': unknown key 'core.clock_mhs'; did you mean 'core.clock_mhz'?"},
      {"qqqqqqqqqqqqqqqq=3", "--set 'qqqqqqqqqqqqqqqq=3': unknown key 'qqqqqqqqqqqqqqqq'"},
      {"l1.ways", "--set 'l1.ways': expected KEY=VALUE"},
      {"", "--set '': expected KEY=VALUE"},
      {"=3", "--set '=3': unknown key ''"},
      {"l1.ways=", "--set 'l1.ways=': l1.ways has no value; expected 1 to 512"},
      {"l1.ways=many", "--set 'l1.ways=many': l1.ways = 'many' is not a number; expected 1 to 512"},
      {"l1.ways=-4", "--set 'l1.ways=-4': l1.ways = '-4' is not a number; expected 1 to 512"},
      {"l1.ways=+4", "--set 'l1.ways=+4': l1.ways = '+4' is not a number; expected 1 to 512"},
      {"l1.ways=4 5", "--set 'l1.ways=4 5': l1.ways = '4 5' is not a number; expected 1 to 512"},
      {"l1.ways=4.", "--set 'l1.ways=4.': l1.ways = '4.' is not a number; expected 1 to 512"},
      {"l1.ways=1.5", "--set 'l1.ways=1.5': l1.ways = 1.5 is not a whole number"},
      {"l1.ways=4 KiB", "--set 'l1.ways=4 KiB': l1.ways takes no unit, found 'KiB'"},
      {"l1.ways=1e3", "--set 'l1.ways=1e3': l1.ways = '1e3' is not a number; expected 1 to 512"},
      {"l1.ways=513", "--set 'l1.ways=513': l1.ways = 513 is out of range; expected 1 to 512"},
      {"l1.bytes=64 MHz",
       "--set 'l1.bytes=64 MHz': l1.bytes: unknown unit 'MHz', expected B, KiB, MiB or GiB"},
      {"l1.bytes=x",
       "--set 'l1.bytes=x': l1.bytes = 'x' is not a number; expected 4096 to 4194304 B with or without unit "
       "(B, KiB, "
       "MiB or GiB)"},
      {"clock.core_khz=1380 rpm",
       "--set 'clock.core_khz=1380 rpm': clock.core_khz: unknown unit 'rpm', expected kHz, MHz or GHz"},
      {"l1.bytes=64Kb", "--set 'l1.bytes=64Kb': l1.bytes: unknown unit 'Kb', expected B, KiB, MiB or GiB"},
      {"l1.bytes=64 i", "--set 'l1.bytes=64 i': l1.bytes: unknown unit 'i', expected B, KiB, MiB or GiB"},
      {"host.bytes_per_second=16 Gb/s",
       "--set 'host.bytes_per_second=16 Gb/s': host.bytes_per_second: unknown unit 'Gb/s', expected B/s, "
       "kB/s, "
       "MB/s, GB/s or TB/s"},
      {"l1.size=4", "--set 'l1.size=4': unknown key 'l1.size'; did you mean 'l1.bytes'?"},
      {"clock.core_khz=1.5 kHz",
       "--set 'clock.core_khz=1.5 kHz': clock.core_khz = 1.5 kHz is not a whole number of kHz"},
      {"clock.core_mhz=0",
       "--set 'clock.core_mhz=0': clock.core_khz = 0 is out of range; expected 50000 to 10000000 kHz"},
      {"dram.row_bytes=1000",
       "--set 'dram.row_bytes=1000': dram.row_bytes = 1000 is not a power of two; expected a power of two "
       "from 256 to "
       "65536 B"},
      {"rf.cache=yes", "--set 'rf.cache=yes': rf.cache = 'yes': expected false or true"},
      {"sm.scheduler=gtoo",
       "--set 'sm.scheduler=gtoo': sm.scheduler = 'gtoo': expected gto, lrr or cggty; did you mean 'gto'?"},
      {"pipe.alu.units=alu,fma3",
       "--set 'pipe.alu.units=alu,fma3': pipe.alu.units = 'fma3': expected alu, fma, fma2, fp16, fp64, xu, "
       "tensor, "
       "uniform, branch or mio; did you mean 'fma'?"},
      {"pipe.alu.units=alu,alu", "--set 'pipe.alu.units=alu,alu': pipe.alu.units names 'alu' twice"},
      {"l1.shared_carveouts_kib=8,8",
       "--set 'l1.shared_carveouts_kib=8,8': l1.shared_carveouts_kib: 8 does not come after 8; expected "
       "ascending "
       "numbers"},
      {"l1.shared_carveouts_kib=8,,9",
       "--set 'l1.shared_carveouts_kib=8,,9': l1.shared_carveouts_kib = '' is not a number; expected "
       "ascending numbers "
       "from 0 to 4096 KiB, with commas with or without unit (KiB, MiB or B)"},
      {"gpu.name=a;b",
       "--set 'gpu.name=a;b': gpu.name = 'a;b': expected 1 to 64 letters, digits, spaces or _.+-"},
      {"l1.ways=\x01\xff",
       "--set 'l1.ways=\\x01\\xff': l1.ways = '\\x01\\xff' is not a number; expected 1 to 512"},
  };
  for (const auto& [option, message] : cases) {
    CAPTURE(option);
    CHECK(set_error(option) == message);
  }
}

TEST_CASE("a key's suggestion is what is meant, by its words") {
  const std::pair<const char*, const char*> cases[] = {
      {"l1.size", "l1.bytes"},
      {"l2.bytes", "l2.slice_bytes"},
      {"l2.size_kb", "l2.slice_bytes"},
      {"l2_size", "l2.slice_bytes"},
      {"dram.size", "dram.capacity_bytes"},
      {"mem.size", "dram.capacity_bytes"},
      {"l1.latency", "l1.hit_latency"},
      {"l2.hit_latency", "l2.latency"},
      {"gpu.num_sms", "gpu.sms"},
      {"sms", "gpu.sms"},
      {"sm.warps", "sm.max_warps"},
      {"l1.assoc", "l1.ways"},
      {"host.bandwidth", "host.bytes_per_second"},
      {"dram.trcd", "dram.tRCD"},
      {"dram.tRDC", "dram.tRCD"},
      {"l1.hitlatency", "l1.hit_latency"},
      {"core.clock", "core.clock_mhz"},
      {"pipe.sp.latency", "pipe.fp32.latency"},
  };
  for (const auto& [written, meant] : cases)
    CHECK(suggestion_for_key(written) == fmt::format("; did you mean '{}'?", meant));
  for (const char* far : {"", "l1", "no.such.key", "dram.colour", "...", "._."}) {
    CAPTURE(far);
    CHECK(suggestion_for_key(far) == "");
  }
  CHECK(suggestion_for_key(std::string(100000, '.')) == "");
}

TEST_CASE("a hostile option is cut and made printable") {
  const std::string message = set_error("l1.ways=" + std::string(100000, '9'));
  CHECK(message.size() < 400);
  CHECK(message.find("is not a number") != std::string::npos);
}

TEST_CASE("file errors name file and line") {
  const std::pair<const char*, const char*> cases[] = {
      {"\n\nl1.wayz = 3\n", ":3: unknown key 'l1.wayz'; did you mean 'l1.ways'?"},
      {"[l1]\nwayz = 3\n", ":2: unknown key 'l1.wayz'; did you mean 'l1.ways'?"},
      {"[l1]\nways = 3 KiB ; comment\n", ":2: l1.ways takes no unit, found 'KiB'"},
      {"[l1]\nways = 8\n\nways = 16\n", ":4: duplicate key 'l1.ways', first set at line 2"},
      {"clock.core_mhz = 8\n[clock]\ncore_khz = 16\n",
       ":3: duplicate key 'clock.core_khz', first set at line 1"},
      {"hello\n", ":1: found 'hello', expected key = value, [group] or a comment"},
      {"= 4\n", ":1: found '= 4', expected key = value, [group] or a comment"},
      {"a b = 4\n", ":1: found 'a b = 4', expected key = value, [group] or a comment"},
      {"[l1\nways = 3\n", ":1: found '[l1', expected [group]"},
      {"[]\n", ":1: found '[]', expected [group]"},
      {"[a b]\n", ":1: found '[a b]', expected [group]"},
      {"[l1]\ninclude = v100\n", ":2: include must stand before the first section and key"},
      {"l1.ways = 8\ninclude = v100\n", ":2: include must stand before the first section and key"},
      {"include =\n", ":1: include names nothing; expected a GPU model or a file"},
      {"include = v10\n",
       ":1: include: 'v10' is neither a GPU model (v100, rtx3080ti, a100, h100_pcie, v100_sxm2, qv100, "
       "gtx1080ti, "
       "rtx2080ti, rtxa6000, h100_sxm, gh200, h200, rtx4090, rtx5090, l40, rtx3070, t4, sst_v100, sst_p100) "
       "nor a "
       "file; did you mean 'v100'?"},
      {"\n[l1]\nways = ;nothing\n", ":3: l1.ways has no value; expected 1 to 512"},
  };
  for (const auto& [text, message] : cases) {
    CAPTURE(text);
    CHECK(file_error(text) == message);
  }
  CHECK(file_error("l1.ways = " + std::string(5000, '1')) == ":1: the line is longer than 4096 characters");
  CHECK(file_error(std::string(2u << 20, '\n')) == ": is larger than 1 MiB, expected an INI file");
}

TEST_CASE("missing, unreadable and misspelt GPUs") {
  const std::string list =
      "is neither a GPU model (v100, rtx3080ti, a100, h100_pcie, v100_sxm2, qv100, gtx1080ti, rtx2080ti, "
      "rtxa6000, "
      "h100_sxm, gh200, h200, rtx4090, rtx5090, l40, rtx3070, t4, sst_v100, sst_p100), a system (dgx_a100, "
      "hgx_a100_4, "
      "dgx_h100, gh200_4, dgx1_v100, pcie_4, compnet_8, compnet_64, compnet_apu_8, h100_nodes) nor a file";
  CHECK(error_of([] { (void)resolve("v10"); }) == "'v10' " + list + "; did you mean 'v100'?");
  CHECK(error_of([] { (void)resolve("h100"); }) == "'h100' " + list + "; did you mean 'h100_pcie'?");
  CHECK(error_of([] { (void)resolve("dgx_a10"); }) == "'dgx_a10' " + list + "; did you mean 'dgx_a100'?");
  CHECK(error_of([] { (void)resolve("compnet8"); }) == "'compnet8' " + list + "; did you mean 'compnet_8'?");
  CHECK(error_of([] {
          (void)resolve("dgx_a100");
        }).starts_with("'dgx_a100' is a system, expected a GPU model ("));
  CHECK(error_of([] { (void)resolve("/no/such/file.ini"); }) == "'/no/such/file.ini' " + list);
  CHECK(error_of([] { (void)resolve(""); }) == "'' " + list);
  CHECK(error_of([] { (void)resolve("common"); }).find(list) != std::string::npos);
  const TemporaryFolder folder;
  CHECK(error_of([&] { (void)resolve(folder.path()); }) ==
        folder.path().string() + ": is a directory, expected an INI file");
}

TEST_CASE("includes: relative to the file, later values win, cycles are found") {
  const TemporaryFolder folder;
  folder.write("sub/base.ini", "include = a100\n[l1]\nhit_latency = 99\nmshrs = 77\n");
  const std::string top = folder.write("top.ini", "include = sub/base.ini\nl1.mshrs = 78\n");
  const GpuConfig c = resolve(top, {"l1.tags_per_cycle=9"});
  CHECK(c.gpu.sms == 108);
  CHECK(c.l1.hit_latency == 99);
  CHECK(c.l1.mshrs == 78);
  CHECK(c.l1.tags_per_cycle == 9);

  const std::string a = folder.write("a.ini", "include = b.ini\n");
  const std::string b = folder.write("b.ini", "\ninclude = ./sub/../a.ini\n");
  CHECK(error_of([&] { (void)resolve(a); }) ==
        b + ":2: '" + (folder / "./sub/../a.ini") + "' includes itself");

  for (int i = 0; i < 40; ++i)
    folder.write(fmt::format("n{}.ini", i), fmt::format("include = n{}.ini\n", i + 1));
  CHECK(error_of([&] { (void)resolve(folder / "n0.ini"); }).find("includes nest deeper than 16") !=
        std::string::npos);

  folder.write("bad.ini", "\n[l1]\nways = x\n");
  const std::string outer = folder.write("outer.ini", "include = bad.ini\n");
  CHECK(error_of([&] { (void)resolve(outer); }) ==
        (folder / "bad.ini") + ":3: l1.ways = 'x' is not a number; expected 1 to 512");
}

TEST_CASE("sections, dotted keys, comments, blanks and line ends") {
  const TemporaryFolder folder;
  const std::string file =
      folder.write("my.ini",
                   "\xef\xbb\xbf; first\r\ninclude = v100 # the base\r\n"
                   "l1.mshrs=11\r\n[ l1 ]\r\n  hit_latency\t=\t31\t; why\r\n"
                   "[pipe]\nalu.latency = 7\nfp64_shared = true\n[pipe.fp32]\nlatency = 9\n"
                   "l2.ways = 12 ; a full key in a section\n[gpu]\nname = a100 copy");
  const GpuConfig c = resolve(file);
  CHECK(c.l1.mshrs == 11);
  CHECK(c.l1.hit_latency == 31);
  CHECK(c.pipe_of(trace::OpClass::kAlu).latency == 7);
  CHECK(c.fp64_shared);
  CHECK(c.pipe_of(trace::OpClass::kFp32).latency == 9);
  CHECK(c.l2.ways == 12);
  CHECK(c.gpu.name == "a100 copy");
}

TEST_CASE("every rule between values is enforced and names its keys with places") {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"gpu.sms=81"},
       "the SMs must fill whole TPCs: gpu.sms = 81 (--set), gpu.sms_per_tpc = 2 (configs/v100.ini:"},
      {{"gpu.gpcs=41"}, "a GPC must have at least one TPC"},
      {{"clock.l2_mhz=43"}, "out of range"},
      {{"clock.l2_mhz=50", "clock.core_mhz=1700"}, "no clock may be more than 32 times"},
      {{"sm.max_warps=62"}, "the warps must divide evenly among the sub-cores"},
      {{"sm.subcores=2", "sm.max_warps=64"}, "a sub-core has at most 16 warps"},
      {{"sm.max_threads=1000"}, "the threads must be whole warps"},
      {{"sm.max_warps=32"}, "no more than max_warps * 32"},
      {{"sm.max_warps=16", "sm.max_threads=512"}, "every resident CTA needs a warp"},
      {{"sm.register_unit=255"}, "the registers must be whole units"},
      {{"frontend.l0_ways=5"}, "the L0 instruction cache must have whole sets"},
      {{"frontend.l1i_ways=3"}, "the L1 instruction cache must have whole sets"},
      {{"l1.bytes=131073"}, "the L1 must have whole lines of 128 bytes, at least a set of them"},
      {{"l1.bytes=64 KiB"}, "the largest carve-out must leave a line"},
      {{"l1.shared_carveouts_kib=128"}, "the largest carve-out must leave a line"},
      {{"l1.shared_carveouts_kib=0", "sm.shared_reserved=1024"}, "must hold the reserved bytes"},
      {{"l2.ways=23"}, "an L2 slice must have whole sets of 128-byte lines"},
      {{"l2.dirty_ways=25"}, "a set's dirty lines must be at most its ways, or 128 for no limit"},
      {{"l2.dirty_ways=12", "l2.ways=8"}, "a set's dirty lines must be at most its ways"},
      {{"l2.dirty_ways=0"}, "out of range"},
      {{"l2.partitions=31", "l2.halves=2"}, "both halves must have as many partitions"},
      {{"gpu.sms=1", "gpu.sms_per_tpc=1", "gpu.gpcs=1", "l2.halves=2"},
       "each half must serve at least one GPC"},
      {{"l2.halves=2", "l2.half_bytes=6144"}, "6144 is not a power of two"},
      {{"l2.partitions=256", "l2.slices_per_partition=4"}, "at most 512 slices"},
      {{"l2.slice_bytes=16 MiB", "l2.ways=16", "l2.partitions=64"}, "at most 1 GiB of L2"},
      {{"gpu.sms=512", "l1.bytes=4 MiB"}, "at most 1 GiB of L1"},
      {{"gpu.sms=512", "l1.mshrs=4096"}, "at most 2097152 L1 MSHRs"},
      {{"l2.mshrs=4096", "l2.partitions=256"}, "at most 1048576 L2 MSHRs"},
      {{"icnt.sm_out_bytes=48"}, "every port must move whole flits"},
      {{"icnt.slice_out_bytes=16"}, "every port must move whole flits"},
      {{"gpu.sms=512", "l2.partitions=256", "icnt.reply_credits=1024"}, "at most 16777216 messages"},
      {{"icnt.request_latency=1", "clock.icnt_mhz=2000"}, "each latency must be at least one core cycle"},
      {{"dram.tRAS=11"}, "tRAS >= tRCD"},
      {{"dram.tCCD_L=1"}, "tCCD_L >= tCCD_S"},
      {{"dram.tRRD_L=2"}, "tRRD_L >= tRRD_S"},
      {{"dram.tWTR_L=2"}, "tWTR_L >= tWTR_S"},
      {{"dram.tFAW=2"}, "tFAW >= tRRD_S"},
      {{"dram.tRFC=2000"}, "tRFC <= tREFI / 2"},
      {{"dram.write_low=48"}, "write_low < write_high"},
      {{"dram.write_queue=40"}, "write_high <= write_queue"},
      {{"l2.halves=2", "l2.ways=1", "l2.dirty_ways=1"},
       "with two halves a set needs at least two ways: half of them may hold lines of the other half: "
       "l2.ways = 1 "
       "(--set), l2.halves = 2 (--set)"},
      {{"l2.halves=2", "l2.mshrs=1"}, "with two halves a slice needs at least two MSHRs"},
      {{"dram.tRCD=1000", "dram.tRAS=1000", "dram.tREFI=2000"},
       "a bank must have time between two refreshes"},
      {{"dram.read_queue=1024", "l2.partitions=256", "dram.channels_per_partition=16"},
       "at most 1048576 queue entries"},
      {{"dram.bank_groups=16", "dram.banks_per_group=16", "dram.channels_per_partition=16",
        "l2.partitions=64"},
       "at most 131072 banks"},
  };
  for (const auto& [overrides, message] : cases) {
    const std::string found = error_of([&o = overrides] { (void)resolve("v100", o); });
    CAPTURE(overrides, found, message);
    CHECK(found.find(message) != std::string::npos);
  }
}
