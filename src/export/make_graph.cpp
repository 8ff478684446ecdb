#include "export/make_graph.hpp"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "export/draft.hpp"
#include "export/host_threads.hpp"
#include "export/host_times.hpp"
#include "export/processes.hpp"
#include "mem/apertures.hpp"
#include "util/error.hpp"
#include "util/types.hpp"

namespace lockstep::exporter {
namespace {

using trace::Command;
using CommandKind = Command::Kind;

/// Follows host::HostQueue, with nodes in place of times.
class Maker {
 public:
  Maker(const trace::TraceSet& trace, Results& results)
      : trace_(&trace),
        results_(&results),
        times_(results.system()),
        routes_(results.system().routes()),
        processes_have_calls_(results.system().served_by(config::NetDesignTraits::Server::kProcesses)),
        ranks_(trace::devices_of(trace.commands())),
        draft_(ranks_),
        host_(draft_, ranks_) {
    for (std::uint16_t r = 0; r < ranks_; ++r) processes_.emplace_back(draft_, times_, r);
  }

  Graph run() {
    if (ranks_ > results_->system().devices.size())
      throw UserError(fmt::format("the recording has {} devices and the run's system {}", ranks_,
                                  results_->system().devices.size()));
    for (const Command& command : trace_->commands()) add(command);
    results_->check_empty();
    return draft_.finish();
  }

 private:
  struct Stream {
    Lane lane;
    std::uint32_t chain = 0;
    Frontier frontier;
    std::uint64_t followed = 0;  // HostThreads::version() that it has followed
    enum class Before : std::uint8_t { kNeither, kKernel, kTask } before = Before::kNeither;
  };

  void add(const Command& c);
  void add_kernel(const Command& c);
  void add_plain_copy(const Command& c);
  void add_peer_copy(const Command& c);
  void add_task(const Command& c);
  Stream& enter(const Command& c, std::uint64_t stream);
  void call_between(Stream& stream, std::uint16_t rank, Stream::Before before, std::uint64_t ps);
  void copy(Stream& stream, std::uint16_t rank, std::string_view kind, Address address, std::uint64_t bytes);
  std::uint32_t link_copy(const Command& c, const Frontier& before);
  void close_gate();
  [[nodiscard]] Frontier everything() const;

