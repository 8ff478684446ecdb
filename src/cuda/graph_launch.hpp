// The launch of a graph: its nodes into streams of their devices.
#pragma once

#include <map>

#include "cuda/runtime.hpp"

namespace lockstep::cuda {

/// Nodes of the launching stream's device go into that stream, those of another device into a stream that the
/// executable graph has there, and events order them across devices as the graph's edges say. Within a device
/// nodes run one after the other.
class GraphLaunch {
 public:
  /// `stream` as the program names it.
  GraphLaunch(Runtime& rt, GraphExec& exec, abi::Stream stream);
  void run() { run(*exec_.graph, device_); }

 private:
  /// `device`: in whose stream the graph begins and ends.
  void run(const Graph& graph, unsigned device);
  void run_across(const Graph& graph, unsigned device);
  void perform(const GraphNode& node);
  void submit(unsigned device, Operation operation);
  [[nodiscard]] abi::Stream stream_of(unsigned device);
  /// An event behind all work of the device's stream; the streams of others wait for it.
  [[nodiscard]] abi::Event mark(unsigned device);
  void wait(unsigned device, abi::Event event) { submit(device, WaitEvent{event}); }
  void check_choices() const;
  /// Of the next work; the first is the launch's call.
  [[nodiscard]] Issue issue();

  Runtime& rt_;
  GraphExec& exec_;
  abi::Stream stream_;
  unsigned device_;
  bool choices_;
  bool called_ = false;  // some work was asked for
};

}  // namespace lockstep::cuda
