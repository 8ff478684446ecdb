// The device runtime's functions that launch nothing (CUDA C++ Programming Guide, "API Reference" of dynamic
// parallelism): results through pointers, and the error of each thread.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

/// A function of the device runtime, declared: bits of its arguments.
struct RuntimeFunction {
  std::string name;
  std::vector<unsigned> arguments;
  [[nodiscard]] std::string declaration() const {
    std::string text = fmt::format(".extern .func (.param .b32 r) __cudaCDP2{}(", name);
    for (std::size_t i = 0; i < arguments.size(); ++i)
      text += fmt::format("{}.param .b{} a{}", i ? ", " : "", arguments[i], i);
    return text + ");\n";
  }
  /// A call whose status is stored in [out + at].
  [[nodiscard]] std::string call(const std::vector<std::string>& values, unsigned at) const {
    std::string text = "{ .param .b32 pr; ", list;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      text += fmt::format(".param .b{0} p{1}; st.param.b{0} [p{1}], {2}; ", arguments[i], i, values[i]);
      list += fmt::format("{}p{}", i ? ", " : "", i);
    }
    return text + fmt::format(
                      "call (pr), __cudaCDP2{}, ({}); ld.param.b32 status, [pr]; "
                      "st.global.u32 [out+{}], status; }}\n",
                      name, list, at);
  }
};

const RuntimeFunction kGetDevice{"GetDevice", {64}}, kDeviceCount{"GetDeviceCount", {64}},
    kVersion{"RuntimeGetVersion", {64}}, kStream{"StreamCreateWithFlags", {64, 32}},
    kEvent{"EventCreateWithFlags", {64, 32}}, kRecord{"EventRecord", {64, 64}},
    kStreamWait{"StreamWaitEvent", {64, 64, 32}}, kStreamDestroy{"StreamDestroy", {64}},
    kMalloc{"Malloc", {64, 64}}, kFree{"Free", {64}}, kLastError{"GetLastError", {}},
    kCopy{"MemcpyAsync", {64, 64, 64, 32, 64}};

/// One thread's kernel with these calls; 64 bytes of results for each thread, at [out].
std::string runtime_kernel(const std::vector<RuntimeFunction>& functions, const std::string& body) {
  std::string text;
  for (const RuntimeFunction& f : functions) text += f.declaration();
  return text + R"(
.visible .entry run(.param .u64 results) {
  .reg .b32 tid, status; .reg .b64 out, value, gone;
  ld.param.u64 out, [results];
  mov.u32 tid, %tid.x; mad.wide.u32 out, tid, 64, out;
)" + body +
         "ret;\n}\n";
}

std::string plus(unsigned offset) { return fmt::format("add.u64 value, out, {};\n", offset); }

}  // namespace

TEST_CASE("device runtime: a kernel sees its own device, by the host's number, and how many there are") {
  DeviceMemory memory(64 << 20, 3);
  std::vector<ptx::Module> modules;
  modules.push_back(ptx::parse(
      std::string(kHeader) +
          runtime_kernel({kGetDevice, kDeviceCount, kVersion}, kGetDevice.call({"out"}, 12) + plus(4) +
                                                                   kDeviceCount.call({"value"}, 12) +
                                                                   plus(8) + kVersion.call({"value"}, 12)),
      "test.ptx"));
  const ptx::Program program = ptx::link(std::move(modules));
  const ProgramImage image(program, memory);
  const Executable kernel(image, program.find_function("run").value());
  const Address out = *memory.allocate(64, MemoryKind::kManaged);
  for (const unsigned device : {0u, 2u}) {
    const Arguments arguments(out);
    Launch launch;
    launch.kernel = &kernel;
    launch.device = device;
    launch.parameters = arguments.bytes();
    REQUIRE(exec::run(launch, memory, {}));
    const auto* const found = reinterpret_cast<const std::uint32_t*>(out);
    CHECK(found[0] == device);
    CHECK(found[1] == 3);
    CHECK(found[2] / 1000 == 13);
    CHECK(found[3] == 0);
  }
}

