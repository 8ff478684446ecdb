// multimem instructions (PTX ISA 9.0, multimem) on windows of several devices' memory.
#include <bit>
#include <catch2/catch.hpp>

#include "exec/signal_log.hpp"
#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

constexpr std::uint64_t kPage = DeviceMemory::kPageBytes;
constexpr unsigned kDevices = 3;

/// A window of one page that stands for one page of each of three devices.
class Team {
 public:
  explicit Team(const std::string& text) : memory(64 * kPage, kDevices) {
    std::vector<ptx::Module> modules;
    modules.push_back(ptx::parse(std::string(kHeader) + text, "test.ptx"));
    program = ptx::link(std::move(modules));
    image = std::make_unique<ProgramImage>(program, memory);
    window = *memory.reserve(kPage, 0);
    memory.multicast().add(window, kPage, {0, 1, 2});
    for (unsigned d = 0; d < kDevices; ++d) {
      parts.push_back(*memory.allocate(kPage, MemoryKind::kDevice, kPage, d));
      memory.multicast().bind(window, kPage, d, parts.back());
      memory.multicast().open(window, kPage, true, d);
    }
    out = *memory.allocate(4096, MemoryKind::kManaged);
  }
  template <class T>
  void put(unsigned device, std::size_t at, T value) {
    std::memcpy(reinterpret_cast<T*>(parts[device]) + at, &value, sizeof value);
  }
  template <class T>
  T get(unsigned device, std::size_t at) const {
    T value;
    std::memcpy(&value, reinterpret_cast<const T*>(parts[device]) + at, sizeof value);
    return value;
  }
  template <class T>
  T result(std::size_t at) const {
    T value;
    std::memcpy(&value, reinterpret_cast<const T*>(out) + at, sizeof value);
    return value;
  }
  void run(Dim3 block = {1, 1, 1}, unsigned device = 0) {
    const Executable multicast_kernel(*image, program.find_function("k").value());
    const Arguments arguments(window, out);
    Launch launch;
    launch.kernel = &multicast_kernel;
    launch.device = device;
    launch.grid = {1, 1, 1};
    launch.block = block;
    launch.parameters = arguments.bytes();
    RunCounts counts;
    if (!exec::run(launch, memory, options, &counts)) throw std::runtime_error("interrupted");
  }
  std::string fault(unsigned device = 0) {
    try {
      run({1, 1, 1}, device);
    } catch (const DeviceFault& e) {
      return e.what();
    }
    return "no fault";
  }

  DeviceMemory memory;
  ptx::Program program;
  std::unique_ptr<ProgramImage> image;
  RunOptions options;
  Address window = 0, out = 0;
  std::vector<Address> parts;
};

/// %rd1: the window, %rd2: the results; both moved on by the thread's `bytes`.
std::string multicast_kernel(const std::string& body, unsigned bytes = 4) {
  return R"(.visible .entry k(.param .u64 window, .param .u64 out) {
  .reg .b64 %rd<9>; .reg .b32 %r<12>; .reg .f32 %f<9>; .reg .f64 %d<3>; .reg .b16 %h<9>; .shared .align 16 .b8 s[64];
  ld.param.u64 %rd1, [window]; ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, )" +
         std::to_string(bytes) + "; add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3;\n" + body + "\nret;}";
}

std::uint16_t half(float x) {  // of small whole numbers and powers of two, by IEEE 754
  if (x == 0) return 0;
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000) | (((bits >> 23 & 0xff) - 112) << 10) |
                                    (bits >> 13 & 0x3ff));
}
std::uint16_t bfloat(float x) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16); }

}  // namespace

TEST_CASE("multimem.ld_reduce: every lane gets the sum over the devices") {
  Team team(multicast_kernel(
      "multimem.ld_reduce.relaxed.sys.global.add.f32 %f1, [%rd1]; st.global.f32 [%rd2], %f1;"));
  for (unsigned d = 0; d < kDevices; ++d)
    for (unsigned i = 0; i < 64; ++i) team.put(d, i, static_cast<float>((d + 1) * i));
  team.run({64, 1, 1}, 1);
  for (unsigned i = 0; i < 64; ++i) CHECK(team.result<float>(i) == 6.0f * static_cast<float>(i));
}

