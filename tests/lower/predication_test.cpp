// Short branches: predicated where ptxas 13.0 predicates (sm_75, sm_80 and sm_90 alike), and replayed so.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <utility>

#include "lower/replay.hpp"
#include "tests/lower/support.hpp"

using namespace lockstep;
using namespace lockstep::lower;

namespace {

// %r2 is the thread's number, %r1 a parameter, %d2 the thread's own part of memory.
constexpr const char* kHead = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n) {
.reg .pred %p<9>; .reg .b32 %r<99>; .reg .f32 %f<9>; .reg .b64 %d<9>;
.shared .align 4 .b8 near[4096];
ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x; mul.wide.u32 %d3, %r2, 256; add.s64 %d2, %d1, %d3;
ld.global.u32 %r3, [%d2]; mov.u32 %r4, near; shl.b32 %r5, %r2, 2; add.s32 %r6, %r4, %r5;
)";
constexpr const char* kTail = "\nst.global.u32 [%d2+128], %r3;\nret;\n}\n";
constexpr const char* kDiffers = "setp.ge.s32 %p1, %r2, %r1;\n@%p1 bra L1;\n";

struct Kernel {
  explicit Kernel(const std::string& text)
      : program(link(text)), memory(std::uint64_t{1} << 22), image(program, memory), executable(image, 0) {}
  static ptx::Program link(const std::string& text) {
    std::vector<ptx::Module> modules;
    modules.push_back(ptx::parse(text, "test"));
    return ptx::link(std::move(modules));
  }
  ptx::Program program;
  exec::DeviceMemory memory;
  exec::ProgramImage image;
  exec::Executable executable;
};

unsigned branches(const std::string& text, Passes passes = {}) {
  const Kernel kernel(text);
  const Code code(kernel.executable, 80, passes);
  unsigned found = 0;
  for (const MachineInstruction& i : code.instructions()) found += i.text.find(" BRA ") != std::string::npos;
  return found;
}

std::string times(unsigned n, const std::string& text) {
  std::string all;
  for (unsigned i = 0; i < n; ++i) all += text;
  return all;
}
std::string products(unsigned n) { return times(n, "mul.lo.s32 %r3, %r3, %r3;\n"); }

std::string if_then(const std::string& body, const std::string& condition = kDiffers) {
  return kHead + condition + body + "L1:" + kTail;
}
std::string if_else(const std::string& one, const std::string& other) {
  return kHead + std::string(kDiffers) + one + "bra.uni L2;\nL1:\n" + other + "L2:" + kTail;
}

}  // namespace

TEST_CASE("up to 8 instructions under an if are predicated, up to 6 where warps decide alike") {
  CHECK(branches(if_then(products(8))) == 0);
  CHECK(branches(if_then(products(9))) == 1);
  CHECK(branches(if_then(times(8, "st.shared.u32 [%r6], %r2;\n"))) == 0);
  CHECK(branches(if_then(times(9, "st.shared.u32 [%r6], %r2;\n"))) == 1);
  const std::string alike = "setp.ge.s32 %p1, %r1, 5;\n@%p1 bra L1;\n";
  CHECK(branches(if_then(products(6), alike)) == 0);
  CHECK(branches(if_then(products(7), alike)) == 1);
  CHECK(branches(if_then(products(7), "mov.u32 %r7, %ctaid.x;\nsetp.eq.s32 %p1, %r7, 3;\n@%p1 bra L1;\n")) ==
        1);
  const std::string said = "setp.ge.s32 %p1, %r2, %r1;\n@%p1 bra.uni L1;\n";
  CHECK(branches(if_then(products(6), said)) == 0);
  CHECK(branches(if_then(products(7), said)) == 1);
  Passes without;
  without.predication = false;
  CHECK(branches(if_then(products(1)), without) == 1);
}

TEST_CASE("up to 20 with a load that may miss the L1") {
  for (const char* const load : {"ld.global", "ld.global.nc", "ld", "ld.volatile.global"}) {
    CAPTURE(load);
    const std::string with = std::string(load) + ".u32 %r10, [%d2+16];\nmul.lo.s32 %r3, %r3, %r10;\n";
    CHECK(branches(if_then(with + products(18))) == 0);
    CHECK(branches(if_then(with + products(19))) == 1);
  }
  const std::string shared = "ld.shared.u32 %r10, [%r6];\nmul.lo.s32 %r3, %r3, %r10;\n";
  CHECK(branches(if_then(shared + products(6))) == 0);
  CHECK(branches(if_then(shared + products(7))) == 1);
}

