// The tasks of a device's process: what it computes, sends and waits for.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "export/draft.hpp"
#include "export/host_times.hpp"
#include "trace/host_task.hpp"

namespace lockstep::exporter {

/// As net::HostProcess: a task takes its time on the host, and then waits. What it sends leaves at its end;
/// what it receives has come to wherever the data belong.
class Process {
 public:
  Process(Draft& draft, const HostTimes& times, std::uint16_t device)
      : draft_(&draft), times_(&times), device_(device), begun_(draft.new_chain()) {}

  /// Replaces `stream`, what the task waits for, by what waits for the task. `chain`: the stream's.
  void add(const trace::HostTask& task, Frontier& stream, std::uint32_t chain);

 private:
  void send(const trace::HostTask& task, Frontier& stream);
  /// It has come; `stream` waits for it from here on.
  void arrive(const trace::HostTask& task, Frontier& stream, std::uint32_t chain);
  void accept(const trace::HostTask& task, Frontier& stream);
  /// The other side's NIC replies when the operation has come; `stream` does not wait for that.
  void operate(const trace::HostTask& task, Frontier& stream);

  using Message = std::pair<std::uint16_t, std::uint64_t>;  // the other process, the number
  Draft* draft_;
  const HostTimes* times_;
  std::uint16_t device_;
  std::uint32_t begun_;  // chain: sends and receives begin one after another
  std::map<Message, std::uint32_t> offered_, accepted_, replies_;  // nodes
  std::map<std::uint16_t, std::uint64_t> sent_, got_;              // kSend, kReceive, by the other process
  Frontier unflushed_;
};

}  // namespace lockstep::exporter
