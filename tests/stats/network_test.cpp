// What stats.json and the summary say of networks, read back by a library and worked out by hand.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "stats/network_report.hpp"

namespace lockstep::stats {
namespace {

using Json = nlohmann::ordered_json;

/// Counts that are all different.
struct Counter {
  std::uint64_t next = 0;
  std::uint64_t operator()() { return next += 7; }
};

NetworkReport::Depth depth(Counter& c) {
  return {.queues = c(), .entered = c(), .most = c(), .total_ps = c(), .times_ps = {c(), c()}};
}

NetworkReport::Operations operations(Counter& c) {
  NetworkReport::Operations o;
  for (std::uint64_t* field : {&o.count, &o.blocking, &o.total_ps, &o.max_total_ps}) *field = c();
  for (std::uint64_t& sum : o.sum_ps) sum = c();
  for (std::uint64_t& most : o.max_ps) most = c();
  return o;
}

void check_depth(const Json& json, const NetworkReport::Depth& d, std::uint64_t run_ps) {
  CHECK(json["queues"] == d.queues);
  CHECK(json["entered"] == d.entered);
  CHECK(json["max"] == d.most);
  CHECK(json["total_ps"] == d.total_ps);
  CHECK(json["times_ps"] == d.times_ps);
  const double mean = static_cast<double>(d.total_ps) / static_cast<double>(run_ps * d.queues);
  CHECK(json["mean"].get<double>() == Approx(mean).margin(5.1e-7));
}

void check_operations(const Json& json, const NetworkReport::Operations& o) {
  CHECK(json["count"] == o.count);
  CHECK(json["blocking"] == o.blocking);
  CHECK(json["total_ps"] == o.total_ps);
  CHECK(json["max_total_ps"] == o.max_total_ps);
  for (std::size_t s = 0; s < kNetworkStages.size(); ++s) {
    CHECK(json[std::string(kNetworkStages[s]) + "_ps"] == o.sum_ps[s]);
    CHECK(json["max_" + std::string(kNetworkStages[s]) + "_ps"] == o.max_ps[s]);
  }
  CHECK(json.size() == 4 + 2 * kNetworkStages.size());
}

NetworkReport sample() {
  Counter c;
  NetworkReport network;
  network.design = "a \"design\"";
  network.run_ps = 1000;
  for (const char* node : {"gpu0", "gpu1"}) {
    NetworkReport::Thread thread{.node = node, .number = static_cast<std::uint32_t>(c()), .operations = {}};
    for (std::uint64_t* field :
         {&thread.polls, &thread.found, &thread.record_polls, &thread.records, &thread.instructions,
          &thread.active_ps, &thread.leak_pj, &thread.base_pj, &thread.instruction_pj})
      *field = c();
    for (std::size_t kind = 0; kind < kNetworkKinds.size(); kind += 2)
      thread.operations[kind] = operations(c);
    thread.queues = depth(c);
    network.threads.push_back(thread);
  }
  network.threads[1].completion_queues = depth(c);
  network.threads[1].l2.emplace();
  for (CoreAccesses& access : *network.threads[1].l2) access = {c(), c()};
  NetworkReport::Nic nic{.node = "nic0"};
  for (std::uint64_t* field :
       {&nic.begun[0], &nic.begun[1], &nic.begun[2], &nic.doorbells, &nic.commands, &nic.records,
        &nic.bytes_put, &nic.bytes_got, &nic.served_reads, &nic.served_writes, &nic.served_atomics})
    *field = c();
  nic.commands_open = depth(c);
  nic.commands_waiting = depth(c);
  network.nics.push_back(nic);
  return network;
}

void add_process_and_locks(NetworkReport& network) {
  Counter c{100'000};
  NetworkReport::Process process{.node = "host0", .device = 3, .tasks = {}, .messages = {}};
  for (auto& tasks : process.tasks) tasks = {c(), c(), c()};
  process.messages = operations(c);
  process.completion_queues = depth(c);
  network.processes = {process, process};
  network.processes[1].clock_ps = {0, 18446744073709551615u, 5};
  network.processes[1].event_ps.emplace();
  network.locks = {{.node = "gpu0",
                    .stores = c(),
                    .held = c(),
                    .most = c(),
                    .most_together = c(),
                    .total_ps = c(),
                    .times = {c(), 0, c()}}};
}

}  // namespace

TEST_CASE("network statistics: threads and NICs, field by field") {
  const NetworkReport network = sample();
  const Json json = Json::parse(network_json(network));
  CHECK(json["design"] == network.design);
  CHECK_FALSE(json.contains("locks"));
  CHECK_FALSE(json.contains("processes"));
  REQUIRE(json["threads"].size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& thread = network.threads[i];
    const Json& found = json["threads"][i];
    CHECK(found["node"] == thread.node);
    CHECK(found["number"] == thread.number);
    CHECK(found["polls"] == thread.polls);
    CHECK(found["found"] == thread.found);
    CHECK(found["record_polls"] == thread.record_polls);
    CHECK(found["records"] == thread.records);
    CHECK(found["instructions"] == thread.instructions);
    CHECK(found["active_ps"] == thread.active_ps);
    CHECK(found["leak_pj"] == thread.leak_pj);
    CHECK(found["energy_pj"] == found["leak_pj"].get<std::uint64_t>() +
                                    found["base_pj"].get<std::uint64_t>() +
                                    found["instruction_pj"].get<std::uint64_t>());
    check_depth(found["queues"], thread.queues, 1000);
    CHECK(found.contains("l2") == (i == 1));
    CHECK(found.contains("completion_queues") == (i == 1));
    CHECK(found["operations"].size() == 2);  // those that there were
    check_operations(found["operations"]["put"], thread.operations[0]);
    check_operations(found["operations"]["atomic"], thread.operations[2]);
  }
  for (std::size_t a = 0; a < kCoreAccessNames.size(); ++a) {
    const Json& access = json["threads"][1]["l2"][std::string(kCoreAccessNames[a])];
    CHECK(access["accesses"] == (*network.threads[1].l2)[a].accesses);
    CHECK(access["misses"] == (*network.threads[1].l2)[a].misses);
  }
  const auto& nic = network.nics[0];
  const Json& found = json["nics"].at(0);
  CHECK(found["puts"] == nic.begun[0]);
  CHECK(found["gets"] == nic.begun[1]);
  CHECK(found["atomics"] == nic.begun[2]);
  CHECK(found["bytes_put"] == nic.bytes_put);
  CHECK(found["bytes_got"] == nic.bytes_got);
  CHECK(found["served_atomics"] == nic.served_atomics);
  check_depth(found["commands_open"], nic.commands_open, 1000);
  check_depth(found["commands_waiting"], nic.commands_waiting, 1000);
}

TEST_CASE("network statistics: processes and locks stand beside the threads") {
  NetworkReport network = sample();
  add_process_and_locks(network);
  for (const bool threads : {true, false}) {
    if (!threads) network.threads.clear();
    const Json json = Json::parse(network_json(network));
    CHECK(json["threads"].size() == (threads ? 2 : 0));
    REQUIRE(json["processes"].size() == 2);
    const Json& process = json["processes"][1];
    CHECK(process["device"] == 3);
    for (std::size_t k = 0; k < kHostTaskNames.size(); ++k) {
      const Json& tasks = process["tasks"][std::string(kHostTaskNames[k])];
      CHECK(tasks["count"] == network.processes[1].tasks[k].count);
      CHECK(tasks["total_ps"] == network.processes[1].tasks[k].total_ps);
      CHECK(tasks["max_ps"] == network.processes[1].tasks[k].max_ps);
    }
    CHECK(process["clock_ps"] == Json{0, 18446744073709551615u, 5});
    CHECK(process["event_ps"] == Json::array());
    CHECK_FALSE(json["processes"][0].contains("clock_ps"));
    check_operations(process["operations"]["put"], network.processes[1].messages);
    check_depth(process["completion_queues"], network.processes[1].completion_queues, 1000);
    CHECK(json["locks"].at(0)["stores"] == network.locks[0].stores);
    CHECK(json["locks"][0]["max"] == network.locks[0].most);
    CHECK(json["locks"][0]["max_together"] == network.locks[0].most_together);
    CHECK(json["locks"][0]["held"] == network.locks[0].held);
    CHECK(json["locks"][0]["times"] == network.locks[0].times);
  }
}

TEST_CASE("network statistics: all of a kind is the sum of all owners, and the largest of the largest") {
  NetworkReport network = sample();
  add_process_and_locks(network);
  network.threads[0].operations[0].max_ps[2] = 1'000'000'000;
  const auto put = network.all_of(0), atomic = network.all_of(2);
  std::uint64_t count = 0, rung = 0;
  for (const auto& thread : network.threads) {
    count += thread.operations[0].count;
    rung += thread.operations[0].sum_ps[1];
  }
  CHECK(put.count == count + 2 * network.processes[0].messages.count);
  CHECK(put.sum_ps[1] == rung + 2 * network.processes[0].messages.sum_ps[1]);
  CHECK(put.max_ps[2] == 1'000'000'000);
  CHECK(put.max_ps[3] == network.processes[0].messages.max_ps[3]);
  CHECK(atomic.count == network.threads[0].operations[2].count + network.threads[1].operations[2].count);
  CHECK(network.all_of(1).count == 0);
}

TEST_CASE("network statistics: the lines of the summary") {
  NetworkReport network;
  CHECK(network_lines(network).empty());
  network.design = "direct";
  network.run_ps = 2'000'000;
  network.threads.resize(2);
  auto& put = network.threads[0].operations[0];
  put = {.count = 1000, .total_ps = 3'500'000, .max_total_ps = 9'400};
  put.sum_ps[6] = 2'500'000;
  put.sum_ps[7] = 1'000'000;
  network.threads[1].polls = 1234;
  network.threads[1].found = 5;
  network.threads[1].leak_pj = 1'500'000;
  network.threads[1].queues = {.queues = 4, .entered = 9, .most = 3, .total_ps = 4'000'000};
  CHECK(network_lines(network) ==
        "network (direct), 1,000 of put: 4 ns on average, 9 at most: sent 2 complete 1\n"
        "service threads: 1,234 polls of entries, 5 of them found one; 1.500 uJ\n"
        "queues of the network, mean depth (most) of the fullest: work-group 0.500 (3)\n");
}

}  // namespace lockstep::stats
