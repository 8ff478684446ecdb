#include "cuda/graph_dot.hpp"

#include <fmt/format.h>

#include <iterator>
#include <map>

#include "cuda/modules.hpp"

namespace lockstep::cuda {

namespace {

struct Label {
  std::string operator()(const Nothing&) const { return "EMPTY"; }
  std::string operator()(const KernelLaunch& l) const {
    return fmt::format("KERNEL\\n{}\\n{}x{}x{} CTAs of {}x{}x{}", l.kernel->name, l.grid.x, l.grid.y,
                       l.grid.z, l.block.x, l.block.y, l.block.z);
  }
  std::string operator()(const Copy& c) const {
    return fmt::format("MEMCPY\\n{} bytes", c.width * c.height * c.depth);
  }
  std::string operator()(const Fill& f) const {
    return fmt::format("MEMSET\\n{:#x}, {} bytes", f.value, f.element * f.width * f.height * f.depth);
  }
  std::string operator()(const HostCall&) const { return "HOST"; }
  std::string operator()(const RecordEvent&) const { return "EVENT_RECORD"; }
  std::string operator()(const WaitEvent&) const { return "EVENT_WAIT"; }
  std::string operator()(const AllocateMemory& a) const {
    return fmt::format("MEM_ALLOC\\n{} bytes", a.memory->bytes());
  }
  std::string operator()(const FreeMemory&) const { return "MEM_FREE"; }
  std::string operator()(const PrefetchMemory& p) const {
    return fmt::format("PREFETCH\\n{} bytes", p.bytes);
  }
  std::string operator()(const ValueOperations& v) const {
    return fmt::format("BATCH_MEM_OP\\n{} operations", v.list.size());
  }
  std::string operator()(const ProcessTask&) const { return "HOST"; }  // is never captured
};

std::string label_of(const GraphNode& node) {
  constexpr const char* kTypes[] = {"IF", "WHILE", "SWITCH"};
  if (node.child) return "GRAPH";
  if (node.choice) return fmt::format("CONDITIONAL\\n{}", kTypes[node.choice->type]);
  return std::visit(Label{}, node.operation);
}

class Writer {
 public:
  std::string take() { return "digraph dot {\n" + std::move(text_) + "}\n"; }

  void add(const Graph& graph) {
    const unsigned own = graphs_++;
    const auto out = std::back_inserter(text_);
    fmt::format_to(out, "subgraph cluster_{} {{\nlabel=\"graph_{}\";\n", own, own);
    std::map<const GraphNode*, std::size_t> numbers;
    for (const auto& node : graph.nodes) {
      const std::size_t number = numbers[node.get()] = numbers.size();
      fmt::format_to(out, "\"graph_{}_node_{}\"[shape=box,label=\"{}\"];\n", own, number, label_of(*node));
    }
    for (const auto& node : graph.nodes)
      for (const GraphNode* before : node->dependencies)
        fmt::format_to(out, "\"graph_{}_node_{}\" -> \"graph_{}_node_{}\";\n", own, numbers.at(before), own,
                       numbers.at(node.get()));
    text_ += "}\n";
    for (const auto& node : graph.nodes) {
      if (node->child) add(*node->child);
      if (!node->choice) continue;
      for (const auto& body : node->choice->bodies) add(*body);
    }
  }

 private:
  std::string text_;
  unsigned graphs_ = 0;
};

}  // namespace

std::string to_dot(const Graph& graph) {
  Writer writer;
  writer.add(graph);
  return writer.take();
}

}  // namespace lockstep::cuda
