// Which device the calling thread uses: contexts are names for devices, of which each has one state.
#pragma once

#include <cstdint>
#include <vector>

namespace lockstep::cuda {

struct Context {
  unsigned device = 0;
  unsigned flags = 0;
  unsigned users = 0;    // of a primary context
  std::uint64_t id = 0;  // no other context has or had it
  bool used = false;     // a primary context: by the runtime, since the device's last reset
};

/// The device's primary context; it is there from the start.
[[nodiscard]] Context& primary_context(unsigned device);
/// Another name for the device, until it is destroyed. The calling thread's stack of contexts does not
/// change.
[[nodiscard]] Context& create_context(unsigned device, unsigned flags);
/// Is it one of those of the first `devices` devices?
[[nodiscard]] bool is_context(const void* context, unsigned devices);
/// Takes it from the calling thread's stack, too. False if `context` is not one that create_context()
/// returned.
[[nodiscard]] bool destroy_context(const void* context);
/// The calling thread's stack of contexts; the last is current.
[[nodiscard]] std::vector<Context*>& context_stack();
/// The calling thread's, else device 0's primary one.
[[nodiscard]] Context& current_context();
[[nodiscard]] inline unsigned current_device() { return current_context().device; }
/// cudaSetDevice: the device's primary context takes the current one's place.
void set_current_device(unsigned device);
/// What needs a context makes device 0's primary one current to the calling thread where none is, as the
/// runtime does.
void make_context_current();

/// While it lives, the calling thread uses this device.
class OnDevice {
 public:
  explicit OnDevice(unsigned device) { context_stack().push_back(&primary_context(device)); }
  ~OnDevice() { context_stack().pop_back(); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
};

}  // namespace lockstep::cuda
