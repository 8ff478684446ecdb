// Virtual memory management: what is mapped where, what it holds, and CUDA's error codes (driver API,
// "Virtual Memory Management").
#include "cuda/virtual_memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <functional>

#include "cuda/error.hpp"

namespace lockstep::cuda {
namespace {

constexpr std::uint64_t kVirtualPage = VirtualMemory::kGranularity;

struct Machine {
  exec::DeviceMemory memory{64 << 20};
  VirtualMemory virtual_memory{memory};
  AllocationProperties properties = [] {
    AllocationProperties p;
    p.type = p.location_type = 1;  // pinned, on a device
    return p;
  }();
};

Status code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const ApiError& e) {
    return e.status();
  }
  return Status{0};
}
constexpr Status kFine{0};

void put_word(Address at, std::uint32_t value) {
  std::memcpy(reinterpret_cast<void*>(at), &value, sizeof value);
}
std::uint32_t get_word(Address at) {
  std::uint32_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(at), sizeof value);
  return value;
}

TEST_CASE("virtual memory: what is unmapped keeps its bytes, wherever it is mapped next") {
  Machine m;
  VirtualMemory& v = m.virtual_memory;
  const Address first = v.reserve(4 * kVirtualPage, 0), second = v.reserve(2 * kVirtualPage, 0);
  const auto handle = v.create(2 * kVirtualPage, m.properties);
  CHECK_FALSE(v.is_mapped(first, 4 * kVirtualPage));
  v.map(first + kVirtualPage, 2 * kVirtualPage, 0, handle);
  CHECK(v.is_mapped(first + kVirtualPage, 1));
  CHECK_FALSE(v.is_mapped(first, kVirtualPage));
  CHECK_FALSE(v.accessible(first + kVirtualPage, 0));
  v.set_access(first + kVirtualPage, 2 * kVirtualPage, true, 0);
  CHECK(v.accessible(first + 3 * kVirtualPage - 1, 0));
  put_word(first + kVirtualPage, 11);
  put_word(first + 3 * kVirtualPage - 4, 22);
  v.unmap(first + kVirtualPage, 2 * kVirtualPage);
  CHECK_FALSE(v.is_mapped(first, 4 * kVirtualPage));
  v.map(second, 2 * kVirtualPage, 0, handle);
  v.set_access(second, 2 * kVirtualPage, true, 0);
  CHECK((get_word(second) == 11 && get_word(second + 2 * kVirtualPage - 4) == 22));
  CHECK(v.owner(second + 5) == 0);
  CHECK(v.mapping(second + kVirtualPage) == std::pair{handle, second});
}

TEST_CASE("virtual memory: memory lives while it is mapped or referred to, and then counts no more") {
  Machine m;
  VirtualMemory& v = m.virtual_memory;
  const Address place = v.reserve(64 << 20, 0);
  const auto whole = v.create(64 << 20, m.properties);
  CHECK(code_of([&] { (void)v.create(kVirtualPage, m.properties); }) == Status::kErrorMemoryAllocation);
  v.map(place, 64 << 20, 0, whole);
  v.release(whole);  // still mapped
  CHECK(code_of([&] { v.release(whole); }) == Status::kErrorInvalidValue);
  CHECK(code_of([&] { (void)v.create(kVirtualPage, m.properties); }) == Status::kErrorMemoryAllocation);
  CHECK(v.retain(place + 100) == whole);
  v.unmap(place, 64 << 20);
  CHECK(code_of([&] { (void)v.create(kVirtualPage, m.properties); }) == Status::kErrorMemoryAllocation);
  v.release(whole);
  CHECK(code_of([&] { (void)v.create(kVirtualPage, m.properties); }) == kFine);
}