TEST_CASE("an arrival at an mbarrier is predicated with what ptxas 13.0 for sm_90 predicates with it") {
  // What ptxas makes has a branch if there are at least `branch_from` products.
  struct Kind {
    const char* arrival;
    unsigned branch_from;
  };
  for (const Kind& kind : {Kind{"mbarrier.arrive.shared.b64 _, [%r8];\n", 4},
                           Kind{"mov.u32 %r9, 0;\nmapa.shared::cluster.u32 %r8, %r8, %r9;\n"
                                "mbarrier.arrive.shared::cluster.b64 _, [%r8];\n",
                                3}}) {
    CAPTURE(kind.arrival);
    for (unsigned n = 1; n < 7; ++n) {
      CAPTURE(n);
      const std::string body = "add.s32 %r8, %r6, 8;\n" + products(n) +
                               "and.b32 %r7, %r3, 8;\nadd.s32 %r8, %r8, %r7;\n" + kind.arrival;
      CHECK(branches(if_then(body)) == (n >= kind.branch_from));
    }
  }
  for (const char* const waits :
       {"mbarrier.test_wait.parity.shared.b64 %p2, [%r6], 0;\n", "mbarrier.init.shared.b64 [%r6], 1;\n"}) {
    CAPTURE(waits);
    CHECK(branches(if_then(waits)) == 1);
  }
}

TEST_CASE("not predicated: atomics, fences, barriers, warp-wide instructions, an if around an if") {
  for (const char* const alone :
       {"red.global.add.u32 [%d2], %r2;\n", "atom.shared.add.u32 %r3, [%r6], 1;\n", "membar.gl;\n",
        "vote.sync.ballot.b32 %r3, %p1, -1;\n", "shfl.sync.bfly.b32 %r3, %r3, 1, 31, -1;\n"}) {
    CAPTURE(alone);
    CHECK(branches(if_then(alone)) == 1);
  }
  const std::string inner = "setp.gt.s32 %p2, %r3, 77;\n@%p2 bra L2;\n" + products(2) + "L2:\n";
  CHECK(branches(if_then(products(1) + inner)) == 1);
}

TEST_CASE("what only one side of a branch reads takes no register before it") {
  std::string body;
  for (int i = 0; i < 12; ++i)  // each loads into a register of its own
    body += fmt::format(
        "setp.ge.s32 %p1, %r2, {0};\n@%p1 bra M{0};\nld.global.u32 %r{1}, [%d2+{2}];\n"
        "add.s32 %r3, %r3, %r{1};\nM{0}:\n",
        i, 20 + i, 4 * i);
  for (const bool other : {false, true}) {  // the same of values that both sides of an if and else make
    std::string text = body;
    for (int i = 0; other && i < 12; ++i)
      text += fmt::format(
          "setp.ge.s32 %p1, %r2, {0};\n@%p1 bra E{0};\nadd.s32 %r{1}, %r3, 7;\nbra.uni J{0};\nE{0}:\n"
          "mul.lo.s32 %r{1}, %r3, %r2;\nJ{0}:\nxor.b32 %r3, %r3, %r{1};\n",
          i, 40 + i);
    const Kernel kernel(kHead + text + kTail);
    Passes without;
    without.predication = false;
    CHECK(Code(kernel.executable, 80).registers() <= Code(kernel.executable, 80, without).registers());
  }
}

TEST_CASE("a branch to the kernel's end stays: it stands for a predicated EXIT") {
  const std::string text = kHead + std::string(kDiffers) + products(2);
  CHECK(branches(text + "st.global.u32 [%d2+128], %r3;\nL1: ret;\n}\n") == 1);
}

TEST_CASE("if and else: both sides must fit, the jump over the other counted") {
  const std::string other = "xor.b32 %r3, %r3, 77;\nmul.lo.s32 %r3, %r3, %r2;\n";
  CHECK(branches(if_else(products(7), times(4, other))) == 0);
  CHECK(branches(if_else(products(8), times(4, other))) == 2);
  CHECK(branches(if_else(products(1), times(4, other))) == 0);
  CHECK(branches(kHead + std::string("setp.ge.s32 %p1, %r2, %r1;\n@!%p1 bra L1;\nbra.uni L2;\nL1:\n") +
                 products(8) + "L2:" + kTail) == 0);
}

namespace {

/// What a warp that executes each operation with the lanes that `lanes` gives it is on the machine; no lanes:
/// the operation was left out.
template <typename Lanes>
trace::CtaTrace replayed(const Kernel& kernel, const Code& code, Lanes lanes) {
  exec::CtaRecord record;
  auto& warp = record.warps.emplace_back();
  for (std::uint32_t i = 0; i < kernel.executable.operations().size(); ++i) {
    const LaneMask mask = lanes(i);
    if (mask == 0) continue;
    std::uint64_t addresses[kWarpSize] = {};
    const auto op = kernel.executable.instruction(i).op();
    const bool access = op == ptx::Opcode::kLd || op == ptx::Opcode::kSt;
    const auto form = access ? trace::pack_addresses(mask, addresses, warp.words) : trace::AddressForm::kNone;
    warp.records.push_back(trace::Record::make(i, form, mask));
  }
  trace::CtaTrace out;
  const Dim3 grid{1, 1, 1};
  Replayer(code, grid).replay(record, out);
  std::size_t words = 0;
  for (const trace::Record& r : out.records) words += trace::address_words(r.form(), r.mask);
  CHECK(words == out.words.size());
  return out;
}

std::uint32_t first_of(const Kernel& kernel, ptx::Opcode op) {
  std::uint32_t at = 0;
  while (kernel.executable.instruction(at).op() != op) ++at;
  return at;
}

}  // namespace

