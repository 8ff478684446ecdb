// Graphs and executable graphs by their handles.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "cuda/graph.hpp"
#include "cuda/streams.hpp"

namespace lockstep::cuda {

struct GraphExec {
  std::unique_ptr<Graph> graph;
  unsigned long long flags = 0;  // it was instantiated with
  // For launches in a stream of another device than some nodes': by device, a stream for its nodes; and
  // events between streams that launches have made.
  std::map<unsigned, abi::Stream> streams;
  std::vector<abi::Event> events;
};

class Graphs {
 public:
  /// `streams`: which launches make streams and events of; must outlive this.
  explicit Graphs(Streams& streams) : streams_(streams) {}

  Graph& add(std::unique_ptr<Graph> graph);
  /// Also a body of a conditional node. Throws ApiError(InvalidValue), as the functions below.
  [[nodiscard]] Graph& at(void* handle);
  void destroy(void* handle);
  /// The graph that has the node.
  [[nodiscard]] Graph& owner(const GraphNode* node);
  /// By the handle of a conditional value.
  [[nodiscard]] std::shared_ptr<const GraphCondition> condition(Address handle) const;

  GraphExec& add(std::unique_ptr<GraphExec> exec);
  [[nodiscard]] GraphExec& exec(void* handle);
  void destroy_exec(void* handle);
  /// The events of its launches so far are needed no more.
  void drop_events(GraphExec& exec);

  /// Device reset: what was made on the device is gone.
  void clear(unsigned device);

 private:
  Streams& streams_;
  std::map<Graph*, std::unique_ptr<Graph>> graphs_;
  std::map<GraphExec*, std::unique_ptr<GraphExec>> execs_;
};

}  // namespace lockstep::cuda
