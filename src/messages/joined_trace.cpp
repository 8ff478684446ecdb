#include "messages/joined_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "messages/memory.hpp"
#include "trace/compact_directory.hpp"
#include "trace/content_hash.hpp"
#include "trace/host_stream.hpp"
#include "util/error.hpp"

namespace lockstep::messages {
namespace {

using trace::Command;
using CommandKind = Command::Kind;

/// The commands of one process.
class ProcessCommands {
 public:
  ProcessCommands(std::uint16_t number, const trace::TraceSet* trace, std::uint32_t first_kernel,
                  bool elapses, std::vector<Command>& out, std::uint32_t& events)
      : number_(number),
        trace_(trace),
        first_kernel_(first_kernel),
        elapses_(elapses),
        host_(number, out, events) {}

  void add_all(const std::vector<PlacedTask>& tasks) {
    auto task = tasks.begin();
    const std::size_t count = trace_ == nullptr ? 0 : trace_->commands().size();
    for (std::size_t i = 0; i <= count; ++i) {
      for (; task != tasks.end() && (task->position <= i || i == count); ++task)
        task->reads_clock ? host_.read_clock() : add(task->task);
      if (i < count) add(trace_->commands()[i]);
    }
  }

 private:
  void add(const trace::HostTask& task) {
    Command c;
    c.kind = CommandKind::kHostTask;
    c.task = task;
    host_.add_own(c);
  }
  void add_call(Command::Call call) {
    if (call == Command::Call::kNothing) return;  // which of the host's threads calls
    trace::HostTask task;
    task.kind = trace::HostTask::Kind::kCall;
    task.instructions = static_cast<std::uint64_t>(call);
    add(task);
  }

  void add(Command c) {
    switch (c.kind) {
      case CommandKind::kKernel:
        c.stream = trace_->kernels()[c.kernel].stream;
        c.kernel += first_kernel_;
        return host_.issue(c);
      case CommandKind::kHostCall:
        return add_call(c.call);
      case CommandKind::kWait:
        return host_.wait_for_all();
      case CommandKind::kEventWait:
        return host_.wait_for(recorded_.at(c.event));
      case CommandKind::kStreamWait:
        c.event = recorded_.at(c.event);
        return host_.issue(c);
      case CommandKind::kEventRecord:
        host_.enter(c.stream);
        recorded_.push_back(host_.record(c.stream, c.timestamp));
        return;
      case CommandKind::kStreamCopyToDevice:
      case CommandKind::kStreamCopyToHost:
      case CommandKind::kFill:
      case CommandKind::kDeviceCopy:
        c.address = moved(c.address, number_);
        return host_.issue(c);
      case CommandKind::kPlace:
        return;
      case CommandKind::kHostTask:
        if (c.task.kind == trace::HostTask::Kind::kElapse) {
          if (elapses_) add(c.task);
          return;
        }
        // The recorder's own does nothing.
        if (c.task.kind == trace::HostTask::Kind::kCompute && c.task.instructions + c.task.bytes == 0) return;
        [[fallthrough]];
      default:
        throw UserError(fmt::format("process {}: {} cannot be simulated in an MPI program", number_,
                                    trace::is_network(c.kind) || c.kind == CommandKind::kHostTask
                                        ? "networking from within kernels"
                                        : "managed memory"));
    }
  }

  std::uint16_t number_;
  const trace::TraceSet* trace_;
  std::uint32_t first_kernel_;
  bool elapses_;  // what the host has computed takes time
  trace::HostStream host_;
  std::vector<std::uint32_t> recorded_;  // events, by their number in the process: in the whole
};

/// The CTAs of a process's kernel.
class MovedFeed final : public trace::CtaFeed {
 public:
  MovedFeed(std::unique_ptr<trace::CtaFeed> feed, std::uint16_t process)
      : feed_(std::move(feed)), process_(process) {}
  [[nodiscard]] const trace::KernelHeader& header() const override { return feed_->header(); }
  [[nodiscard]] const trace::StaticTable& instructions() const override { return feed_->instructions(); }
  [[nodiscard]] trace::TracedInstruction traced(std::uint32_t i) const override { return feed_->traced(i); }
  void want(std::uint64_t end) override { feed_->want(end); }
  [[nodiscard]] std::size_t plan() override { return feed_->plan(); }
  void run(std::size_t task) noexcept override { feed_->run(task); }
  void settle() override { feed_->settle(); }
  [[nodiscard]] trace::CtaTrace* take(std::uint64_t index) override {
    trace::CtaTrace* const cta = feed_->take(index);
    if (process_ != 0) move_addresses(*cta, instructions(), process_);
    return cta;
  }
  void release(trace::CtaTrace* cta) noexcept override { feed_->release(cta); }
  void skip(std::uint64_t begin, std::uint64_t end) override { feed_->skip(begin, end); }
  [[nodiscard]] const trace::TraceNotes& notes() const override { return feed_->notes(); }

