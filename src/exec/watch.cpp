#include "exec/watch.hpp"

#include <algorithm>
#include <cstring>

namespace lockstep::exec {

void Watch::read(Address address, std::uint32_t bytes) {
  constexpr std::uint32_t kMaxBytes = sizeof(std::uint64_t);
  for (std::uint32_t at = 0; at < bytes; at += kMaxBytes) {
    Value value{std::min(bytes - at, kMaxBytes), 0};
    std::memcpy(&value.bits, reinterpret_cast<const void*>(address + at), value.bytes);
    values[address + at] = value;
  }
  ++reads;
}

void Fingerprint::add(std::span<const std::byte> bytes) {
  std::uint64_t word = 0;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof word) {
    const std::size_t some = std::min(bytes.size() - at, sizeof word);
    std::memcpy(&word, bytes.data() + at, some);
    add(word);
  }
}

void LivelockDetector::begin(std::uint64_t print) {
  if (watch_.askers++ == 0) watch_.values.clear();
  watching_ = true;
  kept_ = print;
  changes_ = watch_.changes;
  reads_ = watch_.reads;
  compared_ = 0;
}

void LivelockDetector::stop() {
  if (watching_) --watch_.askers;
  if (comparing_) --watch_.comparers;
  watching_ = comparing_ = false;
}

}  // namespace lockstep::exec