  const trace::TraceSet* trace_;
  Results* results_;
  HostTimes times_;
  std::vector<std::vector<std::uint32_t>> routes_;
  bool processes_have_calls_;
  std::uint16_t ranks_;
  Draft draft_;
  HostThreads host_;
  std::vector<Process> processes_;
  std::map<std::pair<std::uint16_t, std::uint64_t>, Stream> streams_;  // by device and number
  std::deque<Frontier> events_;
  Frontier gate_;  // plain copies that what follows waits for
  mem::Apertures apertures_;
  std::uint64_t peer_copies_ = 0;
};

void Maker::add(const Command& c) {
  if (c.kind != CommandKind::kCopyToDevice && c.kind != CommandKind::kCopyToHost) close_gate();
  switch (c.kind) {
    case CommandKind::kCopyToDevice:
    case CommandKind::kCopyToHost:
      return add_plain_copy(c);
    case CommandKind::kKernel:
      return add_kernel(c);
    case CommandKind::kWait:
      return host_.waited(everything());
    case CommandKind::kEventWait:
      return host_.waited(events_.at(c.event));
    case CommandKind::kStreamCopyToDevice:
    case CommandKind::kStreamCopyToHost: {
      Stream& stream = enter(c, c.stream);
      return stream.frontier.set({link_copy(c, stream.frontier), stream.chain});
    }
    case CommandKind::kFill:
      return copy(enter(c, c.stream), c.device, "fill", c.address, c.bytes);
    case CommandKind::kDeviceCopy:
      return copy(enter(c, c.stream), c.device, "device_to_device", c.address, c.bytes);
    case CommandKind::kPeerCopy:
      return add_peer_copy(c);
    case CommandKind::kEventRecord:
      return (void)events_.push_back(enter(c, c.stream).frontier);
    case CommandKind::kStreamWait:
      return enter(c, c.stream).frontier.merge(events_.at(c.event));
    case CommandKind::kPlace:
      return apertures_.place(c.address, c.bytes, c.device);
    case CommandKind::kMulticast:  // kernels use it
      return;
    case CommandKind::kHostCall:
      if (!processes_have_calls_)
        host_.call(c.thread, times_.call(c.call, c.device), c.call == Command::Call::kReturn);
      return;
    case CommandKind::kHostTask:
      return add_task(c);
    case CommandKind::kManage:
    case CommandKind::kRelease:
    case CommandKind::kAdvise:
    case CommandKind::kPrefetch:
    case CommandKind::kHostAccess:
    case CommandKind::kDeviceAccess:
    case CommandKind::kStreamPrefetch:
      throw UserError(
          fmt::format("{}: a trace with managed memory cannot be exported: results do not say what "
                      "single migrations take",
                      trace_->name()));
    case CommandKind::kNetMemory:
    case CommandKind::kNetQueue:
    case CommandKind::kNetOperation:
      throw UserError(
          fmt::format("{}: networking from within kernels cannot be exported: there, messages and "
                      "computation are not separate",
                      trace_->name()));
  }
}

/// Its stream, behind what the host has done.
Maker::Stream& Maker::enter(const Command& c, std::uint64_t number) {
  const auto [found, added] = streams_.try_emplace({c.device, number});
  Stream& stream = found->second;
  if (added) {
    stream.lane = {Lane::Kind::kStream, number};
    stream.chain = draft_.new_chain();
  }
  if (added || stream.followed != host_.version()) host_.merge_into(stream.frontier, c.device);
  stream.followed = host_.version();
  return stream;
}

/// What the process spends between a kernel and a task of one stream.
void Maker::call_between(Stream& stream, std::uint16_t rank, Stream::Before before, std::uint64_t ps) {
  if (stream.before != before || ps == 0) return;
  stream.frontier.set(
      {draft_.compute(rank, {}, ps, "call of the CUDA runtime", stream.frontier), stream.chain});
}

void Maker::add_kernel(const Command& c) {
  const trace::KernelHeader& header = trace_->kernels().at(c.kernel);
  Stream& stream = enter(c, header.stream);
  if (processes_have_calls_)
    call_between(stream, c.device, Stream::Before::kTask, times_.call(Command::Call::kLaunch, c.device));
  stream.before = Stream::Before::kKernel;
  const std::uint64_t ps = results_->take_kernel(header, c.device);
  stream.frontier.set(
      {draft_.compute(c.device, stream.lane, ps, header.name, stream.frontier), stream.chain});
}

void Maker::add_task(const Command& c) {
  Stream& stream = enter(c, c.stream);
  call_between(stream, c.device, Stream::Before::kKernel, times_.call(Command::Call::kReturn, c.device));
  stream.before = Stream::Before::kTask;
  processes_[c.device].add(c.task, stream.frontier, stream.chain);
}

/// Within a device's memory; at once behind what is before it in its stream.
void Maker::copy(Stream& stream, std::uint16_t rank, std::string_view kind, Address address,
                 std::uint64_t bytes) {
  const std::uint64_t ps = results_->take_copy(kind, rank, address, bytes);
  stream.frontier.set({draft_.compute(rank, stream.lane, ps, kind, stream.frontier), stream.chain});
}

/// Over the link between device and host, one at a time in each direction.
std::uint32_t Maker::link_copy(const Command& c, const Frontier& before) {
  const bool to_device = trace::is_copy_to_device(c.kind);
  const char* const kind = to_device ? "host_to_device" : "device_to_host";
  const Lane lane{to_device ? Lane::Kind::kToDevice : Lane::Kind::kToHost};
  const std::uint64_t start_ps = results_->system().devices[c.device].host.copy_start_ns * kPsOfNs;
  Frontier prepared = before;
  if (start_ps > 0)
    prepared.set(
        {draft_.compute(c.device, {Lane::Kind::kStream, c.stream}, start_ps, "copy's start", before)});
  return draft_.compute(c.device, lane, results_->take_copy(kind, c.device, c.address, c.bytes), kind,
                        prepared);
}

void Maker::add_plain_copy(const Command& c) {
  const bool overlapped = results_->system().devices[0].host.copy_mode == config::CopyMode::kOverlapped;
  Frontier before;
  host_.merge_into(before, c.device);
  if (!overlapped) {
    before.merge(everything());
    before.merge(gate_);
  }
  gate_.add({link_copy(c, before)});
}

void Maker::close_gate() {
  if (gate_.empty()) return;
  host_.waited_last(gate_);
  gate_.clear();
}

Frontier Maker::everything() const {
  Frontier all;
  for (const auto& [key, stream] : streams_) all.merge(stream.frontier);
  return all;
}

/// A message, complete at the other device. Where no link leads there, through the host's memory.
void Maker::add_peer_copy(const Command& c) {
  const std::uint16_t from = apertures_.owner(c.source, c.device), to = apertures_.owner(c.address, c.device);
  if (from >= ranks_ || to >= ranks_)
    throw UserError(fmt::format("{}: a copy from or to multicast memory cannot be exported", trace_->name()));
  Stream& stream = enter(c, c.stream);
  if (from == to || c.bytes == 0) return copy(stream, from, "device_to_device", c.address, c.bytes);
  Command part = c;
  if (routes_[from][to] == config::SystemConfig::kNoEdge) {
    for (const bool to_device : {false, true}) {
      part.kind = to_device ? CommandKind::kStreamCopyToDevice : CommandKind::kStreamCopyToHost;
      part.device = to_device ? to : from;
      part.address = to_device ? c.address : c.source;
      stream.frontier.set({link_copy(part, stream.frontier), stream.chain});
    }
    return;
  }
  (void)results_->take_copy("peer_to_peer", from, c.address, c.bytes);
  const MessageKey key{from, to, MessageKey::Space::kCopy, peer_copies_++};
  if (const std::uint64_t ps = results_->system().copy_start_ps; ps > 0)
    stream.frontier.set(
        {draft_.compute(from, stream.lane, ps, "copy's start", stream.frontier), stream.chain});
  (void)draft_.send(key, c.bytes, false, {Lane::Kind::kPeers}, stream.frontier);
  stream.frontier.set({draft_.receive(key, {Lane::Kind::kPeers}, {}), stream.chain});
}

}  // namespace

Graph make_graph(const trace::TraceSet& trace, Results& results) { return Maker(trace, results).run(); }

}  // namespace lockstep::exporter
