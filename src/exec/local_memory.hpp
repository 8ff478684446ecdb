// Local memory of a warp's lanes: what call frames take, from offset 0 on, and what alloca takes, from
// kStackOffset on. The two lie apart, so a function gives back what it took when its lanes return. Internal
// to src/exec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "exec/address_space.hpp"
#include "exec/lane_op.hpp"

namespace lockstep::exec {

class LocalMemory {
 public:
  /// Frames have `bytes` bytes of each lane, zeros; nothing is taken by alloca.
  void start(std::uint32_t bytes);
  /// Frames get `bytes` bytes of each lane at least. Moves what is there.
  void reserve(std::uint32_t bytes);
  /// Bytes of a lane's frames. Precondition: they are reserved.
  [[nodiscard]] std::byte* at(std::uint32_t lane, std::uint64_t offset) {
    return frames_.data() + std::size_t{lane} * stride_ + offset;
  }
  /// Bytes [offset, offset + bytes) of a lane, of frames or alloca; nullptr where it does not have all of
  /// them.
  [[nodiscard]] std::byte* find(std::uint32_t lane, Address offset, std::uint32_t bytes);
  /// The frames of all lanes.
  [[nodiscard]] std::span<const std::byte> frames() const { return frames_; }

  /// alloca. The offset of `bytes` zeros; nullopt where the lane would have taken more than `most` then.
  [[nodiscard]] std::optional<Address> allocate(std::uint32_t lane, std::uint64_t bytes, std::uint64_t align,
                                                std::uint64_t most);
  /// The end of what the lane has taken: stacksave.
  [[nodiscard]] Address top(std::uint32_t lane) const { return kStackOffset + tops_.lane[lane]; }
  /// stackrestore. False: nothing that top() has said before.
  [[nodiscard]] bool release(std::uint32_t lane, Address top);
  /// At a call: what its lanes take from now on belongs to this frame; and when they return.
  void enter(std::uint32_t frame);
  void leave(std::uint32_t frame, LaneMask lanes);

 private:
  struct Tops {
    std::uint32_t lane[kLanes];
  };

  std::vector<std::byte> frames_, stack_;  // lane by lane
  std::uint32_t stride_ = 0, stack_stride_ = 0;
  Tops tops_{};             // bytes of the stack that each lane has taken
  std::vector<Tops> kept_;  // by frame: as they were at its call
};

}  // namespace lockstep::exec
