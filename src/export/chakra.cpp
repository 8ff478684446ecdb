// Chakra execution traces, schema/protobuf/et_def.proto of mlcommons/chakra: messages of Protocol Buffers,
// each behind its length. Two kinds of messages with numbers and texts do not make a library worth its
// dependency: their encoding is a few lines.
#include <algorithm>

#include "export/formats.hpp"

namespace lockstep::exporter {
namespace {

constexpr std::uint64_t kPsOfUs = 1'000'000;

/// A message of Protocol Buffers.
class Message {
 public:
  Message& number(unsigned field, std::uint64_t value) {
    if (value == 0) return *this;  // as proto3 has it
    return put(field, value);
  }
  /// Of a oneof: 0 is written, too.
  Message& choice(unsigned field, std::uint64_t value) { return put(field, value); }
  Message& text(unsigned field, std::string_view value) {
    varint(field << 3 | kLengthDelimited);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  /// Repeated numbers, packed.
  Message& numbers(unsigned field, const std::vector<std::uint64_t>& values) {
    if (values.empty()) return *this;
    Message packed;
    for (const std::uint64_t value : values) packed.varint(value);
    return text(field, packed.bytes_);
  }
  /// Behind its length.
  void append_to(std::string& file) const {
    Message length;
    length.varint(bytes_.size());
    file += length.bytes_ + bytes_;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  static constexpr unsigned kVarint = 0, kLengthDelimited = 2;  // wire types
  Message& put(unsigned field, std::uint64_t value) {
    varint(field << 3 | kVarint);
    varint(value);
    return *this;
  }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

// Fields of Node, and values of NodeType.
enum : unsigned { kId = 1, kName = 2, kType = 3, kDataDeps = 5, kDuration = 7, kAttribute = 10 };
enum : unsigned { kComputation = 4, kSending = 5, kReceiving = 6 };
// Fields of AttributeProto, by the type of its value.
enum : unsigned { kInt32 = 7, kInt64 = 9, kUint64 = 13, kBool = 27 };

void attribute(Message& node, std::string_view name, unsigned type, std::uint64_t value) {
  Message attribute;
  attribute.text(1, name).choice(type, value);
  node.text(kAttribute, attribute.bytes());
}

Message metadata() {
  Message message;
  message.text(1, "0.0.4");  // the schema's version, as Chakra's own converters write it
  return message;
}

/// A node waits for what has to be complete. A send that has to have begun waits for nothing else than what
/// the node itself waits for.
std::vector<std::uint64_t> parents(const Node& node, const std::vector<std::uint32_t>& numbers) {
  std::vector<std::uint64_t> found;
  for (const std::uint32_t before : node.after) found.push_back(numbers[before]);
  return found;
}

void put_node(std::string& file, const Graph& graph, std::size_t index, std::uint64_t us,
              const std::vector<std::uint32_t>& numbers) {
  const Node& node = graph.nodes[index];
  const bool computes = node.kind == Node::Kind::kCompute, sends = node.kind == Node::Kind::kSend;
  Message message;
  message.number(kId, numbers[index])
      .text(kName, graph.names[node.name])
      .number(kType, computes ? kComputation
                     : sends  ? kSending
                              : kReceiving)
      .numbers(kDataDeps, parents(node, numbers))
      .number(kDuration, us);
  attribute(message, "is_cpu_op", kBool, computes && node.on_host ? 1 : 0);
  if (computes) {
    attribute(message, "num_ops", kInt64, 0);
    attribute(message, "tensor_size", kUint64, 0);
    attribute(message, "duration_ps", kUint64, node.time_ps);
  } else {
    attribute(message, "comm_size", kInt64, std::max<std::uint64_t>(node.bytes, 1));
    attribute(message, "comm_src", kInt32, sends ? node.rank : node.peer);
    attribute(message, "comm_dst", kInt32, sends ? node.peer : node.rank);
    attribute(message, "comm_tag", kInt32, node.tag);
  }
  message.append_to(file);
}

/// A rank without nodes would be an error in ASTRA-sim.
void put_idle(std::string& file) {
  Message message;
  message.number(kId, 1).text(kName, "idle").number(kType, kComputation);
  attribute(message, "is_cpu_op", kBool, 1);
  message.append_to(file);
}

}  // namespace

std::vector<File> write_chakra(const Graph& graph, const std::string& where) {
  const auto times = rounded_times(graph, kPsOfUs);
  const auto numbers = numbers_in_ranks(graph);
  std::vector<File> files;
  for (std::uint16_t r = 0; r < graph.ranks; ++r) {
    files.push_back({where + "." + std::to_string(r) + ".et", {}});
    metadata().append_to(files.back().content);
  }
  std::vector<bool> any(graph.ranks);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    any[graph.nodes[i].rank] = true;
    put_node(files[graph.nodes[i].rank].content, graph, i, times[i], numbers);
  }
  for (std::uint16_t r = 0; r < graph.ranks; ++r)
    if (!any[r]) put_idle(files[r].content);
  return files;
}

}  // namespace lockstep::exporter
