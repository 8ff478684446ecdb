// The open kernels of a run as work for the engine's threads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/issue_table.hpp"
#include "gpu/system.hpp"
#include "sim/engine.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::gpu {

/// Opens the feed of a kernel when the dispatcher has launched it, asks for the CTAs dispatched so far at the
/// end of every window, and has them decoded in the next one: before they arrive at their SMs.
class FeedSet final : public sim::TaskSource {
 public:
  FeedSet(const trace::TraceSet& trace, System& system);

  [[nodiscard]] std::size_t plan() override;
  void run(std::size_t task) noexcept override;
  void settle() override;

  /// Serial: CTAs [begin, end), the next to be dispatched, will not be.
  void skip(std::uint16_t device, std::uint8_t slot, std::uint64_t begin, std::uint64_t end);
  /// Serial: hands CTAs [begin, end) of the kernel in that slot of the device, which no SM will take, to
  /// `each`, some at a time.
  using Each = std::function<void(const trace::CtaFeed& feed, const trace::CtaTrace& cta)>;
  void pass(std::uint16_t device, std::uint8_t slot, std::uint64_t begin, std::uint64_t end,
            const Each& each);
  /// Serial: the cut of the kernel in that slot of the device. Keeps what was odd in its trace.
  void close(std::uint16_t device, std::uint8_t slot);

  /// Opcodes in the closed kernels that the opcode table lacks.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> unknown_opcodes() const;
  [[nodiscard]] const std::set<std::string>& remarks() const { return remarks_; }

  /// What was odd in the traces of closed kernels.
  struct Notes {
    std::map<std::string, std::uint64_t> unknown;  // opcodes
    std::set<std::string> remarks;
  };
  /// Those that have been added since the last call; they are no longer here.
  [[nodiscard]] Notes take_notes() { return {std::exchange(unknown_, {}), std::exchange(remarks_, {})}; }
  /// Adds the notes of another rank.
  void add_notes(const Notes& notes);

  /// Persists the closed kernels only; the others are opened again.
  template <class A>
  void persist(A& a) {
    a(unknown_, remarks_);
  }

 private:
  struct Open {
    std::uint16_t device;
    std::uint8_t slot;
    std::unique_ptr<trace::CtaFeed> feed;
    std::unique_ptr<core::IssueTable> instructions;
    std::size_t first_task = 0, tasks = 0;
  };

  void open(std::uint16_t device, std::uint8_t slot);
  [[nodiscard]] std::vector<Open>::iterator find(std::uint16_t device, std::uint8_t slot);

  const trace::TraceSet* trace_;
  System* system_;
  std::vector<Open> open_;  // by launch
  std::map<std::string, std::uint64_t> unknown_;
  std::set<std::string> remarks_;
};

}  // namespace lockstep::gpu
