// Traces built from records: what the records say arrives in the counters, whatever way it is said in.
#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lockstep/trace_builder.hpp"
#include "support.hpp"
#include "tests/temporary_folder.hpp"

namespace lockstep::api_test {
namespace {

using Catch::Contains;
using Code = std::vector<Instruction>;

/// The first kernel of what `fill` makes of each warp.
Kernel run_of(const Launch& launch, const TraceBuilder::Code& fill) {
  TraceBuilder builder;
  builder.kernel(launch, fill);
  return simulate(builder.finish(), Machine("v100")).kernels().at(0);
}

Kernel run_of(const Instruction& inst, const Launch& launch = {}) {
  return run_of(launch, [&](const Warp&, Code& code) { code = {inst, {.opcode = "EXIT"}}; });
}

Instruction load(std::int64_t stride, unsigned bytes = 4) {
  return {.opcode = "LDG.E",
          .destination = 4,
          .sources = {2},
          .access_bytes = bytes,
          .base = kData,
          .stride = stride};
}

/// What went wrong with one instruction of one warp, when it was added or when the trace was read.
std::string complaint(const Launch& launch, const Code& instructions) {
  TraceBuilder builder;
  try {
    builder.kernel(launch, [&](const Warp&, Code& code) { code = instructions; });
    (void)simulate(builder.finish(), Machine("v100"));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("A strided load has as many sectors and lines as its lanes touch") {
  struct Case {
    unsigned bytes;
    std::int64_t stride;
    std::uint64_t base;
  };
  std::vector<Case> cases;
  TraceBuilder builder;
  for (const unsigned bytes : {4u, 8u, 16u})
    for (const std::int64_t stride : {0, 1, 4, 8, 16, 32, 48, 64, 128, 160, 4096, -4, -32, -128}) {
      if (stride % bytes != 0) continue;  // no GPU accesses less aligned words
      cases.push_back({bytes, stride, kData + (cases.size() << 20)});
      Instruction inst = load(stride, bytes);
      inst.base = cases.back().base;
      builder.kernel({}, [&](const Warp&, Code& code) { code = {inst, {.opcode = "EXIT"}}; });
    }
  const Result result = simulate(builder.finish(), Machine("v100"));
  REQUIRE(result.kernels().size() == cases.size());
  for (const Kernel& kernel : result.kernels()) {
    const Case& c = cases.at(kernel.id - 1);
    CAPTURE(c.bytes, c.stride);
    std::set<std::uint64_t> sectors, lines;
    for (std::int64_t lane = 0; lane < 32; ++lane) {
      const std::uint64_t at = c.base + static_cast<std::uint64_t>(lane * c.stride);
      sectors.insert(at / 32);
      lines.insert(at / 128);
    }
    CHECK(kernel.counter("l1.accesses") == sectors.size());
    CHECK(kernel.counter("l1.requests") == lines.size());
    CHECK(kernel.counter("l1.load_sectors_sent") == sectors.size());
  }
}

TEST_CASE("Addresses may be listed: the same access, the same counters and cycles") {
  for (const std::uint32_t lanes : {0xffffffffu, 0x80000001u, 0x00000f00u}) {
    CAPTURE(lanes);
    Instruction by_stride = load(-12), by_list = load(0);
    by_stride.lanes = by_list.lanes = lanes;
    int first = -1;  // the base is the first active lane's
    for (int lane = 0; lane < 32; ++lane) {
      if (!(lanes >> lane & 1)) continue;
      if (first < 0) first = lane;
      by_list.addresses.push_back(kData + static_cast<std::uint64_t>((lane - first) * -12));
    }
    const Kernel a = run_of(by_stride), b = run_of(by_list);
    CHECK(a.counters == b.counters);
    CHECK(a.cycles == b.cycles);
    CHECK(a.counter("thread_instructions") == by_list.addresses.size() + 32);
  }
}

TEST_CASE("The code of each warp is asked for once, CTA by CTA, the first dimension fastest") {
  std::vector<std::array<std::uint32_t, 4>> asked, expected;
  for (std::uint32_t z = 0; z < 2; ++z)
    for (std::uint32_t y = 0; y < 3; ++y)
      for (std::uint32_t x = 0; x < 2; ++x)
        for (std::uint32_t w = 0; w < 3; ++w) expected.push_back({x, y, z, w});
  const Kernel kernel = run_of({.grid = {2, 3, 2}, .block = {11, 3, 2}}, [&](const Warp& warp, Code& code) {
    CHECK(code.empty());
    asked.push_back({warp.cta[0], warp.cta[1], warp.cta[2], warp.index});
    code.push_back({.opcode = "EXIT"});
  });
  CHECK(asked == expected);
  CHECK(kernel.counter("warp_instructions") == 2 * 3 * 2 * 3);
  CHECK(kernel.counter("thread_instructions") == 2 * 3 * 2 * 66);  // 32, 32 and 2 of a CTA
}

TEST_CASE("What a launch says is in its kernel's row, and in what the machine does with it") {
  const std::string name = "void sum<float, (int)4>(float const*, unsigned long)";
  TraceBuilder builder;
  const auto exits = [](const Warp&, Code& code) { code.push_back({.opcode = "EXIT"}); };
  builder.kernel({.name = name, .stream = 9}, exits);
  builder.kernel({.name = "other"}, exits);
  const Result result = simulate(builder.finish(), Machine("v100"));
  REQUIRE(result.kernels().size() == 2);
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> rows;
  for (const Kernel& kernel : result.kernels()) rows[kernel.name] = {kernel.id, kernel.stream};
  CHECK(rows.at(name) == std::pair<std::uint64_t, std::uint64_t>{1, 9});
  CHECK(rows.at("other") == std::pair<std::uint64_t, std::uint64_t>{2, 0});

  // An SM of the V100 has 65536 registers and 96 KiB of shared memory: too much of either is refused.
  CHECK(complaint({.registers = 255}, {{.opcode = "EXIT"}}).empty());
  CHECK_THAT(complaint({.shared_bytes = 97 * 1024}, {{.opcode = "EXIT"}}), Contains("shared memory"));
  CHECK_THAT(complaint({.block = {512, 1, 1}, .registers = 255}, {{.opcode = "EXIT"}}),
             Contains("registers"));
}

TEST_CASE("What would be no trace is refused") {
  const Code exits{{.opcode = "EXIT"}};
  CHECK(complaint({}, exits).empty());
  CHECK(complaint({.grid = {0, 1, 1}}, exits) ==
        "kernel: expected a grid of CTAs and a block of 1 to 1024 threads");
  CHECK(complaint({.name = "k", .block = {32, 0, 1}}, exits) ==
        "k: expected a grid of CTAs and a block of 1 to 1024 threads");
  CHECK(complaint({}, {{.opcode = "FFMA", .destination = -1}}) ==
        "FFMA: found register -1, expected 0 to 255");
  CHECK(complaint({}, {{.opcode = "FFMA", .sources = {1, 300}}}) ==
        "FFMA: found register 300, expected 0 to 255");
  CHECK(complaint({}, {{.opcode = "LDG.E", .access_bytes = 17}}) ==
        "LDG.E: found an access of 17 bytes, expected at most 16");
  CHECK(complaint({.name = "k\n-grid dim = (9,9,9)"}, exits) == "kernel 1: expected a name of one line");
}

TEST_CASE("The files of a trace last as long as the trace, and no longer") {
  namespace fs = std::filesystem;
  const test::TemporaryFolder folder;
  const char* before = ::getenv("TMPDIR");
  const std::string restored = before ? before : "";
  ::setenv("TMPDIR", folder.path().c_str(), 1);
  const auto files = [&] {
    return std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator());
  };
  {
    const Trace copy = [&] {
      const Trace trace = loads_from({kData});
      CHECK(files() == 1);
      return trace;
    }();
    CHECK(files() == 1);
    CHECK(simulate(copy, Machine("v100")).kernels().size() == 1);
  }
  CHECK(files() == 0);
  { TraceBuilder unfinished; }
  CHECK(files() == 0);
  ::setenv("TMPDIR", "/nowhere/at/all", 1);
  CHECK_THROWS_AS(TraceBuilder(), Error);
  before ? ::setenv("TMPDIR", restored.c_str(), 1) : ::unsetenv("TMPDIR");
}

}  // namespace lockstep::api_test
