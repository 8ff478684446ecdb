// Lowering: known opcodes, lengths as compiled, registers that do not collide.
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <map>

#include "exec/device_memory.hpp"
#include "exec/image.hpp"
#include "lower/code.hpp"
#include "lower/registers.hpp"
#include "lower/sequences.hpp"
#include "lower/temporaries.hpp"
#include "paths.hpp"
#include "ptx/control_flow.hpp"
#include "ptx/linker.hpp"
#include "ptx/liveness.hpp"
#include "ptx/parser.hpp"
#include "tests/lower/support.hpp"
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

/// Of every file of examples/ptx.
void for_example_functions(const std::function<void(const ptx::Function&)>& check) {
  for (const auto& file : example_files()) {
    const ptx::Module module = ptx::parse_file(file);
    for (const ptx::Function& function : module.functions) {
      CAPTURE(file.filename().string(), function.name);
      if (function.has_body) check(function);
    }
  }
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
    const auto& steps = *find_sequence(key);
    CHECK(std::ranges::count_if(steps, [](const auto& s) { return s.lanes != Lanes::kSlow; }) ==
          static_cast<std::ptrdiff_t>(length));
  }
}

TEST_CASE("approximations that flush denormal numbers are one instruction") {
  // ptxas 13.0 for sm_75, sm_80 and sm_90.
  const auto opcodes = [](const std::string& form) {
    std::vector<std::string> found;
    for (const auto& i :
         test::lowered("ld.global.f32 %f1, [%r1];\n" + form + ".f32 %f2, %f1;\nst.global.f32 [%r1], %f2;\n"))
      found.emplace_back(trace::opcode_of(i.text));
    const auto starts = [](const char* with) {
      return [with](const std::string& opcode) { return opcode.starts_with(with); };
    };
    return std::vector(std::ranges::find_if(found, starts("LDG")) + 1,
                       std::ranges::find_if(found, starts("STG")));
  };
  using Opcodes = std::vector<std::string>;
  CHECK(opcodes("ex2.approx.ftz") == Opcodes{"MUFU.EX2"});
  CHECK(opcodes("lg2.approx.ftz") == Opcodes{"MUFU.LG2"});
  CHECK(opcodes("rsqrt.approx.ftz") == Opcodes{"MUFU.RSQ"});
  CHECK(opcodes("ex2.approx") == Opcodes{"FSETP.GEU.AND", "FMUL", "MUFU.EX2", "FMUL"});
}

TEST_CASE("fences between proxies wait for the CTA only, that behind mbarrier.init for nothing") {
  // ptxas 13.0 for sm_90a.
  const auto opcodes = [](const std::string& fence) {
    std::vector<std::string> found;
    for (const auto& i : test::lowered(fence + ";\n", 90))
      if (const std::string opcode(trace::opcode_of(i.text));
          opcode.starts_with("MEMBAR") || opcode.starts_with("FENCE"))
        found.push_back(opcode);
    return found;
  };
  using Opcodes = std::vector<std::string>;
  CHECK(opcodes("fence.mbarrier_init.release.cluster").empty());
  CHECK(opcodes("fence.proxy.async") == Opcodes{"MEMBAR.ALL.CTA", "FENCE.VIEW.ASYNC"});
  CHECK(opcodes("fence.proxy.async.shared::cta") == Opcodes{"MEMBAR.ALL.CTA", "FENCE.VIEW.ASYNC"});
  CHECK(opcodes("fence.proxy.async.global") == Opcodes{"FENCE.VIEW.ASYNC"});
  CHECK(opcodes("fence.acq_rel.gpu") == Opcodes{"MEMBAR.SC.GPU"});
}

TEST_CASE("moves to accumulators to which a product does not add are no instructions") {
  const auto moves = [](const std::string& adds) {
    const auto code = test::lowered(
        "mov.b64 %d1, %l1;\nmov.b64 %d2, %l2;\nmov.f32 %f9, 0f00000000;\nmov.f32 %f1, %f9;\nmov.f32 %f2, "
        "%f9;\n"
        "mov.f32 %f3, %f9;\nmov.f32 %f4, %f9;\nmov.u32 %i1, " +
            adds +
            ";\nsetp.ne.b32 %p1, %i1, 0;\n"
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %l1, %l2, %p1, 1, 1, 0, "
            "0;\n"
            "st.global.f32 [%r1], %f1;\n",
        90);
    return std::ranges::count_if(code, [](const auto& i) { return trace::opcode_of(i.text) == "MOV"; });
  };
  CHECK(moves("1") - moves("0") == 4);
}