TEST_CASE("device runtime: streams and events are handles of their own, which may be waited for and freed") {
  Device device(runtime_kernel({kStream, kEvent, kRecord, kStreamWait, kStreamDestroy},
                               kStream.call({"out", "1"}, 32) + plus(8) + kEvent.call({"value", "2"}, 36) +
                                   "ld.global.u64 value, [out+8];\n" + kRecord.call({"value", "0"}, 40) +
                                   kStreamWait.call({"0", "value", "0"}, 44) +
                                   "ld.global.u64 value, [out];\n" + kStreamDestroy.call({"value"}, 48)));
  const Address out = device.array(std::vector<std::uint32_t>(2 * 16, 99));
  device.run("run", {1, 1, 1}, {2, 1, 1}, Arguments(out));
  const auto words = device.read<std::uint32_t>(out, 32);
  std::set<std::uint64_t> handles;
  for (std::size_t t = 0; t < 2; ++t) {
    for (const std::size_t at : {0u, 2u})
      handles.insert(words[16 * t + at] | std::uint64_t{words[16 * t + at + 1]} << 32);
    for (std::size_t status = 8; status < 13; ++status) CHECK(words[16 * t + status] == 0);
  }
  CHECK(handles.size() == 4);
  CHECK_FALSE(handles.contains(0));  // the default stream
}

TEST_CASE("device runtime: cudaMalloc gives the heap's memory, and cudaFree takes it back once") {
  Device device(runtime_kernel({kMalloc, kFree, kLastError},
                               kMalloc.call({"out", "256"}, 32) +
                                   "ld.global.u64 value, [out]; mov.u64 gone, value; st.u32 [value+252], 7;\n"
                                   "ld.u32 status, [value+252]; st.global.u32 [out+8], status;\n" +
                                   kFree.call({"value"}, 36) + kFree.call({"0"}, 40) +
                                   kFree.call({"gone"}, 44) + kLastError.call({}, 48) +
                                   kLastError.call({}, 52) + kMalloc.call({"out", "0x100000000000"}, 56)));
  const Address out = device.zeros<std::uint32_t>(16);
  device.run("run", {1, 1, 1}, {1, 1, 1}, Arguments(out));
  const auto words = device.read<std::uint32_t>(out, 16);
  constexpr std::uint32_t kInvalidValue = 1, kMemoryAllocation = 2;
  CHECK(words[2] == 7);
  CHECK(std::vector(words.begin() + 8, words.begin() + 15) ==
        std::vector<std::uint32_t>{0, 0, 0, kInvalidValue, kInvalidValue, 0, kMemoryAllocation});
  CHECK(words[0] == 0);  // no memory
}

TEST_CASE("device runtime: a copy is handed on with its places, and whether it is in the tail's stream") {
  Device device(runtime_kernel({kCopy}, plus(32) + kCopy.call({"out", "value", "16", "4", "0"}, 0) +
                                            kCopy.call({"value", "out", "8", "3", "3"}, 4)));
  std::vector<ChildLaunch> children;
  device.options.children = &children;
  const Address out = device.zeros<std::uint32_t>(16);
  device.run("run", {1, 1, 1}, {1, 1, 1}, Arguments(out));
  REQUIRE(children.size() == 2);
  for (const ChildLaunch& c : children) CHECK(c.kind == ChildLaunch::Kind::kCopy);
  CHECK((children[0].to == out && children[0].from == out + 32 && children[0].bytes == 16 &&
         !children[0].tail));
  CHECK(
      (children[1].to == out + 32 && children[1].from == out && children[1].bytes == 8 && children[1].tail));
}

TEST_CASE("device runtime: errors are each thread's own") {
  Device device(runtime_kernel(
      {kFree, kLastError}, "cvt.u64.u32 value, tid;\n" + kFree.call({"value"}, 0) + kLastError.call({}, 4)));
  const Address out = device.zeros<std::uint32_t>(3 * 16);
  device.run("run", {1, 1, 1}, {3, 1, 1}, Arguments(out));
  const auto words = device.read<std::uint32_t>(out, 48);
  for (std::size_t t = 0; t < 3; ++t) CHECK(words[16 * t + 1] == (t == 0 ? 0 : 1));  // free(0) is allowed
}

TEST_CASE("device runtime: a result that has no place is an illegal address") {
  Device nowhere(runtime_kernel({kGetDevice}, kGetDevice.call({"8"}, 0)));
  try {
    nowhere.run("run", {1, 1, 1}, {1, 1, 1}, Arguments(nowhere.zeros<std::uint32_t>(16)));
    FAIL("no fault");
  } catch (const DeviceFault& fault) {
    CHECK(fault.kind() == FaultKind::kIllegalAddress);
    CHECK(fault.site().address == 8);
  }
}

}  // namespace lockstep::exec::test
