// Advances all domains in windows, on a team of threads.
//
// A window [T, T') ends before the earliest message that may be sent in it can arrive, so that within it no
// domain can affect another. All awake domains may therefore be advanced in any order and on any thread, with
// the same result as cycle by cycle.
//
// Domains may be divided into cells, such as the GPUs of a cluster, between which messages take longer than
// within them. Then a window ends before a message from one cell can arrive in another, and a thread advances
// a whole cell, in windows of its own inside: it synchronises less often with other threads, and the cell's
// state stays in a core's cache. What is between cells, such as NICs and switches, may be divided likewise.
// Cells are used where there are enough of them for the threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/border.hpp"
#include "sim/cell_plan.hpp"
#include "sim/clock.hpp"
#include "sim/domain.hpp"
#include "sim/gate.hpp"
#include "sim/network.hpp"
#include "sim/work_log.hpp"
#include "util/types.hpp"

namespace lockstep::sim {

struct EngineOptions {
  unsigned threads = 1;
  bool dynamic = true;  // schedule: next free thread takes the next domain; else fixed shares
  Time window = 16;     // upper bound; networks that declare their latency end windows earlier
  bool skip = true;     // false: every domain is called in every window
  std::optional<std::uint64_t> shuffle{};  // seed of the order in which domains are visited
  WorkLog* work_log = nullptr;             // to be filled; with one thread only
  Time cell_window = 0;                    // upper bound of windows between cells; 0: they are not used
};

/// What drives a run at global times. All calls come from one thread, between windows.
class Controller {
 public:
  virtual ~Controller() = default;
  /// All domains stand exactly at `now`. Returns the next time (> now) at which a window must end ("cut"), or
  /// kNever. A cut is announced at least one window ahead of whatever asks for it.
  [[nodiscard]] virtual Time boundary(Time now) = 0;
  /// After boundary(): true ends the run at `now`.
  [[nodiscard]] virtual bool stop() const = 0;
  /// Nothing is due any more and there is no cut: with work left this is a deadlock. The run ends.
  virtual void exhausted(Time now) = 0;
};

/// Work beside the domains, for the same threads: decoding.
class TaskSource {
 public:
  virtual ~TaskSource() = default;
  [[nodiscard]] virtual std::size_t plan() = 0;     // serial: number of tasks for the coming window
  virtual void run(std::size_t task) noexcept = 0;  // parallel: each once, any thread
  virtual void settle() = 0;                        // serial: after the window; may throw
};

enum class DomainKind : std::uint8_t { kSm, kMemory, kOther, kCount };

/// What the host did; never part of the simulated results. With cells, windows are those of the first tier.
struct EngineProfile {
  std::uint64_t windows = 0, shared_windows = 0, window_cycles = 0, awake_domains = 0;
  double domain_seconds[static_cast<unsigned>(DomainKind::kCount)] = {};
  double exchange_seconds = 0;  // noting what was sent; taking it is part of the receivers' time
  double task_seconds = 0, wait_seconds = 0;
  double serial_seconds = 0;                 // between windows, on one thread: cuts, plans, handing over
  double alone_seconds = 0;                  // windows that were not shared
  double largest_share = 0, mean_share = 0;  // summed over shared windows: the imbalance
  std::vector<double> busy_seconds;          // of each thread in windows
};

class Engine {
 public:
  explicit Engine(const EngineOptions& options);
  ~Engine();

  /// Ids of `count` domains that will be placed before the run, one after another. Networks are made with
  /// ids, domains with networks. Ids are the order of every ordered walk.
  [[nodiscard]] DomainId claim(std::uint32_t count);
  /// The domain of a claimed id; not owned. `time_to_cycles`: from the time base to the domain's own clock.
  void place(DomainId id, Domain& domain, DomainKind kind, const DomainClock& clock = {});
  DomainId add(Domain& domain, DomainKind kind, const DomainClock& clock = {}) {
    const DomainId id = claim(1);
    place(id, domain, kind, clock);
    return id;
  }
  void add(NetworkBase& network) {
    places_.push_back(static_cast<std::uint32_t>(networks_.size()));
    networks_.push_back(&network);
    numbered_.push_back(&network);
  }
  /// Adds a network that only connects domains of another process: it has a number, as there, and carries
  /// nothing.
  void add_elsewhere(NetworkBase& network) {
    places_.push_back(kElsewhere);
    numbered_.push_back(&network);
  }
  /// Before the run: some domains and networks are those of other processes. Not owned.
  void set_border(Border& border) { border_ = &border; }
  void set_tasks(TaskSource& tasks) { tasks_ = &tasks; }
  /// Before the run: EngineOptions::window and cell_window, for callers that have to build the machine to
  /// know them.
  void set_window(Time window, Time cell_window = 0) {
    options_.window = window;
    options_.cell_window = cell_window;
  }
  /// Before the run: which makes no difference to the results.
  void set_cells(CellDivision division) { division_ = std::move(division); }