TEST_CASE("multimem.ld_reduce: integers and bits") {
  struct Row {
    const char* form;
    std::uint64_t a, b, c, expected;
  };
  const auto row =
      GENERATE(Row{"add.u32", 0xffffffff, 2, 3, 4}, Row{"add.s32", 5, 0xfffffffb, 7, 7},
               Row{"add.u64", ~0ull, 1, 9, 9}, Row{"min.u32", 0xffffffff, 7, 9, 7},
               Row{"min.s32", 0xffffffff, 7, 9, 0xffffffff}, Row{"max.u32", 0xffffffff, 7, 9, 0xffffffff},
               Row{"max.s32", 0xffffffff, 7, 9, 9}, Row{"min.u64", ~0ull, 7, 9, 7},
               Row{"max.s64", ~0ull, 7, 9, 9}, Row{"and.b32", 0xff0f, 0x0fff, 0xf00f, 0x000f},
               Row{"or.b64", 1ull << 63, 2, 4, 1ull << 63 | 6}, Row{"xor.b32", 0xff, 0x0f, 0xf0, 0});
  CAPTURE(row.form);
  const std::string form = row.form;
  const bool wide = form.ends_with("64");
  const std::string reg = wide ? "%rd4" : "%r4", type = wide ? "b64" : "b32";
  Team team(multicast_kernel("multimem.ld_reduce.weak.global." + form + " " + reg + ", [%rd1]; st.global." +
                             type + " [%rd2], " + reg + ";"));
  const std::uint64_t values[] = {row.a, row.b, row.c};
  for (unsigned d = 0; d < kDevices; ++d)
    wide ? team.put(d, 0, values[d]) : team.put(d, 0, static_cast<std::uint32_t>(values[d]));
  team.run();
  CHECK((wide ? team.result<std::uint64_t>(0) : team.result<std::uint32_t>(0)) == row.expected);
}

TEST_CASE("multimem.ld_reduce: .acc::f32 rounds once, else each sum is rounded") {
  const bool in_float = GENERATE(false, true);
  Team team(
      multicast_kernel(std::string("multimem.ld_reduce.weak.global.add") + (in_float ? ".acc::f32" : "") +
                       ".v4.f16x2 {%r4,%r5,%r6,%r7}, [%rd1]; st.global.v4.b32 [%rd2], {%r4,%r5,%r6,%r7};"));
  // f16 has 11 bits: 2048 + 1 is 2048 (to even), and so is 2048 + 1 again; their sum 2050 is an f16.
  const std::uint16_t big = half(2048), one = half(1), sum = half(2050);
  for (unsigned i = 0; i < 8; ++i) {
    team.put(0, i, big);
    team.put(1, i, one);
    team.put(2, i, one);
  }
  team.run();
  for (unsigned i = 0; i < 8; ++i) CHECK(team.result<std::uint16_t>(i) == (in_float ? sum : big));
}

TEST_CASE("multimem.ld_reduce: bf16 vectors, f64, minima") {
  Team team(multicast_kernel(
      R"(multimem.ld_reduce.weak.global.add.acc::f32.v8.bf16 {%h1,%h2,%h3,%h4,%h5,%h6,%h7,%h8}, [%rd1];
  st.global.v4.b16 [%rd2], {%h1,%h2,%h3,%h4}; st.global.v4.b16 [%rd2+8], {%h5,%h6,%h7,%h8};
  multimem.ld_reduce.weak.global.add.f64 %d1, [%rd1+64]; st.global.f64 [%rd2+64], %d1;
  multimem.ld_reduce.weak.global.min.v2.f16 {%h1,%h2}, [%rd1+80]; st.global.v2.b16 [%rd2+80], {%h1,%h2};)"));
  for (unsigned d = 0; d < kDevices; ++d) {
    for (unsigned i = 0; i < 8; ++i) team.put(d, i, bfloat(d == 0 ? 256.0f : 1.0f));
    team.put(d, 8, 0.25 * (d + 1));
    team.put(d, 40, half(static_cast<float>(d) - 1));
    team.put(d, 41, half(3 - static_cast<float>(d)));
  }
  team.run();
  for (unsigned i = 0; i < 8; ++i) CHECK(team.result<std::uint16_t>(i) == bfloat(258.0f));  // 8 bits: even
  CHECK(team.result<double>(8) == 1.5);
  CHECK(team.result<std::uint16_t>(40) == half(-1));
  CHECK(team.result<std::uint16_t>(41) == half(1));
}

TEST_CASE("multimem.ld_reduce: 8-bit numbers, one after the other in f16") {
  Team team(R"(.visible .entry k(.param .u64 window, .param .u64 out) {
  .reg .b64 %rd<3>; .reg .b32 %r<3>;
  ld.param.u64 %rd1, [window]; ld.param.u64 %rd2, [out];
  multimem.ld_reduce.weak.global.add.acc::f16.v2.e4m3x4 {%r1,%r2}, [%rd1]; st.global.v2.b32 [%rd2], {%r1,%r2};
  multimem.ld_reduce.weak.global.max.e5m2x4 %r1, [%rd1+8]; st.global.b32 [%rd2+8], %r1;
  ret;})");
  // "FP8 Formats for Deep Learning", table 1: e4m3 has bias 7, e5m2 bias 15: 1 is 0x38 and 0x3c.
  for (unsigned d = 0; d < kDevices; ++d)
    for (unsigned i = 0; i < 8; ++i) team.put(d, i, std::uint8_t{0x38});
  for (unsigned i = 8; i < 12; ++i) {
    team.put(0, i, std::uint8_t{0x3c});
    team.put(1, i, std::uint8_t{0xc0});
    team.put(2, i, std::uint8_t{0x00});
  }
  team.run();
  for (unsigned i = 0; i < 8; ++i) CHECK(team.result<std::uint8_t>(i) == 0x44);  // 3 = 1.5 * 2^1
  for (unsigned i = 8; i < 12; ++i) CHECK(team.result<std::uint8_t>(i) == 0x3c);
}