TEST_CASE("virtual memory: arguments that the driver refuses") {
  Machine m;
  VirtualMemory& v = m.virtual_memory;
  const auto invalid = Status::kErrorInvalidValue;
  CHECK(code_of([&] { (void)v.reserve(0, 0); }) == invalid);
  CHECK(code_of([&] { (void)v.reserve(kVirtualPage + 1, 0); }) == invalid);
  CHECK(code_of([&] { (void)v.reserve(kVirtualPage, 3); }) == invalid);
  CHECK(code_of([&] { (void)v.create(kVirtualPage / 2, m.properties); }) == invalid);
  AllocationProperties bad = m.properties;
  bad.type = 0;
  CHECK(code_of([&] { (void)v.create(kVirtualPage, bad); }) == invalid);
  bad = m.properties;
  bad.location_type = 2;
  CHECK(code_of([&] { (void)v.create(kVirtualPage, bad); }) == Status::kErrorNotSupported);
  bad = m.properties;
  bad.location = 1;
  CHECK(code_of([&] { (void)v.create(kVirtualPage, bad); }) == Status::kErrorInvalidDevice);
  bad.location = -1;
  CHECK(code_of([&] { (void)v.create(kVirtualPage, bad); }) == Status::kErrorInvalidDevice);

  const Address place = v.reserve(4 * kVirtualPage, 0);
  const auto one = v.create(kVirtualPage, m.properties), two = v.create(2 * kVirtualPage, m.properties);
  CHECK(code_of([&] { v.map(place, kVirtualPage, 0, 999); }) == invalid);
  CHECK(code_of([&] { v.map(place + 1, kVirtualPage, 0, one); }) == invalid);
  CHECK(code_of([&] { v.map(place, kVirtualPage, kVirtualPage, two); }) == invalid);  // a part
  CHECK(code_of([&] { v.map(place, kVirtualPage, 0, two); }) == invalid);             // not all of it
  CHECK(code_of([&] { v.map(place + 3 * kVirtualPage, 2 * kVirtualPage, 0, two); }) ==
        invalid);  // over the range's end
  CHECK(code_of([&] { v.map(0x1000 * kVirtualPage, kVirtualPage, 0, one); }) == invalid);  // not reserved
  v.map(place, kVirtualPage, 0, one);
  CHECK(code_of([&] { v.map(place, 2 * kVirtualPage, 0, two); }) == invalid);  // taken
  CHECK(code_of([&] { v.map(place + kVirtualPage, kVirtualPage, 0, one); }) ==
        Status::kErrorNotSupported);  // at two places
  v.map(place + kVirtualPage, 2 * kVirtualPage, 0, two);
  CHECK(code_of([&] { v.free(place, 4 * kVirtualPage); }) == invalid);              // mapped
  CHECK(code_of([&] { v.unmap(place + kVirtualPage, kVirtualPage); }) == invalid);  // a part of a mapping
  CHECK(code_of([&] { v.unmap(place, 4 * kVirtualPage); }) == invalid);             // more than is mapped
  CHECK(code_of([&] { v.set_access(place, 4 * kVirtualPage, true, 0); }) == invalid);
  CHECK(code_of([&] { (void)v.accessible(place + 3 * kVirtualPage, 0); }) == invalid);
  CHECK(code_of([&] { (void)v.retain(place + 3 * kVirtualPage); }) == invalid);
  CHECK(code_of([&] { (void)v.owner(0); }) == invalid);
  CHECK(code_of([&] { (void)v.properties(77); }) == invalid);
  v.unmap(place, 3 * kVirtualPage);                                 // both at once
  CHECK(code_of([&] { v.free(place, kVirtualPage); }) == invalid);  // not the size that was reserved
  CHECK(code_of([&] { v.free(place + kVirtualPage, 3 * kVirtualPage); }) == invalid);
  v.free(place, 4 * kVirtualPage);
  CHECK(code_of([&] { v.free(place, 4 * kVirtualPage); }) == invalid);
}

TEST_CASE("virtual memory: processes that share memory see each other's writes; other files are refused") {
  Machine m;
  VirtualMemory& v = m.virtual_memory;
  const auto private_memory = v.create(kVirtualPage, m.properties);
  CHECK(code_of([&] { (void)v.share(private_memory); }) == Status::kErrorInvalidValue);
  m.properties.handle_types = kFileHandles;
  const auto handle = v.create(kVirtualPage, m.properties);
  const int file = v.share(handle);
  const auto imported = v.import(file);  // as another process would
  CHECK(v.properties(imported).handle_types == kFileHandles);
  const Address place = v.reserve(2 * kVirtualPage, 0);
  v.map(place, kVirtualPage, 0, handle);
  v.map(place + kVirtualPage, kVirtualPage, 0, imported);
  v.set_access(place, 2 * kVirtualPage, true, 0);
  put_word(place + 64, 77);
  CHECK(get_word(place + kVirtualPage + 64) == 77);
  put_word(place + kVirtualPage + 128, 88);
  CHECK(get_word(place + 128) == 88);
  v.unmap(place, 2 * kVirtualPage);
  v.release(handle);
  v.map(place, kVirtualPage, 0, imported);
  v.set_access(place, kVirtualPage, true, 0);
  CHECK(get_word(place + 64) == 77);

  CHECK(code_of([&] { (void)v.import(-1); }) == Status::kErrorInvalidValue);
  const int other = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  CHECK(code_of([&] { (void)v.import(other); }) == Status::kErrorInvalidValue);
  ::close(other);
  CHECK(::ftruncate(file, kVirtualPage) == 0);  // its description is gone
  CHECK(code_of([&] { (void)v.import(file); }) == Status::kErrorInvalidValue);
  ::close(file);
}

TEST_CASE(
    "virtual memory: attached memory always has a place, and those who use it are told of each new one") {
  Machine m;
  VirtualMemory& v = m.virtual_memory;
  std::vector<Address> moves;
  v.on_move([&](VirtualMemory::Handle, Address to) { moves.push_back(to); });
  const auto handle = v.create(kVirtualPage, m.properties);
  const VirtualMemory::Bound bound = v.attach(handle);
  CHECK((bound.bytes == kVirtualPage && bound.device == 0 && bound.place != 0));
  CHECK(moves == std::vector<Address>{bound.place});
  put_word(bound.place, 5);
  const Address mapped = v.reserve(kVirtualPage, 0);
  v.map(mapped, kVirtualPage, 0, handle);
  CHECK(moves.back() == mapped);
  CHECK(get_word(mapped) == 5);
  CHECK(v.attach(handle).place == mapped);
  put_word(mapped, 6);
  v.unmap(mapped, kVirtualPage);
  REQUIRE(moves.size() == 3);
  CHECK(get_word(moves.back()) == 6);
  v.release(handle);
  v.detach(handle);
  CHECK(get_word(moves.back()) == 6);  // attached once more
  v.detach(handle);
  CHECK(code_of([&] { (void)v.properties(handle); }) == Status::kErrorInvalidValue);
}

}  // namespace
}  // namespace lockstep::cuda
