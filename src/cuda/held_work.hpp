// Work that cannot be done at the call that asks for it: a kernel that waits for a write of the host or of
// another kernel, and what comes behind it in its stream.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <set>
#include <vector>

#include "cuda/issue.hpp"
#include "cuda/kernel_run.hpp"
#include "cuda/operation.hpp"
#include "exec/address_space.hpp"

namespace lockstep::cuda {

struct StreamState;

struct Work {
  StreamState* stream = nullptr;
  Operation operation;
  Issue issue;
  bool in_range = true;            // the program was in a range that is recorded when it asked for it
  std::unique_ptr<KernelRun> run;  // of a kernel that has been begun
  std::uint64_t number = 0;        // of held work, from 1 on
  std::uint64_t after = 0;         // a wait for an event: held work that records it
  std::uint32_t event_record = 0;  // its record in the trace: of an event that is recorded, when that is
                                   // done; of one that is waited for, where `after` is 0
  std::vector<std::byte> staged;   // what is copied, as it was at the call
};

/// What may not begin before some work: by its stream, by the order that its device's default stream makes
/// (CUDA Runtime API, "Stream synchronization behavior", legacy default stream), by events.
class Held {
 public:
  void add(const Work& work);
  [[nodiscard]] bool holds(const Work& work) const;
  [[nodiscard]] bool holds(const StreamState& stream) const;
  /// Has a wait for the stream any of it to wait for?
  [[nodiscard]] bool has(const StreamState& stream) const;
  [[nodiscard]] bool has_device(unsigned device) const { return (devices_ >> device & 1) != 0; }
  /// Is the work of this number part of it?
  [[nodiscard]] bool holds(std::uint64_t number) const { return numbers_.count(number) != 0; }

 private:
  std::set<const StreamState*> streams_;
  std::set<std::uint64_t> numbers_;
  // Has any; some in the default stream, in blocking streams.
  exec::DeviceSet devices_ = 0, default_ = 0, blocking_ = 0;
  exec::DeviceSet waiting_ = 0;  // as a whole, for an event
};

}  // namespace lockstep::cuda