TEST_CASE("multimem.st and multimem.red reach every device") {
  Team team(multicast_kernel(R"(cvt.rn.f32.u32 %f1, %r1; add.f32 %f2, %f1, 0f3F800000;
  multimem.st.release.sys.global.v2.f32 [%rd1], {%f1, %f2};
  multimem.red.relaxed.sys.global.add.u32 [%rd1+1024], 5;
  multimem.red.relaxed.sys.global.add.v2.f32 [%rd1+2048], {%f1, %f2};)",
                             8));
  for (unsigned d = 0; d < kDevices; ++d)
    for (unsigned i = 0; i < 32; ++i) {
      team.put(d, 256 + 2 * i, std::uint32_t{100 * d});
      team.put(d, 512 + 2 * i, static_cast<float>(d));
    }
  team.run({32, 1, 1}, 2);
  for (unsigned d = 0; d < kDevices; ++d)
    for (unsigned i = 0; i < 32; ++i) {
      const auto x = static_cast<float>(i);
      CHECK(team.get<float>(d, 2 * i) == x);
      CHECK(team.get<float>(d, 2 * i + 1) == x + 1);
      CHECK(team.get<std::uint32_t>(d, 256 + 2 * i) == 100 * d + 5);
      CHECK(team.get<float>(d, 512 + 2 * i) == x + static_cast<float>(d));
      CHECK(team.get<float>(d, 512 + 2 * i + 1) == x + 1);
    }
}

TEST_CASE("multimem.cp.async.bulk and its reduction reach every device") {
  Team team(multicast_kernel(R"(mov.u32 %r2, s; mov.u32 %r3, 7; st.shared.v4.u32 [%r2], {%r3,%r3,%r3,%r3};
  multimem.cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 16;
  multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1+16], [%r2], 16;)"));
  for (unsigned d = 0; d < kDevices; ++d)
    for (unsigned i = 4; i < 8; ++i) team.put(d, i, std::uint32_t{d});
  team.run();
  for (unsigned d = 0; d < kDevices; ++d)
    for (unsigned i = 0; i < 4; ++i) {
      CHECK(team.get<std::uint32_t>(d, i) == 7);
      CHECK(team.get<std::uint32_t>(d, 4 + i) == 7 + d);
    }
}

TEST_CASE("multimem writes that others may wait for are signals of every device's word") {
  struct Row {
    const char* instruction;
    std::uint32_t signals;
  };
  const auto row = GENERATE(Row{"multimem.red.release.sys.global.add.u32 [%rd1], 1;", 1},
                            Row{"multimem.red.relaxed.sys.global.add.u32 [%rd1], 1;", 0},
                            Row{"fence.sc.sys; multimem.red.relaxed.sys.global.add.u32 [%rd1], 1;", 1},
                            Row{"multimem.st.relaxed.sys.global.u32 [%rd1], 1;", 1},
                            Row{"multimem.st.relaxed.sys.global.v2.f32 [%rd1], {%f1, %f2};", 1},
                            Row{"multimem.st.weak.global.u32 [%rd1], 1;", 0});
  CAPTURE(row.instruction);
  SignalLog log;
  Team team(multicast_kernel(row.instruction, 0));
  team.options.signals = &log;
  team.run({32, 1, 1});
  for (unsigned d = 0; d < kDevices; ++d) CHECK(log.signals(team.parts[d]) == row.signals);
}

TEST_CASE("multicast addresses: what does not work says why") {
  using Catch::Matchers::Contains;
  const std::string reduce = "multimem.ld_reduce.weak.global.add.u32 %r4, [%rd1];";
  SECTION("a plain load or store") {
    const std::string body = GENERATE("ld.global.u32 %r4, [%rd1];", "st.global.u32 [%rd1], 1;");
    CHECK_THAT(Team(multicast_kernel(body)).fault(), Contains("only multimem instructions reach"));
  }
  SECTION("multimem on other memory") {
    CHECK_THAT(Team(multicast_kernel("multimem.st.weak.global.u32 [%rd2], 1;")).fault(),
               Contains("no multicast object is mapped there"));
  }
  SECTION("a device that the window is not open to") {
    Team team(multicast_kernel(reduce));
    team.memory.multicast().open(team.window, kPage, false, 1);
    CHECK(team.fault(0) == "no fault");
    CHECK_THAT(team.fault(1), Contains("not accessible to device 1"));
  }
  SECTION("a device without memory there") {
    Team team(multicast_kernel(reduce));
    team.memory.multicast().bind(team.window, kPage, 2, 0);
    CHECK_THAT(team.fault(), Contains("no memory of device 2 is bound"));
  }
  SECTION("a place that is not a multiple of the access") {
    CHECK_THAT(Team(multicast_kernel("multimem.st.weak.global.v2.f32 [%rd1+4], {%f1, %f2};")).fault(),
               Contains("misaligned"));
  }
}

}  // namespace lockstep::exec::test
