#include "cuda/jit_log.hpp"

#include <algorithm>
#include <cstdint>

namespace lockstep::cuda {

namespace {
/// enum CUjit_option.
enum { kInfoBuffer = 3, kInfoBytes, kErrorBuffer, kErrorBytes };
}  // namespace

void** JitLog::value(int option) const {
  const int* const end = options_ + count_;
  const int* const found = std::find(options_, end, option);
  return found != end ? values_ + (found - options_) : nullptr;
}

void JitLog::write(int buffer_option, int size_option, std::string_view text) const {
  void **const buffer = value(buffer_option), **const size = value(size_option);
  if (size == nullptr) return;
  // A size is an unsigned int in the place of the pointer.
  const std::size_t room = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(*size));
  std::size_t written = 0;
  if (buffer != nullptr && *buffer != nullptr && room > 0) {
    auto* const at = static_cast<char*>(*buffer);
    written = std::min(text.size(), room - 1);
    std::copy_n(text.data(), written, at);
    at[written] = '\0';
  }
  *size = reinterpret_cast<void*>(written);
}

void JitLog::write(std::string_view error) const {
  write(kInfoBuffer, kInfoBytes, {});
  write(kErrorBuffer, kErrorBytes, error);
}

}  // namespace lockstep::cuda
