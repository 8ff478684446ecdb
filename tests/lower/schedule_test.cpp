// Scheduling: what each instruction reads stays the same, loads go first, records follow the new order.
#include "lower/schedule.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>

#include "exec/executable.hpp"
#include "lower/constants.hpp"
#include "lower/dependences.hpp"
#include "lower/replay.hpp"
#include "paths.hpp"
#include "ptx/linker.hpp"
#include "ptx/liveness.hpp"
#include "ptx/parser.hpp"
#include "tests/lower/support.hpp"

using namespace lockstep;
using namespace lockstep::lower;

namespace {

std::string kernel_text(const std::string& body) {
  return ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
         ".reg .b32 %r<9>;\n.reg .f32 %f<9>;\n.reg .pred %p<3>;\n.reg .b64 %d<4>;\n" +
         body + "ret;\n}\n";
}

ptx::Function kernel(const std::string& body) {
  return ptx::parse(kernel_text(body), "test").functions.front();
}

Schedule scheduled(const ptx::Function& f, unsigned registers = 32) {
  return schedule(f, ptx::ControlFlow(f), registers);
}

/// For each instruction and register that it reads: which instruction of the run wrote it last.
using Sources = std::map<std::pair<std::uint32_t, ptx::RegisterId>, std::uint32_t>;
Sources sources(const ptx::Function& f, const Schedule& s, bool original) {
  Sources found;
  for (const Run run : s.runs) {
    std::map<ptx::RegisterId, std::uint32_t> writer;
    for (std::uint32_t at = run.first; at < run.end; ++at) {
      const std::uint32_t number = original ? at : s.order[at];
      const auto use = ptx::register_use(f.instructions[number]);
      for (const auto id : use.reads)
        if (writer.contains(id)) found[{number, id}] = writer[id];
      for (const auto id : use.writes) writer[id] = number;
    }
    for (const auto& [id, number] : writer) found[{~run.first, id}] = number;  // what the run leaves
  }
  return found;
}

const std::string kTwoLoads =
    "ld.param.u64 %d1, [p];\nld.global.f32 %f1, [%d1];\nadd.f32 %f2, %f1, %f1;\n"
    "ld.global.f32 %f3, [%d1+4];\nadd.f32 %f4, %f3, %f2;\nst.global.f32 [%d1+8], %f4;\n";

}  // namespace

TEST_CASE("every value that an instruction reads comes from the same instruction as before") {
  for (const auto& file :
       std::filesystem::directory_iterator(std::string(LOCKSTEP_SOURCE_DIR) + "/examples/ptx")) {
    const ptx::Module module = ptx::parse_file(file.path());
    for (const ptx::Function& f : module.functions) {
      if (!f.has_body) continue;
      for (const unsigned registers : {8u, 32u, 255u}) {
        CAPTURE(file.path().filename().string(), f.name, registers);
        const Schedule s = scheduled(f, registers);
        REQUIRE(s.order.size() == f.instructions.size());
        CHECK(sources(f, s, true) == sources(f, s, false));
        for (const Run run : s.runs)
          CHECK(std::is_permutation(s.order.begin() + run.first, s.order.begin() + run.end,
                                    [&] {
                                      std::vector<std::uint32_t> all(run.end - run.first);
                                      for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = run.first + i;
                                      return all;
                                    }()
                                        .begin()));
      }
    }
  }
}

TEST_CASE("loads are issued before what waits for the first of them") {
  const Schedule s = scheduled(kernel(kTwoLoads));
  CHECK(s.order == std::vector<std::uint32_t>{0, 1, 3, 2, 4, 5, 6});
}

