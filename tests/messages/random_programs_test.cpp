// Random programs that end on any MPI library: who gets which message, by lists of sends and receives, and
// that the scheduled tasks of all processes can be carried out to their end.
#include <map>
#include <set>
#include <tuple>

#include "exec/address_space.hpp"
#include "messages/memory.hpp"
#include "support.hpp"
#include "tests/random.hpp"

namespace lockstep::test {
namespace {

using ScheduledKind = trace::HostTask::Kind;
using Scheduled = std::vector<std::vector<messages::PlacedTask>>;

constexpr std::uint64_t kEager = 1000;

/// A program in one order for all processes, each of which does what concerns it. Whatever a process waits
/// for comes before in this order, so no MPI library can get stuck.
class RandomProgram {
 public:
  RandomProgram(std::uint32_t seed, unsigned processes)
      : random_(seed), calls_(processes), open_(processes), requests_(processes) {
    for (int i = 0; i < 40; ++i) {
      const auto what = random_() % 8;
      if (what < 4) {
        message();
      } else if (what < 5) {
        collective(false);
      } else if (what < 6) {
        collective(true);
      }
      for (auto n = random_() % 4; n > 0; --n) complete(random_() % processes);
    }
    for (unsigned p = 0; p < processes; ++p)
      while (!open_[p].empty()) complete(p);
  }
  [[nodiscard]] Scheduled schedule() const {
    const TemporaryFolder folder;
    std::vector<messages::Recording> all;
    for (const auto& files : calls_.write(folder.path()))
      all.push_back(messages::read_recording(files.calls));
    return messages::schedule(all, {kEager, messages::AllReduce::kAuto});
  }
  /// By the place from which it is sent: where each message between two processes goes.
  [[nodiscard]] std::map<Address, Address> destinations() const {
    std::map<Address, Address> all;
    for (const auto& [line, from] : sends_) {
      const auto& to = receives_.at(line);
      for (std::size_t i = 0; i < from.size(); ++i)
        all[messages::moved(from[i], static_cast<std::uint16_t>(std::get<0>(line)))] =
            messages::moved(to[i], static_cast<std::uint16_t>(std::get<1>(line)));
    }
    return all;
  }

 private:
  using Line = std::tuple<unsigned, unsigned, unsigned>;  // from, to, tag
  struct Open {
    std::uint32_t request = 0;
    bool receives = false;
    unsigned peer = 0, tag = 0;
  };
  /// Of the GPU, each different.
  Address place() { return exec::kArenaBase + 8 * places_++; }

  void message() {
    const auto count = static_cast<std::uint32_t>(calls_.processes());
    const unsigned from = random_() % count, to = (from + 1 + random_() % (count - 1)) % count;
    const unsigned tag = random_() % 2;
    const std::uint64_t bytes = random_() % 2 == 0 ? 8 : 5 * kEager;
    const Address source = place(), destination = place();
    sends_[{from, to, tag}].push_back(source);
    receives_[{from, to, tag}].push_back(destination);
    const auto sent = requests_[from]++;
    calls_.line(from, "S 0 0 " + std::to_string(sent) + " 0 " + std::to_string(to) + " " +
                          std::to_string(tag) + " " + std::to_string(bytes) + " " + std::to_string(source));
    open_[from].push_back({sent, false, 0, 0});
    const auto received = requests_[to]++;
    calls_.line(to, "R 0 0 " + std::to_string(received) + " 0 " + std::to_string(destination));
    open_[to].push_back({received, true, from, tag});
  }
  void collective(bool begins) {
    constexpr const char* kNames[] = {"MPI_Barrier",   "MPI_Bcast",    "MPI_Reduce", "MPI_Allreduce",
                                      "MPI_Allgather", "MPI_Alltoall", "MPI_Gather", "MPI_Scan"};
    const unsigned count = calls_.processes();
    const auto what = random_() % 8;
    const unsigned sizes = what == 0 ? 0 : what == 4 || what == 5 ? count : 1;
    std::string text = std::string(kNames[what]) + " 0 " + std::to_string(random_() % count) + " 0 0 " +
                       std::to_string(sizes);
    const std::uint64_t bytes = random_() % 2 == 0 ? 16 : 30 * kEager;
    for (unsigned i = 0; i < sizes; ++i) text += " " + std::to_string(bytes);
    for (unsigned p = 0; p < count; ++p) {
      if (!begins) {
        calls_.line(p, "K 0 " + text);
        continue;
      }
      const auto request = requests_[p]++;
      calls_.line(p, "I 0 " + std::to_string(request) + " " + text);
      open_[p].push_back({request, false, 0, 0});
    }
  }
  void complete(unsigned process) {
    std::vector<Open>& open = open_[process];
    if (open.empty()) return;
    const auto i = open.begin() + random_() % static_cast<std::uint32_t>(open.size());
    std::string text = "W 0 0 " + std::to_string(i->request);
    if (i->receives) text += " " + std::to_string(i->peer) + " " + std::to_string(i->tag);
    calls_.line(process, text);
    open.erase(i);
  }

