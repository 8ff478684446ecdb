#include "trace/device_folders.hpp"

#include <fmt/format.h>

#include "trace/compact_blocks.hpp"
#include "trace/content_hash.hpp"
#include "trace/host_stream.hpp"
#include "trace/moved_addresses.hpp"
#include "trace/text_trace_set.hpp"
#include "util/error.hpp"

namespace lockstep::trace {
namespace {

using CommandKind = Command::Kind;

/// The commands of one program, with streams and events in place of its host's waits.
class Program {
 public:
  /// Appends to `out`; `events`: those recorded in it so far.
  Program(const TextTraceSet& trace, std::uint16_t device, std::uint32_t first_kernel,
          std::vector<Command>& out, std::uint32_t& events)
      : trace_(&trace), first_kernel_(first_kernel), out_(&out), host_(device, out, events) {}

  void add_all() {
    const std::vector<Command>& commands = trace_->commands();
    auto foreign = trace_->foreign().begin();
    for (std::size_t i = 0; i < commands.size(); ++i) {
      const bool is_foreign = foreign != trace_->foreign().end() && foreign->command == i;
      add(commands[i], is_foreign ? &*foreign++ : nullptr);
    }
  }

  /// Events that the program's list records, by their number there: their number in the whole.
  [[nodiscard]] const std::vector<std::uint32_t>& recorded() const { return recorded_; }
  struct Open {
    std::size_t command;  // in the whole; its event is a number of the other list
    ForeignEvent from;
  };
  [[nodiscard]] const std::vector<Open>& open() const { return open_; }
  [[nodiscard]] const std::string& list_file() const { return trace_->list_file(); }

 private:
  void add(Command c, const ForeignEvent* foreign) {
    switch (c.kind) {
      case CommandKind::kKernel:
        c.stream = trace_->kernels()[c.kernel].stream;
        c.kernel += first_kernel_;
        return host_.issue(c);
      case CommandKind::kCopyToDevice:
      case CommandKind::kCopyToHost:
        host_.wait_for_all();
        c.kind =
            is_copy_to_device(c.kind) ? CommandKind::kStreamCopyToDevice : CommandKind::kStreamCopyToHost;
        return host_.add_own(c);
      case CommandKind::kWait:
        return host_.wait_for_all();
      case CommandKind::kEventWait:
        c.kind = CommandKind::kStreamWait;
        c.stream = HostStream::kStream;
        wait(c, foreign);
        return host_.moved();
      case CommandKind::kStreamWait:
        host_.enter(c.stream);
        return wait(c, foreign);
      case CommandKind::kEventRecord:
        host_.enter(c.stream);
        recorded_.push_back(host_.record(c.stream));
        return;
      default:
        return host_.issue(c);
    }
  }
  void wait(Command c, const ForeignEvent* foreign) {
    if (foreign != nullptr) {
      open_.push_back({out_->size(), *foreign});
    } else {
      c.event = recorded_.at(c.event);
    }
    host_.push(c);
  }

  const TextTraceSet* trace_;
  std::uint32_t first_kernel_;
  std::vector<Command>* out_;
  HostStream host_;
  std::vector<std::uint32_t> recorded_;
  std::vector<Open> open_;
};

class DeviceFolders final : public TraceSet {
 public:
  DeviceFolders(const std::vector<DeviceFolder>& folders, const OpenOptions& options) {
    for (const DeviceFolder& folder : folders) {
      if (is_compact(folder.path))
        throw InputError(
            folder.path, 0,
            fmt::format("is a compact trace; expected the folder of a tracer for device {}", folder.device));
      traces_.push_back(
          std::make_unique<TextTraceSet>(folder.path, options, ListOptions{.device = folder.device}));
      name_ += (name_.empty() ? "" : "+") + traces_.back()->name();
    }
    place_all();
    add_all();
  }

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::vector<Command>& commands() const override { return commands_; }
  [[nodiscard]] const std::vector<KernelHeader>& kernels() const override { return kernels_; }
  [[nodiscard]] std::unique_ptr<CtaFeed> open(std::uint32_t index) const override {
    const auto& [trace, kernel] = kernel_of_.at(index);
    return traces_[trace]->open(kernel);
  }
  [[nodiscard]] std::uint64_t content_hash() const override {
    ContentHash hash;
    for (const auto& trace : traces_) hash.update(trace->content_hash());
    return hash.value();
  }

 private:
  void place_all() {
    for (std::size_t d = 0; d < traces_.size(); ++d) {
      Command place;
      place.kind = CommandKind::kPlace;
      place.device = static_cast<std::uint16_t>(d);
      place.address = device_region(place.device);
      place.bytes = kRegionBytes;
      commands_.push_back(place);
    }
  }

  void add_all() {
    std::uint32_t events = 0;
    std::vector<Program> programs;
    for (std::uint16_t d = 0; d < traces_.size(); ++d) {
      programs.emplace_back(*traces_[d], d, static_cast<std::uint32_t>(kernels_.size()), commands_, events);
      programs.back().add_all();
      for (std::uint32_t k = 0; k < traces_[d]->kernels().size(); ++k) {
        kernels_.push_back(traces_[d]->kernels()[k]);
        kernel_of_.emplace_back(d, k);
      }
    }
    for (const Program& program : programs)
      for (const Program::Open& wait : program.open())
        commands_[wait.command].event = find(programs, program, wait);
  }

  [[nodiscard]] std::uint32_t find(const std::vector<Program>& programs, const Program& program,
                                   const Program::Open& wait) const {
    const std::uint16_t device = wait.from.device;
    const std::uint32_t event = commands_[wait.command].event;
    const std::size_t there = device < programs.size() ? programs[device].recorded().size() : 0;
    if (event >= there)
      throw InputError(
          program.list_file(), wait.from.line,
          device < programs.size()
              ? fmt::format("event {}:{}; the list of device {} records {}", device, event, device, there)
              : fmt::format("event {}:{}; there is no --device {}", device, event, device));
    return programs[device].recorded()[event];
  }

  std::string name_;
  std::vector<std::unique_ptr<TextTraceSet>> traces_;
  std::vector<std::pair<std::uint16_t, std::uint32_t>> kernel_of_;  // trace and kernel there
  std::vector<Command> commands_;
  std::vector<KernelHeader> kernels_;
};

}  // namespace

std::unique_ptr<TraceSet> open_device_folders(const std::vector<DeviceFolder>& folders,
                                              const OpenOptions& options) {
  if (folders.size() == 1) return open_trace(folders.front().path, options);
  return std::make_unique<DeviceFolders>(folders, options);
}

}  // namespace lockstep::trace
