// Memory that a computation needs on the device.
#pragma once

#include <cstddef>
#include <utility>

#include "libraries/common/driver.hpp"

namespace lockstep::libraries::sparse {

/// For what is enqueued in `stream` while this object lives, or `lasting` for any stream.
class Memory {
 public:
  Memory() = default;
  Memory(std::size_t bytes, Stream stream, bool lasting) : stream_(stream), lasting_(lasting) {
    if (bytes == 0) return;
    if (lasting) {
      check(runtime().cudaMalloc(&data_, bytes), "cusparse: memory");
    } else {
      check(runtime().cudaMallocAsync(&data_, bytes, stream), "cusparse: memory");
    }
  }
  Memory(Memory&& other) noexcept { swap(other); }
  Memory& operator=(Memory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Memory() {
    if (data_ == nullptr) return;
    if (lasting_) {
      runtime().cudaFree(data_);
    } else {
      runtime().cudaFreeAsync(data_, stream_);
    }
  }
  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void swap(Memory& other) {
    std::swap(data_, other.data_);
    std::swap(stream_, other.stream_);
    std::swap(lasting_, other.lasting_);
  }

  void* data_ = nullptr;
  Stream stream_ = nullptr;
  bool lasting_ = false;
};

}  // namespace lockstep::libraries::sparse
