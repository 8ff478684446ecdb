// Addresses that stand for memory of several devices at once: what multicast objects are mapped to.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "exec/address_space.hpp"

namespace lockstep::exec {

/// Only multimem instructions reach memory through a window. Windows and what is bound to them are whole
/// pages of 2 MiB. Not thread-safe for changes.
class MulticastWindows {
 public:
  static constexpr unsigned kPageShift = 21;

  /// Adds the window [begin, begin + bytes) of a team of devices, to which nothing is bound yet and which no
  /// device may use. `team`: numbers of devices, ascending.
  void add(Address begin, std::uint64_t bytes, std::vector<unsigned> team);
  void remove(Address begin) { windows_.erase(begin); }
  /// In the window, [begin, begin + bytes) of the device is its memory from `memory` on; 0: nothing.
  /// Preconditions: the window has the range, and its team the device.
  void bind(Address begin, std::uint64_t bytes, unsigned device, Address memory);
  /// Whether the device may use [begin, begin + bytes). Precondition: a window has the range.
  void open(Address begin, std::uint64_t bytes, bool usable, unsigned device);
  /// Precondition: contains(address).
  [[nodiscard]] bool is_open(Address address, unsigned device) const;
  [[nodiscard]] bool contains(Address address) const { return find(address) != nullptr; }

  /// Where an access through a window goes: the same place of each device's memory, by device.
  struct Places {
    enum class Problem : std::uint8_t { kNone, kNoWindow, kClosed, kUnbound } problem = Problem::kNone;
    unsigned device = 0;  // kUnbound: that has nothing bound there
    unsigned count = 0;
    std::array<Address, kMaxDevices> at{};
  };
  /// The places of an access by `device`. An access lies in one page.
  [[nodiscard]] Places places(Address address, unsigned device) const;

 private:
  struct Page {
    DeviceSet open_to = 0;
    std::array<Address, kMaxDevices> memory{};
  };
  struct Window {
    Address begin = 0;
    std::vector<unsigned> team;
    std::vector<Page> pages;
    [[nodiscard]] std::size_t page_of(Address address) const { return (address - begin) >> kPageShift; }
  };
  [[nodiscard]] const Window* find(Address address) const;
  [[nodiscard]] Window& at(Address address);

  std::map<Address, Window> windows_;  // by first address
};

}  // namespace lockstep::exec
