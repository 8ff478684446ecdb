// MPI programs as what their processes have called, and what simulating them gives.
#pragma once

#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "../net/support.hpp"
#include "messages/joined_trace.hpp"
#include "messages/recording.hpp"

namespace lockstep::test {

/// Writes recordings line by line: of MPI_COMM_WORLD, which is communicator 0.
class Calls {
 public:
  explicit Calls(unsigned processes) : lines_(processes), requests_(processes) {
    for (unsigned p = 0; p < processes; ++p) {
      lines_[p] = "lockstep-mpi 1 " + std::to_string(p) + " " + std::to_string(processes) + "\nC 0 0 " +
                  std::to_string(processes);
      for (unsigned m = 0; m < processes; ++m) lines_[p] += " " + std::to_string(m);
      lines_[p] += "\n";
    }
  }
  [[nodiscard]] unsigned processes() const { return static_cast<unsigned>(lines_.size()); }
  Calls& line(unsigned process, const std::string& text) {
    lines_[process] += text + "\n";
    return *this;
  }
  /// MPI_Isend, MPI_Irecv: the request.
  unsigned isend(unsigned process, unsigned to, std::uint64_t bytes, int tag = 0, Address address = 0,
                 bool within = false) {
    line(process, "S 0 " + std::to_string(within) + " " + std::to_string(requests_[process]) + " 0 " +
                      std::to_string(to) + " " + std::to_string(tag) + " " + std::to_string(bytes) + " " +
                      std::to_string(address));
    return requests_[process]++;
  }
  unsigned irecv(unsigned process, Address address = 0) {
    line(process, "R 0 0 " + std::to_string(requests_[process]) + " 0 " + std::to_string(address));
    return requests_[process]++;
  }
  Calls& wait_sent(unsigned process, unsigned request, bool within = false) {
    return line(process, "W 0 " + std::to_string(within) + " " + std::to_string(request));
  }
  Calls& wait_received(unsigned process, unsigned request, unsigned from, int tag = 0, bool within = false) {
    return line(process, "W 0 " + std::to_string(within) + " " + std::to_string(request) + " " +
                             std::to_string(from) + " " + std::to_string(tag));
  }
  Calls& send(unsigned process, unsigned to, std::uint64_t bytes, int tag = 0, Address address = 0) {
    return wait_sent(process, isend(process, to, bytes, tag, address), true);
  }
  Calls& receive(unsigned process, unsigned from, int tag = 0, Address address = 0) {
    return wait_received(process, irecv(process, address), from, tag, true);
  }
  /// By all: `sizes` as the recording has them.
  Calls& collective(const std::string& name, unsigned root, const std::vector<std::uint64_t>& sizes) {
    for (unsigned p = 0; p < processes(); ++p) {
      std::string text =
          "K 0 " + name + " 0 " + std::to_string(root) + " 0 0 " + std::to_string(sizes.size());
      for (const std::uint64_t size : sizes) text += " " + std::to_string(size);
      line(p, text);
    }
    return *this;
  }

  /// The files, where the last call of each process is MPI_Finalize.
  [[nodiscard]] std::vector<messages::ProcessFiles> write(const std::filesystem::path& folder) const {
    std::vector<messages::ProcessFiles> files;
    for (unsigned p = 0; p < processes(); ++p) {
      const std::string path = (folder / (std::to_string(p) + ".calls")).string();
      std::ofstream(path) << lines_[p] << "E 0\n";
      files.push_back({path, ""});
    }
    return files;
  }
  [[nodiscard]] messages::JoinedTrace join(const messages::Protocol& protocol = {}) const {
    const TemporaryFolder folder;
    return messages::JoinedTrace(write(folder.path()), protocol, "program");
  }
  [[nodiscard]] gpu::RunResult run(const config::SystemConfig& system,
                                   const messages::Protocol& protocol = {}) const {
    gpu::RunOptions options;
    options.system = system;
    options.config = system.devices.front();
    return gpu::simulate(join(protocol), options);
  }

 private:
  std::vector<std::string> lines_;
  std::vector<unsigned> requests_;
};

/// In ns.
[[nodiscard]] inline double time_of(const gpu::RunResult& result) {
  REQUIRE(result.outcome == gpu::Outcome::kDone);
  return static_cast<double>(result.report.total_cycles) / 1.5;  // at 1.5 GHz
}

/// How many times a latency over both wires of the star stands in the time of the calls.
[[nodiscard]] inline double ways(const Calls& calls, const messages::Protocol& protocol = {}) {
  const auto run = [&](std::uint64_t more_ps) {
    config::SystemConfig system = nodes(calls.processes(), "inter_kernel");
    kind(system, "wire").latency_ps += more_ps;
    return time_of(calls.run(system, protocol));
  };
  constexpr std::uint64_t kMore = 50'000'000;  // ps; more than everything else takes
  return (run(kMore) - run(0)) / (2 * kMore / 1000.0);
}

/// 16 short messages at once.
[[nodiscard]] inline Calls window_of(std::uint64_t bytes) {
  Calls window(2);
  std::vector<unsigned> sent, received;
  for (int i = 0; i < 16; ++i) {
    sent.push_back(window.isend(0, 1, bytes));
    received.push_back(window.irecv(1));
  }
  for (const unsigned r : sent) window.wait_sent(0, r, r != sent.front());
  for (const unsigned r : received) window.wait_received(1, r, 0, 0, r != received.front());
  return window;
}

/// Both processes send before they receive, and do not wait for it.
[[nodiscard]] inline Calls exchange_of(std::uint64_t bytes) {
  Calls exchange(2);
  for (const unsigned p : {0u, 1u}) {
    const unsigned sent = exchange.isend(p, 1 - p, bytes), received = exchange.irecv(p);
    exchange.wait_sent(p, sent).wait_received(p, received, 1 - p);
  }
  return exchange;
}

}  // namespace lockstep::test
