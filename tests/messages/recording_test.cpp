// Recordings against a writer of the format as recording.hpp describes it, and broken in every place.
#include "messages/recording.hpp"

#include <sstream>

#include "messages/schedule.hpp"
#include "support.hpp"
#include "tests/random.hpp"
#include "util/error.hpp"

namespace lockstep::test {
namespace {

using messages::Call;
using messages::Collective;
using messages::OneSided;
using messages::Order;
using messages::Recording;
using CallKind = messages::Call::Kind;

constexpr const char* kCollectiveNames[] = {"MPI_Barrier",   "MPI_Bcast",     "MPI_Reduce",
                                            "MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall",
                                            "MPI_Gather",    "MPI_Scatter",   "MPI_Reduce_scatter",
                                            "MPI_Scan",      "MPI_Exscan",    "MPI_Neighbor_alltoall"};
constexpr const char* kOneSidedNames[] = {"MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Get_accumulate",
                                          "MPI_Fetch_and_op"};
constexpr const char* kOrderNames[] = {
    "MPI_Win_fence",      "MPI_Win_flush", "MPI_Win_flush_all", "MPI_Win_lock",     "MPI_Win_unlock",
    "MPI_Win_unlock_all", "MPI_Win_post",  "MPI_Win_start",     "MPI_Win_complete", "MPI_Win_wait"};

template <class T>
void list(std::ostream& out, const std::vector<T>& values) {
  for (const T value : values) out << ' ' << value;
}

/// Its line after the letter and the position.
void write_call(std::ostream& out, const Call& c, const std::vector<bool>& receives) {
  switch (c.kind) {
    case CallKind::kSend:
      out << "S " << c.position << ' ' << c.within << ' ' << c.request << ' ' << c.communicator << ' '
          << c.peer << ' ' << c.tag << ' ' << c.bytes[0] << ' ' << c.send;
      break;
    case CallKind::kReceive:
      out << "R " << c.position << ' ' << c.within << ' ' << c.request << ' ' << c.communicator << ' '
          << c.receive;
      break;
    case CallKind::kComplete:
      out << "W " << c.position << ' ' << c.within << ' ' << c.request;
      if (receives[c.request]) out << ' ' << c.peer << ' ' << c.tag;
      break;
    case CallKind::kBeginCollective:
    case CallKind::kCollective:
      out << (c.kind == CallKind::kCollective ? "K " : "I ") << c.position << ' ';
      if (c.kind == CallKind::kBeginCollective) out << c.request << ' ';
      out << kCollectiveNames[static_cast<int>(c.collective)] << ' ' << c.communicator << ' ' << c.root << ' '
          << c.send << ' ' << c.receive << ' ' << c.bytes.size();
      list(out, c.bytes);
      list(out, c.to);
      if (c.collective != Collective::kNeighborhood) break;
      out << ' ' << c.from.size();
      list(out, c.from);
      break;
    case CallKind::kClock:
      out << "T " << c.position;
      break;
    case CallKind::kOneSided:
      out << "O " << c.position << ' ' << c.request << ' ' << kOneSidedNames[static_cast<int>(c.one_sided)]
          << ' ' << c.communicator << ' ' << c.peer << ' ' << c.bytes[0] << ' ' << c.send << ' ' << c.receive
          << ' ' << c.displacement;
      break;
    case CallKind::kOrder:
      out << "Y " << c.position << ' ' << kOrderNames[static_cast<int>(c.order)] << ' ' << c.communicator
          << ' ' << c.to.size();
      list(out, c.to);
  }
  out << '\n';
}

/// Of three processes, with a communicator of two and a window.
std::string text_of(const Recording& r, const std::vector<bool>& receives) {
  std::ostringstream out;
  out << "lockstep-mpi 1 " << r.rank << ' ' << r.size << '\n';
  for (std::size_t i = 0; i < r.communicators.size(); ++i) {
    out << "C " << i << ' ' << r.communicators[i].id << ' ' << r.communicators[i].members.size();
    list(out, r.communicators[i].members);
    out << '\n';
    if (const auto& window = r.communicators[i].window)
      out << "V " << i << ' ' << window->base << ' ' << window->unit << '\n';
  }
  for (const Call& c : r.calls) write_call(out, c, receives);
  for (const std::string& name : r.not_simulated) out << "N " << name << '\n';
  out << "E " << (r.calls.empty() ? 0 : r.calls.back().position) << '\n';
  return out.str();
}

/// Random calls with every field that their kind has.
class RandomRecording {
 public:
  explicit RandomRecording(std::uint32_t seed) : random_(seed) {
    all.rank = 1;
    all.size = 3;
    all.complete = true;
    all.communicators = {{0, {0, 1, 2}}, {77, {2, 1}}, {99, {0, 1, 2}, messages::Window{wide(), 8}}};
    all.not_simulated = {"MPI_Comm_spawn", "a name of several words"};
    for (int i = 0; i < 60; ++i) {
      Call c;
      c.position = position_ += random_() % 3;
      c.kind = static_cast<CallKind>(random_() % 8);
      if (c.kind == CallKind::kComplete && open_.empty()) continue;
      fill(c);
      all.calls.push_back(c);
    }
  }
  Recording all;
  std::vector<bool> receives;  // by request

