// What is kept of the warps before does not show in what a warp's executions become.
#include "lower/replay.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "exec/executable.hpp"
#include "tests/lower/support.hpp"

namespace lockstep::lower::test {
namespace {

using Words = std::vector<std::uint64_t>;

constexpr const char* kText = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p) {
.reg .b64 %d<3>;
.reg .b32 %r<6>;
.reg .f32 %f<6>;
.reg .pred %q;
ld.param.u64 %d1, [p];
LOOP:
ld.global.f32 %f1, [%d1];
add.f32 %f2, %f1, %f1;
ld.global.f32 %f3, [%d1+4];
ld.global.f32 %f4, [%d1+64];
add.f32 %f2, %f2, %f3;
add.f32 %f2, %f2, %f4;
st.global.f32 [%d1+8], %f2;
add.s32 %r1, %r1, 1;
setp.lt.s32 %q, %r1, 9;
@%q bra LOOP;
ret;
}
)";

/// Four words that follow each other, one an iteration.
constexpr const char* kCountedText = R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p) {
.shared .align 16 .b8 window[1024];
.reg .b64 %d<3>;
.reg .b32 %r<6>;
.reg .f32 %f<6>;
.reg .pred %q;
mov.u32 %r1, 0;
mov.u32 %r2, window;
LOOP:
add.s32 %r3, %r2, %r1;
ld.shared.f32 %f1, [%r3];
add.f32 %f2, %f2, %f1;
add.s32 %r1, %r1, 4;
setp.ne.s32 %q, %r1, 16;
@%q bra LOOP;
ld.param.u64 %d1, [p];
st.global.f32 [%d1], %f2;
ret;
}
)";

struct ReplayedKernel {
  explicit ReplayedKernel(const char* text = kText)
      : program(link(text)), image(program, memory), executable(image, 0) {}
  static ptx::Program link(const char* text) {
    std::vector<ptx::Module> modules;
    modules.push_back(ptx::parse(text, "test"));
    return ptx::link(std::move(modules));
  }
  exec::DeviceMemory memory{1 << 22};
  ptx::Program program;
  exec::ProgramImage image;
  exec::Executable executable;
};

/// One of a few ways through the kernel, with addresses of its own in each of their forms.
exec::WarpRecord random_warp(const exec::Executable& kernel, std::mt19937& random) {
  exec::WarpRecord warp;
  std::mt19937 way(static_cast<unsigned>(random() % 6));  // more than are kept
  const auto operation = [&](std::uint32_t i, LaneMask mask) {
    const auto op = kernel.instruction(i).op();
    auto form = trace::AddressForm::kNone;
    if (op == ptx::Opcode::kLd || op == ptx::Opcode::kSt) {
      const auto kind = static_cast<unsigned>(way() % 3);
      Address lanes[kWarpSize];
      const Address base = 0x700000000 + random() % 4096 * 128;
      for (unsigned l = 0; l < kWarpSize; ++l)
        lanes[l] = kind == 0 ? base + 4 * l : kind == 1 ? base + l * l * 4 : base * (l + 1) * l;
      form = trace::pack_addresses(mask, lanes, warp.words);
    }
    warp.records.push_back(trace::Record::make(i, form, mask));
  };
  const auto count = static_cast<std::uint32_t>(kernel.operations().size());
  const auto mask = static_cast<LaneMask>(way() | 1);
  operation(0, mask);
  for (std::uint32_t turn = 0, turns = way() % 4; turn < turns; ++turn)
    for (std::uint32_t i = 1; i + 1 < count - way() % 2; ++i)
      operation(i, mask);  // not always to the loop's end
  operation(count - 1, mask);
  return warp;
}

