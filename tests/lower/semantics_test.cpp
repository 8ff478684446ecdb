// Random kernels do the same after each step of lowering: each is executed by the test's own interpreter, as
// written and as lowered, and must leave the same bytes in memory.
#include <algorithm>
#include <catch2/catch.hpp>

#include "lower/addresses.hpp"
#include "lower/fusion.hpp"
#include "lower/merge.hpp"
#include "lower/predication.hpp"
#include "lower/registers.hpp"
#include "lower/schedule.hpp"
#include "lower/unroll.hpp"
#include "ptx/control_flow.hpp"
#include "ptx/parser.hpp"
#include "tests/lower/interpreter.hpp"
#include "tests/lower/random_kernel.hpp"

namespace lockstep::lower::test {
namespace {

constexpr unsigned kKernels = 150;

ptx::Function kernel(unsigned seed) { return ptx::parse(random_kernel(seed), "test").functions.front(); }

auto memory_after(const ptx::Function& f) {
  RegisterFile registers;
  return Interpreter(f, registers).run().written();
}

/// The registers of the machine, as many words as a value has; constants and predicates have places of their
/// own. Values that were not written are not numbers that a kernel computes.
class MachineFile : public RegisterFile {
 public:
  MachineFile(const ptx::Function& f, const RegisterAssignment& assignment) : f_(f), assignment_(assignment) {
    for (std::size_t i = 0; i < std::size(words_); ++i)
      words_[i] = static_cast<std::uint32_t>(0xdead0000 + i);
  }
  std::uint64_t read(ptx::RegisterId id) override {
    if (!in_machine(id)) return RegisterFile::read(id);
    const unsigned at = place(id);
    return words(id) == 2 ? words_[at] | std::uint64_t{words_[at + 1]} << 32 : words_[at];
  }
  void write(ptx::RegisterId id, std::uint64_t value) override {
    if (!in_machine(id)) return RegisterFile::write(id, value);
    if (assignment_[id] == kNoRegister) return;  // it is never read
    words_[place(id)] = static_cast<std::uint32_t>(value);
    if (words(id) == 2) words_[place(id) + 1] = static_cast<std::uint32_t>(value >> 32);
  }

 private:
  [[nodiscard]] unsigned words(ptx::RegisterId id) const {
    return ptx::pressure_of(f_.registers[id].type).words;
  }
  [[nodiscard]] bool in_machine(ptx::RegisterId id) const {
    return words(id) > 0 && !assignment_.constant(id);
  }
  [[nodiscard]] unsigned place(ptx::RegisterId id) const {
    REQUIRE(assignment_[id] != kNoRegister);
    REQUIRE(assignment_[id] + words(id) <= assignment_.used());
    return assignment_[id];
  }
  const ptx::Function& f_;
  const RegisterAssignment& assignment_;
  std::uint32_t words_[256];
};

/// Executes the machine's instructions: of a fused pair both where the second is, an address that is part of
/// an access there, nothing for what shares its source's register.
class Machine : public Interpreter {
 public:
  Machine(const ptx::Function& f, MachineFile& file, const RegisterAssignment& assignment,
          const Folded& folded)
      : Interpreter(f, file), assignment_(assignment), folded_(folded) {}
  std::size_t left_out = 0, fused = 0, addresses = 0;

 protected:
  void execute(std::uint32_t at) override {
    const ptx::Instruction& i = function_.instructions[at];
    if (folded_.fusions.gone(at) || assignment_.folded(at)) {
      ++left_out;
      return;
    }
    const Fused* both = folded_.fusions.at(at);
    if (!both || guarded_out(i)) return apply(i);
    ++fused;
    ptx::Instruction second = i;
    ptx::Operand& taken = second.operands.at(both->operand);
    const std::uint64_t value = result(function_.instructions[both->producer]);
    const bool negated = taken.negated;
    taken = {};
    taken.kind = ptx::OperandKind::kImmediate;
    taken.bits = negated ? static_cast<std::uint64_t>(value == 0) : value;
    apply(second);
  }
  std::uint64_t address_register(ptx::RegisterId id) override {
    for (const FoldedAddress& a : folded_.addresses) {
      const ptx::Instruction& i = function_.instructions[a.at];
      if (i.operands[0].reg != id) continue;
      ++addresses;
      ptx::Instruction sum = i;
      for (std::size_t n = 1; n < sum.operands.size(); ++n)
        if (ptx::Operand& o = sum.operands[n]; o.kind == ptx::OperandKind::kRegister) {
          const std::uint64_t value = address_register(o.reg);
          o = {};
          o.kind = ptx::OperandKind::kImmediate;
          o.bits = value;
        }
      return result(sum);
    }
    return Interpreter::address_register(id);
  }

