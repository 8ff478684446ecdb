#include "cuda/issue.hpp"

#include <unistd.h>

#include <atomic>

namespace lockstep::cuda {

HostThread calling_thread() {
  static std::atomic<HostThread> others{0};
  thread_local const HostThread own = ::gettid() == ::getpid() ? 0 : ++others;
  return own;
}

}  // namespace lockstep::cuda
