// Dynamic parallelism: what a kernel launches is handed on in the order of its launches, with its parameters.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

const std::string kRuntime = R"(
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 buffer, .param .b64 stream);
.extern .func (.param .b32 r) __cudaCDP2StreamCreateWithFlags(.param .b64 to, .param .b32 flags);
.extern .func (.param .b32 r) __cudaCDP2MemsetAsync_ptsz(.param .b64 to, .param .b32 value, .param .b64 bytes, .param .b64 stream);
.extern .func (.param .b32 r) __cudaCDP2GetLastError();
.extern .func (.param .b32 r) __cudaCDP2PeekAtLastError();
.visible .entry child(.param .u64 out, .param .u32 number) {
  .reg .b32 r<4>; .reg .b64 d<4>;
  ld.param.u64 d1, [out]; ld.param.u32 r1, [number];
  mov.u32 r2, %ctaid.x; mul.wide.u32 d2, r2, 4; add.u64 d1, d1, d2;
  st.global.u32 [d1], r1;
  ret;
}
)";

/// Launches `child` with (pointer, number) by a grid of `ctas` CTAs of `threads` threads.
std::string launch(const std::string& ctas, const std::string& threads, const std::string& pointer,
                   const std::string& number, int stream, const std::string& function = "child") {
  return fmt::format(R"(
  mov.u64 f, {5};
  {{ .param .b64 pf; .param .align 4 .b8 pg[12]; .param .align 4 .b8 pb[12]; .param .b32 ps; .param .b64 pr;
    st.param.b64 [pf], f;
    st.param.b32 [pg], {0}; st.param.b32 [pg+4], 1; st.param.b32 [pg+8], 1;
    st.param.b32 [pb], {1}; st.param.b32 [pb+4], 1; st.param.b32 [pb+8], 1;
    st.param.b32 [ps], 48;
    call (pr), __cudaCDP2GetParameterBufferV2, (pf, pg, pb, ps);
    ld.param.b64 buffer, [pr]; }}
  setp.eq.u64 none, buffer, 0;
  @!none st.u64 [buffer], {2};
  @!none st.u32 [buffer+8], {3};
  {{ .param .b64 p0; .param .b64 p1; .param .b32 pr;
    st.param.b64 [p0], buffer; st.param.b64 [p1], {4};
    call (pr), __cudaCDP2LaunchDeviceV2, (p0, p1);
    ld.param.b32 status, [pr]; }}
)",
                     ctas, threads, pointer, number, stream, function);
}

TEST_CASE("launches of a kernel come in order, lane by lane, with their parameters") {
  Device device(kRuntime + R"(
.visible .entry run(.param .u64 out, .param .u64 status) {
  .reg .pred none; .reg .b32 t, n, status; .reg .b64 f, buffer, to, d;
  ld.param.u64 to, [out];
  mov.u32 t, %tid.x;
  add.u32 n, t, 10;
)" + launch("n", "64", "to", "t", 0) +
                launch("2", "1", "to", "77", 3) + R"(
  { .param .b64 p0; .param .b32 p1; .param .b64 p2; .param .b64 p3; .param .b32 pr;
    st.param.b64 [p0], to; st.param.b32 [p1], 255; st.param.b64 [p2], 12; st.param.b64 [p3], 0;
    call (pr), __cudaCDP2MemsetAsync_ptsz, (p0, p1, p2, p3); }
  ret;
})");
  std::vector<ChildLaunch> children;
  device.options.children = &children;
  const Address out = device.zeros<std::uint32_t>(64);
  device.run("run", {2, 1, 1}, {3, 1, 1}, Arguments(out, out));
  // Two CTAs, one after the other; in each three lanes launch, three launch at the end, three fill.
  REQUIRE(children.size() == 18);
  const std::uint32_t child = device.program.find_function("child").value();
  for (std::uint32_t i = 0; i < 18; ++i) {
    const std::uint32_t lane = i % 3, step = i / 3 % 3;
    const ChildLaunch& c = children[i];
    if (step == 2) {
      CHECK(c.kind == ChildLaunch::Kind::kFill);
      CHECK((c.to == out && c.value == 255 && c.bytes == 12 && !c.tail));
      continue;
    }
    REQUIRE(c.kind == ChildLaunch::Kind::kKernel);
    CHECK(c.function == child);
    CHECK(c.grid == Dim3{step == 0 ? lane + 10 : 2, 1, 1});
    CHECK(c.block == Dim3{step == 0 ? 64u : 1u, 1, 1});
    CHECK(c.dynamic_shared_bytes == 48);
    CHECK(c.tail == (step == 1));
    REQUIRE(c.parameters.size() == 12);
    Address pointer = 0;
    std::uint32_t number = 0;
    std::memcpy(&pointer, c.parameters.data(), 8);
    std::memcpy(&number, c.parameters.data() + 8, 4);
    CHECK(pointer == out);
    CHECK(number == (step == 0 ? lane : 77));
  }
  Launch run;  // what the second describes can be launched
  const auto kernel = device.kernel("child");
  run.kernel = kernel.get();
  run.grid = children[1].grid;
  run.block = children[1].block;
  run.parameters = children[1].parameters;
  CHECK(exec::run(run, device.memory, {}));
  std::vector<std::uint32_t> written(64);
  std::fill_n(written.begin(), 11, 1);
  CHECK(device.read<std::uint32_t>(out, 64) == written);
  device.options.children = nullptr;
  CHECK_THROWS_AS(device.run("run", {1, 1, 1}, {1, 1, 1}, Arguments(out, out)), DeviceFault);
}