TEST_CASE("with no register to spare the order stays") {
  const Schedule s = scheduled(kernel(kTwoLoads), 3);
  CHECK(s.order == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("a load passes a store only where they cannot meet") {
  const std::string head = "ld.param.u64 %d1, [p];\nld.param.u64 %d2, [p];\nmov.u32 %r1, %tid.x;\n";
  const auto passes = [&](const std::string& store, const std::string& load) {
    const ptx::Function f =
        kernel(head + store + load + "add.f32 %f4, %f3, %f3;\nst.global.f32 [%d1+64], %f4;\n");
    const auto order = scheduled(f).order;
    return std::ranges::find(order, 4u) < std::ranges::find(order, 3u);
  };
  const std::string store = "st.global.u32 [%d1], %r1;\n";
  CHECK(passes(store, "ld.global.f32 %f3, [%d1+4];\n"));
  CHECK(passes(store, "ld.shared.f32 %f3, [%d2];\n"));
  CHECK(passes(store, "ld.global.nc.f32 %f3, [%d2];\n"));
  CHECK_FALSE(passes(store, "ld.global.f32 %f3, [%d1+2];\n"));
  CHECK_FALSE(passes(store, "ld.global.f32 %f3, [%d2];\n"));
  CHECK_FALSE(passes(store, "ld.f32 %f3, [%d2];\n"));
  CHECK_FALSE(passes(store, "ld.volatile.global.f32 %f3, [%d1+4];\n"));
  CHECK_FALSE(passes("bar.sync 0;\n", "ld.global.f32 %f3, [%d1];\n"));
}

TEST_CASE("what uses the special function units stands 8 cycles apart, with arithmetic between") {
  // As ptxas 13.0 has it for sm_75, sm_80 and sm_90: MUFU, 7 or 8 FFMAs, MUFU. The functions depend on
  // nothing; 8 chains of products do not wait for each other.
  constexpr unsigned kFunctions = 16, kChains = 8, kLinks = 16;
  std::string body;
  for (unsigned i = 0; i < kFunctions; ++i) body += fmt::format("ex2.approx.ftz.f32 %e{}, %x{};\n", i, i);
  for (unsigned k = 0; k < kLinks; ++k)
    for (unsigned c = 0; c < kChains; ++c) body += fmt::format("fma.rn.f32 %c{}, %c{}, %x0, %x1;\n", c, c);
  for (unsigned i = 0; i < kFunctions; ++i) body += fmt::format("add.f32 %s, %s, %e{};\n", i);
  const ptx::Function f =
      ptx::parse(
          ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() {\n.reg .f32 %e<16>;\n"
          ".reg .f32 %x<16>;\n.reg .f32 %c<8>;\n.reg .f32 %s;\n" +
              body + "bar.sync 0;\nret;\n}\n",
          "test")
          .functions.front();
  const auto order = scheduled(f, 255).order;
  std::vector<std::ptrdiff_t> places;
  for (std::size_t at = 0; at < order.size(); ++at)
    if (f.instructions[order[at]].op() == ptx::Opcode::kEx2)
      places.push_back(static_cast<std::ptrdiff_t>(at));
  REQUIRE(places.size() == kFunctions);
  for (unsigned i = 2; i < kFunctions; ++i) {  // what stands before the first may be fewer
    CAPTURE(i, places[i - 1], places[i]);
    CHECK(places[i] - places[i - 1] == 8);
  }
}

TEST_CASE("registers at full occupancy are those of the programming guide's tables") {
  CHECK(registers_at_full_occupancy(70) == 32);
  CHECK(registers_at_full_occupancy(75) == 64);
  CHECK(registers_at_full_occupancy(86) == 40);
  CHECK(registers_at_full_occupancy(90) == 32);
}

TEST_CASE("values that rest leave room for a division's own registers") {
  std::string body = "ld.param.u64 %rd1, [p];\n";
  for (int i = 0; i < 25; ++i) body += fmt::format("ld.global.u32 %a{}, [%rd1+{}];\n", i, 4 * i);
  body += "ld.global.u32 %v0, [%rd1+84];\n";
  for (int i = 1; i < 24; ++i) body += fmt::format("mad.lo.u32 %v{}, %v{}, %v{}, 7;\n", i, i - 1, i - 1);
  body += "rem.u32 %v24, %v23, %v22;\nst.global.u32 [%rd1], %v24;\n";
  for (int i = 0; i < 25; ++i) body += fmt::format("st.global.u32 [%rd1+{}], %a{};\n", 4 * i + 4, i);
  body += "ret;\n";
  const ptx::Program program = ptx::link([&] {
    std::vector<ptx::Module> modules;
    modules.push_back(
        ptx::parse(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                   ".reg .b32 %v<25>;\n.reg .b32 %a<25>;\n.reg .b64 %rd<2>;\n" +
                       body + "}\n",
                   "test"));
    return modules;
  }());
  exec::DeviceMemory memory(std::uint64_t{1} << 22);
  const exec::ProgramImage image(program, memory);
  const Code code(exec::Executable(image, program.find_function("k").value()), 80);
  CHECK(code.registers() <= 32);  // 64 K registers for 2048 threads
}

TEST_CASE("parameters and immediates have no register, but where they are addresses") {
  const ptx::Function f = kernel(
      "ld.param.u64 %d1, [p];\nld.param.u64 %d2, [p];\nmov.u32 %r1, 7;\nmov.u32 %r2, %tid.x;\n"
      "add.s32 %r3, %r2, %r1;\nadd.s64 %d3, %d2, 64;\nst.global.u32 [%d1], %r3;\nst.global.u32 [%d3], "
      "%r3;\n");
  const auto constant = constant_operands(f);
  const auto of = [&](const std::string& name) {
    for (std::size_t id = 0; id < f.registers.size(); ++id)
      if (f.registers[id].name == name) return static_cast<bool>(constant[id]);
    return false;
  };
  CHECK_FALSE(of("%d1"));
  CHECK(of("%d2"));
  CHECK(of("%r1"));
  CHECK_FALSE(of("%r2"));
}

TEST_CASE("a whole run is replayed in the machine's order, a part of one as it was executed") {
  std::vector<ptx::Module> modules;
  modules.push_back(ptx::parse(kernel_text(kTwoLoads), "test"));
  const ptx::Program program = ptx::link(std::move(modules));
  exec::DeviceMemory memory(1 << 22);
  const exec::ProgramImage image(program, memory);
  const exec::Executable executable(image, 0);
  const Code code(executable, 75, test::without_setup());
  exec::CtaRecord record;
  record.warps.resize(1);
  auto& warp = record.warps[0];
  const auto execute = [&](std::uint32_t operation) {
    const bool access = operation == 1 || operation == 3 || operation == 5;
    std::array<std::uint64_t, 32> lanes{};
    lanes[0] = 1000 * (operation + 1);
    const auto form = access ? trace::pack_addresses(1, lanes.data(), warp.words) : trace::AddressForm::kNone;
    warp.records.push_back(trace::Record::make(operation, form, 1));
  };
  const auto opcodes = [&] {
    trace::CtaTrace out;
    const Dim3 grid{1, 1, 1};
    Replayer(code, grid).replay(record, out);
    std::string all;
    for (const trace::Record& r : out.records) {
      const std::string& text = code.instructions()[r.inst()].text;
      all += text.find("LDG") != std::string::npos    ? 'L'
             : text.find("STG") != std::string::npos  ? 'S'
             : text.find("FADD") != std::string::npos ? 'F'
             : text.find("EXIT") != std::string::npos ? 'E'
                                                      : '.';
    }
    return std::pair{all, out.words};
  };
  for (std::uint32_t operation = 0; operation < 7; ++operation) execute(operation);
  CHECK(opcodes().first == "..LLFFSE");
  CHECK(opcodes().second == std::vector<std::uint64_t>{2000, 4000, 6000});
  warp.clear();
  for (std::uint32_t operation = 0; operation < 4; ++operation) execute(operation);
  CHECK(opcodes().first == "..LFL");
}
