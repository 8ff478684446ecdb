// Memory pools and the memory of graphs: their accounts and error codes (CUDA Runtime API, "Stream Ordered
// Memory Allocator", cudaMemPoolAttr, cudaGraphMemAttributeType).
#include <catch2/catch.hpp>
#include <functional>
#include <set>

#include "cuda/error.hpp"
#include "cuda/graph_memory.hpp"
#include "cuda/pools.hpp"
#include "cuda/user_objects.hpp"

namespace lockstep::cuda {
namespace {

constexpr std::uint64_t kEverything = ~std::uint64_t{0};

Status status_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const ApiError& e) {
    return e.status();
  }
  return Status{0};
}

PoolPlace host_place() { return {PoolPlace::kHost, PoolPlace::kPinned, 0}; }

TEST_CASE("pools: used and reserved bytes and their high watermarks, with and without a release threshold") {
  Pool pool(PoolPlace::on(0), 0);
  const auto state = [&] {
    return std::vector<std::uint64_t>{pool.get(Pool::kUsed), pool.get(Pool::kUsedHigh),
                                      pool.get(Pool::kReserved), pool.get(Pool::kReservedHigh)};
  };
  using Bytes = std::vector<std::uint64_t>;
  CHECK(state() == Bytes{0, 0, 0, 0});
  pool.take(100);
  pool.take(50);
  CHECK(state() == Bytes{150, 150, 150, 150});
  pool.give_back(100);  // the threshold is 0: nothing is kept
  CHECK(state() == Bytes{50, 150, 50, 150});
  pool.set(Pool::kReleaseThreshold, 120);
  pool.take(200);
  CHECK(state() == Bytes{250, 250, 250, 250});
  pool.give_back(200);
  CHECK(state() == Bytes{50, 250, 120, 250});
  pool.take(60);  // out of what is kept
  CHECK(state() == Bytes{110, 250, 120, 250});
  pool.set(Pool::kUsedHigh, 0);
  CHECK(state() == Bytes{110, 110, 120, 250});
  pool.set(Pool::kReservedHigh, 0);
  CHECK(state() == Bytes{110, 110, 120, 120});
  pool.trim(0);
  CHECK(state() == Bytes{110, 110, 110, 120});
  pool.set(Pool::kReleaseThreshold, kEverything);
  pool.give_back(110);
  CHECK(state() == Bytes{0, 110, 110, 120});
  pool.trim(40);
  CHECK(state() == Bytes{0, 110, 40, 120});
}

TEST_CASE("pools: attributes that are no attributes, or cannot be set, are invalid values") {
  Pool pool(PoolPlace::on(0), 0);
  for (const int attribute : {-1, 0, 9, 1000}) {
    CHECK(status_of([&] { (void)pool.get(attribute); }) == Status::kErrorInvalidValue);
    CHECK(status_of([&] { pool.set(attribute, 0); }) == Status::kErrorInvalidValue);
  }
  for (const int attribute : {Pool::kReserved, Pool::kUsed})
    CHECK(status_of([&] { pool.set(attribute, 0); }) == Status::kErrorInvalidValue);
  for (const int attribute : {Pool::kReservedHigh, Pool::kUsedHigh})
    CHECK(status_of([&] { pool.set(attribute, 1); }) == Status::kErrorInvalidValue);
  for (int attribute = Pool::kReuseFirst; attribute <= Pool::kReuseLast; ++attribute) {
    CHECK(Pool::is_int(attribute));
    CHECK(pool.get(attribute) == 1);  // the three kinds of reuse are on
    pool.set(attribute, 0);
    CHECK(pool.get(attribute) == 0);
  }
  CHECK_FALSE(Pool::is_int(Pool::kReleaseThreshold));
}

TEST_CASE("pools: a limit holds for what is in use at a time") {
  Pool limited(PoolPlace::on(0), 1000), unlimited(PoolPlace::on(0), 0);
  CHECK(limited.has_room(1000));
  CHECK_FALSE(limited.has_room(1001));
  CHECK_FALSE(limited.has_room(kEverything));
  CHECK(unlimited.has_room(kEverything));
  limited.take(600);
  CHECK_FALSE(limited.has_room(401));
  limited.give_back(600);
  CHECK(limited.has_room(1000));
}

