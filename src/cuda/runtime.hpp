// The state of the CUDA runtime in one process. The program's functional effects happen inside its calls, in
// their order: that is one of the orders that streams allow, and the same in every run.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/gpu_config.hpp"
#include "cuda/abi.hpp"
#include "cuda/array.hpp"
#include "cuda/context.hpp"
#include "cuda/device_state.hpp"
#include "cuda/error.hpp"
#include "cuda/execution_page.hpp"
#include "cuda/graph.hpp"
#include "cuda/graph_memory.hpp"
#include "cuda/held_work.hpp"
#include "cuda/launch_monitor.hpp"
#include "cuda/lookout.hpp"
#include "cuda/memory_log.hpp"
#include "cuda/modules.hpp"
#include "cuda/multicast.hpp"
#include "cuda/operation.hpp"
#include "cuda/pools.hpp"
#include "cuda/processes.hpp"
#include "cuda/recorder.hpp"
#include "cuda/settings.hpp"
#include "cuda/virtual_memory.hpp"
#include "exec/access_set.hpp"
#include "exec/check/checker.hpp"
#include "exec/device_memory.hpp"
#include "exec/launch.hpp"
#include "exec/signal_log.hpp"
#include "exec/texture_table.hpp"

namespace lockstep::cuda {

/// In place of a stream: the default one, and the host waits until the copy is complete.
inline const abi::Stream kBlocking = reinterpret_cast<abi::Stream>(~std::uintptr_t{0});

struct GraphExec {
  std::unique_ptr<Graph> graph;
  bool frees_at_launch = false;  // what the launch before allocated and did not free
  // Of launches in streams of other devices than some nodes': by device, a stream for its nodes; and events
  // between streams that launches have made.
  std::map<unsigned, abi::Stream> streams;
  std::vector<abi::Event> events;
};

class Runtime {
 public:
  /// Made at the first call. The process ends with code 2 and one line on stderr when the environment that
  /// `lockstep exec` sets up is not there or wrong.
  static Runtime& instance();

  std::recursive_mutex mutex;
  Lookout lookout;
  Settings settings;
  exec::DeviceMemory memory;
  VirtualMemory virtual_memory{memory};
  MemoryLog memory_log{memory};
  MulticastObjects multicast{memory, virtual_memory, memory_log};
  Processes processes{memory};
  exec::TextureTable textures;
  Modules modules;
  Pools pools;

  [[nodiscard]] int devices() const { return static_cast<int>(devices_.size()); }
  /// The calling thread's.
  [[nodiscard]] DeviceState& device() { return *devices_[current_device()]; }
  /// Throws ApiError(InvalidDevice).
  [[nodiscard]] DeviceState& device(int number);

  /// Before the first call of the program; else the trace is called after the process.
  void set_trace_name(const std::string& name);
  /// Memory of its own, of the calling thread's device. Throws ApiError(MemoryAllocation).
  [[nodiscard]] Address allocate(std::uint64_t bytes, exec::MemoryKind kind);
  /// False where no allocation begins there.
  [[nodiscard]] bool release(Address address);
  /// Memory of graphs that is in use, whosever it is: GraphMemory::end_use().
  [[nodiscard]] bool end_graph_use(Address address);
  /// Performs `operation` or makes it a node of the graph that `stream` is captured into.
  void submit(abi::Stream stream, Operation operation);
  [[nodiscard]] KernelLaunch prepare(const void* function, KernelLaunch launch, void** args);
  [[nodiscard]] Copy copy_3d(const abi::Memcpy3DParms& parameters);
  // The host waits. Where held work cannot go on and the program has another thread, that may write what is
  // waited for; else it is a fault: kErrorLaunchTimeout, and a line that says where the kernel stands.
  void wait_all();  // that the calling thread's device has
  void wait_stream(abi::Stream stream);
  void wait_event(abi::Event event);
  /// All that is held is done, or all of a device; nothing is written into the trace for it.
  void wait_held();
  void wait_held(unsigned device);
  /// Whether it is so at the host's time; where no simulation runs beside the program, always.
  [[nodiscard]] bool is_complete(abi::Event event);
  [[nodiscard]] bool is_complete(StreamState& stream);
  [[nodiscard]] float elapsed_milliseconds(abi::Event from, abi::Event to);
  void end_capture(Graph* graph);
  /// cudaDeviceReset of the calling thread's device: frees what the program allocated, variables get their
  /// initial values, errors are forgotten.
  void reset();
  /// Whether something that is put into the stream now would be held.
  [[nodiscard]] bool is_held(const StreamState& stream) const { return held_.held.holds(stream); }

