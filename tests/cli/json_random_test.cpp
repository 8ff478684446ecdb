// Random reports, with everything that one may have, are written as docs/stats.schema.json says.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "paths.hpp"
#include "stats/descriptors.hpp"
#include "stats/report.hpp"
#include "stats/stored_run.hpp"
#include "tests/cli/json_schema.hpp"
#include "tests/cli/program.hpp"
#include "tests/random.hpp"
#include "tests/temporary_folder.hpp"

namespace lockstep::cli {
namespace {

using test::Random32;

class ReportMaker {
 public:
  explicit ReportMaker(std::uint32_t seed) : random_(seed) {}

  stats::RunReport make() {
    stats::RunReport r;
    r.version = text();
    r.gpu = text();
    r.trace_name = text();
    r.config_hash = wide();
    r.trace_hash = wide();
    r.core_khz = 1 + below(3'000'000);
    r.total_cycles = below(1u << 30);
    for (auto n = below(3); n > 0; --n) r.overrides[text() + std::to_string(n)] = text();
    const std::uint32_t devices = below(3) == 0 ? 1 + below(4) : 0;  // 0: one device, no system
    if (devices > 0) add_system(r, devices);
    for (auto n = below(4); n > 0; --n) r.kernels.push_back(kernel(devices));
    for (auto n = below(4); n > 0; --n) r.copies.push_back(copy(devices));
    for (auto n = below(3); n > 0; --n)
      r.unknown_opcodes.emplace_back(fmt::format("{}{}", text(), n), wide());
    for (auto n = below(3); n > 0; --n) r.remarks.push_back(text());
    if (devices == 0 && below(2) == 0) r.managed = managed(1);
    if (below(3) == 0) add_sampling(r);
    if (below(3) == 0) add_intervals(r);
    return r;
  }

 private:
  std::uint32_t below(std::uint32_t n) { return random_() % n; }
  std::uint64_t wide() { return (std::uint64_t{random_()} << 32 | random_()) >> below(64); }
  /// Names in traces are not ours: any bytes.
  std::string text() {
    std::string out;
    for (auto n = below(12); n > 0; --n)
      out += static_cast<char>(below(3) == 0 ? below(256) : 'a' + below(26));
    return out;
  }
  template <class Words>
  void fill(Words& words) {
    std::uint64_t values[sizeof(Words) / 8];
    for (std::uint64_t& v : values) v = below(1u << 30);
    std::memcpy(static_cast<void*>(&words), values, sizeof words);
  }
  stats::EnergyParts energy() {
    stats::EnergyParts parts;
    for (std::uint64_t& pj : parts.picojoules) pj = below(1u << 30);
    return parts;
  }