 private:
  std::uint64_t wide() { return (std::uint64_t{random_()} << 32 | random_()) >> random_() % 64; }
  std::uint32_t below(std::uint32_t n) { return random_() % n; }
  void begin(Call& c) {
    c.request = receives.size();
    open_.push_back(c.request);
    receives.push_back(c.kind == CallKind::kReceive);
  }
  void fill(Call& c) {
    switch (c.kind) {
      case CallKind::kSend:
      case CallKind::kReceive:
        c.within = below(2) != 0;
        begin(c);
        c.communicator = below(3);
        if (c.kind == CallKind::kReceive) {
          c.receive = wide();
          return;
        }
        c.peer = static_cast<std::uint16_t>(below(3));
        c.tag = below(1 << 30);
        c.bytes = {wide() % (std::uint64_t{1} << 40)};
        c.send = wide();
        return;
      case CallKind::kComplete: {
        const auto i = open_.begin() + below(static_cast<std::uint32_t>(open_.size()));
        c.request = *i;
        open_.erase(i);
        if (!receives[c.request]) return;
        c.peer = static_cast<std::uint16_t>(below(3));
        c.tag = below(5);
        return;
      }
      case CallKind::kBeginCollective:
        begin(c);
        [[fallthrough]];
      case CallKind::kCollective:
        return fill_collective(c);
      case CallKind::kClock:
        return;
      case CallKind::kOneSided:
        begin(c);
        c.communicator = 2;
        c.one_sided = static_cast<OneSided>(below(5));
        c.peer = static_cast<std::uint16_t>(below(3));
        c.bytes = {c.one_sided == OneSided::kAtomic ? 4 + 4 * below(2) : below(5000)};
        c.send = wide();
        c.receive = wide();
        c.displacement = wide();
        return;
      case CallKind::kOrder:
        c.communicator = 2;
        c.order = static_cast<Order>(below(10));
        for (auto n = below(4); n > 0; --n) c.to.push_back(below(3));
    }
  }
  void fill_collective(Call& c) {
    c.communicator = below(2);
    const auto members = static_cast<std::uint32_t>(all.communicators[c.communicator].members.size());
    c.collective = static_cast<Collective>(below(12));
    c.root = below(members);
    c.send = wide();
    c.receive = wide();
    const auto w = c.collective;
    const bool each = w == Collective::kAllGather || w == Collective::kAllToAll ||
                      w == Collective::kScatter || w == Collective::kReduceScatter;
    std::uint32_t sizes = w == Collective::kBarrier ? 0 : each ? members : 1;
    if (w == Collective::kNeighborhood) {
      sizes = below(4);
      for (std::uint32_t i = 0; i < sizes; ++i) c.to.push_back(below(members));
      for (auto n = below(4); n > 0; --n) c.from.push_back(below(members));
    }
    for (; sizes > 0; --sizes) c.bytes.push_back(below(100'000));
  }

  Random32 random_;
  std::uint64_t position_ = 0;
  std::vector<std::uint64_t> open_;
};

auto fields_of(const Call& c) {
  return std::tuple(c.kind, c.collective, c.one_sided, c.order, c.within, c.position, c.request,
                    c.communicator, c.peer, c.tag, c.root, c.send, c.receive, c.displacement, c.bytes, c.to,
                    c.from);
}

Recording read_text(const TemporaryFolder& folder, const std::string& text) {
  const std::string path = (folder.path() / "calls").string();
  std::ofstream(path) << text;
  return messages::read_recording(path);
}

}  // namespace

TEST_CASE("Recordings: what a writer of the format has written is read back, field by field") {
  const TemporaryFolder folder;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    const RandomRecording written(seed);
    const Recording read = read_text(folder, text_of(written.all, written.receives));
    CHECK(read.rank == 1);
    CHECK(read.size == 3);
    CHECK(read.complete);
    CHECK(read.not_simulated == written.all.not_simulated);
    REQUIRE(read.communicators.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      const messages::Communicator &a = read.communicators[i], &b = written.all.communicators[i];
      CHECK((a.id == b.id && a.members == b.members && a.window.has_value() == b.window.has_value()));
      if (a.window) CHECK((a.window->base == b.window->base && a.window->unit == b.window->unit));
    }
    REQUIRE(read.calls.size() == written.all.calls.size());
    for (std::size_t i = 0; i < read.calls.size(); ++i)
      REQUIRE(fields_of(read.calls[i]) == fields_of(written.all.calls[i]));
  }
}

TEST_CASE("Recordings: one that is changed anywhere is read and scheduled, or refused with an error") {
  const TemporaryFolder folder;
  Random32 random(5);
  const char* const kWords[] = {"0",
                                "1",
                                "2",
                                "3",
                                "65535",
                                "18446744073709551615",
                                "18446744073709551616",
                                "-1",
                                "x",
                                "",
                                "E",
                                "MPI_Win_unlock_all",
                                "MPI_Bcast"};
  std::size_t refused = 0, taken = 0;
  for (int round = 0; round < 300; ++round) {
    const RandomRecording original(static_cast<std::uint32_t>(round % 40));
    std::string text = text_of(original.all, original.receives);
    for (auto n = 1 + random() % 2; n > 0; --n) {
      const std::size_t at = random() % text.size();
      const std::size_t begin = text.find_last_of(" \n", at) + 1, end = text.find_first_of(" \n", at);
      if (random() % 3 == 0) {
        text[at] = static_cast<char>(random());
      } else if (end != std::string::npos && begin < end) {
        text.replace(begin, end - begin, kWords[random() % std::size(kWords)]);
      }
    }
    try {
      Recording one = read_text(folder, text);
      std::vector<Recording> all(one.size);
      for (std::uint16_t p = 0; p < one.size; ++p) {
        all[p].rank = p;
        all[p].size = one.size;
        all[p].communicators = one.communicators;
      }
      all[one.rank] = one;
      (void)messages::schedule(all, {});
      ++taken;
    } catch (const InputError& error) {
      REQUIRE(std::string(error.what()).find("/calls:") != std::string::npos);
      ++refused;
    } catch (const UserError& error) {
      REQUIRE(std::string(error.what()).find("process ") == 0);
      ++taken;
    }
  }
  CHECK(refused > 30);
  CHECK(taken > 10);
}

TEST_CASE("Recordings: a communicator has members") {
  const TemporaryFolder folder;
  const std::string head = "lockstep-mpi 1 0 2\nC 0 0 2 0 1\n";
  CHECK_THROWS_WITH(read_text(folder, head + "C 1 5 0\nV 1 0 1\nY 0 MPI_Win_unlock_all 1 0\nE 0\n"),
                    Catch::Contains("calls:3: found 'C 1 5 0'; expected its members, at least one"));
  CHECK_THROWS_WITH(read_text(folder, head + "C 1 5 3 0 1 1\n"),
                    Catch::Contains("expected its members, a number up to 2"));
}

}  // namespace lockstep::test
