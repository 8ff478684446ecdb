// PTX that nvcc 13 made of our own kernels (tests/ptx/data, examples/ptx), compute_75 to compute_100.
#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "paths.hpp"
#include "ptx/linker.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"
#include "tests/ptx/support.hpp"

namespace lockstep::ptx {

TEST_CASE("ptx samples: printed and read again they are the same, and they link") {
  REQUIRE(sample_files().size() >= 15);
  for (const auto& path : sample_files()) {
    INFO(path.filename());
    const Module m = parse_file(path);
    CHECK(difference(m, parse(print(m), "printed")) == "");
    std::size_t kernels = 0;
    for (const Function& f : m.functions) kernels += f.entry;
    const std::string text = read_text(path);
    std::size_t entries = 0;
    for (std::size_t at = 0; (at = text.find(".entry", at)) != std::string::npos; ++at) ++entries;
    CHECK(kernels == entries);
    std::vector<Module> modules;
    modules.push_back(m);
    CHECK(link(std::move(modules)).functions.size() == m.functions.size());
  }
}

TEST_CASE("ptx samples: the largest, as it was compiled") {
  const Module m = parse_file(LOCKSTEP_SOURCE_DIR "/tests/ptx/data/classic_75.ptx");
  CHECK(m.target == "sm_75");
  CHECK(m.major == 9);
  CHECK(m.address_bits == 64);
  const auto find = [&m](std::string_view name) -> const Variable& {
    for (const Variable& v : m.variables) {
      if (v.name == name) return v;
    }
    FAIL("no variable " << name);
    return m.variables[0];
  };
  CHECK(find("coefficients").space == Space::kConst);
  CHECK(find("coefficients").initial.size() == 16);
  CHECK(find("managed_counter").managed);
  CHECK(find("dynamic_shared").is_dynamic_shared());
  CHECK(find("cursor").relocations.at(0).generic);
  CHECK(find("cursor").relocations.at(0).addend == 12);
  CHECK(find("functions").relocations.size() == 2);
  CHECK(find("functions").relocations[0].symbol.kind == SymbolKind::kFunction);
  for (const Function& f : m.functions) {
    if (f.name.find("5calls") == std::string::npos) continue;
    CHECK(f.directives.maxntid[0] == 256);
    CHECK(f.directives.minnctapersm == 2);
    CHECK(f.parameters.at(2).size == 16);
    CHECK(f.parameters.at(2).align == 8);
  }
}

TEST_CASE("ptx samples: time is linear in the text", "[slow]") {
  std::string body;
  const auto seconds = [](const std::string& text) {
    const auto begin = std::chrono::steady_clock::now();
    (void)parse(text, "long.ptx");
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const std::string block =
      "add.s32 %r1, %r2, %r3;\n{ .reg .pred p; setp.eq.s32 p, %r4, 0; @p bra T; mov.f32 %f1, 0f3F800000; T: "
      "}\n"
      "ld.global.v2.b32 {%r5, %r6}, [%d1+128];\n";
  while (body.size() < 1'000'000) body += block;
  const double small = seconds(kernel_text(body));
  std::string large;
  for (int i = 0; i < 10; ++i) large += body;
  const double ten_times = seconds(kernel_text(large));
  WARN("10 MB: " << ten_times << " s");
  CHECK(ten_times < 30 * small + 1);
}

}  // namespace lockstep::ptx