/// A warp of kCountedText that comes so often to its loop's load, each time four bytes further.
exec::WarpRecord counted_warp(const exec::Executable& kernel, std::uint32_t turns, Address base) {
  constexpr std::uint32_t kLoop = 2, kBehind = 8;
  exec::WarpRecord warp;
  const auto operations = [&](std::uint32_t first, std::uint32_t end, Address address) {
    for (std::uint32_t i = first; i < end; ++i) {
      const auto op = kernel.instruction(i).op();
      auto form = trace::AddressForm::kNone;
      if (op == ptx::Opcode::kSt || (op == ptx::Opcode::kLd && i < kBehind)) {
        Address lanes[kWarpSize];
        for (unsigned l = 0; l < kWarpSize; ++l) lanes[l] = address + 16 * l;
        form = trace::pack_addresses(~LaneMask{0}, lanes, warp.words);
      }
      warp.records.push_back(trace::Record::make(i, form, ~LaneMask{0}));
    }
  };
  operations(0, kLoop, 0);
  for (std::uint32_t turn = 0; turn < turns; ++turn) operations(kLoop, kBehind, base + 4 * turn);
  operations(kBehind, static_cast<std::uint32_t>(kernel.operations().size()), 0x700000000);
  return warp;
}

/// Opcode and first lane's address of the accesses to shared memory.
std::vector<std::pair<std::string, Address>> shared_accesses(const Code& code, const trace::CtaTrace& cta) {
  std::vector<std::pair<std::string, Address>> found;
  const std::uint64_t* words = cta.words.data();
  for (const trace::Record& r : cta.records) {
    const std::string& text = code.instructions()[r.inst()].text;
    const std::size_t at = text.find("LDS");
    if (at != std::string::npos) found.emplace_back(text.substr(at, text.find(' ', at) - at), words[0]);
    words += trace::address_words(r.form(), r.mask);
  }
  return found;
}

std::pair<std::vector<trace::Record>, Words> of_warp(const trace::CtaTrace& cta, std::size_t w) {
  const trace::WarpSpan& span = cta.warps[w];
  std::vector<trace::Record> records(cta.records.begin() + span.first_record,
                                     cta.records.begin() + span.first_record + span.record_count);
  std::size_t words = 0;
  for (const trace::Record& r : records) words += trace::address_words(r.form(), r.mask);
  return {records, Words(cta.words.begin() + span.first_word,
                         cta.words.begin() + static_cast<std::ptrdiff_t>(span.first_word + words))};
}

}  // namespace

TEST_CASE("a warp is replayed the same whatever warps came before it") {
  const ReplayedKernel kernel;
  const Code code(kernel.executable, 75);
  const Dim3 grid{4, 8, 2};
  std::mt19937 random(7);
  Replayer all(code, grid);
  trace::CtaTrace out;
  std::size_t shared = 0;
  for (std::uint64_t index = 0; index < grid.count(); ++index) {
    exec::CtaRecord record;
    record.index = index;
    for (int w = 0; w < 8; ++w) record.warps.push_back(random_warp(kernel.executable, random));
    all.replay(record, out);
    CHECK(out.index == index);
    CHECK((out.id == Dim3{static_cast<std::uint32_t>(index % 4), static_cast<std::uint32_t>(index / 4 % 8),
                          static_cast<std::uint32_t>(index / 32)}));
    REQUIRE(out.warps.size() == record.warps.size());
    std::size_t records = 0;
    for (std::size_t w = 0; w < record.warps.size(); ++w) {
      exec::CtaRecord alone;
      alone.warps.push_back(record.warps[w]);
      trace::CtaTrace expected;
      Replayer(code, grid).replay(alone, expected);
      CHECK((of_warp(out, w) == of_warp(expected, 0)));
      records += expected.records.size();
    }
    shared += records - out.records.size();
  }
  CHECK(shared > 0);
}

TEST_CASE("an unrolled loop is executed once, and merged accesses with the lowest of their addresses") {
  constexpr Address kBase = 0x40;
  const ReplayedKernel kernel(kCountedText);
  const Code code(kernel.executable, 86);
  const Dim3 grid{1, 1, 1};
  const auto replayed = [&](std::uint32_t turns) {
    exec::CtaRecord record;
    record.warps.push_back(counted_warp(kernel.executable, turns, kBase));
    trace::CtaTrace out;
    Replayer(code, grid).replay(record, out);
    return out;
  };
  using Accesses = std::vector<std::pair<std::string, Address>>;
  CHECK(shared_accesses(code, replayed(4)) == Accesses{{"LDS.128", kBase}});
  CHECK(replayed(4).records.size() == code.instructions().size());
  // Stopped half way: each load as it was executed.
  CHECK(shared_accesses(code, replayed(2)) == Accesses{{"LDS.128", kBase}, {"LDS.128", kBase + 4}});
}

}  // namespace lockstep::lower::test
