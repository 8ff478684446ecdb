// Neighbouring accesses to shared and local memory: what of them remains, where, with which registers, and
// whose execution has its addresses.
#include "lower/merge.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/lower/support.hpp"

namespace lockstep::lower::test {
namespace {

/// What is left of the accesses of a body, e.g. "ld.128 window+0 %i1 %i2 %i3 %i4 <3": the width in bits, the
/// constant of the address, the registers, and the place of the instruction whose addresses it has.
std::vector<std::string> merged_accesses(const std::string& body) {
  const ptx::Module module = module_of(body);
  Predicated shape = unpredicated(not_unrolled(module.functions.front()));
  const auto before = shape.function.instructions;
  merge_accesses(shape, module.variables);
  std::vector<std::string> found;
  for (std::uint32_t at = 1; at < shape.function.instructions.size(); ++at) {  // behind the parameter
    const ptx::Instruction& i = shape.function.instructions[at];
    const bool load = i.op() == ptx::Opcode::kLd, store = i.op() == ptx::Opcode::kSt;
    const bool was = before[at].op() == ptx::Opcode::kLd || before[at].op() == ptx::Opcode::kSt;
    CHECK(shape.gone[at] == (was && !load && !store));
    if (!load && !store) continue;
    const ptx::Operand &address = i.operands[load ? 1 : 0], &data = i.operands[load ? 0 : 1];
    std::string text = fmt::format("{}.{} {}", load ? "ld" : "st",
                                   8 * ptx::bytes(i.form.last_type()) * i.form.vector, address.offset);
    const std::vector<ptx::Operand> one{data};
    for (const ptx::Operand& o : data.kind == ptx::OperandKind::kVector ? data.elements : one) {
      const std::string& name = shape.function.registers[o.reg].name;
      const bool is_new = o.reg >= module.functions.front().registers.size();
      text += is_new ? " -" : " " + name;
    }
    if (shape.carrier[at] != at) text += fmt::format(" <{}", shape.carrier[at]);
    found.push_back(text);
  }
  return found;
}

using Left = std::vector<std::string>;

/// A load of %i<number> or a store of it.
std::string load(int number, int offset) {
  return fmt::format("ld.shared.b32 %i{}, [window+{}];\n", number, offset);
}
std::string store(int number, int offset) {
  return fmt::format("st.shared.b32 [window+{}], %i{};\n", offset, number);
}

}  // namespace

TEST_CASE(
    "merged loads stand where the first stood, stores where the last did, with the lowest's addresses") {
  CHECK(merged_accesses(load(1, 0) + load(2, 4) + load(3, 8) + load(4, 12)) ==
        Left{"ld.128 0 %i1 %i2 %i3 %i4"});
  CHECK(merged_accesses(load(1, 28) + load(2, 16) + load(3, 24) + load(4, 20)) ==
        Left{"ld.128 16 %i2 %i4 %i3 %i1 <2"});
  CHECK(merged_accesses(store(1, 0) + store(2, 12) + store(3, 4) + store(4, 8)) ==
        Left{"st.128 0 %i1 %i3 %i4 %i2 <1"});
  CHECK(merged_accesses(load(1, 4) + load(2, 0)) == Left{"ld.64 0 %i2 %i1 <2"});
  CHECK(merged_accesses(store(1, 4) + store(2, 0)) == Left{"st.64 0 %i2 %i1"});
}

TEST_CASE("of three loads with the first word the missing one is loaded along") {
  CHECK(merged_accesses(load(1, 0) + load(2, 4) + load(3, 12)) == Left{"ld.128 0 %i1 %i2 - %i3"});
  CHECK(merged_accesses(load(1, 4) + load(2, 8) + load(3, 12)) == Left{"ld.32 4 %i1", "ld.64 8 %i2 %i3"});
  CHECK(merged_accesses(store(1, 0) + store(2, 4) + store(3, 12)) ==
        Left{"st.64 0 %i1 %i2 <1", "st.32 12 %i3"});
}

TEST_CASE("64-bit accesses are merged in pairs, bytes and halves are not") {
  CHECK(merged_accesses("ld.shared.b64 %l1, [window+16];\nld.shared.b64 %l2, [window+24];\n") ==
        Left{"ld.128 16 %l1 %l2"});
  CHECK(merged_accesses("ld.shared.b64 %l1, [window+8];\nld.shared.b64 %l2, [window+16];\n") ==
        Left{"ld.64 8 %l1", "ld.64 16 %l2"});
  CHECK(merged_accesses("ld.shared.u16 %h1, [window];\nld.shared.u16 %h2, [window+2];\n").size() == 2);
  CHECK(merged_accesses("ld.shared.b32 %i1, [window];\nld.shared.b64 %l1, [window+8];\n").size() == 2);
}

TEST_CASE("accesses that do not allow it stay as they are") {
  const auto stay = [](const std::string& one, const std::string& other) {
    return merged_accesses(one + other).size() == 2;
  };
  CHECK_FALSE(stay(load(1, 0), load(2, 4)));
  CHECK(stay("ld.volatile.shared.b32 %i1, [window];\n", load(2, 4)));
  CHECK(stay("@%p1 ld.shared.b32 %i1, [window];\n", load(2, 4)));
  CHECK(stay("ld.global.b32 %i1, [%r1];\n", "ld.global.b32 %i2, [%r1+4];\n"));
  CHECK(stay(load(1, 0), "bar.sync 0;\n" + load(2, 4)));
  CHECK(stay(load(1, 0), "LABEL:\n" + load(2, 4) + "@%p1 bra LABEL;\n"));
  CHECK(stay(load(1, 0), "add.s32 %i2, %i2, 1;\n" + load(2, 4)));  // %i2 has a value until there
  CHECK(stay(load(1, 0), load(1, 4)));
  CHECK(stay(store(1, 0), "add.s32 %i1, %i1, 1;\n" + store(1, 4)));
}

TEST_CASE("an access between that may be to the same place keeps them apart") {
  const auto stores_left = [](const std::string& between) {
    return merged_accesses(store(1, 0) + between + store(2, 4));
  };
  CHECK(stores_left(load(3, 32)) == Left{"ld.32 32 %i3", "st.64 0 %i1 %i2 <1"});
  CHECK(stores_left(load(3, 0)).size() == 3);
  CHECK(stores_left("ld.shared.b32 %i3, [%i4];\n").size() == 3);
  CHECK(stores_left("ld.b32 %i3, [%l1];\n").size() == 3);
  CHECK(stores_left("ld.global.b32 %i3, [%l1];\n").size() == 2);
  const auto loads_left = [](const std::string& between) {
    return merged_accesses(load(1, 0) + between + load(2, 4));
  };
  CHECK(loads_left(store(3, 32)) == Left{"ld.64 0 %i1 %i2", "st.32 32 %i3"});
  CHECK(loads_left(store(3, 4)).size() == 3);
  CHECK(loads_left("st.shared.b32 [%i4], %i3;\n").size() == 3);
  CHECK(loads_left("ld.shared.b32 %i3, [%i4];\n").size() == 2);
  CHECK(loads_left("atom.shared.add.u32 %i3, [%i4], 1;\n").size() == 2);
  CHECK(loads_left("red.global.add.u32 [%l1], 1;\n").size() == 1);
}

TEST_CASE("accesses are as wide as their address is aligned, whatever register has it") {
  const auto widths = [](int shift) {
    return merged_accesses(fmt::format("mov.u32 %i5, %tid.x;\nshl.b32 %i6, %i5, {};\nadd.s32 %i7, %i6, "
                                       "16;\nld.shared.b32 %i1, [%i6+16];\n"
                                       "ld.shared.b32 %i2, [%i7+4];\nld.shared.b32 %i3, "
                                       "[%i6+24];\nld.shared.b32 %i4, [%i7+12];\n",
                                       shift))
        .size();
  };
  CHECK(widths(2) == 4);
  CHECK(widths(3) == 2);
  CHECK(widths(4) == 1);
  CHECK(widths(7) == 1);
}

}  // namespace lockstep::lower::test