  /// Runs until the controller stops or nothing is due and no cut is ahead. Rethrows the error of the first
  /// domain that failed.
  void run(Controller& controller) { advance_to(kNever, controller); }
  /// The same, but not beyond `until`: for a simulation that is a part of a larger one, which sends messages
  /// in between. All domains then stand exactly at `until`, unless the controller has stopped before.
  /// Where the calls end makes no difference to the results.
  void advance_to(Time until, Controller& controller);

  [[nodiscard]] Time now() const { return now_; }
  /// Between windows: the earliest time at which anything is due, now() when mail waits; kNever when all is
  /// still. From boundary() at a cut it says the same for every window.
  [[nodiscard]] Time earliest() const;
  /// Between windows, when all domains are placed: the time, and when each domain is due.
  template <class A>
  void persist(A& a) {
    const std::size_t domains = next_.size();
    a(now_, next_);
    if (!a.reading()) return;
    if (next_.size() != domains) throw std::logic_error("not this engine's domains");
    note_sources();
  }
  [[nodiscard]] const EngineProfile& profile() const { return profile_; }
  [[nodiscard]] std::size_t domains() const { return domains_.size(); }
  /// All of them, in the order of adding.
  [[nodiscard]] const std::vector<NetworkBase*>& networks() const { return numbered_; }
  /// NetworkBase::put_mail() of the network with a number among networks().
  void put_mail(std::uint32_t number, std::uint32_t source, std::uint32_t destination, Cycle arrival,
                std::string_view message, Time now, std::vector<Time>& next) {
    numbered_[number]->put_mail(source, destination, arrival, message, now, next);
    const std::uint32_t network = places_[number];  // before the run all may have mail
    if (network != kElsewhere && !groups_.empty())
      groups_[plan_.group_of(network)].with_mail.push_back(network);
  }
  [[nodiscard]] const DomainClock& clock(DomainId id) const { return domains_[id].clock; }

 private:
  /// Reading the host's clock costs as much as a short window does: functions hand on what they read.
  using Clock = std::chrono::steady_clock;
  using TimePoint = Clock::time_point;
  static double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }
  static double seconds_since(TimePoint start) { return seconds(Clock::now() - start); }

  /// A domain's own lines of memory: other threads do not write there.
  struct alignas(64) Placed {
    Domain* domain = nullptr;
    std::uint64_t sent = 0;  // networks of networks_of_ on which it has sent in the window; see sent_bit()
    DomainKind kind = DomainKind::kOther;
    DomainClock clock{};
    std::exception_ptr error{};
  };
  /// One thread's part of a window: the awake items of which it is the owner, awake_[next, end). With the
  /// dynamic schedule it then takes, one by one, from the share that has most left. An item's owner is
  /// always the same thread, so its state tends to stay in one core's cache; owners take turns along the ids,
  /// so each has of every kind. The longest items come first, so that at a window's end only short ones are
  /// left to be divided.
  struct alignas(64) Share {
    std::atomic<std::size_t> next{0};
    std::size_t end = 0;
    std::size_t count = 0;                  // while awake_ is divided
    std::vector<std::uint64_t> noted_in{};  // by network: the flip before which it was noted last
    // Account.
    double domain_seconds[static_cast<unsigned>(DomainKind::kCount)] = {};
    double exchange_seconds = 0, task_seconds = 0, wait_seconds = 0, busy_seconds = 0;
    double window_seconds = 0;  // of the window at hand
    double item_seconds = 0;    // of the item at hand
    TimePoint mark;             // end of what was timed last
  };

  /// What a cell needs for the windows inside of it.
  struct alignas(64) Cell {
    std::vector<DomainId> awake;
    std::uint64_t shuffle_state = 0;
    std::uint64_t awake_domains = 0;  // summed over windows
  };
  /// The items that threads take one by one in one window: the cells of a tier, or without them all domains.
  struct Tier {
    std::vector<std::uint32_t> order;  // of visiting; with several threads by cost
    std::uint64_t runs = 0;
    double work_estimate = 0;  // seconds of work a run, smoothed
    bool sharing = false;
  };
  /// Networks whose mail is handed over at the same time: those within a cell, or others of one kind.
  struct alignas(64) Group {
    struct alignas(64) Noted {
      std::vector<std::uint32_t> networks{};
    };
    std::vector<Noted> noted;  // by thread, on which something was sent; one for all within a cell
    // Whose mail can be read in the window at hand; the others need not be flipped unless something is sent.
    // Systems of several devices have a hundred networks of which few are in use at a time.
    std::vector<std::uint32_t> with_mail{}, had_mail{};
    std::uint64_t flips = 0;
  };
  static constexpr std::uint32_t kElsewhere = 0xffffffff;