  /// The state behind a handle; 0, 1 and 2 are the calling thread's device's default stream. Throws
  /// ApiError(InvalidResourceHandle).
  StreamState& stream(abi::Stream handle);
  EventState& event(abi::Event handle);
  abi::Stream create_stream(unsigned flags, int priority);
  void destroy_stream(abi::Stream handle);
  abi::Event create_event(unsigned flags);
  void destroy_event(abi::Event handle);

  std::map<Graph*, std::unique_ptr<Graph>> graphs;
  std::map<GraphExec*, std::unique_ptr<GraphExec>> graph_execs;
  std::map<Array*, std::unique_ptr<Array>> arrays;
  Array& array(void* handle);
  Graph& graph(void* handle);
  GraphExec& graph_exec(void* handle);
  /// The events of a graph's launches before are needed no more, and its streams, where it is destroyed.
  void drop_launches(GraphExec& exec, bool destroyed);
  /// By the handle of a conditional value. Throws ApiError(InvalidValue).
  [[nodiscard]] std::shared_ptr<const GraphCondition> condition(Address handle);

  /// One line on stderr for each function, and its name in the report.
  void warn_unsupported(const char* function);
  /// One line on stderr, once for each `text`: something was asked for and makes no difference here.
  void warn_once(const std::string& text);
  /// At the end of the process: what was called and is not there.
  void report();

 private:
  explicit Runtime(Settings settings);
  [[nodiscard]] bool perform(Work& work);
  [[nodiscard]] bool to_device(Work& work);
  [[nodiscard]] bool carry_out(Work& work);
  void record_event(const Work& work);
  // held.cpp
  void issue(StreamState& stream, Operation operation);
  [[nodiscard]] bool holds_at_call(Work& work);
  void hold(Work work);
  bool go_on();
  [[nodiscard]] bool try_work(Work& work);
  [[nodiscard]] bool may_go_on(const KernelRun& run);
  void wait_until(const std::function<bool()>& done);
  void pause(unsigned round);
  [[noreturn]] void give_up(const Work& work);
  [[nodiscard]] const Work* waiting_kernel() const;
  void drop_held(std::optional<unsigned> device = {});
  void log_wait_all();
  [[nodiscard]] std::unique_ptr<KernelRun> begin_kernel(KernelLaunch source, bool may_wait);
  /// False: it waits; call again to go on.
  [[nodiscard]] bool run_kernel(KernelRun& run, const StreamState& stream);
  /// For the caller of the program: what the checks have found so far.
  void save_findings();
  void run_children(const std::vector<exec::ChildLaunch>& children, const KernelLaunch& parent,
                    const StreamState& stream);
  void run_child(const exec::ChildLaunch& child, const KernelLaunch& parent, const StreamState& stream);
  [[nodiscard]] bool execute(KernelRun& run, const StreamState& stream);
  [[nodiscard]] bool execute_recorded(KernelRun& run, const StreamState& stream);
  [[nodiscard]] bool execute_clocked(KernelRun& run, const StreamState& stream);
  void copy(const Copy& copy, const StreamState& stream);
  /// Before something is recorded in `stream`; nullptr where nothing is recorded.
  [[nodiscard]] StreamLog* enter(const StreamState& stream);
  void fill(const Fill& fill, const StreamState& stream);

  HeldWork held_;
  std::map<StreamState*, std::unique_ptr<StreamState>> streams_, gone_streams_;  // gone: held work names them
  std::map<EventState*, std::unique_ptr<EventState>> events_, gone_events_;
  std::vector<std::unique_ptr<DeviceState>> devices_;
  exec::SignalLog signals_;  // of several devices
  exec::AccessSets access_sets_{memory.arena_bytes()};
  std::unique_ptr<exec::Checker> checker_;            // nothing: nothing is checked
  std::uint64_t saved_findings_ = ~std::uint64_t{0};  // errors and warnings
  std::unique_ptr<Recorder> recorder_;
  SharedPage execution_;
  LaunchMonitor monitor_{execution_.page()};
  std::uint32_t next_stream_;
  bool ordered_ = settings.devices == 1;  // and no stream was made with cudaStreamNonBlocking
  std::set<std::string> clock_warnings_;  // kernels
  std::uint64_t ticks_ = 0;  // without a timing model: executed warp instructions and copied lines
  std::uint64_t launches_ = 0;
  std::uint64_t executed_ = 0;  // warp instructions, for Settings::max_instructions
  std::set<std::string> unsupported_, warned_;
};

}  // namespace lockstep::cuda