TEST_CASE("a barrier whose number is a constant in a register is an instruction") {
  const auto code =
      test::lowered("mov.u32 %i1, 9;\nmov.u32 %i2, 64;\nbar.arrive %i1, %i2;\nbar.sync %i1, %i2;\n");
  std::vector<std::string> barriers;
  for (const auto& i : code)
    if (i.text.find("BAR.") != std::string::npos) barriers.emplace_back(trace::opcode_of(i.text));
  CHECK(barriers == std::vector<std::string>{"BAR.ARV.EVENTS", "BAR.SYNC.DEFER_BLOCKING.EVENTS"});
}

TEST_CASE("subroutines are as long as ptxas makes them") {
  // ptxas 13.0, sm_75: instructions between EXIT of a kernel with the operation and its subroutine's RET; in
  // brackets those on the way of a zero.
  const std::map<std::string, std::pair<std::size_t, std::size_t>> lengths{
      {"div.f32", {101, 30}}, {"rcp.f32", {53, 12}}, {"sqrt.f32", {24, 7}},
      {"div.f64", {94, 61}},  {"rcp.f64", {40, 13}}, {"sqrt.f64", {41, 11}}};
  for (const auto& [key, length] : lengths) {
    CAPTURE(key);
    const auto& steps = *find_sequence(key + ".slow");
    std::size_t all = steps.size();
    for (const SequenceStep& step : steps) all += step.skipped;
    CHECK(all == length.first);
    CHECK(steps.size() == length.second);
  }
}

TEST_CASE("registers of live values are busy, temporaries take others") {
  for_example_functions([](const ptx::Function& function) {
    const RegisterAssignment registers(function);
    const ptx::ControlFlow flow(function);
    const ptx::Liveness liveness(function, flow);
    Temporaries temporaries(registers);
    for (std::uint32_t at = 0; at < function.instructions.size(); ++at) {
      if (!flow.blocks()[flow.block_of(at)].reachable) continue;
      const Temporaries::Busy busy = temporaries.busy(at);
      for (const ptx::RegisterId id : liveness.live_before(at)) {
        if (registers.constant(id) || registers[id] == kNoRegister) continue;
        for (unsigned w = 0; w < ptx::pressure_of(function.registers[id].type).words; ++w)
          CHECK(busy[registers[id] + w]);
      }
      CHECK_FALSE(busy[temporaries.place(busy, 0, false)]);
      const unsigned low = temporaries.place(busy, 2, true), high = temporaries.place(busy, 3, true);
      CHECK(low % 2 == 0);
      CHECK(high == low + 1);
      CHECK_FALSE((busy[low] || busy[high]));
      CHECK(low != temporaries.place(busy, 0, true));
    }
  });
}

TEST_CASE("values that are live at the same time have registers of their own") {
  for_example_functions([](const ptx::Function& function) {
    const RegisterAssignment registers(function);
    const ptx::ControlFlow flow(function);
    const ptx::Liveness liveness(function, flow);
    CHECK(registers.used() <= kMaxRegisters);
    for (const ptx::Block& block : flow.blocks()) {
      if (!block.reachable) continue;
      for (std::uint32_t at = block.first; at < block.end; ++at) {
        std::map<unsigned, ptx::RegisterId> holder;
        for (const ptx::RegisterId id : liveness.live_before(at)) {
          if (registers.constant(id)) continue;
          const unsigned words = ptx::pressure_of(function.registers[id].type).words;
          for (unsigned w = 0; w < words; ++w) {
            const auto [held, fresh] = holder.try_emplace(registers[id] + w, id);
            CHECK((fresh || registers.root(held->second) == registers.root(id)));
          }
        }
      }
    }
  });
}