  Random32 random_;
  Calls calls_;
  std::vector<std::vector<Open>> open_;  // by process
  std::vector<std::uint32_t> requests_;
  std::map<Line, std::vector<Address>> sends_, receives_;
  Address places_ = 0;
};

/// Carries out the tasks of all processes, each in its order. Which could not be is in next().
class Execution {
 public:
  explicit Execution(const Scheduled& tasks) : tasks_(tasks), next_(tasks.size()) {
    for (bool further = true; further;) {
      further = false;
      for (std::uint16_t p = 0; p < tasks_.size(); ++p)
        for (; next_[p] < tasks_[p].size() && step(p, tasks_[p][next_[p]].task); ++next_[p]) further = true;
    }
  }
  [[nodiscard]] bool ended() const {
    for (std::size_t p = 0; p < tasks_.size(); ++p)
      if (next_[p] < tasks_[p].size()) return false;
    return true;
  }
  /// Each message of a pair has been sent once and has arrived once, those that were offered by being
  /// accepted.
  void check() const {
    std::map<std::pair<std::uint16_t, std::uint16_t>, std::uint64_t> counts;
    for (const Message& m : sent_) ++counts[{std::get<0>(m), std::get<1>(m)}];
    for (const auto& [pair, count] : counts)
      for (std::uint64_t n = 0; n < count; ++n) {
        const Message message{pair.first, pair.second, n};
        REQUIRE(sent_.contains(message));
        REQUIRE(arrived_.contains(message));
      }
    REQUIRE(arrived_.size() == sent_.size());
    REQUIRE(accepted_ == offered_);
  }

 private:
  using Message = std::tuple<std::uint16_t, std::uint16_t, std::uint64_t>;  // from, to, number
  bool step(std::uint16_t p, const trace::HostTask& task) {
    const Message out{p, task.peer, task.instructions}, in{task.peer, p, task.instructions};
    switch (task.kind) {
      case ScheduledKind::kOffer:
        offered_.insert(out);
        [[fallthrough]];
      case ScheduledKind::kMessage:
        REQUIRE((task.kind == ScheduledKind::kOffer) == (task.bytes > kEager));
        REQUIRE(sent_.insert(out).second);
        return true;
      case ScheduledKind::kAccept:
        REQUIRE(accepted_.insert(in).second);
        return true;
      case ScheduledKind::kArrived:
        if (!sent_.contains(in) || (offered_.contains(in) && !accepted_.contains(in))) return false;
        REQUIRE(arrived_.insert(in).second);
        return true;
      case ScheduledKind::kSent:
        return !offered_.contains(out) || accepted_.contains(out);
      default:
        return true;
    }
  }
  const Scheduled& tasks_;
  std::vector<std::size_t> next_;
  std::set<Message> sent_, offered_, accepted_, arrived_;
};

}  // namespace

TEST_CASE("Random programs: messages go where lists of sends and receives say, and all processes end") {
  std::size_t messages = 0;
  for (std::uint32_t seed = 0; seed < 80; ++seed) {
    CAPTURE(seed);
    const RandomProgram program(seed, 2 + seed % 5);
    const Scheduled tasks = program.schedule();
    const std::map<Address, Address> destinations = program.destinations();
    std::size_t seen = 0;
    for (const auto& process : tasks)
      for (const messages::PlacedTask& placed : process) {
        const bool sends =
            placed.task.kind == ScheduledKind::kMessage || placed.task.kind == ScheduledKind::kOffer;
        if (!sends || placed.task.local == trace::kHostMemory) continue;  // of a collective call
        REQUIRE(placed.task.remote == destinations.at(placed.task.local));
        ++seen;
      }
    REQUIRE(seen == destinations.size());
    messages += seen;
    const Execution execution(tasks);
    REQUIRE(execution.ended());
    execution.check();
  }
  CHECK(messages > 500);
}

}  // namespace lockstep::test
