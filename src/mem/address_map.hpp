// Where a line is requested: its L2 slice, or the port to other devices.
#pragma once

#include <cstdint>
#include <vector>

#include "config/gpu_config.hpp"
#include "mem/apertures.hpp"
#include "util/types.hpp"

namespace lockstep::mem {

/// Spreads lines evenly over any number of slices (32, 40, 48, 80, ...), for every power-of-two stride, by
/// hashing the line number; consecutive lines go to different slices. Deterministic, the same on every host.
class AddressMap {
 public:
  explicit AddressMap(const config::GpuConfig& config);

  /// Slice that owns the line: partition * slices_per_partition + slice.
  [[nodiscard]] std::uint32_t home_slice(Address line) const;

  /// Slice that a requester in L2 half `half` asks: the home slice when that lies in the same half (or there
  /// is one half), else the slice of the same position in the requester's half, which caches the line for it.
  [[nodiscard]] std::uint32_t near_slice(Address line, std::uint32_t half) const;

  /// Where an SM in L2 half `half` sends a request in the request network: its near slice, or where the line
  /// is another device's memory, one of the lanes of the peer port, which come after the slices.
  [[nodiscard]] std::uint32_t port(Address line, std::uint32_t half) const {
    if (apertures_ != nullptr && apertures_->owner(line, device_) != device_) return peer_port(line);
    return near_slice(line, half);
  }
  [[nodiscard]] std::uint32_t peer_port(Address line) const { return slices_ + lane(line); }
  /// Whether what port() gives is a lane of the peer port.
  [[nodiscard]] bool is_peer_port(std::uint32_t port) const { return port >= slices_; }
  /// Before the run: this device is number `device` among several, and has `lanes` to the others.
  void join(const Apertures& apertures, std::uint16_t device, std::uint32_t lanes) {
    apertures_ = &apertures;
    device_ = device;
    lanes_ = lanes;
  }
  [[nodiscard]] std::uint32_t lane(Address line) const {
    return static_cast<std::uint32_t>(line / kLineBytes % lanes_);
  }
  /// The line's lane, chosen by the requesting device; precondition: join().
  [[nodiscard]] std::uint16_t owner(Address line) const { return apertures_->owner(line, device_); }

  [[nodiscard]] bool near_queues(Address line) const {
    return apertures_ != nullptr && apertures_->near_queues(line);
  }
  /// The NIC whose doorbell a store to the status word of an entry in this line rings (Apertures::ring()); or
  /// kLocks, kPlain, kNoDoorbell.
  [[nodiscard]] std::uint16_t doorbell(Address line) const {
    return apertures_ != nullptr ? apertures_->doorbell(line) : Apertures::kNoDoorbell;
  }

  [[nodiscard]] const Apertures& apertures() const { return *apertures_; }
  [[nodiscard]] Apertures::Locking locking() const {
    return apertures_ != nullptr ? apertures_->locking() : Apertures::Locking{};
  }

  /// Number of the line within its slice: dense, so that line <-> (home slice, local line) is one to one.
  [[nodiscard]] std::uint64_t local_line(Address line) const { return in_half(line).number / per_half_; }

  /// Half of a slice, and of an SM: the GPCs are in either half in turn (assumed: kernels of four CTAs, which
  /// go to four GPCs, take as long as those of 16 on an H100, polybench's 2mm and 3mm of size 32).
  [[nodiscard]] std::uint32_t half_of_slice(std::uint32_t slice) const;
  [[nodiscard]] std::uint32_t half_of_sm(std::uint32_t sm) const;

 private:
  struct Place {
    std::uint32_t half;
    std::uint64_t number;  // of the line among those of its half: dense
  };
  /// Chunks of l2.half_bytes come in pairs, one chunk for each half; a hash chooses which for which.
  [[nodiscard]] Place in_half(Address line) const;
  [[nodiscard]] std::uint32_t rotation(std::uint64_t block) const;

  std::uint32_t slices_, halves_, per_half_, half_shift_;
  std::vector<std::uint32_t> gpc_of_sm_;
  const Apertures* apertures_ = nullptr;  // null: all memory is this device's
  std::uint16_t device_ = 0;
  std::uint32_t lanes_ = 1;
};

}  // namespace lockstep::mem
