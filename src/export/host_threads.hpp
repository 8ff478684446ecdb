// The host of a trace: threads that call, and waits. docs/export.md.
#pragma once

#include <cstdint>
#include <vector>

#include "export/draft.hpp"
#include "export/frontier.hpp"

namespace lockstep::exporter {

/// As host::HostQueue: each thread's calls take their time one after another, no call is made before the
/// host's last wait, on whichever thread, has ended. Each rank has the host's calls itself, so that only
/// waits need messages.
class HostThreads {
 public:
  HostThreads(Draft& draft, std::uint16_t ranks) : draft_(&draft), ranks_(ranks) { (void)thread(0); }

  /// Thread `number` calls, and makes the calls that follow. `time_ps` may be 0.
  void call(std::uint32_t number, std::uint64_t time_ps, bool returns);
  /// The host has waited for this, too.
  void waited(const Frontier& until);
  /// The host has waited for this, which has waited for all that the host had waited for.
  void waited_last(const Frontier& until);
  /// Of a rank: what the thread that calls has done.
  void merge_into(Frontier& stream, std::uint16_t rank) const;
  /// Grows with each call and wait.
  [[nodiscard]] std::uint64_t version() const { return version_; }

 private:
  struct Thread {
    std::vector<Frontier> done;         // by rank
    std::uint64_t waits = 0;            // that the last call came after
    std::vector<std::uint32_t> chains;  // by rank
  };
  Thread& thread(std::uint32_t number);

  Draft* draft_;
  std::uint16_t ranks_;
  std::vector<Thread> threads_;
  std::uint32_t caller_ = 0;
  Frontier waited_;
  std::uint64_t waits_ = 0, version_ = 0;
};

}  // namespace lockstep::exporter
