#include "cuda/held_work.hpp"

#include "cuda/stream_state.hpp"

namespace lockstep::cuda {

namespace {

bool is_blocking(const StreamState& s) { return !s.is_default && s.blocks(); }
/// Of all work that its device has at its call.
bool is_record_of_device(const Work& work) {
  const auto* const record = std::get_if<RecordEvent>(&work.operation);
  return record != nullptr && record->of_device;
}
/// Of all work that its device is given from its call on.
bool is_wait_of_device(const Work& work) {
  const auto* const wait = std::get_if<WaitEvent>(&work.operation);
  return wait != nullptr && wait->of_device;
}

exec::DeviceSet bit_of(const StreamState& s) { return exec::device_bit(s.device); }

}  // namespace

void Held::add(const Work& work) {
  streams_.insert(work.stream);
  numbers_.insert(work.number);
  devices_ |= bit_of(*work.stream);
  if (work.stream->is_default) default_ |= bit_of(*work.stream);
  if (is_blocking(*work.stream)) blocking_ |= bit_of(*work.stream);
  if (is_wait_of_device(work)) waiting_ |= bit_of(*work.stream);
}

bool Held::holds(const StreamState& s) const {
  return streams_.count(&s) != 0 || (s.is_default && (blocking_ & bit_of(s)) != 0) ||
         (is_blocking(s) && (default_ & bit_of(s)) != 0) || (waiting_ & bit_of(s)) != 0;
}

bool Held::has(const StreamState& s) const {
  return streams_.count(&s) != 0 || (s.is_default && (blocking_ & bit_of(s)) != 0);
}

bool Held::holds(const Work& work) const {
  return holds(*work.stream) || (is_record_of_device(work) && has_device(work.stream->device)) ||
         (work.after != 0 && numbers_.count(work.after) != 0);
}

}  // namespace lockstep::cuda
