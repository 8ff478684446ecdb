// Several devices' memories: regions, capacities, who reaches what, and what a fault says of it.
#include <catch2/catch.hpp>

#include "tests/exec/support.hpp"
#include "util/error.hpp"

namespace lockstep::exec::test {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr auto kAlign = DeviceMemory::kAlignment;

bool reaches(const DeviceMemory& memory, unsigned device, Address at) {
  const DeviceView view(memory, device);
  const bool page = view.page_mapped((at - kArenaBase) >> DeviceMemory::kPageShift);
  CHECK(page == view.accessible(at, 4));
  return page;
}

}  // namespace

TEST_CASE("devices: regions follow each other, the first device's addresses are as when it is alone") {
  DeviceMemory memory(64 * kMiB, 3);
  CHECK(memory.allocate(8) == kArenaBase);
  CHECK(memory.allocate(8, MemoryKind::kManaged, kAlign, 2) == kArenaBase + kRegionBytes);
  CHECK(memory.allocate(8, MemoryKind::kHost, kAlign, 1) == kArenaBase + 2 * kRegionBytes);
  const auto second = memory.allocate(8, MemoryKind::kDevice, kAlign, 1);
  const auto third = memory.allocate(8, MemoryKind::kDevice, kAlign, 2);
  CHECK(second == kArenaBase + 3 * kRegionBytes);
  CHECK(third == *second + kRegionBytes);
  CHECK(memory.owner(*second) == 1u);
  CHECK(memory.owner(*third) == 2u);
  CHECK(memory.owner(kArenaBase) == 0u);
  CHECK_FALSE(memory.owner(kArenaBase + kRegionBytes));
  CHECK_FALSE(memory.in_arena(*third + kRegionBytes));
  CHECK(memory.find(*third)->device == 2);
}

TEST_CASE("devices: each has the capacity for itself") {
  DeviceMemory memory(8 * kMiB, 2);
  REQUIRE(memory.allocate(8 * kMiB));
  CHECK_FALSE(memory.allocate(1));
  REQUIRE(memory.claim(2 * kMiB, 1));
  CHECK_FALSE(memory.allocate(8 * kMiB, MemoryKind::kDevice, kAlign, 1));
  CHECK(memory.allocate(6 * kMiB, MemoryKind::kDevice, kAlign, 1));
  CHECK(memory.mapped_bytes(MemoryKind::kDevice, 0) == 8 * kMiB);
  CHECK(memory.mapped_bytes(MemoryKind::kDevice, 1) == 8 * kMiB);
}

TEST_CASE(
    "devices: another one's memory is reached by peers, in one direction, before and after allocation") {
  DeviceMemory memory(64 * kMiB, 3);
  const Address before = *memory.allocate(3 * kMiB, MemoryKind::kDevice, kAlign, 1);
  const Address managed = *memory.allocate(8, MemoryKind::kManaged);
  CHECK(reaches(memory, 1, before));
  CHECK_FALSE(reaches(memory, 0, before));
  for (unsigned device = 0; device < 3; ++device) CHECK(reaches(memory, device, managed));
  memory.set_peer(0, 1, true);
  const Address after = *memory.allocate(8, MemoryKind::kDevice, DeviceMemory::kPageBytes, 1);
  const Address first = *memory.allocate(8);
  CHECK(reaches(memory, 0, before + 2 * kMiB));
  CHECK(reaches(memory, 0, after));
  CHECK_FALSE(reaches(memory, 1, first));
  CHECK_FALSE(reaches(memory, 2, after));
  CHECK(memory.release(after));
  CHECK_FALSE(reaches(memory, 0, after));
  memory.set_peer(0, 1, false);
  CHECK_FALSE(reaches(memory, 0, before));
  CHECK(reaches(memory, 1, before));
}

TEST_CASE("devices: what is opened to some devices is not opened by peer access") {
  DeviceMemory memory(64 * kMiB, 3);
  const Address at = *memory.allocate(8, MemoryKind::kDevice, kAlign, 1);
  memory.reach_only(at, 0b010);
  memory.set_peer(0, 1, true);
  CHECK_FALSE(reaches(memory, 0, at));
  memory.reach_only(at, 0b110);
  CHECK(reaches(memory, 2, at));
  CHECK_FALSE(reaches(memory, 0, at));
  CHECK(memory.release(at));
  for (unsigned device = 0; device < 3; ++device) CHECK_FALSE(reaches(memory, device, at));
}

TEST_CASE("devices: memory mapped at reserved addresses is whose it was made") {
  DeviceMemory memory(64 * kMiB, 2);
  const Address at = *memory.reserve(2 * kMiB, 1);
  REQUIRE(memory.claim(2 * kMiB, 1));
  memory.map(at, 2 * kMiB, 1);
  CHECK(memory.owner(at) == 1u);
  memory.open(at, 2 * kMiB, true, 0);
  CHECK(reaches(memory, 0, at));
  CHECK_FALSE(reaches(memory, 1, at));
  memory.unmap(at);
  CHECK_FALSE(reaches(memory, 0, at));
}

TEST_CASE("devices: a fault says who executed and whose memory it was") {
  const std::string text = R"(
.visible .entry put(.param .u64 p) {
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  st.global.u32 [%rd1], %r1;
  ret;
})";
  std::vector<ptx::Module> modules;
  modules.push_back(ptx::parse(std::string(kHeader) + text, "test.ptx"));
  const ptx::Program program = ptx::link(std::move(modules));
  DeviceMemory memory(64 * kMiB, 3);
  const ProgramImage image(program, memory, 2);
  const Executable kernel(image, program.find_function("put").value());
  const Address at = *memory.allocate(4, MemoryKind::kDevice, kAlign, 1);
  const Arguments arguments(at);
  Launch launch;
  launch.kernel = &kernel;
  launch.parameters = arguments.bytes();
  launch.device = 2;
  try {
    (void)run(launch, memory, RunOptions{});
    FAIL("no fault");
  } catch (const DeviceFault& fault) {
    CHECK(fault.kind() == FaultKind::kIllegalAddress);
    CHECK(std::string(fault.what()).find("device 2 executed, and it is device 1's memory") !=
          std::string::npos);
  }
  memory.set_peer(2, 1, true);
  CHECK(run(launch, memory, RunOptions{}));
}

}  // namespace lockstep::exec::test
