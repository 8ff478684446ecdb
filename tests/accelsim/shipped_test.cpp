// The shipped files: every value worked out by hand from the option and the unit of ours.
#include <algorithm>
#include <map>
#include <set>

#include "accelsim/table.hpp"
#include "config/config.hpp"
#include "helpers.hpp"

using namespace lockstep;
using namespace lockstep::accelsim;
using namespace lockstep::accelsim::test;

namespace {

using Values = std::map<std::string, std::string>;

const Values kQv100Values = {
    {"gpu.arch", "70"},
    {"gpu.name", "accelsim_sm70"},
    {"gpu.sms", "80"},
    {"gpu.sms_per_tpc", "1"},
    {"clock.core_khz", "1132000"},
    {"clock.icnt_khz", "1132000"},
    {"clock.l2_khz", "1132000"},
    {"clock.dram_khz", "850000"},
    {"dram.tREFI", "3315"},  // 3420 * 850 / 877 = 3314.7
    {"dram.tRFC", "221"},    // 228 * 850 / 877 = 220.98
    {"sm.max_threads", "2048"},
    {"sm.max_warps", "64"},
    {"sm.max_ctas", "32"},
    {"sm.registers", "65536"},
    {"sm.subcores", "4"},
    {"sm.scheduler", "lrr"},
    {"rf.banks", "2"},
    {"rf.read_ports", "4"},  // 16 banks / 4 = 4 of 2 reads: 8 a cycle = 2 banks of 4
    {"mio.const_cold_miss", "false"},
    {"mio.const_l1_bytes", "1048576"},
    {"l1.bytes", "131072"},
    {"l1.replacement", "lru"},
    {"l1.ways", "256"},  // 128 KiB of 4 sets of 128 bytes
    {"l1.mshrs", "512"},
    {"l1.allocate_on_miss", "true"},
    {"l1.allocate_on_store", "true"},
    {"l1.cache_global", "true"},
    {"l1.tags_per_cycle", "4"},
    {"l1.data_bytes_per_cycle", "128"},  // 4 banks of 32
    {"l1.shared_carveouts_kib", "0,8,16,32,64,96"},
    {"l1.hit_latency", "22"},
    {"l1.shared_latency", "22"},
    {"icnt.flit_bytes", "40"},
    {"icnt.sm_out_bytes", "40"},
    {"icnt.sm_in_bytes", "40"},
    {"icnt.slice_in_bytes", "40"},
    {"icnt.slice_out_bytes", "40"},
    {"icnt.sm_queue_entries", "512"},
    {"icnt.queue_entries", "512"},
    {"icnt.reply_credits", "32"},
    {"icnt.request_credits", "64"},
    {"icnt.request_latency", "40"},  // of 160
    {"icnt.reply_latency", "40"},
    {"l2.latency", "80"},
    {"l2.partitions", "32"},
    {"l2.slices_per_partition", "2"},
    {"l2.slice_bytes", "98304"},  // 32 * 128 * 24: 6 MiB in 64 slices
    {"l2.ways", "24"},
    {"l2.dirty_ways", "128"},  // no limit
    {"tlb.miss_latency", "0"},
    {"l2.mshrs", "192"},
    {"l2.fetch_bytes", "32"},
    {"l2.mshr_merges", "16"},
    {"l2.slice_bytes_per_cycle", "32"},
    {"pipe.alu.units", "alu"},
    {"pipe.alu.latency", "4"},
    {"pipe.alu.interval", "2"},
    {"pipe.imad.units", "alu"},
    {"pipe.imad.latency", "4"},
    {"pipe.imad.interval", "2"},
    {"pipe.imad_wide.units", "alu"},
    {"pipe.imad_wide.latency", "4"},
    {"pipe.imad_wide.interval", "2"},
    {"pipe.vote.units", "alu"},
    {"pipe.vote.latency", "4"},
    {"pipe.vote.interval", "2"},
    {"pipe.fp32.units", "fma"},
    {"pipe.fp32.latency", "4"},
    {"pipe.fp32.interval", "2"},
    {"pipe.fp16.units", "fma"},
    {"pipe.fp16.latency", "4"},
    {"pipe.fp16.interval", "2"},
    {"pipe.fp64_shared", "false"},
    {"pipe.branch_shared", "false"},
    {"pipe.fp64.latency", "10"},
    {"pipe.fp64.interval", "4"},
    {"pipe.sfu.latency", "22"},
    {"pipe.sfu.interval", "8"},
    {"pipe.convert.latency", "22"},
    {"pipe.convert.interval", "8"},
    {"pipe.bitcount.latency", "22"},
    {"pipe.bitcount.interval", "8"},
    {"tensor.f16", "128"},         // 256 of a step of HMMA.884 in 2 cycles: V100's 1024 an SM
    {"pipe.tensor.latency", "3"},  // 2 + 2 = 3 + 2 - 1
    {"pipe.branch.latency", "6"},
    {"pipe.branch.interval", "4"},
    {"mio.texture_latency", "180"},  // 202 - 22
    {"mio.texture_interval", "1"},
    {"dram.channels_per_partition", "1"},
    {"dram.burst_bytes", "32"},  // 16 * 2: with 1 cycle 870 GB/s in 32 channels
    {"dram.burst_cycles", "1"},
    {"dram.bank_groups", "4"},
    {"dram.banks_per_group", "4"},
    {"dram.tRCD", "12"},
    {"dram.tRP", "12"},
    {"dram.tRAS", "28"},
    {"dram.tCL", "12"},
    {"dram.tCWL", "2"},
    {"dram.tCCD_S", "1"},
    {"dram.tCCD_L", "2"},
    {"dram.tRRD_S", "3"},
    {"dram.tRRD_L", "3"},
    {"dram.tFAW", "12"},
    {"dram.tWTR_S", "3"},
    {"dram.tWTR_L", "3"},
    {"dram.tRTP", "3"},
    {"dram.tWR", "10"},
    {"dram.tRTW", "13"},  // 12 + 1 + 2 - 2
    {"dram.read_queue", "64"},
    {"dram.latency_ps", "88339"},   // 100 / 1.132 GHz
    {"dram.row_bytes", "2048"},     // 6 column and 5 burst bits
    {"launch.latency_ns", "4417"},  // 5000 / 1.132 GHz = 4416.96
    {"launch.max_kernels", "1"},
    {"host.warms_l2", "true"},
};

/// Where RTX 3070 differs from the above, on the base rtx3080ti.
const Values kRtx3070Values = {
    {"gpu.arch", "86"},
    {"gpu.name", "accelsim_sm86"},
    {"gpu.sms", "46"},
    {"clock.dram_khz", "3500500"},
    {"dram.tREFI", "6650"},  // 2256 * 3500.5 / 1187.5 = 6650.2
    {"dram.tRFC", "422"},    // 143 * 3500.5 / 1187.5 = 421.5
    {"sm.max_threads", "1536"},
    {"sm.max_warps", "48"},
    {"rf.read_ports", "2"},  // 8 banks / 4 = 2 of 2 reads
    {"l1.mshrs", "384"},
    {"l1.shared_carveouts_kib", "0,8,16,32,64,100"},
    {"l1.hit_latency", "41"},
    {"l1.shared_latency", "31"},
    {"icnt.request_latency", "46"},  // of 187
    {"icnt.reply_latency", "46"},
    {"l2.latency", "95"},
    {"l2.partitions", "16"},
    {"l2.slice_bytes", "131072"},  // 64 * 128 * 16: 4 MiB in 32 slices
    {"l2.ways", "16"},
    {"l2.dirty_ways", "128"},
    {"tlb.miss_latency", "0"},
    {"pipe.fp32.interval", "1"},  // 32 lanes of 4 units: 128 FP32 an SM
    {"pipe.fp16.interval", "1"},
    {"pipe.fp64.latency", "66"},
    {"pipe.fp64.interval", "64"},
    {"pipe.sfu.latency", "23"},
    {"pipe.convert.latency", "23"},
    {"pipe.bitcount.latency", "23"},
    {"tensor.f16", "64"},  // 2048 of HMMA.16816 in 32 cycles; the base's others at half its rate too
    {"tensor.bf16", "32"},
    {"tensor.tf32", "16"},
    {"tensor.int8", "128"},
    {"tensor.int4", "256"},
    {"tensor.binary", "1024"},
    {"pipe.tensor.latency", "3"},  // 32 + 2 = 3 + 32 - 1
    {"pipe.uniform.latency", "6"},
    {"pipe.uniform.interval", "1"},
    {"mio.texture_latency", "161"},  // 202 - 41
    {"dram.burst_bytes", "32"},
    {"dram.burst_cycles", "4"},  // 8 bytes per cycle of 3500.5 MHz in 16 channels: 448 GB/s
    {"dram.tRCD", "24"},
    {"dram.tRP", "24"},
    {"dram.tRAS", "55"},
    {"dram.tCL", "24"},
    {"dram.tCWL", "8"},
    {"dram.tCCD_S", "4"},
    {"dram.tCCD_L", "6"},
    {"dram.tRRD_S", "12"},
    {"dram.tRRD_L", "12"},
    {"dram.tFAW", "48"},
    {"dram.tWTR_S", "10"},
    {"dram.tWTR_L", "10"},
    {"dram.tRTP", "4"},
    {"dram.tWR", "24"},
    {"dram.tRTW", "22"},            // 24 + 4 + 2 - 8
    {"dram.latency_ps", "224382"},  // 254 / 1.132 GHz
};

void check_values(const Translation& translation, const Values& expected) {
  const config::GpuConfig config = resolve(translation);
  Values found;
  for (const config::Assignment& a : translation.assignments) found[a.key] = value_of(config, a.key);
  for (const auto& [key, value] : expected) CHECK(key + "=" + value_of(config, key) == key + "=" + value);
  for (const auto& [key, value] : found) {
    INFO("set but not expected: " << key);
    CHECK(expected.count(key) == 1);
  }
  // What no option names is the base's.
  const config::GpuConfig base = config::resolve(translation.base);
  for (const config::Parameter& p : config::schema()) {
    if (!found.count(p.key)) CHECK(p.key + value_of(config, p.key) == p.key + value_of(base, p.key));
  }
}

/// Each option in exactly one list, in the order of the file.
void check_complete(const std::vector<Option>& options, const Translation& t) {
  CHECK(t.mapped.size() + t.ignored.size() + t.unknown.size() == options.size());
  std::multiset<std::uint64_t> lines, given;
  for (const Option& o : options) given.insert(o.line);
  for (const Option& o : t.mapped) lines.insert(o.line);
  for (const Ignored& i : t.ignored) lines.insert(i.option.line);
  for (const Option& o : t.unknown) lines.insert(o.line);
  CHECK((lines == given));
  for (const Ignored& i : t.ignored) {
    INFO(i.option.name);
    CHECK(!i.reason.empty());
    CHECK(i.reason != "no effect beside the other options");
  }
}

std::set<std::string> differing(const Translation& t) {
  std::set<std::string> names;
  for (const Ignored& i : t.ignored) {
    if (i.differs) names.insert(i.option.name + " " + i.option.value);
  }
  return names;
}

}  // namespace

