// Whose memory an address is, among the devices of a system.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "util/types.hpp"

namespace lockstep::mem {

/// Address ranges: each is the memory of one device, or multicast: its addresses each stand for one place in
/// the memory of every device of a team. Changes only between windows; concurrent reads are safe.
class Apertures {
 public:
  /// As an owner: several devices.
  static constexpr std::uint16_t kMulticast = 0xffff;

  /// [begin, begin + bytes) is the device's from now on, whatever it was before. Empty ranges and what lies
  /// beyond the end of the address space are left out.
  void place(Address begin, std::uint64_t bytes, std::uint16_t device);
  /// [begin, begin + bytes) is multicast from now on, and stands for the device's memory from `memory` on;
  /// beside what it stood for of other devices.
  void multicast(Address begin, std::uint64_t bytes, std::uint16_t device, Address memory);

  /// The device whose memory it is, or kMulticast; `asker` where no range has it.
  [[nodiscard]] std::uint16_t owner(Address address, std::uint16_t asker) const {
    const Range* const range = find(address);
    return range ? range->device : asker;
  }
  /// The devices of a multicast address: bit d is device d (devices below 64). Other addresses: none.
  [[nodiscard]] std::uint64_t team(Address address) const;
  /// Where a multicast address lies in the memory of a device of its team. Other addresses: as they are.
  [[nodiscard]] Address place_of(Address address, std::uint16_t device) const;

  /// Signalling stores to status words of entries in [begin, begin + bytes), of a queue, ring the NIC's
  /// doorbell instead, from now on.
  void ring(Address begin, std::uint64_t bytes, std::uint16_t nic);
  static constexpr std::uint16_t kNoDoorbell = 0xffff;
  /// As a NIC: none; such stores lock their line in the L2 (LineLocks).
  static constexpr std::uint16_t kLocks = 0xfffe;
  /// How, of all such queues.
  struct Locking {
    bool fields = false;              // stores to an entry's other fields lock its line, too
    bool exclusive = false;           // a line locked by a store is the command processor's alone
    std::uint32_t unlocked_ways = 2;  // of each set of the L2, at least
    std::uint64_t watchdog_ps = 0;    // a line locked for longer is a deadlock; 0: never
  };
  void set_locking(const Locking& locking) { locking_ = locking; }
  [[nodiscard]] const Locking& locking() const { return locking_; }
  /// As a NIC: none; such stores are like others.
  static constexpr std::uint16_t kPlain = 0xfffd;
  [[nodiscard]] static constexpr bool is_nic(std::uint16_t doorbell) { return doorbell < kPlain; }
  [[nodiscard]] std::uint16_t doorbell(Address address) const {
    const auto next = doorbells_.upper_bound(address);
    if (next == doorbells_.begin()) return kNoDoorbell;
    const Doorbells& range = std::prev(next)->second;
    return address <= range.last ? range.nic : kNoDoorbell;
  }
  /// False for addresses that have no queue; fast.
  [[nodiscard]] bool near_queues(Address address) const {
    return address >= first_queue_ && address <= last_queue_;
  }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  /// How often it has changed.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }

 private:
  struct Range {
    Address last = 0;
    std::uint16_t device = 0;
    std::vector<std::pair<std::uint16_t, Address>> parts;  // multicast: devices, and their memory's distance
  };
  struct Doorbells {
    Address last = 0;
    std::uint16_t nic = 0;
  };
  [[nodiscard]] const Range* find(Address address) const {
    const auto next = ranges_.upper_bound(address);
    if (next == ranges_.begin()) return nullptr;
    const Range& range = std::prev(next)->second;
    return address <= range.last ? &range : nullptr;
  }
  void cut(Address at);
  void silence(Address begin, Address last);
  /// What lies beyond the end of the address space is left out.
  [[nodiscard]] static Address last_of(Address begin, std::uint64_t bytes);
  void cut_out(Address begin, Address last);

  std::map<Address, Range> ranges_;         // by first address, disjoint
  std::map<Address, Doorbells> doorbells_;  // likewise
  Locking locking_;
  Address first_queue_ = ~Address{0}, last_queue_ = 0;  // all that doorbells_ has had
  std::uint64_t changes_ = 0;
};

}  // namespace lockstep::mem
