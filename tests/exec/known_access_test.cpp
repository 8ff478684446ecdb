// Accesses that repeat a base register: random programs against an interpreter of their few instructions.
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <random>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test::known_access {
namespace {

constexpr unsigned kLanesOfWarp = 32, kBases = 3, kSteps = 24, kRounds = 2;
constexpr std::uint64_t kBytes = 4096;  // of the memory that the program works on

/// One instruction of the loop's body.
struct Step {
  enum Kind { kLoad, kStore, kMove } kind = kLoad;
  unsigned base = 0, bytes = 4;
  std::int64_t offset = 0;
  int guard = 0;  // 0: none; 1: lanes below 11; 2: in the first round only; 3: in the second only
};

/// A value that nothing but the order of accesses explains: sum = 3 sum + what was loaded.
struct Program {
  bool shared = false;
  std::array<unsigned, kBases> strides{};  // bytes from lane to lane; 1000: two rows of 16 lanes
  std::vector<Step> steps;
};

std::uint64_t lane_offset(unsigned stride, unsigned lane) {
  return stride == 1000 ? lane / 16 * 136 + lane % 16 * 8 : std::uint64_t{stride} * lane;
}

Program random_program(std::mt19937& random) {
  const auto pick = [&](std::initializer_list<unsigned> of) { return of.begin()[random() % of.size()]; };
  Program program;
  program.shared = random() % 2 == 0;
  for (auto& stride : program.strides) stride = pick({0, 4, 8, 16, 1000});
  for (unsigned i = 0; i < kSteps; ++i) {
    Step step;
    step.kind = std::array{Step::kLoad, Step::kLoad, Step::kLoad, Step::kStore, Step::kMove}[random() % 5];
    step.base = static_cast<unsigned>(random() % kBases);
    step.bytes = program.strides[step.base] == 4 ? 4 : pick({4, 8});
    step.offset = 8 * static_cast<std::int64_t>(random() % 64);
    step.guard = random() % 3 == 0 ? static_cast<int>(1 + random() % 3) : 0;
    program.steps.push_back(step);
  }
  return program;
}

std::string text_of(const Program& program) {
  std::string text =
      ".visible .entry run(.param .u64 memory, .param .u64 out) {\n"
      "  .reg .pred %p<5>; .reg .b32 %r<4>; .reg .b64 %rd<12>;\n  .shared .align 16 .b8 place[4096];\n"
      "  ld.param.u64 %rd1, [memory]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;\n"
      "  mul.wide.u32 %rd3, %r1, 8; add.u64 %rd2, %rd2, %rd3; mov.u64 %rd8, 0; mov.u32 %r2, 0;\n";
  if (program.shared) {  // its content is that of the memory
    text +=
        "  mov.u64 %rd9, place; mov.u64 %rd10, 0;\n$FILL: add.u64 %rd11, %rd1, %rd10; add.u64 %rd11, %rd11, "
        "%rd3;"
        " ld.global.u64 %rd7, [%rd11]; add.u64 %rd11, %rd9, %rd10; add.u64 %rd11, %rd11, %rd3;"
        " st.shared.u64 [%rd11], %rd7; add.u64 %rd10, %rd10, 256; setp.lt.u64 %p1, %rd10, 4096;"
        " @%p1 bra $FILL; bar.sync 0; mov.u64 %rd1, %rd9;\n";
  }
  for (unsigned b = 0; b < kBases; ++b) {
    text += program.strides[b] == 1000
                ? fmt::format(
                      "  shr.u32 %r3, %r1, 4; mul.wide.u32 %rd{0}, %r3, 136; and.b32 %r3, %r1, 15;"
                      " mul.wide.u32 %rd7, %r3, 8; add.u64 %rd{0}, %rd{0}, %rd7;",
                      4 + b)
                : fmt::format("  mul.wide.u32 %rd{}, %r1, {};", 4 + b, program.strides[b]);
    text += fmt::format(" add.u64 %rd{0}, %rd{0}, %rd1;\n", 4 + b);
  }
  text += "  setp.lt.u32 %p1, %r1, 11;\n$LOOP: setp.eq.u32 %p2, %r2, 0; setp.eq.u32 %p3, %r2, 1;\n";
  for (const Step& step : program.steps) {
    const std::string guard = step.guard == 0 ? "" : fmt::format("@%p{} ", step.guard);
    const std::string form = fmt::format("{}.u{}", program.shared ? "shared" : "global", 8 * step.bytes);
    const std::string at = fmt::format("[%rd{}+{}]", 4 + step.base, step.offset);
    if (step.kind == Step::kLoad)
      text += fmt::format("  {0}ld.{1} %rd7, {2}; {0}mad.lo.u64 %rd8, %rd8, 3, %rd7;\n", guard, form, at);
    else if (step.kind == Step::kStore)
      text += fmt::format("  {}st.{} {}, %rd8;\n", guard, form, at);
    else
      text += fmt::format("  {0}add.u64 %rd{1}, %rd{1}, 8;\n", guard, 4 + step.base);
  }
  return text +
         "  add.u32 %r2, %r2, 1; setp.lt.u32 %p4, %r2, 2; @%p4 bra $LOOP;\n"
         "  st.global.u64 [%rd2], %rd8;\n  ret;\n}";
}

struct Outcome {
  std::vector<std::uint64_t> sums;
  std::vector<std::uint64_t> addresses;  // of the accesses of the loop, lane by lane, from the memory's start
};

/// The same, one lane after the other in each instruction. `memory` is changed.
Outcome interpret(const Program& program, std::vector<std::uint8_t>& memory) {
  Outcome outcome;
  outcome.sums.resize(kLanesOfWarp);
  std::array<std::array<std::uint64_t, kLanesOfWarp>, kBases> bases{};
  for (unsigned b = 0; b < kBases; ++b)
    for (unsigned l = 0; l < kLanesOfWarp; ++l) bases[b][l] = lane_offset(program.strides[b], l);
  for (unsigned round = 0; round < kRounds; ++round)
    for (const Step& step : program.steps)
      for (unsigned l = 0; l < kLanesOfWarp; ++l) {
        if ((step.guard == 1 && l >= 11) || (step.guard == 2 && round != 0) ||
            (step.guard == 3 && round != 1))
          continue;
        const std::uint64_t at = bases[step.base][l] + static_cast<std::uint64_t>(step.offset);
        std::uint64_t value = 0;
        if (step.kind == Step::kMove) {
          bases[step.base][l] += 8;
          continue;
        }
        outcome.addresses.push_back(at);
        if (step.kind == Step::kLoad) {
          std::memcpy(&value, &memory[at], step.bytes);
          outcome.sums[l] = 3 * outcome.sums[l] + value;
        } else {
          std::memcpy(&memory[at], &outcome.sums[l], step.bytes);
        }
      }
  return outcome;
}

/// The addresses that a warp's record holds, less `start`.
std::vector<std::uint64_t> recorded(const WarpRecord& warp, std::uint64_t start) {
  std::vector<std::uint64_t> found;
  std::size_t word = 0;
  for (const auto& r : warp.records) {
    if (r.form() != trace::AddressForm::kNone) {
      Address lanes[kWarpSize] = {};
      trace::expand_addresses(r.form(), r.mask, warp.words.data() + word, lanes);
      for (std::uint32_t l = 0; l < kWarpSize; ++l)
        if (r.mask >> l & 1) found.push_back(lanes[l] - start);
    }
    word += trace::address_words(r.form(), r.mask);
  }
  return found;
}

TEST_CASE("accesses through one base do what each does alone") {
  std::mt19937 random(7);
  for (int trial = 0; trial < 300; ++trial) {
    const Program program = random_program(random);
    const std::string text = text_of(program);
    INFO(text);
    std::vector<std::uint8_t> memory(kBytes);
    for (auto& byte : memory) byte = static_cast<std::uint8_t>(random());
    Device device(text);
    const Address at = device.array(memory), out = device.zeros<std::uint64_t>(kLanesOfWarp);
    const Outcome expected = interpret(program, memory);
    const CtaRecord record =
        device.record("run", {1, 1, 1}, {kLanesOfWarp, 1, 1}, Arguments(at, out)).front();
    CHECK(device.read<std::uint64_t>(out, kLanesOfWarp) == expected.sums);
    if (!program.shared) CHECK(device.read<std::uint8_t>(at, kBytes) == memory);
    const auto found = recorded(record.warps[0], program.shared ? 0 : at);
    REQUIRE(found.size() >= expected.addresses.size() + kLanesOfWarp);  // and the store of the sums
    const auto last = found.end() - kLanesOfWarp;
    CHECK(std::equal(last - static_cast<std::ptrdiff_t>(expected.addresses.size()), last,
                     expected.addresses.begin()));
  }
}

}  // namespace
}  // namespace lockstep::exec::test::known_access
