// Single rules: values by hand, and errors with their place.
#include <algorithm>

#include "helpers.hpp"

using namespace lockstep;
using namespace lockstep::accelsim;
using namespace lockstep::accelsim::test;

namespace {

/// "key=value key=value" of what the options set.
std::string set_by(const std::string& text, const std::string& base = "v100") {
  const Translation t = translated(text, base);
  const config::GpuConfig config = resolve(t);
  std::string out;
  for (const config::Assignment& a : t.assignments)
    out += (out.empty() ? "" : " ") + a.key + "=" + value_of(config, a.key);
  return out;
}

std::string reason_of(const std::string& text, const std::string& option) {
  for (const Ignored& i : translated(text).ignored) {
    if (i.option.name == option) return i.reason;
  }
  return "(not ignored)";
}

}  // namespace

TEST_CASE("an option alone leaves all other keys to the base") {
  CHECK(set_by("-gpgpu_n_mem 40") == "l2.partitions=40");
  CHECK(set_by("-gpgpu_clock_domains 1132.5:1000:900.125:877") ==
        "clock.core_khz=1132500 clock.icnt_khz=1000000 clock.l2_khz=900125 clock.dram_khz=877000");
  CHECK(set_by("-keep 0\n-gpgpu_runtime_stat 500") == "");
  CHECK(set_by("") == "");
}

TEST_CASE("a companion that is not given has Accel-Sim's default") {
  CHECK(set_by("-gpgpu_n_clusters 20") == "gpu.sms_per_tpc=3 gpu.sms=60");
  CHECK(set_by("-gpgpu_n_clusters 2 -gpgpu_n_cores_per_cluster 1") ==
        "gpu.sms_per_tpc=1 gpu.sms=2 gpu.gpcs=2");
}

TEST_CASE("constant cache, where it is not perfect") {
  CHECK(set_by("-gpgpu_const_cache:l1 N:128:64:8,L:R:f:N:L,S:2:64,4 -gpgpu_perfect_inst_const_cache 0") ==
        "mio.const_cold_miss=true mio.const_l1_bytes=65536");
}

TEST_CASE("instruction cache, where it is not perfect") {
  CHECK(set_by("-gpgpu_cache:il1 N:64:128:16,L:R:f:N:L,S:2:48,4\n-gpgpu_perfect_inst_const_cache 0") ==
        "frontend.line_bytes=128 frontend.l1i_bytes=131072 frontend.l1i_ways=16 frontend.l1i_mshrs=2 "
        "mio.const_cold_miss=true");
  CHECK(set_by("-gpgpu_cache:il1 N:64:128:16,L:R:f:N:L,S:2:48,4 -gpgpu_perfect_inst_const_cache 1") ==
        "mio.const_cold_miss=false mio.const_l1_bytes=1048576");
}

TEST_CASE("L1: apart from shared memory, unified, and beyond 512 ways") {
  CHECK(set_by("-gpgpu_cache:dl1 N:64:128:6,L:L:m:N:H,A:128:8,8 -gpgpu_shmem_size 98304") ==
        "l1.bytes=147456 l1.replacement=lru l1.ways=6 l1.mshrs=128 l1.allocate_on_miss=true "
        "l1.allocate_on_store=false "
        "l1.shared_carveouts_kib=96");
  CHECK(set_by("-gpgpu_cache:dl1 S:1:128:512,F:L:s:N:L,A:256:32,16:0,32 -gpgpu_unified_l1d_size 128 "
               "-gpgpu_l1_banks 2") ==
        "l1.bytes=131072 l1.replacement=fifo l1.ways=512 l1.mshrs=256 l1.allocate_on_miss=false "
        "l1.allocate_on_store=false "
        "l1.tags_per_cycle=2 "
        "l1.data_bytes_per_cycle=64");
  CHECK(set_by("-gpgpu_smem_latency 3") == "l1.shared_latency=8");
  CHECK(set_by("-gpgpu_gmem_skip_L1D 1") == "l1.cache_global=false");
  CHECK(set_by("-gpgpu_gmem_skip_L1D 0") == "l1.cache_global=true");
}

