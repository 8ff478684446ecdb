// A small simulator of GOAL texts, in the LogGOPS model with o = g = O = 0. It has nothing in common with
// what writes them.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <queue>
#include <regex>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace lockstep::test {

/// Times in ns.
struct Network {
  double latency = 0, per_byte = 0;
  double fetch = 0;            // further latency of a message with data, which a NIC has to read first
  double eager_bytes = 12288;  // more: a request, a permission, the data, an acknowledgement
};

class Goal {
 public:
  struct Operation {
    enum { kCalc, kSend, kReceive } kind = kCalc;
    std::uint64_t size = 0;  // of kCalc: ns
    unsigned rank = 0, peer = 0, tag = 0, cpu = 0;
    unsigned left = 0;                                // that it requires
    std::vector<std::size_t> ended_to{}, begun_to{};  // who requires it
  };

  explicit Goal(const std::string& text) {
    static const std::regex rank(R"(rank (\d+) \{)"), calc(R"((\w+): calc (\d+)(?: cpu (\d+))?)"),
        message(R"((\w+): (send|recv) (\d+)b (to|from) (\d+) tag (\d+)(?: cpu (\d+))?)"),
        requires_line(R"((\w+) (i?)requires (\w+))");
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    REQUIRE(line.rfind("num_ranks ", 0) == 0);
    ranks = static_cast<unsigned>(std::stoul(line.substr(10)));
    std::map<std::string, std::size_t> labels;
    const auto number = [](const auto& match) {
      return match.matched ? static_cast<unsigned>(std::stoul(match.str())) : 0u;
    };
    unsigned current = 0;
    for (std::smatch m; std::getline(lines, line);) {
      if (line.empty() || line == "}") continue;
      if (std::regex_match(line, m, rank)) {
        current = number(m[1]);
        labels.clear();
      } else if (std::regex_match(line, m, calc)) {
        labels[m[1]] = operations.size();
        operations.push_back({Operation::kCalc, std::stoull(m[2]), current, 0, 0, number(m[3])});
      } else if (std::regex_match(line, m, message)) {
        labels[m[1]] = operations.size();
        const bool sends = m[2] == "send";
        REQUIRE(sends == (m[4] == "to"));
        operations.push_back({sends ? Operation::kSend : Operation::kReceive, std::stoull(m[3]), current,
                              number(m[5]), number(m[6]), number(m[7])});
      } else {
        INFO(line);
        REQUIRE(std::regex_match(line, m, requires_line));
        Operation& before = operations.at(labels.at(m[3]));
        (m[2] == "i" ? before.begun_to : before.ended_to).push_back(labels.at(m[1]));
        ++operations.at(labels.at(m[1])).left;
      }
    }
  }

  /// When each rank ends, in ns.
  [[nodiscard]] std::vector<double> ends(const Network& network = {}) const;
  [[nodiscard]] double makespan(const Network& network = {}) const {
    const auto all = ends(network);
    return *std::max_element(all.begin(), all.end());
  }

  unsigned ranks = 0;
  std::vector<Operation> operations;
};

class Replay {
 public:
  Replay(const Goal& goal, const Network& network)
      : goal_(goal), network_(network), at_(goal.operations.size()) {
    for (const auto& operation : goal.operations) left_.push_back(operation.left);
    for (std::size_t i = 0; i < left_.size(); ++i)
      if (left_[i] == 0) events_.push({0, count_++, i, false});
  }
  std::vector<double> run() {
    std::vector<double> ends(goal_.ranks);
    std::size_t ended = 0;
    while (!events_.empty()) {
      const Event e = events_.top();
      events_.pop();
      const auto& operation = goal_.operations[e.operation];
      if (!e.end) {
        begin(e);
        continue;
      }
      ++ended;
      ends[operation.rank] = std::max(ends[operation.rank], e.time);
      release(operation.ended_to, e.time);
    }
    REQUIRE(ended == goal_.operations.size());  // else messages lack their other side
    return ends;
  }

 private:
  struct Event {
    double time;
    std::size_t order, operation;
    bool end;
    bool operator<(const Event& other) const {
      return std::tie(other.time, other.order) < std::tie(time, order);
    }
  };
  struct Message {
    bool sent = false, posted = false;
    std::size_t send = 0, receive = 0;
    double send_time = 0, post_time = 0;
  };

  void release(const std::vector<std::size_t>& operations, double time) {
    for (const std::size_t next : operations) {
      at_[next] = std::max(at_[next], time);
      if (--left_[next] == 0) events_.push({at_[next], count_++, next, false});
    }
  }
  void end(std::size_t operation, double time) { events_.push({time, count_++, operation, true}); }
  void begin(const Event& e) {
    const auto& operation = goal_.operations[e.operation];
    if (operation.kind == Goal::Operation::kCalc) {
      double& free = cpus_[{operation.rank, operation.cpu}];
      if (free > e.time) return events_.push({free, count_++, e.operation, false});
      free = e.time + static_cast<double>(operation.size);
      end(e.operation, free);
    } else {
      message(e, operation);
    }
    release(operation.begun_to, e.time);
  }
  void message(const Event& e, const Goal::Operation& operation) {
    const bool sends = operation.kind == Goal::Operation::kSend;
    const unsigned from = sends ? operation.rank : operation.peer,
                   to = sends ? operation.peer : operation.rank;
    Message& m = messages_[{from, to, operation.tag}];
    const auto size = static_cast<double>(operation.size);
    const bool eager = size <= network_.eager_bytes;
    (sends ? m.sent : m.posted) = true;
    (sends ? m.send : m.receive) = e.operation;
    (sends ? m.send_time : m.post_time) = e.time;
    if (sends && eager) {
      m.send_time = wire(from, e.time, size) + latency(size);  // its arrival
      end(m.send, e.time);
    }
    if (!m.sent || !m.posted) return;
    REQUIRE(goal_.operations[m.send].size == goal_.operations[m.receive].size);
    if (eager) return end(m.receive, std::max(m.send_time, m.post_time));
    const double allowed = std::max(m.send_time + network_.latency, m.post_time) + network_.latency;
    const double arrived = wire(from, allowed, size) + latency(size);
    end(m.receive, arrived);
    end(m.send, arrived + network_.latency);
  }
  [[nodiscard]] double latency(double size) const {
    return network_.latency + (size > 1 ? network_.fetch : 0);
  }
  /// When the last byte has been sent.
  double wire(unsigned rank, double time, double bytes) {
    double& free = wires_[rank];
    return free = std::max(free, time) + bytes * network_.per_byte;
  }

  const Goal& goal_;
  Network network_;
  std::vector<double> at_;
  std::vector<unsigned> left_;
  std::priority_queue<Event> events_;
  std::size_t count_ = 0;
  std::map<std::pair<unsigned, unsigned>, double> cpus_;
  std::map<unsigned, double> wires_;
  std::map<std::tuple<unsigned, unsigned, unsigned>, Message> messages_;
};

inline std::vector<double> Goal::ends(const Network& network) const { return Replay(*this, network).run(); }

}  // namespace lockstep::test