 private:
  const RegisterAssignment& assignment_;
  const Folded& folded_;
};

}  // namespace

TEST_CASE("a scheduled function does what it did, with many registers and few") {
  std::size_t moved = 0;
  for (unsigned seed = 0; seed < kKernels; ++seed) {
    const ptx::Function f = kernel(seed);
    const auto expected = memory_after(f);
    REQUIRE(expected.size() > 20);
    for (const unsigned registers : {6u, 32u, 255u}) {
      CAPTURE(seed, registers);
      const Schedule order = schedule(f, ptx::ControlFlow(f), registers);
      CHECK((memory_after(reordered(f, order)) == expected));
      for (std::uint32_t at = 0; at < order.order.size(); ++at) moved += order.order[at] != at;
    }
  }
  CHECK(moved > 10 * kKernels);
}

TEST_CASE("a function without its short branches does what it did") {
  std::size_t gone = 0;
  for (unsigned seed = 0; seed < kKernels; ++seed) {
    CAPTURE(seed);
    const ptx::Function f = kernel(seed);
    const Predicated p = predicate(not_unrolled(f), std::vector<std::uint32_t>(f.instructions.size(), 1));
    CHECK((memory_after(p.function) == memory_after(f)));
    for (const bool g : p.gone) gone += g;
  }
  CHECK(gone > kKernels);
}

TEST_CASE("a function with unrolled loops and merged accesses does what it did") {
  std::size_t copied = 0, left_out = 0, merged = 0, in_part = 0;
  for (unsigned seed = 0; seed < 2 * kKernels; ++seed) {
    CAPTURE(seed);
    const ptx::Function f = kernel(seed);
    const auto expected = memory_after(f);
    const Unrolled all = unroll(f, {}, 86);
    CHECK((memory_after(all.function) == expected));
    copied += all.function.instructions.size() - f.instructions.size();
    left_out += static_cast<std::size_t>(std::ranges::count(all.gone, true));
    in_part += all.partial.size();
    Predicated p = predicate(all, std::vector<std::uint32_t>(all.function.instructions.size(), 1));
    merge_accesses(p, {});
    CHECK((memory_after(p.function) == expected));
    for (std::uint32_t at = 0; at < p.carrier.size(); ++at) merged += p.carrier[at] != at;
  }
  CHECK(copied > 10 * kKernels);
  CHECK(left_out > kKernels);
  CHECK(merged > kKernels / 2);
  CHECK(in_part > kKernels / 2);
}

TEST_CASE("the machine's registers hold every value until its last reader, with what is fused and folded") {
  std::size_t left_out = 0, fused = 0, addresses = 0;
  for (unsigned seed = 0; seed < kKernels; ++seed) {
    const ptx::Function f = kernel(seed);
    const auto expected = memory_after(f);
    const Unrolled all = unroll(f, {}, 86);
    Predicated p = predicate(all, std::vector<std::uint32_t>(all.function.instructions.size(), 1));
    merge_accesses(p, {});
    for (const unsigned arch : {70u, 75u, 90u})
      for (const unsigned target : {24u, 64u}) {
        CAPTURE(seed, arch, target);
        const Schedule order = schedule(p.function, ptx::ControlFlow(p.function), target);
        const ptx::Function scheduled = reordered(p.function, order);
        Folded folded;
        folded.addresses = folded_addresses(scheduled, order.runs, arch);
        folded.fusions = Fusions(scheduled, order.runs, folded.addresses, true, arch);
        const RegisterAssignment assignment(scheduled, target, {}, folded);
        if (assignment.used() == kMaxRegisters) continue;  // a spill's place is not modelled
        MachineFile file(scheduled, assignment);
        Machine machine(scheduled, file, assignment, folded);
        CHECK((machine.run().written() == expected));
        left_out += machine.left_out;
        fused += machine.fused;
        addresses += machine.addresses;
      }
  }
  CHECK(left_out > kKernels);
  CHECK(fused > kKernels);
  CHECK(addresses > kKernels);
}

}  // namespace lockstep::lower::test