TEST_CASE("predicated instructions are issued by every warp, with the lanes that executed them") {
  const Kernel kernel(if_then("st.global.u32 [%d2+4], %r2;\nadd.s32 %r3, %r3, %r2;\n", kDiffers));
  const Code code(kernel.executable, 80);
  const std::uint32_t store = first_of(kernel, ptx::Opcode::kSt);
  REQUIRE(first_of(kernel, ptx::Opcode::kBra) + 1 == store);
  const auto masks = [&](LaneMask inside) {
    const auto is_inside = [&](std::uint32_t operation) {
      return operation == store || operation == store + 1;
    };
    const auto out =
        replayed(kernel, code, [&](std::uint32_t i) { return is_inside(i) ? inside : ~LaneMask{0}; });
    CHECK(out.records.size() == code.instructions().size());
    std::pair<LaneMask, LaneMask> found;
    for (const trace::Record& r : out.records) {
      const std::uint32_t operation = code.instructions()[r.inst()].operation;
      if (operation == store) found.first = r.mask;
      if (operation == store + 1) found.second = r.mask;
      if (!is_inside(operation)) CHECK(r.mask == ~LaneMask{0});
    }
    return found;
  };
  CHECK(masks(~LaneMask{0}) == std::pair{~LaneMask{0}, ~LaneMask{0}});
  CHECK(masks(0xff) == std::pair<LaneMask, LaneMask>{0xff, 0xff});
  CHECK(masks(0) == std::pair<LaneMask, LaneMask>{0, 0});
}

TEST_CASE("so are those that a barrier follows, also by a warp that no lane of was inside") {
  const std::string add = "ld.shared.u32 %r7, [%r6+64];\nadd.s32 %r3, %r3, %r7;\nst.shared.u32 [%r6], %r3;\n";
  const std::string step = std::string(kDiffers) + add + "L1:\nbar.sync 0;\n";
  std::string second = step;
  second.replace(second.find("%p1 bra L1"), 10, "%p1 bra L2");
  second.replace(second.find("L1:"), 2, "L2");
  const std::string text = kHead + step + second + kTail;
  REQUIRE(branches(text) == 0);
  const Kernel kernel(text);
  const Code code(kernel.executable, 80);
  const std::uint32_t load = first_of(kernel, ptx::Opcode::kBra) + 1;
  const auto is_inside = [&](std::uint32_t i) {
    return (i >= load && i < load + 3) || (i >= load + 6 && i < load + 9);
  };
  REQUIRE(kernel.executable.instruction(load + 8).op() == ptx::Opcode::kSt);
  for (const LaneMask inside : {~LaneMask{0}, LaneMask{0xff}, LaneMask{0}}) {
    const auto out =
        replayed(kernel, code, [&](std::uint32_t i) { return is_inside(i) ? inside : ~LaneMask{0}; });
    REQUIRE(out.records.size() == code.instructions().size());
    for (std::uint32_t at = 0; at < out.records.size(); ++at) {
      CHECK(out.records[at].inst() == at);
      const LaneMask expected = is_inside(code.instructions()[at].operation) ? inside : ~LaneMask{0};
      CHECK(out.records[at].mask == expected);
    }
  }
  Passes without;
  without.left_out = false;
  const Code left(kernel.executable, 80, without);
  const auto out = replayed(kernel, left, [&](std::uint32_t i) { return is_inside(i) ? 0 : ~LaneMask{0}; });
  CHECK(out.records.size() + 6 == left.instructions().size());
  for (const trace::Record& r : out.records) CHECK(r.mask == ~LaneMask{0});
}

TEST_CASE("a warp that ends before issues nothing that follows") {
  const Kernel kernel(kHead + std::string(kDiffers) + "ret;\nL1:\nsetp.gt.u32 %p2, %r2, 5;\n@%p2 bra L2;\n" +
                      products(2) + "L2:\nbar.sync 0;" + kTail);
  const Code code(kernel.executable, 80);
  const std::uint32_t ends = first_of(kernel, ptx::Opcode::kRet);
  const auto out =
      replayed(kernel, code, [&](std::uint32_t i) { return i <= ends ? ~LaneMask{0} : LaneMask{0}; });
  for (const trace::Record& r : out.records) CHECK(code.instructions()[r.inst()].operation <= ends);
}