TEST_CASE("pools: where they can be, and which devices reach them at first") {
  const auto place = [](int type, int id, int kind) { return PoolPlace::of({type, id}, kind, 2); };
  CHECK(place(PoolPlace::kDevice, 1, PoolPlace::kPinned) == PoolPlace::on(1));
  CHECK(place(PoolPlace::kHost, 7, PoolPlace::kPinned).device == 0);
  CHECK(place(PoolPlace::kNone, 0, PoolPlace::kManaged).memory_kind() == exec::MemoryKind::kManaged);
  CHECK(PoolPlace::on(0).memory_kind() == exec::MemoryKind::kDevice);
  CHECK(host_place().memory_kind() == exec::MemoryKind::kHost);
  const auto refused = [&](int type, int id, int kind) {
    return status_of([&] { (void)place(type, id, kind); });
  };
  CHECK(refused(PoolPlace::kDevice, 2, PoolPlace::kPinned) == Status::kErrorInvalidDevice);
  CHECK(refused(PoolPlace::kDevice, -1, PoolPlace::kPinned) == Status::kErrorInvalidDevice);
  CHECK(refused(PoolPlace::kHostNuma, 1, PoolPlace::kPinned) == Status::kErrorInvalidDevice);
  CHECK(refused(PoolPlace::kNone, 0, PoolPlace::kPinned) == Status::kErrorInvalidValue);
  CHECK(refused(PoolPlace::kHostNumaCurrent, 0, PoolPlace::kPinned) == Status::kErrorInvalidValue);
  CHECK(refused(PoolPlace::kDevice, 0, 0) == Status::kErrorInvalidValue);
  CHECK(refused(PoolPlace::kDevice, 0, 3) == Status::kErrorInvalidValue);

  Pool device(PoolPlace::on(1), 0), host(host_place(), 0),
      managed({PoolPlace::kNone, PoolPlace::kManaged, 0}, 0);
  CHECK((device.access(1) == Pool::kReadWrite && device.access(0) == 0));
  CHECK(device.reached_by() == exec::device_bit(1));
  device.set_access(0, Pool::kReadWrite);
  CHECK(device.reached_by() == (exec::device_bit(0) | exec::device_bit(1)));
  CHECK((host.access(0) == 0 && managed.access(5) == Pool::kReadWrite));
}

TEST_CASE(
    "pools: a device's current pool is its default one until another is set, and again when that is gone") {
  Pools pools;
  const PoolPlace place = PoolPlace::on(0);
  Pool& standing = pools.default_of(place);
  CHECK(&pools.default_of(place) == &standing);
  CHECK(&pools.default_of(PoolPlace::on(1)) != &standing);
  Pool& own = pools.create(place, 0);
  CHECK(&pools.current_of(place) == &standing);
  pools.set_current(place, own);
  CHECK(&pools.current_of(place) == &own);
  CHECK(status_of([&] { pools.set_current(PoolPlace::on(1), own); }) == Status::kErrorInvalidValue);
  CHECK(status_of([&] { pools.destroy(standing); }) == Status::kErrorInvalidValue);
  void* const handle = &own;
  CHECK(&pools.at(handle) == &own);
  pools.destroy(own);
  CHECK(&pools.current_of(place) == &standing);
  CHECK(status_of([&] { (void)pools.at(handle); }) == Status::kErrorInvalidValue);
  CHECK(status_of([&] { (void)pools.at(nullptr); }) == Status::kErrorInvalidValue);
}

TEST_CASE("pools: a destroyed pool lives until its last memory is freed, but no call takes it any more") {
  Pools pools;
  Pool& pool = pools.create(PoolPlace::on(0), 0);
  pools.begin_use(pool, 0x1000, 64);
  pools.begin_use(pool, 0x2000, 32);
  std::set<Address> in_use;
  pools.for_each_use(pool, [&](Address a) { in_use.insert(a); });
  CHECK(in_use == std::set<Address>{0x1000, 0x2000});
  void* const handle = &pool;
  pools.destroy(pool);
  CHECK(status_of([&] { (void)pools.at(handle); }) == Status::kErrorInvalidValue);
  CHECK(pools.owner(0x1000) == handle);
  CHECK(pools.owner(0x1001) == nullptr);
  pools.end_use(0x1000);
  CHECK(pool.get(Pool::kUsed) == 32);
  pools.end_use(0x1000);  // not its own any more
  pools.end_use(0x2000);
  CHECK(pools.owner(0x2000) == nullptr);
}

