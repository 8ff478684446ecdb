// The program of `lockstep exec` as the simulation sees it: over the connection to its process.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cuda/listing.hpp"
#include "cuda/recorder.hpp"
#include "cuda/wire.hpp"
#include "gpu/program.hpp"
#include "trace/compact_feed.hpp"

namespace lockstep::cli {

class LiveProgram final : public gpu::Program {
 public:
  /// Takes `fd` over. `give_up` returns true once the user has asked for the end; the program then counts as
  /// ended.
  LiveProgram(int fd, bool strict, std::function<bool()> give_up);

  [[nodiscard]] News listen(const gpu::HostClock& clock) override;
  [[nodiscard]] const trace::TraceSet& trace() const override { return trace_; }
  [[nodiscard]] const trace::KernelHeader& header(std::uint32_t kernel) const override {
    return trace_.entry(kernel).header;
  }
  [[nodiscard]] bool asks_clocks(std::uint32_t kernel) const override { return clocked_.count(kernel) > 0; }

  /// The PTX that a kernel comes from; null: the program has not sent it.
  [[nodiscard]] const cuda::Listing* listing(std::uint32_t kernel) const;

  /// The program has reported its trace as complete.
  [[nodiscard]] bool ended_well() const { return ended_well_; }
  /// The last of its kernels that failed.
  [[nodiscard]] const std::optional<cuda::FailedKernel>& failed() const { return failed_; }
  /// The simulation has ended; the program continues without it.
  void leave() { wire_.close(); }

 private:
  [[nodiscard]] std::optional<News> next_news(const gpu::HostClock& clock);
  void command();
  void file();
  void kernel();
  void listing();
  void end();
  [[nodiscard]] News news(trace::Until until, bool ended);
  void reply(const gpu::HostClock& clock);

  cuda::Wire wire_;
  std::function<bool()> give_up_;
  trace::GrowingTrace trace_;
  std::vector<trace::Command> commands_;  // not yet released
  std::uint64_t events_ = 0;
  std::set<std::uint32_t> clocked_;
  std::vector<cuda::Listing> listings_;
  std::vector<std::optional<std::uint64_t>> listing_of_;  // by kernel, where one has a listing
  cuda::Word word_ = cuda::Word::kEnd;
  trace::Bytes content_;
  bool asked_ = false;  // word_ is a request that awaits its reply
  bool ended_well_ = false;
  std::optional<cuda::FailedKernel> failed_;
};

}  // namespace lockstep::cli
