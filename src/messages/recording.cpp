#include "messages/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <limits>
#include <map>
#include <string_view>

#include "trace/kernel_trace.hpp"
#include "util/error.hpp"

namespace lockstep::messages {
namespace {

constexpr std::array<std::string_view, 12> kCollectives{
    "MPI_Barrier",        "MPI_Bcast",    "MPI_Reduce", "MPI_Allreduce",
    "MPI_Allgather",      "MPI_Alltoall", "MPI_Gather", "MPI_Scatter",
    "MPI_Reduce_scatter", "MPI_Scan",     "MPI_Exscan", "MPI_Neighbor_alltoall"};
constexpr std::array<std::string_view, 5> kOneSided{"MPI_Put", "MPI_Get", "MPI_Accumulate",
                                                    "MPI_Get_accumulate", "MPI_Fetch_and_op"};
constexpr std::array<std::string_view, 10> kOrders{
    "MPI_Win_fence",      "MPI_Win_flush", "MPI_Win_flush_all", "MPI_Win_lock",     "MPI_Win_unlock",
    "MPI_Win_unlock_all", "MPI_Win_post",  "MPI_Win_start",     "MPI_Win_complete", "MPI_Win_wait"};
constexpr std::string_view kCalls = "SRWKIOY";  // letters of lines that are calls
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 40;
constexpr std::uint64_t kMaxUnit = (std::uint64_t{1} << 31) - 1;  // an int of MPI_Win_create
constexpr std::uint64_t kMaxEdges = 1 << 20;                      // of a process in a graph

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), in_(path) {
    if (!in_) throw InputError(path, 0, "cannot be read; expected what an MPI program has called");
  }

  Recording read() {
    while (std::getline(in_, text_)) {
      ++line_;
      rest_ = text_;
      if (line_ == 1) {
        header();
      } else {
        entry();
      }
      if (!rest_.empty()) fail("nothing more on the line");
    }
    if (line_ == 0) fail("a header");
    return std::move(all_);
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    throw InputError(path_, line_, fmt::format("found '{}'; expected {}", text_, expected));
  }
  std::string_view word() {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return found;
  }
  std::uint64_t number(const char* what, std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
    const std::string_view found = word();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(found.data(), found.data() + found.size(), value);
    if (error != std::errc{} || end != found.data() + found.size() || value > most)
      fail(fmt::format("{}, a number up to {}", what, most));
    return value;
  }
  std::uint16_t process() {
    return static_cast<std::uint16_t>(number("a process", all_.size - std::uint64_t{1}));
  }
  std::uint32_t communicator() {
    if (all_.communicators.empty()) fail("a communicator before it is used");
    return static_cast<std::uint32_t>(number("a communicator", all_.communicators.size() - 1));
  }

  void header() {
    if (word() != "lockstep-mpi" || word() != "1") fail("'lockstep-mpi 1 RANK SIZE'");
    all_.rank = static_cast<std::uint16_t>(number("a rank", trace::Command::kMaxDevices - 1u));
    all_.size = static_cast<std::uint16_t>(number("a size", trace::Command::kMaxDevices));
    if (all_.rank >= all_.size) fail("a rank below the size");
  }

  void entry() {
    const std::string_view letter = word();
    if (all_.complete) fail("nothing behind the end");
    if (letter == "C") return add_communicator();
    if (letter == "V") return add_window();
    if (letter == "N") {
      all_.not_simulated.emplace_back(rest_);
      rest_ = {};
    } else if (letter == "X") {
      (void)number("an exit code");
    } else if (letter == "E") {
      (void)number("a position");
      all_.complete = true;
    } else if (letter == "T") {
      clock();
    } else if (letter.size() == 1 && kCalls.find(letter) != std::string_view::npos) {
      call(letter.front());
    } else {
      fail("one of C S R W K I V O Y T N E X");
    }
  }

  void add_communicator() {
    if (number("the communicator's number") != all_.communicators.size())
      fail(fmt::format("communicator {}", all_.communicators.size()));
    Communicator& made = all_.communicators.emplace_back();
    made.id = number("its id");
    for (std::uint64_t n = number("its members", all_.size); n > 0; --n) made.members.push_back(process());
    if (made.members.empty()) fail("its members, at least one");
  }

  std::uint64_t position() {
    const std::uint64_t found = number("a position");
    if (found < last_) fail("a position not before that of the line before");
    return last_ = found;
  }

  void clock() {
    Call c;
    c.kind = Call::Kind::kClock;
    c.position = position();
    all_.calls.push_back(std::move(c));
    if (++clock_reads_ > kMaxClockReads)
      throw UserError(fmt::format(
          "process {} reads its clock (MPI_Wtime) more than {} times; expected a program that does "
          "not wait for a time to come",
          all_.rank, kMaxClockReads));
  }

  void add_window() {
    Window window;
    const std::uint32_t of = communicator();
    window.base = number("an address");
    window.unit = number("a unit", kMaxUnit);
    all_.communicators[of].window = window;
  }
  std::uint32_t window() {
    const std::uint32_t found = communicator();
    if (!all_.communicators[found].window) fail("a window");
    return found;
  }