TEST_CASE("pipes: fewer units than schedulers, none, and integers on SP units") {
  const std::string head = "-gpgpu_num_sched_per_core 4 -trace_opcode_latency_initiation_";
  CHECK(set_by(head + "dp 48,16 -gpgpu_num_dp_units 1") ==
        "sm.subcores=4 pipe.fp64_shared=true pipe.fp64.latency=50 pipe.fp64.interval=16");
  CHECK(set_by(head + "dp 48,16 -gpgpu_num_dp_units 0") == "sm.subcores=4");
  CHECK(reason_of(head + "dp 48,16 -gpgpu_num_dp_units 0", "-trace_opcode_latency_initiation_dp")
            .starts_with("-gpgpu_num_dp_units 0"));
  CHECK(set_by(head + "int 4,2 -gpgpu_num_sp_units 8")
            .find("pipe.alu.units=fma pipe.alu.latency=6 pipe.alu.interval=1 ") != std::string::npos);
  CHECK(set_by(head + "sfu 20,4 -gpgpu_num_sfu_units 1").find("pipe.sfu.latency=22 pipe.sfu.interval=16 ") !=
        std::string::npos);
}

TEST_CASE("tensor cores: generic unit, and FP16 rate by architecture") {
  const std::string tail =
      " -gpgpu_num_sched_per_core 4 -gpgpu_num_tensor_core_units 4 -trace_opcode_latency_initiation_tensor "
      "16,8";
  CHECK(set_by("-gpgpu_compute_capability_major 7 -gpgpu_compute_capability_minor 5" + tail)
            .ends_with("tensor.f16=128 pipe.tensor.latency=11"));  // 1024 / 8; 16 + 2 = 11 + 8 - 1
  CHECK(set_by("-gpgpu_compute_capability_major 8 -gpgpu_compute_capability_minor 0" + tail, "a100")
            .find("tensor.f16=256 ") != std::string::npos);
}

TEST_CASE("specialised units: others, and those that are not enabled") {
  CHECK(reason_of("-specialized_unit_5 1,4,4,4,4,RT -trace_opcode_latency_initiation_spec_op_5 9,2",
                  "-specialized_unit_5") == "only the units BRA, TEX, TENSOR and UDP have a counterpart");
  CHECK(reason_of("-specialized_unit_5 0,4,4,4,4,BRA", "-specialized_unit_5") == "not enabled");
}

TEST_CASE("interconnect: local crossbar, BookSim, and the L2's latency in other clocks") {
  std::vector<Option> options = parse_options("-network_mode 1 -icnt_flit_size 40", "a");
  for (const Option& o : parse_options("flit_size = 32; k = 144; routing_delay = 0; frob = 7;", "b"))
    options.push_back(o);
  const Translation t = translate(options, "v100");
  CHECK(resolve(t).icnt.flit_bytes == 32);
  CHECK(resolve(t).icnt.slice_out_bytes == 32);
  REQUIRE(t.unknown.size() == 1);
  CHECK(t.unknown[0].name == "frob");
  CHECK(t.mapped.size() == 2);
  CHECK(set_by("-gpgpu_l2_rop_latency 160 -gpgpu_clock_domains 1000:500:2000:877") ==
        "clock.core_khz=1000000 clock.icnt_khz=500000 clock.l2_khz=2000000 clock.dram_khz=877000 "
        "icnt.request_latency=20 icnt.reply_latency=20 l2.latency=160");
}

TEST_CASE("every key of Accel-Sim's interconnect files is known, with BookSim and without") {
  // The keys of its config_volta_islip.icnt (SM7_QV100, 2024) and a BookSim key that none of its files has.
  constexpr const char* kKeys[] = {"use_map",
                                   "flit_size",
                                   "network_count",
                                   "topology",
                                   "k",
                                   "n",
                                   "routing_function",
                                   "num_vcs",
                                   "vc_buf_size",
                                   "input_buffer_size",
                                   "ejection_buffer_size",
                                   "boundary_buffer_size",
                                   "wait_for_tail_credit",
                                   "vc_allocator",
                                   "sw_allocator",
                                   "alloc_iters",
                                   "credit_delay",
                                   "routing_delay",
                                   "vc_alloc_delay",
                                   "sw_alloc_delay",
                                   "input_speedup",
                                   "output_speedup",
                                   "internal_speedup",
                                   "traffic",
                                   "packet_size",
                                   "packet_size_rate",
                                   "sim_type",
                                   "injection_rate",
                                   "subnets",
                                   "read_request_subnet",
                                   "read_reply_subnet",
                                   "write_request_subnet",
                                   "write_reply_subnet",
                                   "read_request_begin_vc",
                                   "read_request_end_vc",
                                   "write_request_begin_vc",
                                   "write_request_end_vc",
                                   "read_reply_begin_vc",
                                   "read_reply_end_vc",
                                   "write_reply_begin_vc",
                                   "write_reply_end_vc",
                                   "speculative"};
  std::string text;
  for (const char* key : kKeys) text += std::string(key) + " = 32;\n";
  for (const char* mode : {"-network_mode 1", "-network_mode 2"}) {
    std::vector<Option> options = parse_options(mode, "a");
    for (const Option& o : parse_options(text, "b")) options.push_back(o);
    const Translation t = translate(options, "v100");
    CHECK(error_of([&] { require_known(t); }) == "(no error)");
    CHECK(t.mapped.size() + t.ignored.size() == options.size());
  }
}

