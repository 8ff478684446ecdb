// A CUDA program as a child process under our runtime.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cuda/execution_page.hpp"
#include "exec/address_space.hpp"

namespace lockstep::cli {

struct ChildResult {
  int code = 0;                 // exit code of the program; 128 + signal when one ended it
  int signal = 0;               // 0: it exited
  cuda::Execution execution{};  // what it executed, up to its end
};

/// How a program is started.
struct Start {
  std::vector<std::string> command;    // program and arguments
  bool own = false;                    // it is this program, which has the runtime in it
  std::string config;                  // INI file with the resolved configuration
  std::string trace;                   // compact trace to write; empty: none
  int socket = -1;                     // the runtime's end of a connection, closed here; -1: none
  std::uint64_t max_cycles = 0;        // simulated; kernels certain to take longer are stopped. 0: no limit
  std::uint64_t max_instructions = 0;  // warp instructions that all kernels together may execute. 0: no limit
  bool simulated_clock = false;        // the program's clocks show simulated time
  unsigned threads = 1;                // on which CTAs are executed
  unsigned gpus = 1;                   // that the program sees
  exec::DeviceSet multicast = 0;       // GPUs that can be part of a multicast object
  bool listings = false;               // the runtime sends what PTX kernels are of (cuda::kListingVariable)
  std::string apart;                   // pairs of GPUs that are not connected (cuda::kApartVariable)
  std::string preload;                 // a library to be loaded beside the runtime; empty: none
  std::vector<std::pair<std::string, std::string>> variables;  // of its environment, in addition
  std::string links;                                           // of them (cuda::kLinksVariable)
};

/// A program that runs with the CUDA runtime of this installation in place of NVIDIA's. Standard streams are
/// the caller's.
class Child {
 public:
  /// Throws UserError when the program cannot be started.
  explicit Child(const Start& start);
  /// Waits for its end.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  [[nodiscard]] bool ended();
  /// A signal that ends the run is passed on to the program a second later. `poll`, where given, is called
  /// repeatedly.
  ChildResult wait(const std::function<void()>& poll = {});
  /// What the program executes.
  [[nodiscard]] cuda::Execution execution() const { return execution_.page().read(); }

 private:
  cuda::SharedPage execution_;
  int process_ = 0;  // 0: it has ended
  ChildResult result_;
};

/// Two connected sockets; the first is not inherited by programs. Throws UserError.
struct SocketPair {
  SocketPair();
  int ours = -1, theirs = -1;
};

}  // namespace lockstep::cli