  stats::KernelResult kernel(std::uint32_t devices) {
    stats::KernelResult k;
    k.name = text();
    k.id = wide();
    k.stream = wide();
    k.grid = {1 + below(100), 1 + below(100), 1};
    k.block = {1 + below(1024), 1, 1};
    k.launch_cycles = below(10'000);
    k.cycles = below(1u << 30);
    k.occupancy_limiter = "warps";
    k.subcores = 4 * below(200);
    k.partial = below(2) == 0;
    k.device = static_cast<std::uint16_t>(devices > 0 ? below(devices) : 0);
    k.estimated = below(2) == 0;
    fill(k.counters);
    if (below(2) == 0) k.energy = energy();
    return k;
  }
  stats::CopyResult copy(std::uint32_t devices) {
    const char* const kKinds[] = {"host_to_device", "device_to_host", "fill", "device_to_device",
                                  "peer_to_peer"};
    const auto device = static_cast<std::uint16_t>(devices > 0 ? below(devices) : 0);
    return {kKinds[below(5)], wide(), wide(), below(1000), below(1000), device};
  }
  stats::ManagedReport managed(std::uint32_t devices) {
    stats::ManagedReport m;
    m.allocations = wide();
    m.footprint_bytes = wide();
    fill(m.counters);
    for (auto n = below(3); n > 0; --n) m.by_allocation.push_back({wide(), wide(), {}});
    for (auto n = below(3); n > 0; --n) m.residency.push_back({wide(), wide()});
    if (devices > 1) m.peers.resize(devices, {1, 2, 3, 4});
    return m;
  }
  stats::NetworkReport::Depth depth() {
    return {.queues = 1 + below(5),
            .entered = below(100),
            .most = below(100),
            .total_ps = below(1000),
            .times_ps = {wide()}};
  }
  stats::NetworkReport network() {
    stats::NetworkReport n;
    n.design = text();
    n.run_ps = below(1u << 30);
    stats::NetworkReport::Thread thread;
    thread.node = "gpu0";
    thread.queues = depth();
    if (below(2) == 0) thread.completion_queues = depth();
    if (below(2) == 0) thread.l2.emplace();
    n.threads.push_back(thread);
    stats::NetworkReport::Nic nic;
    nic.node = "nic0";
    nic.commands_open = nic.commands_waiting = depth();
    n.nics.push_back(nic);
    return n;
  }
  void add_system(stats::RunReport& r, std::uint32_t devices) {
    r.system.emplace();
    r.system->name = text();
    for (std::uint32_t d = 0; d < devices; ++d) {
      r.system->devices.push_back({text(), wide(), 1 + below(3'000'000)});
      if (below(2) != 0 || d > 0) continue;
      stats::LinkResult link{
          .from = "gpu0", .to = text(), .kind = text(), .count = 1, .bytes_per_second = wide()};
      link.bytes = below(1u << 30);
      if (below(2) == 0) link.picojoules = wide();
      r.system->links.push_back(link);
    }
    if (below(2) == 0) r.system->network = network();
    if (below(2) == 0)
      for (std::uint32_t d = 0; d < devices; ++d) r.system->managed.push_back(managed(devices));
  }
  stats::SamplingReport::Quantity quantity() {
    const double scales[] = {0, 1e-9, 1, 1e9, 1e15};
    return {below(1000) * scales[below(5)], below(1000) * scales[below(5)]};
  }
  void add_sampling(stats::RunReport& r) {
    stats::SamplingReport s;
    s.error = 0.02;
    s.confidence = 0.95;
    s.launches = wide();
    s.overlap = below(2) == 0;
    s.cycles = quantity();
    for (std::size_t i = 0; i < stats::descriptors().size(); ++i) s.counters.push_back(quantity());
    for (auto n = below(3); n > 0; --n)
      s.groups.push_back({text(), wide(), wide(), wide(), 1e12 * below(9), "linear", quantity()});
    r.sampling = s;
  }
  void add_intervals(stats::RunReport& r) {
    const bool with_energy = below(2) == 0;
    for (auto n = 1 + below(4); n > 0; --n) {
      stats::IntervalSample sample;
      sample.end_cycle = 1000 * (5 - n);
      fill(sample.counters);
      if (with_energy) sample.energy = energy();
      r.intervals.push_back(sample);
    }
  }

  Random32 random_;
};

}  // namespace

TEST_CASE("stats.json of random reports is as its schema says, and is read again for comparisons") {
  const auto schema = nlohmann::json::parse(slurp(LOCKSTEP_SOURCE_DIR "/docs/stats.schema.json"));
  const test::TemporaryFolder folder;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const stats::RunReport report = ReportMaker(seed).make();
    const std::string text = stats::to_json(report);
    const auto json = nlohmann::json::parse(text);
    for (const std::string& error : schema_errors(schema, json)) FAIL_CHECK(error);
    CHECK(json.at("schema") == (report.system ? 2 : 1));
    CHECK(json.at("kernels").size() == report.kernels.size());
    CHECK(json.at("total").at("kernels") == report.kernels.size());
    const stats::StoredRun stored = stats::load_run(folder.write("stats.json", text));
    std::set<std::string> keys;
    for (const stats::Section& section : stored.sections) keys.insert(section.key);
    CHECK(keys.size() == stored.sections.size());
    CHECK(stored.sections.size() >= report.kernels.size() + report.copies.size());
    CHECK(stats::to_json(ReportMaker(seed).make()) == text);
  }
}

}  // namespace lockstep::cli
