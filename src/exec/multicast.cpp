#include "exec/multicast.hpp"

#include <iterator>
#include <utility>

namespace lockstep::exec {

void MulticastWindows::add(Address begin, std::uint64_t bytes, std::vector<unsigned> team) {
  windows_[begin] = {begin, std::move(team), std::vector<Page>(bytes >> kPageShift)};
}

const MulticastWindows::Window* MulticastWindows::find(Address address) const {
  const auto after = windows_.upper_bound(address);
  if (after == windows_.begin()) return nullptr;
  const Window& window = std::prev(after)->second;
  return window.page_of(address) < window.pages.size() ? &window : nullptr;
}

MulticastWindows::Window& MulticastWindows::at(Address address) {
  return std::prev(windows_.upper_bound(address))->second;
}

void MulticastWindows::bind(Address begin, std::uint64_t bytes, unsigned device, Address memory) {
  Window& window = at(begin);
  const std::size_t first = window.page_of(begin), count = bytes >> kPageShift;
  for (std::size_t page = 0; page < count; ++page)
    window.pages[first + page].memory[device] = memory == 0 ? 0 : memory + (Address{page} << kPageShift);
}

void MulticastWindows::open(Address begin, std::uint64_t bytes, bool usable, unsigned device) {
  Window& window = at(begin);
  const DeviceSet bit = device_bit(device);
  for (std::size_t page = window.page_of(begin), end = page + (bytes >> kPageShift); page < end; ++page)
    window.pages[page].open_to =
        usable ? window.pages[page].open_to | bit : window.pages[page].open_to & ~bit;
}

bool MulticastWindows::is_open(Address address, unsigned device) const {
  const Window& window = *find(address);
  return (window.pages[window.page_of(address)].open_to >> device & 1) != 0;
}

MulticastWindows::Places MulticastWindows::places(Address address, unsigned device) const {
  using Problem = Places::Problem;
  Places found;
  const Window* const window = find(address);
  if (window == nullptr) {
    found.problem = Problem::kNoWindow;
    return found;
  }
  const Page& page = window->pages[window->page_of(address)];
  if ((page.open_to >> device & 1) == 0) {
    found.problem = Problem::kClosed;
    return found;
  }
  const Address offset = address & ((Address{1} << kPageShift) - 1);
  for (const unsigned member : window->team) {
    if (page.memory[member] == 0) {
      found.problem = Problem::kUnbound;
      found.device = member;
      return found;
    }
    found.at[found.count++] = page.memory[member] + offset;
  }
  return found;
}

}  // namespace lockstep::exec