TEST_CASE("a move whose source dies in it is not an instruction, one whose source lives on is") {
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

TEST_CASE("forms of newer GPUs become instructions that traces have, with their work") {
  // Shapes and opcodes as cuobjdump shows them for Hopper: "CUDA Binary Utilities", instruction set
  // reference.
  const std::string text =
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
      ".reg .b32 %r<90>;\n.reg .f32 %f<40>;\n.reg .b64 %d<9>;\n.reg .pred %p<3>;\nld.param.u64 %d1, [p];\n"
      "wgmma.fence.sync.aligned;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d2, %p1, 1, 1, 0, 0;\n"
      "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.u8 {%r1, %r2, %r3, %r4}, %d1, %d2, %r5, 0, %p1;\n"
      "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, %d2, "
      "%p1, 1, 1;\n"
      "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\n"
      "mbarrier.init.shared::cta.b64 [%r1], 1;\nmbarrier.arrive.shared::cta.b64 %d3, [%r1];\n"
      "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2;\n"
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%d1, {%r2}], "
      "[%r3];\n"
      "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%d1, {%r2}], [%r1];\n"
      "cp.async.bulk.commit_group;\n"
      "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4},"
      " {%r5, %r6, %r7, %r8}, {%f1, %f2, %f3, %f4}, %r9, 0;\n"
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];\n"
      "griddepcontrol.wait;\nret;\n}\n";
  std::vector<ptx::Module> modules;
  modules.push_back(ptx::parse(text, "test"));
  const ptx::Program program = ptx::link(std::move(modules));
  exec::DeviceMemory memory(std::uint64_t{1} << 22);
  const exec::ProgramImage image(program, memory);
  const exec::Executable kernel(image, program.find_function("k").value());
  const Code code(kernel, 90, test::without_setup());
  std::vector<std::string> opcodes;
  for (const MachineInstruction& i : code.instructions()) {
    const auto decoded = trace::decode_traced({i.pc, i.text, i.immediate}, 90);
    CAPTURE(i.text);
    CHECK(decoded.known);
    opcodes.emplace_back(trace::opcode_of(i.text));
  }
  CHECK(opcodes == std::vector<std::string>{
                       "MOV", "MOV", "WARPGROUP.ARRIVE", "HGMMA.64x8x16.F32", "IGMMA.SP.64x8x64.S8.U8",
                       "QGMMA.64x8x32.F32.E4M3.E5M2.GSB", "WARPGROUP.DEPBAR.LE", "SYNCS.EXCH.64",
                       "SYNCS.ARRIVE.TRANS64.EVENTS", "SYNCS.PHASECHK.TRANS64.TRYWAIT.EVENTS", "UTMALDG.RUNS",
                       "UTMASTG.RUNS", "UTMACMDFLUSH", "HMMA.SP.16832.F32", "STAS", "ACQBULK", "EXIT"});
  CHECK(code.remarks().empty());
}

TEST_CASE("what the timing model leaves out of bulk copies is remarked, what goes to other CTAs is not") {
  const auto remarks = [](const std::string& body) {
    const std::string text =
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
        ".reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .b16 %h<2>;\n" +
        body + "ret;\n}\n";
    std::vector<ptx::Module> modules;
    modules.push_back(ptx::parse(text, "test"));
    const ptx::Program program = ptx::link(std::move(modules));
    exec::DeviceMemory memory(std::uint64_t{1} << 22);
    const exec::ProgramImage image(program, memory);
    return Code(exec::Executable(image, program.find_function("k").value()), 90).remarks();
  };
  const std::string to_shared = "cp.async.bulk.shared::cluster";
  CHECK(remarks(to_shared + ".global.mbarrier::complete_tx::bytes [%r1], [%d1], 128, [%r2];\n").empty());
  CHECK(remarks("mbarrier.arrive.shared::cta.b64 %d1, [%r1];\n").empty());
  CHECK(remarks(to_shared + ".shared::cta.mbarrier::complete_tx::bytes [%r1], [%r3], 128, [%r2];\n").empty());
  CHECK(remarks(to_shared +
                ".global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%d1], 128, [%r2], "
                "%h1;\n")
            .empty());
  CHECK(remarks("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];\n").empty());
  CHECK(remarks("cp.async.bulk.prefetch.L2.global [%d1], 128;\n").empty());
}

TEST_CASE("halves that a move packs or takes out are registers of the whole value") {
  const ptx::Function f =
      ptx::parse(
          ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
          ".reg .b32 %r<9>;\n.reg .b64 %d<9>;\nld.param.u64 %d1, [p];\nld.global.u64 %d2, [%d1];\n"
          "mov.b64 {%r1, %r2}, %d2;\nadd.s32 %r3, %r1, 1;\nadd.s32 %r4, %r2, 1;\nmov.b64 %d3, {%r3, %r4};\n"
          "st.global.u64 [%d1], %d3;\nret;\n}\n",
          "test")
          .functions.front();
  const RegisterAssignment registers(f);
  const auto at = [&](const std::string& name) {
    for (ptx::RegisterId id = 0; id < f.registers.size(); ++id)
      if (f.registers[id].name == name) return static_cast<unsigned>(registers[id]);
    return 1000u;
  };
  CHECK(registers.folded(2));
  CHECK(registers.folded(5));
  CHECK(at("%r1") == at("%d2"));
  CHECK(at("%r2") == at("%d2") + 1);
  CHECK(at("%r3") == at("%d3"));
  CHECK(at("%r4") == at("%d3") + 1);
}
