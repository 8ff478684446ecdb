// The formats: GOAL texts as they are printed, Chakra's bytes read by a small reader of Protocol Buffers.
#include <map>

#include "export/cut.hpp"
#include "replayer.hpp"
#include "support.hpp"
#include "util/error.hpp"

namespace lockstep::test {
namespace {

using exporter::Graph;
using exporter::Node;

/// Rank 0 computes on two lanes and sends; rank 1 receives, and computes on its host.
Graph two_ranks() {
  Graph graph;
  graph.ranks = 2;
  graph.names = {"kernel", "send", "receive", "call"};
  graph.lanes = {2, 1};
  graph.nodes.resize(5);
  graph.nodes[0] = {Node::Kind::kCompute, true, false, 0, 0, 0, 1500, 0, 0, 3, {}, {}};
  graph.nodes[1] = {Node::Kind::kSend, false, true, 0, 1, 0, 0, 70000, 5, 1, {0}, {}};
  graph.nodes[2] = {Node::Kind::kCompute, false, false, 0, 0, 1, 2'000'000'499, 0, 0, 0, {0}, {1}};
  graph.nodes[3] = {Node::Kind::kReceive, false, true, 1, 0, 0, 0, 70000, 5, 2, {}, {}};
  graph.nodes[4] = {Node::Kind::kCompute, true, false, 1, 0, 0, 0, 0, 0, 3, {3}, {}};
  return graph;
}

/// A message of Protocol Buffers: its fields in order. Numbers, or bytes.
struct Field {
  unsigned number = 0;
  std::uint64_t value = 0;
  std::string bytes;
};

class Reader {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] bool end() const { return at_ == bytes_.size(); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.at(at_++));
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
  }
  std::string block() {
    const std::size_t size = varint();
    REQUIRE(at_ + size <= bytes_.size());
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  std::vector<Field> fields() {
    std::vector<Field> found;
    while (!end()) {
      const std::uint64_t key = varint();
      REQUIRE((key % 8 == 0 || key % 8 == 2));
      Field& field = found.emplace_back();
      field.number = static_cast<unsigned>(key / 8);
      key % 8 == 0 ? (void)(field.value = varint()) : (void)(field.bytes = block());
    }
    return found;
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

struct Decoded {
  std::map<unsigned, std::uint64_t> numbers;
  std::string name;
  std::vector<std::uint64_t> parents;
  std::map<std::string, std::pair<unsigned, std::uint64_t>> attributes;  // field of the value, value
};

std::vector<Decoded> decode(const std::string& file) {
  Reader reader(file);
  const auto metadata = Reader(reader.block()).fields();
  REQUIRE((metadata.size() == 1 && metadata[0].number == 1 && metadata[0].bytes == "0.0.4"));
  std::vector<Decoded> nodes;
  while (!reader.end()) {
    Decoded& node = nodes.emplace_back();
    for (const Field& field : Reader(reader.block()).fields()) {
      if (field.number == 2) {
        node.name = field.bytes;
      } else if (field.number == 5) {
        for (Reader packed(field.bytes); !packed.end();) node.parents.push_back(packed.varint());
      } else if (field.number == 10) {
        const auto parts = Reader(field.bytes).fields();
        REQUIRE((parts.size() == 2 && parts[0].number == 1));
        node.attributes[parts[0].bytes] = {parts[1].number, parts[1].value};
      } else {
        node.numbers[field.number] = field.value;
      }
    }
  }
  return nodes;
}

/// Compares the files with the graph, node by node.
void check_chakra(const Graph& graph, const std::vector<exporter::File>& files) {
  REQUIRE(files.size() == graph.ranks);
  std::vector<std::vector<Decoded>> decoded;
  for (const exporter::File& file : files) decoded.push_back(decode(file.content));
  std::vector<std::size_t> place, next(graph.ranks);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    CAPTURE(i);
    const Node& node = graph.nodes[i];
    place.push_back(next[node.rank]++);
    const Decoded& is = decoded[node.rank].at(place[i]);
    const bool computes = node.kind == Node::Kind::kCompute, sends = node.kind == Node::Kind::kSend;
    CHECK(is.name == graph.names[node.name]);
    CHECK(is.numbers.at(1) == place[i] + 1);
    CHECK(is.numbers.at(3) == (computes ? 4 : sends ? 5 : 6));
    REQUIRE(is.parents.size() == node.after.size());
    for (std::size_t p = 0; p < is.parents.size(); ++p) CHECK(is.parents[p] == place[node.after[p]] + 1);
    const auto attribute = [&](const char* name) { return is.attributes.at(name); };
    using Value = std::pair<unsigned, std::uint64_t>;
    CHECK(attribute("is_cpu_op") == Value{27, computes && node.on_host});
    if (computes) {
      CHECK(attribute("duration_ps") == Value{13, node.time_ps});
      const auto duration = is.numbers.find(7);
      const auto us = static_cast<double>(duration == is.numbers.end() ? 0 : duration->second);
      CHECK(us == Approx(static_cast<double>(node.time_ps) / 1e6).margin(1));
    } else {
      CHECK(attribute("comm_size") == Value{9, std::max<std::uint64_t>(node.bytes, 1)});
      CHECK(attribute("comm_src") == Value{7, sends ? node.rank : node.peer});
      CHECK(attribute("comm_dst") == Value{7, sends ? node.peer : node.rank});
      CHECK(attribute("comm_tag") == Value{7, node.tag});
    }
  }
  for (std::uint16_t r = 0; r < graph.ranks; ++r)
    CHECK(decoded[r].size() == std::max<std::size_t>(next[r], 1));
}

}  // namespace

TEST_CASE("GOAL as LogGOPSim's txt2bin reads it") {
  const auto files = exporter::write_goal(two_ranks(), "some/file");
  REQUIRE(files.size() == 1);
  CHECK(files[0].path == "some/file");
  CHECK(files[0].content ==
        "num_ranks 2\n\nrank 0 {\nl1: calc 2\nl2: send 70000b to 1 tag 5\nl2 requires l1\nl3: calc 2000000 "
        "cpu 1\n"
        "l3 requires l1\nl3 irequires l2\n}\n\nrank 1 {\nl1: recv 70000b from 0 tag 5\nl2: calc 0\n"
        "l2 requires l1\n}\n");
  const Goal goal(files[0].content);
  CHECK(goal.ends() == std::vector<double>{2000002, 2});
  CHECK(goal.ends({.latency = 10, .per_byte = 0.5}) == std::vector<double>{2000002, 2 + 35000 + 3 * 10});
}

TEST_CASE("An empty message has a byte, as it would take less than no time otherwise") {
  Graph graph = two_ranks();
  graph.nodes[1].bytes = graph.nodes[3].bytes = 0;
  CHECK_THAT(exporter::write_goal(graph, "x")[0].content,
             Catch::Contains("send 1b to 1") && Catch::Contains("recv 1b from 0"));
  check_chakra(graph, exporter::write_chakra(graph, "x"));
}

TEST_CASE("GOAL has 256 processors") {
  Graph graph = two_ranks();
  graph.lanes[1] = 256;
  CHECK_NOTHROW(exporter::write_goal(graph, "x"));
  graph.lanes[1] = 257;
  CHECK_THROWS_WITH(exporter::write_goal(graph, "x"), Catch::Contains("rank 1 has 257"));
}

TEST_CASE("Chakra's nodes") {
  Graph graph = two_ranks();
  graph.ranks = 3;  // rank 2 does nothing
  graph.lanes.push_back(1);
  const auto files = exporter::write_chakra(graph, "a/b");
  CHECK((files[0].path == "a/b.0.et" && files[2].path == "a/b.2.et"));
  check_chakra(graph, files);
  // Bytes of the first node, by hand from the encoding's definition.
  const std::string metadata =
      "\x07\x0a\x05"
      "0.0.4";
  CHECK(files[0].content.substr(0, metadata.size()) == metadata);
  const std::string node(
      "\x08\x01\x12\x04"
      "call"
      "\x18\x04\x52\x0e\x0a\x09"
      "is_cpu_op"
      "\xd8\x01\x01",
      26);
  CHECK(files[0].content.substr(metadata.size() + 1, node.size()) == node);
}

TEST_CASE("Rounding does not add up") {
  Graph graph;
  graph.ranks = 1;
  graph.lanes = {1};
  graph.names = {"call"};
  graph.nodes.resize(1000);
  for (Node& node : graph.nodes) node.time_ps = 333;
  const auto times = exporter::rounded_times(graph, 1000);
  CHECK(std::accumulate(times.begin(), times.end(), std::uint64_t{0}) == 333);
  CHECK(*std::max_element(times.begin(), times.end()) == 1);
}

TEST_CASE("A wait for another rank is one message, however many wait there") {
  Graph graph;
  graph.ranks = 3;
  graph.lanes = {1, 1, 1};
  graph.names = {"call"};
  graph.nodes.resize(5);
  for (std::uint32_t i = 0; i < 5; ++i) graph.nodes[i].time_ps = 1000 * (i + 1);
  graph.nodes[1].rank = graph.nodes[2].rank = 1;
  graph.nodes[3].rank = 2;
  graph.nodes[1].after = {0};
  graph.nodes[2].after = {0, 1};
  graph.nodes[3].after = {1, 0};
  graph.nodes[4].after = {3};
  const Graph cut = exporter::cut(graph);
  CHECK(count(cut, Node::Kind::kSend) == 4);  // 0 to 1, 1 to 2, 0 to 2, 2 to 0
  for (const Node& node : cut.nodes)
    for (const std::uint32_t before : node.after) CHECK(cut.nodes.at(before).rank == node.rank);
  const Goal goal(exporter::write_goal(cut, "x")[0].content);
  CHECK(goal.ends({.latency = 100}) == std::vector<double>{1 + 100 + 2 + 100 + 4 + 100 + 5, 106, 207});
}

TEST_CASE("A run's Chakra traces have its graph; the bytes are the same each time") {
  const ListedTrace trace(
      "MemcpyHtoD,0x7f8000000000,65536,1\nEventRecord,1\nStreamWait,0,0\nkernel-1.traceg\n");
  const Simulated run(*trace, one_gpu());
  check_chakra(run.graph(), exporter::write_chakra(run.graph(), "x"));
  gpu::RunOptions options;
  options.threads = 2;
  const Simulated again(*trace, one_gpu(), options);
  for (const exporter::Format& format : exporter::formats())
    CHECK(format.write(run.graph(), "x")[0].content == format.write(again.graph(), "x")[0].content);
}

}  // namespace lockstep::test
