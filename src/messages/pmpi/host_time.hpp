// What the program computes between its calls: the CUDA runtime of the process measures it
// (src/cuda/host_time.hpp), where `lockstep exec --host-time` asks for it.
#pragma once

namespace lockstep_pmpi {

/// In MPI_Init, within a LibraryCall. False: it is asked for, and the process has not loaded the runtime.
bool begin_host_time();

/// The calling thread is in a function of MPI, in this scope.
class LibraryCall {
 public:
  LibraryCall() {
    if (enter_ != nullptr) enter_();
  }
  ~LibraryCall() {
    if (leave_ != nullptr) leave_();
  }
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;

 private:
  friend bool begin_host_time();
  using Function = void (*)() noexcept;
  static Function enter_, leave_;  // of the runtime; null: nothing is measured
};

}  // namespace lockstep_pmpi
