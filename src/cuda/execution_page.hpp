// What the program's process is executing, in memory that it shares with `lockstep exec`, which shows it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep::cuda {

/// As it is at some moment. Counts are of the whole process unless they say otherwise.
struct Execution {
  std::string kernel;        // the one that is executed, or that was last; mangled, may be cut short
  bool running = false;      // it is being executed now
  std::uint64_t launch = 0;  // its number from 1; 0: nothing has been launched
  std::uint64_t ctas = 0, ctas_done = 0;  // of this launch
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
  std::uint64_t ranges = 0;  // how often the program has called cudaProfilerStart()
};

/// The memory. Written by the process that executes, by several of its threads; read by the other one at any
/// time, so that what it reads may be some instructions apart.
class ExecutionPage {
 public:
  void begin(std::string_view kernel, std::uint64_t launch, std::uint64_t ctas, std::uint64_t ctas_done);
  void end() { running_ = false; }
  void add(std::uint64_t warp_instructions, std::uint64_t thread_instructions, std::uint64_t ctas);
  void restart() { ctas_done_ = 0; }
  void enter_range() { ++ranges_; }
  [[nodiscard]] std::uint64_t ctas_done() const { return ctas_done_; }
  [[nodiscard]] Execution read() const;

 private:
  static constexpr std::size_t kName = 128;
  std::atomic<std::uint32_t> changes_{0};  // odd: begin() is at work
  std::atomic<bool> running_{false};
  std::atomic<char> name_[kName] = {};
  std::atomic<std::uint64_t> launch_{0}, ctas_{0}, ctas_done_{0}, warp_instructions_{0},
      thread_instructions_{0}, ranges_{0};
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "two processes share them");
};

/// The memory of a page, as an open file that programs inherit, and mapped.
class SharedPage {
 public:
  /// A new page. Where the system gives no memory for it, one that is not shared: descriptor() is -1.
  SharedPage();
  /// Another process's; takes the descriptor over. If it is not valid, as SharedPage() without memory.
  explicit SharedPage(int descriptor);
  ~SharedPage();
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;

  [[nodiscard]] ExecutionPage& page() { return *page_; }
  [[nodiscard]] const ExecutionPage& page() const { return *page_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
  void* mapped_ = nullptr;
  ExecutionPage own_;
  ExecutionPage* page_ = &own_;
};

}  // namespace lockstep::cuda
