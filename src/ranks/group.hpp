// The processes that simulate one system together.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace lockstep::ranks {

/// What a call of exchange() is for. All ranks make the same calls in the same order; where one fails it
/// takes part in whatever call is next, with kFailed.
enum class Topic : std::uint64_t { kHello, kDistances, kSync, kReport, kSum, kEnd, kFailed };

/// What every rank sends to every other one.
struct Notice {
  Topic topic = Topic::kSync;
  std::uint64_t time = 0;     // kSync: no later message arrives before; kSum: the number
  std::uint64_t flags = 0;    // kSync: bits of Flag; kFailed, kEnd: the exit code
  std::uint64_t work_ns = 0;  // filled in: of the host, since the call before. No result depends on it
};
struct Flag {
  static constexpr std::uint64_t kQuiet = 1;  // nothing is left to be done here
  static constexpr std::uint64_t kStop = 2;   // the run is to end: Ctrl-C
  static constexpr std::uint64_t kNetworksIdle =
      4;  // no request of a kernel, or message, is being served here
};

/// By rank.
struct Gathered {
  std::vector<Notice> notices;
  std::vector<std::string> messages;
};

/// Another rank has failed or has gone. The first rank that failed prints the error.
class Failed : public std::runtime_error {
 public:
  Failed(const std::string& what, int code) : std::runtime_error(what), code_(code) {}
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;
};

/// Where this rank's host time went. The cost of exchanging itself is its seconds without the wait for the
/// rank with the most work: work_seconds + seconds - longest_seconds.
struct GroupProfile {
  std::uint64_t exchanges = 0, messages = 0, bytes = 0;  // messages that this rank has sent
  double seconds = 0;                                    // in exchange()
  double work_seconds = 0;                               // between its calls
  double longest_seconds = 0;                            // likewise, of the rank that took longest each time
};

class Group {
 public:
  virtual ~Group() = default;
  [[nodiscard]] virtual unsigned rank() const = 0;
  [[nodiscard]] virtual unsigned size() const = 0;

  /// One collective call, and the messages that are not empty, `messages[r]` for rank r. Waits for all ranks.
  /// Throws Failed if one has failed or is gone; std::logic_error if topics differ.
  Gathered exchange(const Notice& notice, std::span<const std::string> messages);
  /// Without messages.
  Gathered exchange(const Notice& notice);
  /// On rank 0, every rank's text; on others, nothing.
  std::vector<std::string> gather(std::string mine);
  std::uint64_t sum(std::uint64_t mine);
  /// Announces that this rank has failed, in the others' next call, whichever that is. True if it is the
  /// first to fail; after Failed was thrown, does nothing and returns false. Does not throw.
  bool fail(int code) noexcept;

  /// After fail() and Failed, by all ranks: returns when all have called it, so that none terminates the
  /// others by exiting before they have reported what they have to. Does not throw.
  void part() noexcept;

  /// Polled while waiting for others; throws Failed when it has been true for some time: 0.3 s on rank 0,
  /// which has results to write, 2 s on the others.
  void set_interrupted(std::function<bool()> interrupted) { interrupted_ = std::move(interrupted); }
  [[nodiscard]] const GroupProfile& profile() const { return profile_; }
  /// Counts from here on.
  void begin_profile();

 protected:
  /// The exchange itself. `gathered` has notices, and messages of the right number.
  virtual void carry(const Notice& notice, std::span<const std::string> messages, Gathered& gathered) = 0;
  /// To be asked now and then while waiting.
  [[nodiscard]] bool must_give_up();

 private:
  void note(double work, double exchange, std::span<const std::string> messages, const Gathered& gathered);

  std::function<bool()> interrupted_;
  double interrupted_since_ = 0, last_end_ = 0;
  bool over_ = false;  // no rank makes another call
  GroupProfile profile_;
};

}  // namespace lockstep::ranks