  void call(char letter) {
    Call c;
    c.position = position();
    if (letter == 'K' || letter == 'I') {
      if (letter == 'I') begin_collective(c);
      collective(c);
    } else if (letter == 'O') {
      one_sided(c);
    } else if (letter == 'Y') {
      order(c);
    } else {
      c.within = number("0 or 1", 1) != 0;
      c.request = number("a request");
      point_to_point(letter, c);
    }
    all_.calls.push_back(std::move(c));
  }

  void point_to_point(char letter, Call& c) {
    if (letter == 'W') {
      c.kind = Call::Kind::kComplete;
      const auto open = open_.find(c.request);
      if (open == open_.end()) fail("a request that has begun and is not complete");
      if (open->second) {
        c.peer = process();
        c.tag = static_cast<std::int64_t>(number("a tag"));
      }
      open_.erase(open);
      return;
    }
    c.kind = letter == 'S' ? Call::Kind::kSend : Call::Kind::kReceive;
    if (!open_.emplace(c.request, letter == 'R').second) fail("a new request");
    c.communicator = communicator();
    if (letter == 'R') {
      c.receive = number("an address");
      return;
    }
    c.peer = process();
    c.tag = static_cast<std::int64_t>(number("a tag"));
    c.bytes = {number("bytes", kMaxBytes)};
    c.send = number("an address");
  }

  template <class Enum, std::size_t kCount>
  Enum named(const std::array<std::string_view, kCount>& names, const char* what) {
    const auto found = std::find(names.begin(), names.end(), word());
    if (found == names.end()) fail(what);
    return static_cast<Enum>(found - names.begin());
  }
  void one_sided(Call& c) {
    c.kind = Call::Kind::kOneSided;
    c.request = number("a request");
    if (!open_.emplace(c.request, false).second) fail("a new request");
    c.one_sided = named<OneSided>(kOneSided, "a one-sided operation's name");
    c.communicator = window();
    c.peer = process();
    c.bytes = {number("bytes", kMaxBytes)};
    c.send = number("an address");
    c.receive = number("an address");
    c.displacement = number("a displacement");
    if (c.one_sided == OneSided::kAtomic && c.bytes.front() != 4 && c.bytes.front() != 8)
      fail("4 or 8 bytes");
  }
  void order(Call& c) {
    c.kind = Call::Kind::kOrder;
    c.order = named<Order>(kOrders, "the name of a call that orders operations");
    c.communicator = window();
    const std::size_t members = all_.communicators[c.communicator].members.size();
    for (std::uint64_t n = number("a number of members", members); n > 0; --n)
      c.to.push_back(static_cast<std::uint32_t>(number("a member", members - 1)));
  }

  void begin_collective(Call& c) {
    c.kind = Call::Kind::kBeginCollective;
    c.request = number("a request");
    if (!open_.emplace(c.request, false).second) fail("a new request");
  }
  void collective(Call& c) {
    if (c.kind != Call::Kind::kBeginCollective) c.kind = Call::Kind::kCollective;
    c.collective = named<Collective>(kCollectives, "a collective call's name");
    c.communicator = communicator();
    const std::size_t members = all_.communicators[c.communicator].members.size();
    c.root = static_cast<std::uint32_t>(number("a root", members - 1));
    c.send = number("an address");
    c.receive = number("an address");
    if (c.collective == Collective::kNeighborhood) return neighborhood(c, members);
    for (std::uint64_t n = number("a number of sizes", members); n > 0; --n)
      c.bytes.push_back(number("bytes", kMaxBytes));
    if (c.bytes.size() != sizes(c.collective, members))
      fail(fmt::format("{} sizes", sizes(c.collective, members)));
  }
  void neighborhood(Call& c, std::size_t members) {
    const auto member = [&] { return static_cast<std::uint32_t>(number("a member", members - 1)); };
    const std::uint64_t to = number("a number of edges", kMaxEdges);
    for (std::uint64_t n = to; n > 0; --n) c.bytes.push_back(number("bytes", kMaxBytes));
    for (std::uint64_t n = to; n > 0; --n) c.to.push_back(member());
    for (std::uint64_t n = number("a number of edges", kMaxEdges); n > 0; --n) c.from.push_back(member());
  }
  static std::size_t sizes(Collective c, std::size_t members) {
    if (c == Collective::kBarrier) return 0;
    const bool each = c == Collective::kAllGather || c == Collective::kAllToAll ||
                      c == Collective::kScatter || c == Collective::kReduceScatter;
    return each ? members : 1;
  }

  std::string path_;
  std::ifstream in_;
  std::string text_;
  std::string_view rest_;
  std::uint64_t line_ = 0, last_ = 0, clock_reads_ = 0;
  std::map<std::uint64_t, bool> open_;  // requests; true: it receives
  Recording all_;
};

}  // namespace

Recording read_recording(const std::string& path) { return Reader(path).read(); }

}  // namespace lockstep::messages
