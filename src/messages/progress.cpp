#include "messages/progress.hpp"

#include <algorithm>
#include <utility>

namespace lockstep::messages {
namespace {

using What = Step::What;

/// A process, as far as it has come. Time plays no part.
struct ProcessProgress {
  std::vector<bool> done;                     // by step
  std::vector<std::size_t> order;             // steps, as they were done
  std::size_t next = 0;                       // the first that is not done
  std::map<std::uint64_t, std::size_t> rest;  // of collective calls, by their number: the first step not done
};

class Progress {
 public:
  Progress(std::vector<std::vector<Step>>& processes, std::uint64_t eager_bytes)
      : steps_(processes), eager_bytes_(eager_bytes), processes_(processes.size()) {
    for (std::size_t p = 0; p < steps_.size(); ++p) {
      processes_[p].done.resize(steps_[p].size());
      for (std::size_t s = steps_[p].size(); s-- > 0;)
        if (steps_[p][s].part_of != 0) processes_[p].rest[steps_[p][s].part_of] = s;
    }
  }

  void run() {
    do {
      while (go_on()) {
      }
    } while (help());
    for (std::size_t p = 0; p < steps_.size(); ++p)  // what waits forever
      for (std::size_t s = 0; s < steps_[p].size(); ++s)
        if (!processes_[p].done[s]) processes_[p].order.push_back(s);
    reorder();
  }

 private:
  /// All processes as far as they can. Whether any has come further.
  bool go_on() {
    bool any = false;
    for (std::size_t p = 0; p < steps_.size(); ++p) {
      ProcessProgress& process = processes_[p];
      for (; process.next < steps_[p].size(); ++process.next) {
        if (process.done[process.next]) continue;
        if (!is_possible(p, process.next)) break;
        carry_out(p, process.next);
        any = true;
      }
    }
    return any;
  }

  /// One step of a collective call that a process has begun and that waits for none.
  bool help() {
    for (std::size_t p = 0; p < steps_.size(); ++p) {
      const std::size_t waits = processes_[p].next;
      if (waits == steps_[p].size()) continue;
      for (const auto& [number, first] : processes_[p].rest) {
        if (first == steps_[p].size() || steps_[p][first].since > waits || !is_possible(p, first)) continue;
        Step &step = steps_[p][first], &waiting = steps_[p][waits];
        step.position = waiting.position;
        step.within = std::exchange(waiting.within, true);
        carry_out(p, first);
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool is_possible(std::size_t p, std::size_t s) const {
    const Step& step = steps_[p][s];
    if (step.what != What::kArrived && step.what != What::kSent) return true;
    const Step& begun = steps_[p][step.begun];
    if (step.what == What::kSent && (!begun.match || begun.bytes <= eager_bytes_)) return true;
    return processes_[begun.peer].done[*begun.match];
  }

  void carry_out(std::size_t p, std::size_t s) {
    ProcessProgress& process = processes_[p];
    process.done[s] = true;
    process.order.push_back(s);
    const std::uint64_t part_of = steps_[p][s].part_of;
    if (part_of == 0) return;
    std::size_t& first = process.rest[part_of];
    while (first < steps_[p].size() && (process.done[first] || steps_[p][first].part_of != part_of)) ++first;
  }

  /// As they were done.
  void reorder() {
    std::vector<std::vector<std::size_t>> places(steps_.size());
    for (std::size_t p = 0; p < steps_.size(); ++p) {
      places[p].resize(steps_[p].size());
      for (std::size_t i = 0; i < places[p].size(); ++i) places[p][processes_[p].order[i]] = i;
    }
    for (std::size_t p = 0; p < steps_.size(); ++p) {
      std::vector<Step> ordered;
      ordered.reserve(steps_[p].size());
      for (const std::size_t s : processes_[p].order) {
        Step& step = ordered.emplace_back(steps_[p][s]);
        step.begun = places[p].at(step.begun);
        if (step.match) step.match = places[step.peer][*step.match];
      }
      steps_[p] = std::move(ordered);
    }
  }

  std::vector<std::vector<Step>>& steps_;
  std::uint64_t eager_bytes_;
  std::vector<ProcessProgress> processes_;
};

}  // namespace

void progress(std::vector<std::vector<Step>>& processes, std::uint64_t eager_bytes) {
  const auto has_parts = [](const std::vector<Step>& steps) {
    return std::ranges::any_of(steps, [](const Step& step) { return step.part_of != 0; });
  };
  if (std::ranges::any_of(processes, has_parts)) Progress(processes, eager_bytes).run();
}

}  // namespace lockstep::messages