TEST_CASE("SM7_QV100") {
  const auto options = parse_options(shipped(kQv100), "gpgpusim.config");
  const Translation t = translate(options, "v100");
  check_values(t, kQv100Values);
  check_complete(options, t);
  CHECK(t.unknown.empty());
  CHECK((differing(t) == std::set<std::string>{}));
}

TEST_CASE("SM86_RTX3070") {
  const auto options = parse_options(shipped(kRtx3070), "gpgpusim.config");
  CHECK(config::resolve(base_gpu_model(options)).gpu.arch == 86);
  const Translation t = translate(options, "rtx3080ti");
  Values expected = kQv100Values;
  for (const auto& [key, value] : kRtx3070Values) expected[key] = value;
  check_values(t, expected);
  check_complete(options, t);
  CHECK(t.unknown.empty());
  CHECK((differing(t) == std::set<std::string>{}));
}

TEST_CASE("Accel-Sim's defaults: what differs from the model is said") {
  const auto options = parse_options(shipped(kDefault), "gpgpusim.config");
  // Its DRAM bursts of 16 bytes are smaller than a sector.
  const std::set<std::string> left_out = {"-gpgpu_dram_burst_length", "-gpgpu_dram_buswidth",
                                          "-gpgpu_n_mem_per_ctrlr", "-dram_data_command_freq_ratio"};
  std::vector<Option> usable;
  for (const Option& o : options) {
    if (!left_out.count(o.name)) usable.push_back(o);
  }
  const Translation t = translate(usable, "v100");
  check_complete(usable, t);
  const auto differ = differing(t);
  for (const char* expected :
       {"-gpgpu_shmem_num_banks 16", "-gpgpu_sub_core_model 0", "-gpgpu_flush_l1_cache 0",
        "-gpgpu_cache:dl2_texture_only 1", "-gpgpu_max_insn_issue_per_warp 2"}) {
    INFO(expected);
    CHECK(differ.count(expected) == 1);
  }
}

TEST_CASE("the tables: every option once, every key exists, rules set only the keys that they name") {
  std::set<std::string_view> ignored;
  for (const IgnoredOption& row : ignored_options()) CHECK(ignored.insert(row.option).second);
  for (const IgnoredOption& row : ignored_booksim_keys()) CHECK(ignored.insert(row.option).second);
  std::string keys;
  for (const Rule& rule : rules()) {
    keys += ", " + std::string(rule.keys);
    for (const Input& input : rule.inputs) {
      INFO(input.option);
      CHECK(ignored.count(input.option) == 0);
    }
    if (rule.keys.find('.') == std::string_view::npos) continue;
    for (std::size_t at = 0; at != std::string_view::npos;) {
      const std::size_t end = rule.keys.find(", ", at);
      const std::string key(rule.keys.substr(at, end - at));
      INFO(key);
      CHECK(config::find(key).parameter != nullptr);
      at = end == std::string_view::npos ? end : end + 2;
    }
  }
  keys += ", ";
  for (const Column column : {kQv100, kRtx3070}) {
    for (const config::Assignment& a : translated(shipped(column)).assignments) {
      INFO(a.key);
      CHECK(keys.find(", " + a.key + ", ") != std::string::npos);
    }
  }
}