TEST_CASE("pools: a device's reset leaves it its default pool, empty, and other devices theirs") {
  Pools pools;
  Pool &first = pools.create(PoolPlace::on(0), 0), &second = pools.create(PoolPlace::on(1), 0);
  pools.set_current(PoolPlace::on(0), first);
  pools.begin_use(first, 0x1000, 64);
  pools.begin_use(second, 0x2000, 64);
  pools.begin_use(pools.default_of(PoolPlace::on(0)), 0x3000, 64);
  void* const gone = &first;
  pools.clear(0);
  CHECK(status_of([&] { (void)pools.at(gone); }) == Status::kErrorInvalidValue);
  CHECK((pools.owner(0x1000) == nullptr && pools.owner(0x3000) == nullptr));
  CHECK(pools.owner(0x2000) == &second);
  CHECK(pools.current_of(PoolPlace::on(0)).get(Pool::kUsed) == 0);
}

TEST_CASE("graph memory: footprints, one use at a time, and memory that lives while it is used") {
  exec::DeviceMemory memory(16 << 20);
  const std::uint64_t before = memory.allocations(exec::MemoryKind::kDevice).size();
  GraphMemory graph;
  Address place = 0;
  {
    const auto first = std::make_shared<const GraphAllocation>(memory, 4096, 0),
               second = std::make_shared<const GraphAllocation>(memory, 1000, 0);
    place = first->address();
    graph.begin_use(first);
    graph.begin_use(second);
    CHECK(status_of([&] { graph.begin_use(first); }) == Status::kErrorInvalidValue);
    CHECK((graph.footprint().used == 5096 && graph.footprint().reserved == 5096));
    CHECK(graph.end_use(second->address()));
    CHECK_FALSE(graph.end_use(second->address()));
    CHECK_FALSE(graph.end_use(place + 1));
    CHECK((graph.footprint().used == 4096 && graph.footprint().reserved == 5096));
    graph.trim();
    CHECK((graph.footprint().reserved == 4096 && graph.footprint().reserved_high == 5096));
    graph.reset_high(true);
    CHECK((graph.footprint().used_high == 4096 && graph.footprint().reserved_high == 5096));
    graph.reset_high(false);
    CHECK(graph.footprint().reserved_high == 4096);
  }
  CHECK(memory.allocations(exec::MemoryKind::kDevice).size() == before + 1);
  CHECK(graph.in_use(place));
  CHECK(graph.end_use(place));
  CHECK(memory.allocations(exec::MemoryKind::kDevice).size() == before);
  CHECK(status_of([&] { GraphAllocation(memory, std::uint64_t{1} << 40, 0); }) ==
        Status::kErrorMemoryAllocation);
}

TEST_CASE("user objects: the destructor runs with the last reference, whoever had it") {
  int destroyed = 0;
  const auto destructor = [](void* count) { ++*static_cast<int*>(count); };
  UserObjects objects;
  const UserObject* const handle = objects.create(&destroyed, destructor, 2);
  UserReferences graph;
  graph.retain(objects.at(handle), 3);
  objects.release(handle, 1);
  CHECK(status_of([&] { objects.release(handle, 2); }) == Status::kErrorInvalidValue);  // it has one
  CHECK(status_of([&] { objects.release(handle, 0); }) == Status::kErrorInvalidValue);
  CHECK(status_of([&] { objects.retain(handle, 0); }) == Status::kErrorInvalidValue);
  CHECK(status_of([&] { objects.retain(handle, 0x7fffffff); }) == Status::kErrorInvalidValue);
  objects.release(handle, 1);
  CHECK(status_of([&] { objects.release(handle, 1); }) == Status::kErrorInvalidValue);
  CHECK(destroyed == 0);
  objects.retain(handle, 1);  // from the graph's
  graph.release(handle, 2);
  CHECK(status_of([&] { graph.release(handle, 2); }) == Status::kErrorInvalidValue);
  graph.release(handle, 1);
  CHECK(destroyed == 0);
  objects.release(handle, 1);
  CHECK(destroyed == 1);
  CHECK(status_of([&] { (void)objects.at(handle); }) == Status::kErrorInvalidValue);
  CHECK(status_of([&] { (void)objects.at(nullptr); }) == Status::kErrorInvalidValue);
  {
    UserReferences dropped;
    UserObjects others;
    const UserObject* const other = others.create(&destroyed, destructor, 1);
    dropped.retain(others.at(other), 1);
    others.release(other, 1);
    CHECK(destroyed == 1);
  }
  CHECK(destroyed == 2);
}

}  // namespace
}  // namespace lockstep::cuda