TEST_CASE("DRAM: timing without names, write queue, launch cost of a CTA") {
  CHECK(set_by("-gpgpu_dram_timing_opt 16:2:6:12:28:12:40:12:4:5:12:4:3:2 -gpgpu_dram_burst_length 8 "
               "-dram_data_command_freq_ratio 4")
            .ends_with(
                "dram.bank_groups=4 dram.banks_per_group=4 dram.tRCD=12 dram.tRP=12 dram.tRAS=28 dram.tCL=12 "
                "dram.tCWL=4 dram.tCCD_S=2 dram.tCCD_L=3 dram.tRRD_S=6 dram.tRRD_L=6 dram.tFAW=24 "
                "dram.tWTR_S=5 dram.tWTR_L=5 dram.tRTP=2 dram.tWR=12 dram.tRTW=12"));
  CHECK(set_by("-dram_seperate_write_queue_enable 1 -dram_write_queue_size 32:28:16") ==
        "dram.write_queue=32 dram.write_high=28 dram.write_low=16");
  CHECK(set_by("-gpgpu_TB_launch_latency 3") == "launch.dispatch_interval_milli=3000");
  CHECK(set_by("-gpgpu_concurrent_kernel_sm 1 -gpgpu_max_concurrent_kernel 16") == "launch.max_kernels=16");
}

TEST_CASE("an option given twice: the last counts, the first is listed") {
  const Translation t = translated("-gpgpu_n_mem 16\n-gpgpu_n_mem 24\n");
  CHECK(resolve(t).l2.partitions == 24);
  REQUIRE(t.ignored.size() == 1);
  CHECK(t.ignored[0].reason == "given again at gpgpusim.config:2");
}

TEST_CASE("what differs from the model is marked") {
  const Translation t = translated("-gpgpu_shmem_num_banks 16\n-icnt_subnets 2\n-gpgpu_perfect_mem 1\n");
  REQUIRE(t.ignored.size() == 3);
  CHECK(t.ignored[0].differs);
  CHECK(t.ignored[0].reason == "shared memory has 32 banks; 16 is not modelled");
  CHECK(!t.ignored[1].differs);
  CHECK(t.ignored[2].differs);
  CHECK(summary(t) == "0 Accel-Sim options mapped, 3 ignored (2 of them differ from the model), 0 unknown");
}

TEST_CASE("unknown options are listed, and errors with --strict") {
  const Translation t = translated("-gpgpu_n_mem 16\n-gpgpu_frobs 5\n-other 1\n");
  REQUIRE(t.unknown.size() == 2);
  CHECK(error_of([&] { require_known(t); }) ==
        "gpgpusim.config:2: unknown Accel-Sim option '-gpgpu_frobs' and 1 more");
  CHECK(summary(t) == "1 Accel-Sim options mapped, 0 ignored, 2 unknown");
  CHECK(error_of([&] { require_known(translated("-gpgpu_n_mem 16")); }) == "(no error)");
}

