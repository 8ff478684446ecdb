// The timeline's text from random reports: every kernel, copy and event is there once, in a named row of its
// own kind, at its time to the picosecond.
#include "gpu/timeline.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/clock.hpp"
#include "tests/random.hpp"

namespace lockstep::test {
namespace {

using gpu::LinkTimeline;
using gpu::NetworkTimeline;
using gpu::timeline_json;
using gpu::TimelineEvent;
using nlohmann::json;
using EventKind = uvm::Event::Kind;

/// Microseconds as text, rounded down to a picosecond: what JSON numbers would lose.
std::string micros(std::uint64_t cycles, std::uint64_t khz) {
  const auto ps = static_cast<std::uint64_t>(static_cast<sim::Wide>(cycles) * 1'000'000'000 / khz);
  return fmt::format("{}.{:06d}", ps / 1'000'000, ps % 1'000'000);
}
std::string micros_of_ps(std::uint64_t ps) { return micros(ps, 1'000'000'000); }

struct Shown {
  json event;
  std::string ts, dur;
};

/// One event a line, as trace viewers need not have it but readers do.
struct Lines {
  std::vector<Shown> all;
  std::map<std::pair<int, std::uint64_t>, std::string> rows;  // process and row: its name
  std::map<int, std::string> nodes;

  explicit Lines(const std::string& text) {
    CHECK(json::parse(text).at("displayTimeUnit") == "ns");
    std::size_t at = text.find("[\n") + 2;
    for (std::size_t end = 0; text[at] == '{'; at = end + 1) {
      end = text.find('\n', at);
      std::string line = text.substr(at, end - at);
      if (line.back() == ',') line.pop_back();
      take(line);
    }
  }
  [[nodiscard]] std::vector<Shown> in(const std::string& row) const {
    std::vector<Shown> found;
    for (const Shown& one : all)
      if (rows.at({one.event.at("pid").get<int>(), one.event.at("tid").get<std::uint64_t>()}) == row)
        found.push_back(one);
    return found;
  }

 private:
  static std::string number_after(const std::string& line, const std::string& key) {
    const std::size_t begin = line.find(key);
    if (begin == std::string::npos) return {};
    return line.substr(begin + key.size(), line.find_first_of(",}", begin + key.size()) - begin - key.size());
  }
  void take(const std::string& line) {
    const json event = json::parse(line);
    const int pid = event.at("pid").get<int>();
    if (event.at("ph") != "M")
      return all.push_back({event, number_after(line, "\"ts\":"), number_after(line, "\"dur\":")});
    const std::string name = event.at("args").at("name");
    if (event.at("name") == "process_name") {
      CHECK(nodes.emplace(pid, name).second);
    } else {
      CHECK(rows.emplace(std::pair(pid, event.at("tid").get<std::uint64_t>()), name).second);
    }
  }
};

stats::RunReport random_report(Random32& random) {
  static const char* const kNames[] = {
      "scale", "void gemm<float, 128>(float const*, \"x\")", "a\\b\tc",
      "reduce<unsigned long, 256u, some_namespace::functor_with_a_long_name, "
      "another_namespace::second_functor>(unsigned long const*, int)",
      "reduce<unsigned long, 256u, some_namespace::functor_with_a_long_name, "
      "another_namespace::third_functor>(unsigned long const*, int)"};
  static const char* const kKinds[] = {"host_to_device", "device_to_host", "fill", "device_to_device",
                                       "peer_to_peer"};
  stats::RunReport report;
  report.core_khz = 1'000'003 + random() % 900'000;
  std::map<std::uint64_t, Cycle> ends;
  for (std::uint64_t id = 0; id < 40; ++id) {
    stats::KernelResult kernel;
    kernel.name = kNames[random() % 5];
    kernel.id = id;
    kernel.stream = random() % 4 * 7;
    kernel.start_cycle = ends[kernel.stream] + random() % 1000;
    kernel.cycles = 1 + random() % (id == 5 ? 0xffffffff : 5000);
    ends[kernel.stream] = kernel.start_cycle + kernel.cycles;
    report.kernels.push_back(kernel);
  }
  for (std::uint64_t i = 0; i < 30; ++i)
    report.copies.push_back({kKinds[random() % 5], (std::uint64_t{random()} << 16) + i, random() % 10000,
                             random(), random() % 9999, 0});
  return report;
}

Shown only(const std::vector<Shown>& all, const std::string& key, const json& value) {
  const Shown* found = nullptr;
  for (const Shown& one : all)
    if (one.event.at("args").contains(key) && one.event.at("args").at(key) == value) {
      REQUIRE(found == nullptr);
      found = &one;
    }
  REQUIRE(found != nullptr);
  return *found;
}

TEST_CASE("timeline: kernels stand in their stream's row, copies in their direction's, at exact times") {
  Random32 random(3);
  for (int round = 0; round < 5; ++round) {
    const stats::RunReport report = random_report(random);
    const Lines lines(timeline_json(report, {}, {}, {}));
    CHECK(lines.all.size() == report.kernels.size() + report.copies.size());
    std::map<std::string, std::string> labels;  // kernel: what it is called in the picture
    for (const stats::KernelResult& kernel : report.kernels) {
      const Shown shown = only(lines.in(fmt::format("kernels, stream {}", kernel.stream)), "id", kernel.id);
      CHECK(shown.event.at("ph") == "X");
      CHECK(shown.event.at("args").at("name") == kernel.name);
      CHECK(shown.event.at("args").at("cycles") == kernel.cycles);
      CHECK(shown.ts == micros(kernel.start_cycle, report.core_khz));
      CHECK(shown.dur == micros(kernel.cycles, report.core_khz));
      const std::string label = shown.event.at("name");
      CHECK(labels.emplace(kernel.name, label).first->second == label);
    }
    std::set<std::string> different;
    for (const auto& [name, label] : labels) CHECK(different.insert(label).second);
    const std::map<std::string, std::string> rows{{"host_to_device", "copies to the device"},
                                                  {"device_to_host", "copies to the host"},
                                                  {"fill", "fills and copies within the device"},
                                                  {"device_to_device", "fills and copies within the device"},
                                                  {"peer_to_peer", "copies to other devices"}};
    for (const stats::CopyResult& copy : report.copies) {
      const Shown shown = only(lines.in(rows.at(copy.kind)), "address", fmt::format("0x{:x}", copy.address));
      CHECK(shown.event.at("name") == copy.kind);
      CHECK(shown.event.at("args").at("bytes") == copy.bytes);
      CHECK(shown.ts == micros(copy.start_cycle, report.core_khz));
      CHECK(shown.dur == micros(copy.cycles, report.core_khz));
    }
  }
}

TEST_CASE("timeline: events of managed memory are spans where they last, and points where they do not") {
  Random32 random(8);
  stats::RunReport report;
  report.core_khz = 1'455'000;
  report.managed.emplace();
  struct Place {
    EventKind kind;
    const char *name, *row;
    bool lasts;
  };
  const Place places[] = {{EventKind::kFault, "far fault", "far faults", false},
                          {EventKind::kTransfer, "migration", "link to the device", true},
                          {EventKind::kPrefetch, "prefetch", "link to the device", true},
                          {EventKind::kWriteBack, "write-back", "link to the host", true},
                          {EventKind::kDrop, "clean drop", "link to the host", false},
                          {EventKind::kFaultHandling, "fault handling", "link to the device", true},
                          {EventKind::kBatch, "batch", "driver", true},
                          {EventKind::kSynchronise, "synchronise", "cudaDeviceSynchronize", false}};
  std::vector<TimelineEvent> events;
  for (std::uint64_t i = 0; i < 80; ++i) {
    const Cycle start = random();
    events.push_back(
        {places[i % 8].kind, start, start + random() % 9999, 0x7000'0000 + 4096 * i, 4096 + i, 0});
  }
  const Lines lines(timeline_json(report, events, {}, {}));
  CHECK(lines.all.size() == events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Place& place = places[i % 8];
    const bool batch = place.kind == EventKind::kBatch;
    const Shown shown = batch
                            ? only(lines.in(place.row), "faults", events[i].bytes)
                            : only(lines.in(place.row), "address", fmt::format("0x{:x}", events[i].address));
    CHECK(shown.event.at("name") == place.name);
    CHECK(shown.event.at("ph") == (place.lasts ? "X" : "i"));
    CHECK(shown.ts == micros(events[i].start, report.core_khz));
    CHECK(shown.dur == (place.lasts ? micros(events[i].end - events[i].start, report.core_khz) : ""));
  }
  report.managed.reset();
  CHECK(Lines(timeline_json(report, {}, {}, {})).rows.empty());
}

TEST_CASE(
    "timeline: links show messages, bytes and the part of what they could carry; idle ones are left out") {
  stats::RunReport report;
  report.core_khz = 1'000'000;
  LinkTimeline links;
  links.switches = {{4, "switch0"}, {5, "switch1"}};
  links.rows = {{0,
                 "link to switch0",
                 1'000'000'000,
                 {{1'000'000, 3'000'000, 2, 1000}, {3'000'000, 3'500'001, 9, 4000}}},
                {4, "link to gpu0", 2'000'000'000, {{7, 1'000'007, 1, 500}}},
                {5, "idle", 1, {}}};
  NetworkTimeline network;
  network.nodes = {{2, "host0"}};
  network.rows = {
      {2, "thread 0", {{"poll", "\"of\":3", 12, 345'678'901}, {"put", "", 345'678'901, 345'678'901}}}};
  const Lines lines(timeline_json(report, {}, network, links));
  CHECK(lines.nodes == std::map<int, std::string>{{3, "host0"}, {5, "switch0"}});
  const auto to_switch = lines.in("link to switch0"), back = lines.in("link to gpu0"),
             thread = lines.in("thread 0");
  REQUIRE(to_switch.size() == 2);
  CHECK(to_switch[0].event.at("name") == "2 messages");
  CHECK(to_switch[0].event.at("args").at("bytes") == 1000);
  CHECK(to_switch[0].event.at("args").at("utilisation").get<double>() ==
        Approx(0.5));  // 1000 ns of 2000 at 1 GB/s
  CHECK(to_switch[1].event.at("args").at("utilisation").get<double>() ==
        Approx(1));  // never above what there is
  CHECK(to_switch[1].ts == micros_of_ps(3'000'000));
  CHECK(to_switch[1].dur == micros_of_ps(500'001));
  REQUIRE(back.size() == 1);
  CHECK(back[0].event.at("pid") == 5);
  CHECK(back[0].event.at("args").at("utilisation").get<double>() == Approx(0.25));
  REQUIRE(thread.size() == 2);
  CHECK(thread[0].event.at("args").at("of") == 3);
  CHECK(thread[0].ts == "0.000012");
  CHECK(thread[0].dur == "345.678889");
  CHECK(thread[1].dur == "0.000000");
  CHECK(lines.all.size() == 5);
}

}  // namespace
}  // namespace lockstep::test
