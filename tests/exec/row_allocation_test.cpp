// Rows of registers, against a liveness of this file's own: sets of registers by instruction, until nothing
// changes.
#include "exec/row_allocation.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "paths.hpp"
#include "ptx/parser.hpp"
#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

using Ids = std::set<ptx::RegisterId>;

struct Allocated {
  explicit Allocated(const ptx::Function& f)
      : function(f), flow(f), count(allocate_rows(f, flow, ptx::Liveness(f, flow), rows)) {}

  /// Live before each instruction.
  [[nodiscard]] std::vector<Ids> live() const {
    std::vector<Ids> before(function.instructions.size() + 1);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = function.instructions.size(); i-- > 0;) {
        Ids ids = after(before, static_cast<std::uint32_t>(i));
        const ptx::RegisterUse use = ptx::register_use(function.instructions[i]);
        for (const auto id : use.writes) ids.erase(id);
        ids.insert(use.reads.begin(), use.reads.end());
        if (ids == before[i]) continue;
        before[i] = std::move(ids);
        changed = true;
      }
    }
    return before;
  }
  [[nodiscard]] Ids after(const std::vector<Ids>& before, std::uint32_t i) const {
    const ptx::Block& block = flow.blocks()[flow.block_of(i)];
    if (i + 1 < block.end) return before[i + 1];
    Ids ids;
    for (const std::uint32_t next : block.successors) {
      const Ids& other = before[flow.blocks()[next].first];
      ids.insert(other.begin(), other.end());
    }
    return ids;
  }
  [[nodiscard]] std::set<std::uint32_t> cells(const Ids& ids) const {
    std::set<std::uint32_t> all;
    for (const auto id : ids)
      for (std::uint32_t c = 0; c < width(id); ++c) all.insert(rows[id] + c);
    return all;
  }
  [[nodiscard]] std::size_t width(ptx::RegisterId id) const {
    return ptx::bits(function.registers[id].type) > 64 ? 2 : 1;
  }
  [[nodiscard]] std::size_t width(const Ids& ids) const {
    std::size_t sum = 0;
    for (const auto id : ids) sum += width(id);
    return sum;
  }

  const ptx::Function& function;
  ptx::ControlFlow flow;
  std::vector<std::uint32_t> rows;
  std::uint32_t count;
};

/// Registers that hold a value at the same time, and those that one instruction reads and writes, are apart.
void check(const ptx::Function& f) {
  const Allocated a(f);
  const std::vector<Ids> before = a.live();
  for (std::uint32_t i = 0; i < f.instructions.size(); ++i) {
    if (!a.flow.blocks()[a.flow.block_of(i)].reachable) continue;
    const ptx::RegisterUse use = ptx::register_use(f.instructions[i]);
    Ids together = a.after(before, i);
    together.insert(use.reads.begin(), use.reads.end());
    together.insert(use.writes.begin(), use.writes.end());
    CAPTURE(f.name, i);
    REQUIRE(a.cells(together).size() == a.width(together));
    REQUIRE(a.cells(before[i]).size() == a.width(before[i]));
  }
  for (ptx::RegisterId id = 0; id < f.registers.size(); ++id) REQUIRE(a.rows[id] + a.width(id) <= a.count);
}

ptx::Module parsed(const std::string& body) {
  return ptx::parse(std::string(kHeader) + ".entry k() {\n" + body + "}\n", "rows.ptx");
}

}  // namespace

TEST_CASE("rows: no two registers that are live at once share one, in every bundled kernel") {
  const std::string root = LOCKSTEP_SOURCE_DIR;
  unsigned functions = 0;
  for (const char* file :
       {"/examples/ptx/bfs", "/examples/ptx/histogram", "/examples/ptx/lu", "/examples/ptx/reduction",
        "/examples/ptx/sgemm", "/examples/ptx/stencil", "/examples/ptx/tensor_gemm",
        "/tests/ptx/data/classic_75", "/tests/ptx/data/tensor_90", "/tests/ptx/data/cluster_90"})
    for (const ptx::Function& f : ptx::parse_file(root + file + ".ptx").functions) {
      check(f);
      ++functions;
    }
  CHECK(functions > 20);
}

TEST_CASE("rows: straight code with a register for each result takes two in turn") {
  std::string body = ".reg .f32 %f<1001>;\nmov.f32 %f1, 0f00000000;\n";
  for (int i = 1; i < 1000; ++i) body += fmt::format("add.f32 %f{}, %f{}, %f{};\n", i + 1, i, i);
  body += "st.global.f32 [0], %f1000;\nret;\n";
  const ptx::Module module = parsed(body);
  const ptx::Function& f = module.functions.front();
  check(f);
  CHECK(Allocated(f).count == 2);
}

TEST_CASE("rows: registers of a loop of up to 64 instructions keep their own, those of a longer one do not") {
  const auto rows_of = [](int length) {
    std::string body = fmt::format(".reg .u32 %r<{}>; .reg .pred %p;\nmov.u32 %r1, 0;\nL:\n", length + 1);
    for (int i = 1; i + 2 < length; ++i) body += fmt::format("ld.volatile.global.u32 %r{}, [0];\n", i + 1);
    body += "setp.eq.u32 %p, %r1, 0;\n@%p bra L;\nret;\n";
    const ptx::Module module = parsed(body);
    check(module.functions.front());
    const Allocated a(module.functions.front());
    return std::pair{a.count, module.functions.front().registers.size()};
  };
  const auto [short_rows, short_registers] = rows_of(64);
  CHECK(short_rows == short_registers);
  const auto [long_rows, long_registers] = rows_of(66);
  CHECK(long_registers > 64);
  CHECK(long_rows < 10);
}

}  // namespace lockstep::exec::test