TEST_CASE("launches that cannot be are the thread's last error") {
  Device device(kRuntime + ".func helper() { ret; }\n" + R"(
.visible .entry run(.param .u64 out) {
  .reg .pred none; .reg .b32 t, n, status; .reg .b64 f, buffer, to, d;
  ld.param.u64 to, [out];
)" + launch("1", "2000", "to", "5", 0) +
                R"(
  { .param .b32 pr; call (pr), __cudaCDP2PeekAtLastError, (); ld.param.b32 t, [pr]; }
  st.global.u32 [to], t;
)" + launch("1", "1", "to", "5", 0, "helper") +
                R"(
  { .param .b32 pr; call (pr), __cudaCDP2GetLastError, (); ld.param.b32 t, [pr]; }
  st.global.u32 [to+4], t;
  { .param .b32 pr; call (pr), __cudaCDP2GetLastError, (); ld.param.b32 t, [pr]; }
  st.global.u32 [to+8], t;
  ret;
})");
  std::vector<ChildLaunch> children;
  device.options.children = &children;
  const Address out = device.array(std::vector<std::uint32_t>(3, 99));
  device.run("run", {1, 1, 1}, {1, 1, 1}, Arguments(out));
  // cudaErrorInvalidValue: the launch was given no buffer; then nothing is left.
  CHECK(device.read<std::uint32_t>(out, 3) == std::vector<std::uint32_t>{1, 1, 0});
  CHECK(children.empty());
}

TEST_CASE("a kernel's cudaGetErrorString and cudaGetErrorName give CUDA's texts") {
  Device device(R"(
.extern .func (.param .b64 r) __cudaCDP2GetErrorString(.param .b32 error);
.extern .func (.param .b64 r) __cudaCDP2GetErrorName(.param .b32 error);
.visible .entry run(.param .u64 out) {
  .reg .b64 to, text, word;
  ld.param.u64 to, [out];
  { .param .b32 p; .param .b64 pr; st.param.b32 [p], 719;
    call (pr), __cudaCDP2GetErrorString, (p); ld.param.b64 text, [pr]; }
  ld.u64 word, [text]; st.global.u64 [to], word;
  ld.u64 word, [text+8]; st.global.u64 [to+8], word;
  ld.u64 word, [text+16]; st.global.u64 [to+16], word;
  { .param .b32 p; .param .b64 pr; st.param.b32 [p], 1;
    call (pr), __cudaCDP2GetErrorName, (p); ld.param.b64 text, [pr]; }
  ld.u64 word, [text]; st.global.u64 [to+24], word;
  ld.u64 word, [text+8]; st.global.u64 [to+32], word;
  ret;
})");
  const Address out = device.zeros<char>(40);
  device.run("run", {1, 1, 1}, {1, 1, 1}, Arguments(out));
  const std::vector<char> bytes = device.read<char>(out, 40);
  CHECK(std::string(bytes.data(), 24) == "unspecified launch failu");
  CHECK(std::string(bytes.data() + 24, 16) == "cudaErrorInvalid");
}

}  // namespace
}  // namespace lockstep::exec::test
