// Lanes of a division or root that its usual machine code does not do: what their warp executes for them.
#include <catch2/catch.hpp>
#include <set>

#include "exec/executable.hpp"
#include "lower/replay.hpp"
#include "tests/lower/support.hpp"

namespace lockstep::lower::test {
namespace {

struct SlowPathKernel {
  explicit SlowPathKernel(const std::string& body, Passes passes = without_setup())
      : program(link(body)), image(program, memory), executable(image, 0), code(executable, 75, passes) {}
  static ptx::Program link(const std::string& body) {
    std::vector<ptx::Module> modules;
    modules.push_back(
        ptx::parse(".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() {\n"
                   ".reg .f32 %f<9>;\n.reg .f64 %d<9>;\n" +
                       body + "ret;\n}\n",
                   "test"));
    return ptx::link(std::move(modules));
  }
  /// What a warp executes of operation 0: its machine instructions with their lanes.
  [[nodiscard]] std::vector<std::pair<std::string, LaneMask>> executed(LaneMask lanes, LaneMask slow) const {
    exec::CtaRecord record;
    record.warps.emplace_back();
    const auto add = [&](std::uint32_t inst, LaneMask mask) {
      record.warps[0].records.push_back(trace::Record::make(inst, trace::AddressForm::kNone, mask));
    };
    for (std::uint32_t i = 0; i < executable.operations().size(); ++i) {
      add(i, lanes);
      if (i == 0 && slow != 0) add(executable.slow_path_record(0), slow);
    }
    trace::CtaTrace out;
    Replayer(code, {1, 1, 1}).replay(record, out);
    std::vector<std::pair<std::string, LaneMask>> found;
    for (const trace::Record& r : out.records) found.emplace_back(code.instructions()[r.inst()].text, r.mask);
    return found;
  }

  exec::DeviceMemory memory{1 << 22};
  ptx::Program program;
  exec::ProgramImage image;
  exec::Executable executable;
  Code code;
};

std::size_t count(const std::vector<std::pair<std::string, LaneMask>>& executed, const std::string& opcode) {
  std::size_t found = 0;
  for (const auto& [text, lanes] : executed) found += text.find(opcode) != text.npos;
  return found;
}

// Lengths: ptxas 13.0 for sm_75, see the table of subroutines; EXIT is one more.

TEST_CASE("a division whose lanes are usual executes no subroutine, others call it and come back") {
  const SlowPathKernel kernel("div.rn.f32 %f1, %f2, %f3;\n");
  CHECK(kernel.executed(~0u, 0).size() == 10 + 1);
  const auto some = kernel.executed(~0u, 0xf0);
  CHECK(some.size() == 10 + 3 + 30 + 1);
  std::size_t of_slow = 0;
  for (const auto& [text, lanes] : some) {
    CHECK((lanes == ~0u || lanes == 0xf0));
    of_slow += lanes == 0xf0;
  }
  CHECK(of_slow == 33);
  CHECK(count(some, "CALL.REL") == 1);
  CHECK(count(some, "RET.REL") == 1);
}

TEST_CASE("a root's usual code is left out where all lanes call the subroutine, and executed by the others") {
  const SlowPathKernel kernel("sqrt.rn.f32 %f1, %f2;\n");
  CHECK(kernel.executed(~0u, 0).size() == 10 + 1);
  CHECK(kernel.executed(~0u, ~0u).size() == 6 + 3 + 7 + 1);
  const auto some = kernel.executed(~0u, 1);
  CHECK(some.size() == 10 + 3 + 7 + 1);
  for (const auto& [text, lanes] : some)
    if (text.find("FFMA") != text.npos) CHECK(lanes == ~1u);
}

TEST_CASE("calls of one function lead to the same subroutine behind it, at addresses of its own") {
  const SlowPathKernel kernel(
      "div.rn.f64 %d1, %d2, %d3;\ndiv.rn.f64 %d4, %d1, %d2;\nsqrt.rn.f64 %d5, %d4;\n");
  REQUIRE(kernel.code.subroutines().size() == 2);
  std::vector<std::uint32_t> called;
  std::set<std::uint32_t> addresses;
  std::uint32_t exit = 0;
  for (const MachineInstruction& i : kernel.code.instructions()) {
    CHECK(addresses.insert(i.pc).second);
    if (i.calls != kNoSubroutine) called.push_back(i.calls);
    if (i.text.find("EXIT") != i.text.npos) exit = i.pc;
  }
  CHECK(called == std::vector<std::uint32_t>{0, 0, 1});
  for (const Subroutine& s : kernel.code.subroutines()) CHECK(kernel.code.instructions()[s.first].pc > exit);
  // 94 and 41 instructions: a zero's way jumps over some.
  const auto& last = kernel.code.instructions().back();
  CHECK(last.pc == exit + 16 * (94 + 41));
  CHECK(kernel.code.size() == last.pc / 16 + 1);
}

TEST_CASE("without the step slow paths leave no trace") {
  Passes passes = without_setup();
  passes.slow_paths = false;
  const SlowPathKernel kernel("sqrt.rn.f32 %f1, %f2;\n", passes);
  CHECK(kernel.code.subroutines().empty());
  CHECK(kernel.executed(~0u, ~0u).size() == 10 + 1);
}

}  // namespace
}  // namespace lockstep::lower::test
