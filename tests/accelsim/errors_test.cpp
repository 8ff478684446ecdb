// Values that a rule refuses: one bad option for each message, on the second line of its file.
#include <utility>

#include "helpers.hpp"
#include "tests/temporary_folder.hpp"

namespace lockstep::accelsim::test {
namespace {

/// Behind the place, the option and its value.
std::string refusal(const std::string& option, const std::string& value, const std::string& others = "") {
  const std::string error = error_of(others + "\n" + option + " " + value + "\n");
  const std::string place = "gpgpusim.config:2: " + option + " " + value + ": ";
  INFO(error);
  REQUIRE(error.starts_with(place));
  return error.substr(place.size());
}

TEST_CASE("errors of the machine's options") {
  CHECK(refusal("-gpgpu_compute_capability_minor", "10", "-gpgpu_compute_capability_major 7") ==
        "expected 0 to 9");
  CHECK(refusal("-gpgpu_n_clusters", "1000001") == "expected at most 1000000");
  CHECK(refusal("-gpgpu_shader_core_pipeline", "2048") == "expected THREADS:32");
  CHECK(refusal("-gpgpu_shader_core_pipeline", "2048:x") == "'x' is not a whole number; expected THREADS:32");
  CHECK(refusal("-gpgpu_num_reg_banks", "4000004", "-gpgpu_num_sched_per_core 4") ==
        "more register banks or ports than an SM can have");
  CHECK(refusal("-gpgpu_reg_file_port_throughput", "1000001") ==
        "more register banks or ports than an SM can have");
  CHECK(refusal("-gpgpu_shader_cta", "0").starts_with("sm.max_ctas = 0 is out of range"));
  CHECK(refusal("-gpgpu_shader_registers", "many") == "expected a whole number up to 1000000000000");
}

TEST_CASE("errors of clocks name the one that is wrong") {
  const std::string keys[] = {"clock.core_khz", "clock.icnt_khz", "clock.l2_khz", "clock.dram_khz"};
  for (std::size_t wrong = 0; wrong < 4; ++wrong)
    for (const std::string value : {"fast", "0", "-5", ""}) {
      std::string all;
      for (std::size_t i = 0; i < 4; ++i) all += (i > 0 ? ":" : "") + (i == wrong ? value : "1000");
      CAPTURE(all);
      CHECK(refusal("-gpgpu_clock_domains", all).starts_with(keys[wrong] + " = "));
    }
}

TEST_CASE("errors of the options of caches and shared memory") {
  CHECK(refusal("-gpgpu_cache:dl1", "N:64:64:6,L:L:m:N:H,A:128:8,8") == "expected lines of 128 bytes");
  CHECK(refusal("-gpgpu_cache:dl2", "N:64:256:6,L:L:m:N:H,A:128:8,8") == "expected lines of 128 bytes");
  CHECK(refusal("-gpgpu_shmem_size", "98305") == "expected whole KiB");
  const std::string adaptive = "-gpgpu_adaptive_cache_config 1";
  CHECK(refusal("-gpgpu_shmem_option", "0,8,big", adaptive) ==
        "'big' is not a whole number; expected sizes in KiB: 0,8,16");
  CHECK(refusal("-gpgpu_dram_partition_queues", "8:8:8") == "expected ICNT_L2:L2_DRAM:DRAM_L2:L2_ICNT");
}

TEST_CASE("errors of the options of pipes") {
  for (const char* pipe : {"int", "sp", "dp", "sfu"})
    CHECK(refusal("-trace_opcode_latency_initiation_" + std::string(pipe), "4,1,1",
                  "-gpgpu_num_dp_units 4") == "expected LATENCY,INTERVAL");
  const std::string form = "expected ENABLED,UNITS,LATENCY,ID_OC,OC_EX,NAME";
  for (int unit = 1; unit <= 8; ++unit) {
    const std::string option = "-specialized_unit_" + std::to_string(unit);
    CHECK(refusal(option, "1,4,4,4,BRA") == form);
    CHECK(refusal(option, "yes,4,4,4,4,BRA") == form + ", ENABLED 0 or 1");
    CHECK(refusal(option, "1,four,4,4,4,BRA") == form);
    CHECK(refusal(option, "1,99999,4,4,4,BRA") == form);
  }
}

TEST_CASE("errors of the options of DRAM") {
  CHECK(refusal("-gpgpu_n_mem_per_ctrlr", "0") == "expected 1 to 100000");
  CHECK(refusal("-gpgpu_n_mem_per_ctrlr", "100001") == "expected 1 to 100000");
  const std::string form =
      "expected nbk:CCD:RRD:RCD:RAS:RP:RC:CL:WL:CDLR:WR:nbkgrp:CCDL:RTPL as numbers, or as NAME=NUMBER";
  const auto timing = [&](const std::string& value) { return refusal("-gpgpu_dram_timing_opt", value); };
  CHECK(timing("16:2:6:12:28:12:40:12:4:5:12:4:3") == form);
  CHECK(timing("16:2:6:12:28:12:40:12:4:5:12:4:3:2:1") == form);
  for (const char* wrong : {"x", "", "-2", "2.5", "9999999"})
    CHECK(timing("16:2:6:12:28:12:40:12:4:5:12:4:3:" + std::string(wrong)) == form);
  // Twice: nbk by its place, then by its name.
  CHECK(timing("16:nbk=8:6:12:28:12:40:12:4:5:12:4:3:2") == "'nbk=8' is unknown or given twice; " + form);
}

TEST_CASE("errors of files name the forms that are read") {
  const lockstep::test::TemporaryFolder folder;
  const std::string large = folder.write("gpgpusim.config", std::string((1 << 20) + 1, '\n'));
  CHECK(error_of([&] { (void)read_files({large}); }) ==
        large + ": is larger than 1 MiB, expected a gpgpusim.config, trace.config or BookSim file");
}

TEST_CASE("several files are one list, in their order, with their own places") {
  const lockstep::test::TemporaryFolder folder;
  const std::string a = folder.write("a", "-gpgpu_n_mem 16\n"), b = folder.write("b", "k = 3;\n\nn = 1;"),
                    c = folder.write("c", "\n-gpgpu_n_mem 20\n");
  std::string all;
  for (const Option& option : read_files({c, a, b, a}))
    all += option.name + "=" + option.value + "@" + option.file.substr(option.file.size() - 1) + ":" +
           std::to_string(option.line) + " ";
  CHECK(all == "-gpgpu_n_mem=20@c:2 -gpgpu_n_mem=16@a:1 k=3@b:1 n=1@b:3 -gpgpu_n_mem=16@a:1 ");
  CHECK(read_files({}).empty());
}

}  // namespace
}  // namespace lockstep::accelsim::test
