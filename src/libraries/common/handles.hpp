// Handles that programs hold: what is none is noticed without being read.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "libraries/common/error.hpp"

namespace lockstep::libraries {

/// The objects of one kind that a library has given out; thread-safe. Their users take care that none is
/// destroyed while it is in use, as with NVIDIA's libraries.
template <class T>
class Handles {
 public:
  template <class... Arguments>
  T* create(Arguments&&... arguments) {
    auto made = std::make_unique<T>(std::forward<Arguments>(arguments)...);
    const std::lock_guard lock(mutex_);
    T* const handle = made.get();
    live_.emplace(handle, std::move(made));
    return handle;
  }
  /// Throws kNotInitialized where `handle` is none.
  [[nodiscard]] T& get(const void* handle) {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(handle);
    if (found == live_.end()) throw Error(Failure::kNotInitialized);
    return *found->second;
  }
  void destroy(const void* handle) {
    std::unique_ptr<T> gone;  // after the lock
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(handle);
    if (found == live_.end()) throw Error(Failure::kNotInitialized);
    gone = std::move(found->second);
    live_.erase(found);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const void*, std::unique_ptr<T>> live_;
};

/// Never destroyed: programs free their handles at any time, up to the very end.
template <class T>
Handles<T>& handles() {
  static auto& all = *new Handles<T>;
  return all;
}

}  // namespace lockstep::libraries