 private:
  std::unique_ptr<trace::CtaFeed> feed_;
  std::uint16_t process_;
};

std::vector<Recording> read_all(const std::vector<ProcessFiles>& files) {
  std::vector<Recording> all;
  for (const ProcessFiles& f : files) {
    const Recording& one = all.emplace_back(read_recording(f.calls));
    if (one.rank + std::size_t{1} != all.size() || one.size != files.size())
      throw InputError(f.calls, 1,
                       fmt::format("is of process {} of {}; expected {} of {}", one.rank, one.size,
                                   all.size() - 1, files.size()));
    if (!one.complete) throw UserError(fmt::format("process {} has not called MPI_Finalize", one.rank));
  }
  return all;
}

}  // namespace

JoinedTrace::JoinedTrace(const std::vector<ProcessFiles>& files, const Protocol& protocol, std::string name)
    : name_(std::move(name)) {
  const std::vector<Recording> recordings = read_all(files);
  std::set<std::string> names;
  for (const Recording& r : recordings) names.insert(r.not_simulated.begin(), r.not_simulated.end());
  not_simulated_.assign(names.begin(), names.end());
  const auto tasks = schedule(recordings, protocol);
  for (std::uint16_t p = 0; p < files.size(); ++p) add(p, files[p].trace);
  commands_ = join(tasks, true);
  hash_ = hash_of(commands_);
  if (!measures_host_time()) return;
  constexpr std::uint64_t kUpper = ~std::uint64_t{0} << 32;
  hash_ = (hash_of(join(tasks, false)) & kUpper) | (hash_ & ~kUpper);
}

void JoinedTrace::add(std::uint16_t process, const std::string& path) {
  first_kernel_.push_back(static_cast<std::uint32_t>(kernels_.size()));
  traces_.push_back(path.empty() ? nullptr : trace::open_trace(path));
  const trace::TraceSet* const trace = traces_.back().get();
  for (std::uint32_t k = 0; trace != nullptr && k < trace->kernels().size(); ++k) {
    kernels_.push_back(trace->kernels()[k]);
    if (trace::L2Launch& l2 = kernels_.back().l2; l2.bytes > 0) l2.base = moved(l2.base, process);
    kernel_of_.emplace_back(process, k);
  }
}

std::vector<Command> JoinedTrace::join(const std::vector<std::vector<PlacedTask>>& tasks,
                                       bool elapses) const {
  std::vector<Command> all;
  std::uint32_t events = 0;
  for (std::uint16_t p = 0; p < traces_.size(); ++p) {
    Command place;
    place.kind = CommandKind::kPlace;
    place.device = p;
    place.address = moved(exec::kArenaBase, p);
    place.bytes = exec::kRegionBytes;
    all.push_back(place);
    ProcessCommands(p, traces_[p].get(), first_kernel_[p], elapses, all, events).add_all(tasks[p]);
  }
  return all;
}

std::uint64_t JoinedTrace::hash_of(const std::vector<Command>& commands) const {
  trace::ContentHash hash;
  for (const auto& trace : traces_) hash.update(trace ? trace->content_hash() : 0);
  trace::Bytes all;
  for (const Command& command : commands) trace::encode_command(command, all);
  hash.update(reinterpret_cast<const char*>(all.data()), all.size());
  return hash.value();
}

bool JoinedTrace::measures_host_time() const {
  return std::ranges::any_of(commands_, [](const Command& c) {
    return c.kind == CommandKind::kHostTask && c.task.kind == trace::HostTask::Kind::kElapse;
  });
}

std::unique_ptr<trace::CtaFeed> JoinedTrace::open(std::uint32_t index) const {
  const auto& [process, kernel] = kernel_of_.at(index);
  return std::make_unique<MovedFeed>(traces_[process]->open(kernel), process);
}

}  // namespace lockstep::messages
