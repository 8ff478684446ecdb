// What every machine code is like, of random kernels for each architecture and set of steps: runs, executions
// and instructions refer to each other as code.hpp says, addresses are the functions' own, registers exist.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <sstream>

#include "exec/device_memory.hpp"
#include "exec/image.hpp"
#include "lower/code.hpp"
#include "ptx/linker.hpp"
#include "ptx/parser.hpp"
#include "tests/lower/random_kernel.hpp"

namespace lockstep::lower::test {
namespace {

constexpr unsigned kArchitectures[] = {70, 75, 80, 86, 89, 90, 100};

/// A random kernel that is executable.
struct Executable {
  explicit Executable(unsigned seed) : memory(std::uint64_t{1} << 22) {
    std::vector<ptx::Module> modules;
    modules.push_back(ptx::parse(random_kernel(seed), "test"));
    program = ptx::link(std::move(modules));
    image = std::make_unique<exec::ProgramImage>(program, memory);
    kernel = std::make_unique<exec::Executable>(*image, program.find_function("k").value());
  }
  exec::DeviceMemory memory;
  ptx::Program program;
  std::unique_ptr<exec::ProgramImage> image;
  std::unique_ptr<exec::Executable> kernel;
};

/// Some of the steps, by the bits of a number.
Passes some_of(unsigned bits) {
  Passes p;
  bool* const steps[] = {&p.constants,   &p.unroll,  &p.merge,     &p.schedule,    &p.rest,
                         &p.integers,    &p.setup,   &p.fusion,    &p.predication, &p.left_out,
                         &p.temporaries, &p.uniform, &p.slow_paths};
  for (unsigned i = 0; i < std::size(steps); ++i) *steps[i] = (bits >> i & 1) != 0;
  return p;
}

/// "2 R4 R5 LDG.E.64 1 R8 8": the numbers of destinations and of sources are those that stand before them.
void check_text(const MachineInstruction& i, std::uint32_t registers) {
  INFO(i.text);
  std::istringstream words(i.text);
  const auto named = [&](unsigned count) {
    for (std::string name; count > 0 && words >> name; --count) {
      REQUIRE(name[0] == 'R');
      const auto number = static_cast<unsigned>(std::stoul(name.substr(1)));
      CHECK((number < registers || number == 255));
    }
  };
  unsigned destinations = 0, sources = 0, width = 99;
  REQUIRE(words >> destinations);
  named(destinations);
  std::string opcode;
  REQUIRE(words >> opcode);
  CHECK(std::isupper(static_cast<unsigned char>(opcode[0])));
  REQUIRE(words >> sources);
  named(sources);
  REQUIRE(words >> width);
  CHECK(std::set<unsigned>{0, 1, 2, 4, 8, 16, 32}.contains(width));
  CHECK((width > 0 || i.carries == Carries::kNothing));
}

void check_runs(const Code& code) {
  const auto instructions = static_cast<std::uint32_t>(code.instructions().size());
  std::uint32_t next = 0, next_execution = 0;
  for (const CodeRun& run : code.runs()) {
    CHECK(run.first_execution == next_execution);
    next_execution += run.operations;
    CHECK(run.first <= run.end);
    CHECK(run.end <= instructions);
    CHECK(run.first >= next);  // subroutines may lie between
    next = run.end;
    for (std::uint32_t n = run.first; n < run.end; ++n) {
      const MachineInstruction& i = code.instructions()[n];
      const MachineStep& step = code.steps()[n];
      REQUIRE(i.place < std::max(run.operations, 1u));
      CHECK(step.place == i.place);
      CHECK(step.carries == (i.carries != Carries::kNothing));
      CHECK(step.lanes == i.lanes);
      CHECK(step.calls == i.calls);
      if (i.calls != kNoSubroutine) CHECK(i.calls < code.subroutines().size());
    }
    if (run.loop != kNoOperation) CHECK(run.loop < code.loops().size());
  }
  CHECK(next_execution == code.executions().size());
  for (const Subroutine& one : code.subroutines()) {
    CHECK(one.first < one.end);
    CHECK(one.end <= instructions);
    for (const CodeRun& run : code.runs()) CHECK((one.end <= run.first || run.end <= one.first));
  }
  for (const CodeLoop& loop : code.loops()) {
    CHECK_FALSE(loop.empty());
    for (const RunsOfCopies& copies : loop) {
      CHECK(copies.first < copies.end);
      CHECK(copies.end <= code.runs().size());
    }
  }
}

/// Every operation is executed in a run; run_of() is one that has it.
void check_operations(const Code& code, std::uint32_t operations) {
  std::vector<unsigned> found(operations);
  for (std::uint32_t r = 0; r < code.runs().size(); ++r) {
    const CodeRun& run = code.runs()[r];
    for (std::uint32_t e = 0; e < run.operations; ++e) {
      const std::uint32_t operation = code.executions()[run.first_execution + e];
      if (operation == kNoOperation) continue;
      REQUIRE(operation < operations);
      ++found[operation];
      if (code.optional(operation)) CHECK(run.has_optional);
    }
  }
  for (std::uint32_t o = 0; o < operations; ++o) {
    INFO("operation " << o);
    CHECK(found[o] > 0);
    REQUIRE(code.run_of(o) < code.runs().size());
    const CodeRun& run = code.runs()[code.run_of(o)];
    const auto begin = code.executions().begin() + run.first_execution;
    CHECK(std::find(begin, begin + run.operations, o) != begin + run.operations);
  }
}

void check_addresses(const Code& code) {
  std::set<std::uint32_t> seen;
  for (const MachineInstruction& i : code.instructions()) {
    CHECK(i.pc % 16 == 0);
    CHECK(seen.insert(i.pc).second);
  }
  CHECK(code.size() >= code.instructions().size());
}

TEST_CASE("machine code: runs, executions, registers and addresses of every architecture and set of steps") {
  for (unsigned seed = 0; seed < 12; ++seed) {
    const Executable made(seed);
    const auto operations = static_cast<std::uint32_t>(made.kernel->operations().size());
    for (unsigned turn = 0; turn < 3; ++turn) {
      const unsigned arch = kArchitectures[(seed + turn) % std::size(kArchitectures)];
      const unsigned bits = turn == 0 ? ~0u : (seed * 3 + turn) * 2654435761u >> 11;
      INFO("seed " << seed << ", architecture " << arch << ", steps " << (bits & 0x1fff));
      const Code code(*made.kernel, arch, some_of(bits));
      REQUIRE(code.steps().size() == code.instructions().size());
      CHECK(code.registers() <= 255);
      for (const MachineInstruction& i : code.instructions()) check_text(i, code.registers());
      check_runs(code);
      check_operations(code, operations);
      check_addresses(code);
      CHECK(std::ranges::is_sorted(code.remarks()));
    }
  }
}

TEST_CASE("machine code: the same kernel gives the same code") {
  for (unsigned seed = 100; seed < 106; ++seed) {
    INFO("seed " << seed);
    const auto build = [&] { return Code(*Executable(seed).kernel, 90); };
    const Code code = build(), other = build();
    REQUIRE(code.instructions().size() == other.instructions().size());
    CHECK(code.registers() == other.registers());
    for (std::size_t i = 0; i < code.instructions().size(); ++i) {
      const MachineInstruction &a = code.instructions()[i], &b = other.instructions()[i];
      CHECK((a.text == b.text && a.pc == b.pc && a.operation == b.operation && a.place == b.place));
    }
    CHECK(code.executions() == other.executions());
  }
}

}  // namespace
}  // namespace lockstep::lower::test
