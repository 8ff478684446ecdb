// Memory and events that processes of a program give each other by handles (cudaIpc...), on one machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "exec/device_memory.hpp"

namespace lockstep::cuda {

/// cudaIpcMemHandle_t and cudaIpcEventHandle_t: what processes pass on is 64 bytes of their own making.
struct IpcHandle {
  std::uint64_t mark = 0;
  std::int32_t process = 0, file = -1;   // that has the memory's bytes; an event: -1
  std::uint64_t offset = 0, bytes = 0;   // whole pages in it
  std::uint64_t lead = 0;                // from there to the allocation
  std::uint32_t device = 0, number = 0;  // an event's: different for each
  std::array<std::uint64_t, 2> rest{};
};
static_assert(sizeof(IpcHandle) == 64);

/// Pages that hold something that is given away become those of a file, which others map: CUDA, too, shares
/// more than the allocation. Each process has a file of its own; others find it as /proc/PROCESS/fd/FILE, so
/// that it goes with its process.
class Processes {
 public:
  explicit Processes(exec::DeviceMemory& memory) : memory_(memory) {}
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  /// Throws ApiError(InvalidValue) where no allocation of a device begins there.
  [[nodiscard]] IpcHandle give(Address begin);
  /// A handle that no process can open: for programs that request one only to see whether they could.
  [[nodiscard]] IpcHandle name(Address begin) const;
  /// The other process's memory, in addresses of this one's own, for `device`; once more: the same.
  [[nodiscard]] Address open(const IpcHandle& handle, unsigned device);
  /// Throws ApiError(InvalidValue) where nothing is open there.
  void close(Address address);

  [[nodiscard]] IpcHandle give_event();
  [[nodiscard]] static bool is_event(const IpcHandle& handle);

  /// Is any memory shared with another process, which may write what a kernel waits for?
  [[nodiscard]] bool shares() const { return shares_; }
  void note_shared() { shares_ = true; }

 private:
  [[nodiscard]] exec::Allocation to_give(Address begin) const;
  struct Opened {
    Address begin = 0;
    unsigned users = 0;
  };
  using Key = std::pair<std::int32_t, std::uint64_t>;  // process, offset
  [[nodiscard]] int file();

  exec::DeviceMemory& memory_;
  int file_ = -1;
  std::map<std::pair<Key, std::uint64_t>, Opened> opened_;  // and bytes
  std::uint32_t events_ = 0;
  bool shares_ = false;
};

}  // namespace lockstep::cuda
