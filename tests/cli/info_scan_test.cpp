// What `lockstep info` counts, against closed forms and a set of lines.
#include "cli/info_scan.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "paths.hpp"
#include "synth/synth.hpp"

using namespace lockstep;
using namespace lockstep::cli;

namespace {

KernelInfo scan_all(const std::string& path, unsigned threads = 1) {
  const auto trace = trace::open_trace(path);
  KernelInfo all;
  for (std::uint32_t i = 0; i < trace->kernels().size(); ++i) all.merge(scan_kernel(*trace, i, threads));
  return all;
}

KernelInfo scan_synthetic(const std::string& kind, const std::map<std::string, std::string>& options,
                          unsigned threads = 1) {
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("lockstep_info_{}_{}", ::getpid(), kind);
  synth::synthesize(kind, options, folder.string());
  const KernelInfo info = scan_all(folder.string(), threads);
  std::filesystem::remove_all(folder);
  return info;
}

const SpaceUse& global(const KernelInfo& k) { return k.spaces[static_cast<std::size_t>(InfoSpace::kGlobal)]; }
const SpaceUse& shared(const KernelInfo& k) { return k.spaces[static_cast<std::size_t>(InfoSpace::kShared)]; }
const SpaceUse& local(const KernelInfo& k) { return k.spaces[static_cast<std::size_t>(InfoSpace::kLocal)]; }

}  // namespace

TEST_CASE("a footprint is the set of touched sectors and lines") {
  Footprint footprint;
  CHECK(footprint.lines() == 0);
  CHECK(footprint.sectors() == 0);
  std::set<Address> lines, sectors;
  std::uint64_t state = 7;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    const Address address = (i % 3 ? state >> 44 : state >> 20) + 0x7f0000000000;
    const auto bytes = static_cast<std::uint32_t>(1 + state % 40);
    footprint.add(address, bytes);
    for (Address a = address; a < address + bytes; ++a) {
      lines.insert(a / 128);
      sectors.insert(a / 32);
    }
  }
  CHECK(footprint.lines() == lines.size());
  CHECK(footprint.sectors() == sectors.size());
  Footprint twice;
  twice.add(0, 4);
  twice.merge(footprint);
  twice.merge(footprint);
  CHECK(twice.lines() == lines.size() + 1);
  // The last bytes of the address space do not wrap round to the first.
  Footprint top;
  top.add(~Address{0} - 3, 16);
  CHECK(top.sectors() == 1);
}

TEST_CASE("instructions are counted by the line of the source where the trace says it") {
  const std::map<std::string, std::string> lined{{"ctas", "6"}, {"tracer-version", "5"}, {"line-info", "1"}};
  const KernelInfo k = scan_synthetic("streaming", lined);
  Counts sum;
  for (const auto& [line, counts] : k.by_line) {
    CHECK(line.first == "");  // the tracer names no file
    CHECK(line.second > 0);
    sum += counts;
  }
  CHECK(sum.warp == k.total.warp);
  CHECK(sum.thread == k.total.thread);
  CHECK(scan_synthetic("streaming", {{"ctas", "6"}}).by_line.empty());
}

TEST_CASE("streaming: every line once, every count by formula") {
  const std::uint64_t threads = 6 * 256, warps = threads / 32;
  const KernelInfo k = scan_synthetic("streaming", {{"ctas", "6"}});
  CHECK(k.total.warp == warps * 15);
  CHECK(k.total.thread == warps * 14 * 32);  // the bounds check's EXIT has no active lane
  CHECK(k.static_instructions == 15);
  CHECK(k.by_class[static_cast<std::size_t>(trace::OpClass::kLoad)].warp == 2 * warps);
  CHECK(k.by_opcode.at("EXIT").warp == 2 * warps);
  CHECK(k.by_opcode.at("EXIT").thread == threads);
  CHECK(global(k).loads.warp == 2 * warps);
  CHECK(global(k).stores.thread == threads);
  CHECK(global(k).bytes_moved == 3 * threads * 4);
  CHECK(global(k).footprint.sectors() * 32 == 3 * threads * 4);
  CHECK(global(k).footprint.lines() * 128 == 3 * threads * 4);
  CHECK(k.unknown.empty());
  CHECK(k.remarks.empty());
}

TEST_CASE("sgemm touches its three matrices and its two tiles") {
  const KernelInfo k = scan_synthetic("sgemm", {{"tiles-x", "3"}, {"tiles-y", "2"}, {"ktiles", "2"}}, 2);
  const std::uint64_t m = 128, n = 192, depth = 32;
  CHECK(k.total.warp == 6 * 8 * (6 + 24 + 2 * 301 + 5));
  CHECK(k.by_opcode.at("FFMA").thread == m * n * depth);
  CHECK(global(k).footprint.sectors() * 32 == 4 * (m * depth + depth * n + m * n));
  CHECK(shared(k).footprint.sectors() * 32 == 2 * 64 * 16 * 4);
}

TEST_CASE("mixed: several kernels and spaces, tensor work") {
  const KernelInfo k = scan_synthetic("mixed", {{"ctas", "2"}});
  CHECK(k.tensor_macs == 2 * (4 + 3 + 4) * 1024);  // one m16n8k8 a warp
  CHECK(local(k).loads.warp == 22);
  CHECK(local(k).footprint.sectors() == 1);
  CHECK(global(k).atomics.warp == 2 * 22);
  CHECK(shared(k).atomics.warp == 22);
}

TEST_CASE("instructions of the real traces are those that Accel-Sim counted") {
  const auto traces = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / ".." / "shared" / "traces";
  if (!std::filesystem::is_directory(traces)) return;
  const KernelInfo sample = scan_all((traces / "vectoradd-a100").string(), 2);
  CHECK(sample.total.warp == 26601);
  CHECK(sample.total.thread == 801056);
  const KernelInfo bfs = scan_all((traces / "bfs-a100").string());
  CHECK(bfs.total.warp == 159509);
  CHECK(bfs.total.thread == 1280630);
  CHECK(bfs.unknown.empty());
}