  void note_sources();
  void make_cells();
  [[nodiscard]] bool cells_are_useful() const;
  [[nodiscard]] Time earliest_of(std::span<const DomainId> domains) const;
  void begin_shares();
  void lead(Controller& controller);
  void work(unsigned thread);
  // The serial and the parallel part of a window; functions of their own in a profile, from which bench/guard
  // takes their shares of the host instructions.
  [[gnu::noinline]] bool begin_window(Controller& controller);
  [[gnu::noinline]] void run_window(unsigned team, TimePoint start);
  [[gnu::noinline]] void end_window();
  void run_items(Tier& tier, Time from, Time to, std::size_t tasks);
  void note_run(Tier& tier, unsigned team);
  Time do_tier(std::uint32_t number, Time from, Time limit, std::size_t tasks);
  void begin_hub(std::uint32_t tier, Time from, Time to);
  void finish_hub(std::uint32_t tier, Time from, Time to);
  void do_hub(std::uint32_t tier, Time from, Time to);
  Time find_awake(std::span<const DomainId> order, Time from, Time to, std::vector<DomainId>& awake) const;
  void shuffle(std::vector<std::uint32_t>& items, std::uint64_t& state) const;
  void divide(unsigned team);
  TimePoint do_share(unsigned thread, unsigned team, TimePoint start);
  bool do_next_of(Share& from, unsigned thread);
  [[nodiscard]] unsigned fullest(unsigned thread, unsigned team) const;
  void do_item(std::uint32_t item, unsigned thread);
  void do_cell(std::uint32_t number, Time from, Time to, unsigned thread);
  void do_domain(DomainId id, Time from, Time to, unsigned thread);
  void note_sent(DomainId id, unsigned thread);
  [[nodiscard]] Time advance(Placed& placed, Time from, Time to) const;
  static double take_time(Share& share);
  void do_task(std::size_t task, unsigned thread);
  void order_by_cost(std::vector<std::uint32_t>& items) const;
  TimePoint do_logged_share(TimePoint start);
  void flip(Group& group, Time now);
  void sum_up();
  [[nodiscard]] bool worth_sharing(const Tier& tier) const;
  void rethrow_first_error();

  EngineOptions options_;
  std::vector<Placed> domains_;
  std::vector<Time> next_;  // by domain: when it has something to do next, mail included
  std::vector<NetworkBase*> networks_, numbered_;
  std::vector<std::uint32_t> places_;  // by number: index into networks_, or kElsewhere
  Border* border_ = nullptr;
  std::vector<std::vector<std::uint32_t>> networks_of_;  // those that a domain sends on: indices
  std::vector<Time> reach_;  // by domain: the smallest declared latency of these, else kNever; in a cell, of
                             // those within it
  CellDivision division_;
  CellPlan plan_;                          // empty: cells are not used
  std::vector<Cell> cells_;                // of the plan
  std::vector<Group> groups_;              // those of the plan
  std::vector<std::uint64_t> flipped_in_;  // by network: the last flip of its group
  TaskSource* tasks_ = nullptr;

  Time now_ = 0, to_ = 0, until_ = kNever;
  std::vector<Tier> tiers_;         // of the plan; one without
  std::vector<double> cost_;        // by cell, or without them by domain: seconds of a run, smoothed
  Time run_from_ = 0, run_to_ = 0;  // of the items at hand
  std::vector<std::uint32_t> awake_, divided_;  // these items; divided_: memory for divide()
  std::size_t task_count_ = 0;                  // for the window at hand
  std::size_t run_tasks_ = 0;                   // for the run at hand
  std::uint64_t shuffle_state_ = 0;
  std::atomic<bool> finished_{false};  // read by workers outside of windows
  bool sampled_ = false;
  std::unique_ptr<Gate> gate_;
  unsigned team_ = 1;
  alignas(64) std::atomic<std::size_t> next_task_{0};
  std::vector<Share> shares_;
  std::atomic<bool> failed_{false};  // some domain has an error
  TimePoint between_;                // end of the last run
  EngineProfile profile_;
};

}  // namespace lockstep::sim
