// The program's work as a compact trace: kernels, copies, events and waits.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cuda/listing.hpp"
#include "cuda/modules.hpp"
#include "cuda/operation.hpp"
#include "cuda/stream_log.hpp"
#include "cuda/wire.hpp"
#include "exec/executable.hpp"
#include "exec/launch.hpp"
#include "lower/code.hpp"
#include "lower/replay.hpp"
#include "trace/chunk_team.hpp"
#include "trace/compact_file.hpp"

namespace lockstep::cuda {

/// A kernel that is not complete.
struct KernelRecording {
  std::optional<Issue> issue;               // how the program asks for it; nothing: another kernel does
  std::optional<lower::Replayer> replayer;  // nothing: not begun
  std::uint64_t cta = 0;                    // the next
  trace::CompactFile::Unfinished file;
};

/// A kernel that has ended with an error.
struct FailedKernel {
  std::string name;  // mangled
  Dim3 grid, block;
  std::uint64_t id = 0;                      // as in the trace: from 1
  std::uint64_t ctas = 0, instructions = 0;  // that had ended; warp instructions executed
  std::string error;                         // what has happened, and where
  std::string limit;                         // the option that has stopped it, without dashes; empty: none
};
void encode_failed(const FailedKernel& kernel, trace::Bytes& to);
/// Throws trace::BrokenBlock.
[[nodiscard]] FailedKernel decode_failed(trace::ByteReader& in);

class Recorder {
 public:
  /// Begins to write `path`; the file is there after finish() only. `wire`: to a simulation that reads along;
  /// may be null.
  Recorder(const std::string& path, std::unique_ptr<Wire> wire, unsigned devices = 1);
  /// The trace's name, which the simulation receives with the first kernel or command.
  void set_name(const std::string& name) { name_ = name; }
  /// The simulation also receives the PTX of the kernels to come.
  void send_listings() { sends_listings_ = true; }

  /// All kernels to come are recorded with their signals (exec/signal_log.hpp), as those of several devices
  /// always are; without this only those that may wait for signals themselves.
  void record_signals() { signals_ = true; }
  [[nodiscard]] bool records_signals(const exec::Executable& kernel) const {
    return signals_ || !kernel.spins().empty();
  }
  /// Called with the commands so far before each kernel's own: what the kernel needs before it.
  void before_kernels(std::function<void(StreamLog&)> call) { before_kernel_ = std::move(call); }

  /// Runs `grid` to its end and records it in the stream that `header` names, after enter(). False:
  /// interrupted, or it waits; `recording`, like `header`, is to be given again when it goes on.
  [[nodiscard]] bool kernel(exec::Grid& grid, const KernelLaunch& launch, const trace::KernelHeader& header,
                            KernelRecording& recording);
  enum class Rehearsal : std::uint8_t { kDone, kFailed, kWaits };
  /// As kernel(), with the grid that `make` gives in a process forked for it: here nothing is executed. Of
  /// `recording` it reads how the kernel is asked for.
  [[nodiscard]] Rehearsal rehearse(const std::function<exec::Grid()>& make, const KernelLaunch& launch,
                                   const trace::KernelHeader& header, const KernelRecording& recording);
  [[nodiscard]] StreamLog& log() { return log_; }
  /// A simulation runs beside the program.
  [[nodiscard]] bool live() const { return wire_ != nullptr && wire_->is_open(); }
  /// Sends the simulation what is new. `ordered`: every stream waits for the default one.
  void send_news(bool ordered);
  /// After send_news(): when all before the event's record was complete, in core cycles.
  struct EventTime {
    bool there = false;                  // false: the simulation has ended early
    std::optional<std::uint64_t> cycle;  // nothing: not complete at the host's time
  };
  [[nodiscard]] EventTime query(std::uint32_t event);
  /// After send_news(): the time of the thread that has called last, in core cycles. Nothing: the simulation
  /// has ended early.
  [[nodiscard]] std::optional<std::uint64_t> query_host();
  /// After send_news() and a wait: when the latest kernel's clocks were read, by CTA and warp. Empty: not
  /// known.
  [[nodiscard]] std::vector<std::vector<std::uint64_t>> query_clocks();

  /// Reports a failed kernel to the simulation, and gives the kernel its number.
  void send_failed(FailedKernel kernel);

  /// That are recorded.
  [[nodiscard]] std::uint32_t kernels() const { return kernels_; }
  /// Does nothing where there was neither a kernel nor a task of a process: a trace needs one.
  void finish();

 private:
  /// Remarks of a kernel's code and, the first time, of PTX that is not for this GPU.
  [[nodiscard]] std::vector<std::string> remarks_of(const Kernel& kernel, const lower::Code& code) const;
  void note_said(const Kernel& kernel);
  [[nodiscard]] const lower::Code& code_of(const Kernel& kernel, unsigned arch) const;

  void open_wire();
  void note_listing(const KernelLaunch& launch, const trace::KernelHeader& header);
  void send_listing(std::uint32_t kernel);
  void add_kernel(const trace::KernelHeader& header, const std::optional<Issue>& issue);
  [[nodiscard]] bool write_kernel(exec::Grid& grid, const KernelLaunch& launch,
                                  const trace::KernelHeader& header, KernelRecording& recording);

  [[nodiscard]] bool write_at_once(exec::Grid& grid, const lower::Code& code,
                                   const trace::KernelHeader& header);

  std::string path_, name_;
  bool signals_;
  std::function<void(StreamLog&)> before_kernel_;
  trace::CompactFile file_;
  trace::ChunkTeam team_;
  std::unique_ptr<Wire> wire_;
  bool opened_ = false;                // the simulation knows the file
  std::size_t sent_ = 0;               // commands
  std::optional<std::uint64_t> host_;  // query_host()'s latest reply, when `host_sent_` commands were sent
  std::size_t host_sent_ = 0;
  std::set<std::uint32_t> clocked_;  // kernels that were rehearsed
  bool sends_listings_ = false;
  std::map<const lower::Code*, std::uint64_t> listing_numbers_;
  std::vector<std::uint64_t> listing_of_;  // by kernel
  std::vector<trace::Bytes> listings_;     // encoded; empty: sent
  StreamLog log_;
  exec::CtaRecord executed_;
  trace::CtaTrace replayed_;
  std::uint32_t kernels_ = 0;
  std::set<bool> said_taken_;  // remarks of PTX that is not for this GPU: without, and with machine code
};

}  // namespace lockstep::cuda
