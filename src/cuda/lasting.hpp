// Objects of threads that are there until the process ends.
#pragma once

#include <deque>
#include <mutex>

namespace lockstep::cuda {

/// A new object that is never destroyed, for a `thread_local` reference: the program's own destructors may
/// call the runtime when the objects of its main thread are gone.
template <class T>
[[nodiscard]] T& make_lasting() {
  struct All {
    std::mutex mutex;
    std::deque<T> objects;
  };
  static All& all = *new All;
  const std::scoped_lock lock(all.mutex);
  return all.objects.emplace_back();
}

}  // namespace lockstep::cuda