TEST_CASE("errors name file, line, option and what was expected") {
  CHECK(error_of("\n-gpgpu_n_clusters eighty") ==
        "gpgpusim.config:2: -gpgpu_n_clusters eighty: expected a whole number up to 1000000000000");
  CHECK(error_of("-gpgpu_shader_core_pipeline 2048:64") ==
        "gpgpusim.config:1: -gpgpu_shader_core_pipeline 2048:64: expected warps of 32 threads");
  CHECK(error_of("-gpgpu_n_mem 1000") ==
        "gpgpusim.config:1: -gpgpu_n_mem 1000: l2.partitions = 1000 is out of range; expected 1 to 256");
  CHECK(error_of("-gpgpu_clock_domains 1132:1132:1132")
            .starts_with(
                "gpgpusim.config:1: -gpgpu_clock_domains 1132:1132:1132: expected CORE:ICNT:L2:DRAM in MHz"));
  CHECK(error_of("-gpgpu_cache:dl2 S:32:128:x,L:B:m:L:P,A:192:4")
            .starts_with("gpgpusim.config:1: -gpgpu_cache:dl2 S:32:128:x,L:B:m:L:P,A:192:4: expected "
                         "S:SETS:LINE:WAYS,"));
  CHECK(error_of("-gpgpu_cache:dl2 S:32:64:24,L:B:m:L:P,A:192:4").ends_with("expected lines of 128 bytes"));
  CHECK(error_of("-trace_opcode_latency_initiation_int 4").ends_with("expected LATENCY,INTERVAL"));
  CHECK(
      error_of("-gpgpu_dram_timing_opt nbk=16:XYZ=1:RRD=3:RCD=12:RAS=28:RP=12:RC=40:CL=12:WL=2:CDLR=3:WR=10:"
               "nbkgrp=4:CCDL=2:RTPL=3")
          .find("'XYZ=1' is unknown or given twice") != std::string::npos);
  CHECK(error_of("-gpgpu_mem_addr_mapping dramid@8;0000RRRR").ends_with("found 8 bits, expected 64"));
  // Config's own checks, with the places of both values.
  const std::string error = error_of("-gpgpu_shader_cta 32\n-gpgpu_shader_core_pipeline 512:32\n");
  CHECK(error.starts_with("inconsistent configuration: every resident CTA needs a warp"));
  CHECK(error.find("sm.max_ctas = 32 (gpgpusim.config:1)") != std::string::npos);
  CHECK(error.find("sm.max_warps = 16 (gpgpusim.config:2)") != std::string::npos);
}

TEST_CASE("--set comes last, and the annotated configuration reads back to the same") {
  const Translation t = translated(shipped(kQv100));
  const std::vector<std::string> overrides = {"core.clock_mhz=1200", "l1.ways=64"};
  const config::GpuConfig config = resolve(t, overrides);
  CHECK(config.clock.core_khz == 1200000);
  const std::string text = annotated_ini(t, resolve_with_origins(t, overrides));
  CHECK(text.find("core_khz = 1200000 kHz ; --set\n") != std::string::npos);
  CHECK(text.find("sms = 80 ; -gpgpu_n_clusters 80, -gpgpu_n_cores_per_cluster 1 (gpgpusim.config:63)\n") !=
        std::string::npos);
  CHECK(text.find("gpcs = 6 ; v100\n") != std::string::npos);
  CHECK(text.find(
            "; -icnt_subnets 2 (gpgpusim.config:20): requests and replies have networks of their own\n") !=
        std::string::npos);
  std::vector<config::Assignment> back = config::parse_ini(text, "annotated").assignments;
  CHECK(config::hash(config::resolve("a100", back, {})) == config::hash(config));
}

TEST_CASE("the base follows the compute capability") {
  const auto base = [](const std::string& text) { return base_gpu_model(parse_options(text, "f")); };
  CHECK(base("") == "v100");
  CHECK(base("-gpgpu_compute_capability_major 8 -gpgpu_compute_capability_minor 0") == "a100");
  CHECK(
      config::resolve(base("-gpgpu_compute_capability_major 8 -gpgpu_compute_capability_minor 7")).gpu.arch ==
      86);
  CHECK(config::resolve(base("-gpgpu_compute_capability_major 9")).gpu.arch == 90);
}

TEST_CASE("what the H100 and H200 files of Accel-Sim 2.0 add to those before") {
  // gpgpu-sim_distribution @01f6fc4d, configs/tested-cfgs/SM90_H100: 64 banks of 2 reads for 4 schedulers.
  CHECK(set_by("-gpgpu_num_reg_banks 64 -gpgpu_reg_file_port_throughput 2 -gpgpu_num_sched_per_core 4",
               "h100_pcie") == "sm.subcores=4 rf.banks=2 rf.read_ports=8");
  CHECK(set_by(
            "-gpgpu_adaptive_cache_config 1 -gpgpu_shmem_option 0,8,16,32,64,228 -gpgpu_unified_l1d_size 256",
            "h100_pcie")
            .find("l1.shared_carveouts_kib=0,8,16,32,64,228") != std::string::npos);
  const Translation t = translated(
      "-gpgpu_n_chiplet_partition 2 -inter_chiplet_queue_size 256 -gpgpu_chiplet_interleave 0 "
      "-gpgpu_lrc_enabled 1 "
      "-gpgpu_lrc_max_entries 1024 -gpgpu_lrc_max_merged 4 -gpgpu_simple_dram_model 1 "
      "-gpgpu_simple_dram_clock_multiplier 1");
  CHECK(t.unknown.empty());
  CHECK(t.ignored.size() == 8);
  CHECK(std::count_if(t.ignored.begin(), t.ignored.end(), [](const Ignored& i) { return i.differs; }) == 3);
}
