// Lowering: known opcodes, lengths as compiled, registers that do not collide.
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>

#include "lower/code.hpp"
#include "lower/registers.hpp"
#include "lower/sequences.hpp"
#include "ptx/control_flow.hpp"
#include "ptx/linker.hpp"
#include "ptx/liveness.hpp"
#include "ptx/parser.hpp"
#include "trace/traced_instruction.hpp"

using namespace lockstep;
using namespace lockstep::lower;

namespace {

std::vector<std::filesystem::path> example_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(LOCKSTEP_SOURCE_DIR) + "/examples/ptx"))
    files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

}  // namespace

TEST_CASE("every opcode of every sequence is one that traces have") {
  for (const auto& row : sequence_texts()) {
    const auto* steps = find_sequence(row.key);
    REQUIRE(steps != nullptr);
    for (const SequenceStep& step : *steps) {
      CAPTURE(row.key, step.opcode);
      const std::string text = "1 R4 " + step.opcode + " 2 R6 R8 0";
      CHECK(trace::decode_traced({0, text, 0}, 75).known);
    }
  }
}

TEST_CASE("sequences are as long as what nvcc makes of the operation") {
  // nvcc 13.0, sm_75: instructions of a kernel c = a OP b before EXIT, less those of c = a + b, plus the
  // addition's; of those with a slow path without the call of it.
  const std::map<std::string, std::size_t> lengths{{"add.i64", 2},   {"div.i32", 24}, {"rem.i32", 22},
                                                   {"div.u32", 18},  {"rem.u32", 17}, {"div.f32", 10},
                                                   {"sqrt.f32", 10}, {"min.i64", 4},  {"mul.lo.i64", 4}};
  for (const auto& [key, length] : lengths) {
    CAPTURE(key);
    CHECK(find_sequence(key)->size() == length);
  }
}

TEST_CASE("values that are live at the same time have registers of their own") {
  for (const auto& file : example_files()) {
    const ptx::Module module = ptx::parse_file(file);
    for (const ptx::Function& function : module.functions) {
      if (!function.has_body) continue;
      CAPTURE(file.filename().string(), function.name);
      const RegisterAssignment registers(function);
      const ptx::ControlFlow flow(function);
      const ptx::Liveness liveness(function, flow);
      CHECK(registers.used() <= kMostRegisters);
      for (const ptx::Block& block : flow.blocks()) {
        if (!block.reachable) continue;
        for (std::uint32_t at = block.first; at < block.end; ++at) {
          std::map<unsigned, ptx::RegisterId> holder;
          for (const ptx::RegisterId id : liveness.live_before(at)) {
            const unsigned words = ptx::pressure_of(function.registers[id].type).words;
            for (unsigned w = 0; w < words; ++w) CHECK(holder.try_emplace(registers[id] + w, id).second);
          }
        }
      }
    }
  }
}

TEST_CASE("a move whose source dies in it is no instruction, one whose source lives on is") {
  const auto function_of = [](const std::string& body) {
    const std::string text =
        ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
        ".reg .b32 %r<9>;\n.reg .b64 %d<4>;\nld.param.u64 %d1, [p];\n" +
        body + "ret;\n}\n";
    return ptx::parse(text, "test").functions.front();
  };
  const auto dies = function_of("ld.global.u32 %r1, [%d1];\nmov.u32 %r2, %r1;\nst.global.u32 [%d1], %r2;\n");
  CHECK(RegisterAssignment(dies).folded(2));
  const auto lives = function_of(
      "ld.global.u32 %r1, [%d1];\nmov.u32 %r2, %r1;\nadd.s32 %r2, %r2, 1;\nst.global.u32 [%d1], %r2;\n"
      "st.global.u32 [%d1+4], %r1;\n");
  CHECK_FALSE(RegisterAssignment(lives).folded(2));
}
