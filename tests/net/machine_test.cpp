// Kernels that use the network through agents, on the real machine.
#include <map>

#include "support.hpp"

namespace lockstep::test {
namespace {

using Catch::Matchers::Contains;

/// All that an operation may be: of every kind, by two queues of each device, blocking or not, with a signal.
NetScenario mixture(std::uint16_t devices) {
  NetScenario scenario(devices, 4);
  for (std::uint16_t d = 0; d < devices; ++d) {
    const auto next = static_cast<std::uint16_t>((d + 1) % devices);
    scenario.queue(d);
    scenario.queue(d);
    trace::NetOperation with_signal =
        put(next, NetScenario::data(d) + 40, NetScenario::data(next), 3000, false);
    with_signal.signal = NetScenario::word(next, 0);
    scenario.request(d, with_signal);
    trace::NetOperation other =
        get(next, NetScenario::data(d) + 0x20000, NetScenario::data(next) + 0x4010, 700);
    other.queue = 1;
    const std::uint64_t first = scenario.request(d, other);
    scenario.request(d, put(next, NetScenario::data(d) + 8, NetScenario::word(next, 1), 8, false));
    scenario.wait(d, 1, first);
    trace::NetOperation sum = atomic(next, NetScenario::word(d, 2), NetScenario::word(next, 3));
    sum.queue = 1;
    scenario.wait(d, 1, scenario.request(d, sum));
    scenario.wait(d, 0, scenario.request(d, quiet()));
    scenario.await(d, NetScenario::word(d, 0), 1);  // what the device before has sent
    scenario.await(d, NetScenario::word(d, 1), 1);
    scenario.await(d, NetScenario::word(d, 3), 1);
    scenario.await(d, scenario.index(d, 0), 3);
  }
  return scenario;
}

}  // namespace

TEST_CASE("An operation's stages add up to its time, of every kind and design") {
  for (const char* design : kDesigns)
    for (const auto& [operation, name] :
         {std::pair{some_put(4096), "put"},
          {get(1, NetScenario::data(0), NetScenario::data(1), 4096), "get"},
          {atomic(1, NetScenario::data(0), NetScenario::data(1)), "atomic"}}) {
      INFO(design << " " << name);
      const Stages stages = alone(nodes(2, design), operation, name);
      CHECK((stages.count == 1 && stages.blocking == 1));
      std::uint64_t sum = 0;
      for (const std::uint64_t one : stages.sum_ps) sum += one;
      CHECK(sum == stages.total_ps);
      CHECK(total(stages) > 1000);
      CHECK(total(stages) < 20'000);
    }
}

TEST_CASE("Nothing is lost: links, doorbells, commands, records, bytes") {
  for (const char* design : kDesigns) {
    INFO(design);
    const gpu::RunResult result = mixture(4).run(nodes(4, design));
    REQUIRE(result.outcome == gpu::Outcome::kDone);
    std::map<std::string, std::int64_t> messages;  // into a switch, less those out of it
    for (const stats::LinkResult& link : result.report.system->links) {
      messages[link.to] += static_cast<std::int64_t>(link.messages);
      messages[link.from] -= static_cast<std::int64_t>(link.messages);
    }
    for (const auto& [node, left] : messages)
      if (node.starts_with("pcie") || node == "net") CHECK(left == 0);
    std::uint64_t records = 0, threads_records = 0, found = 0, quiets = 0;
    for (const auto& nic : network(result).nics) {
      CHECK((nic.doorbells == nic.commands && nic.commands == nic.records));
      // Where queues are the NIC's own a quiet is a command as any.
      const std::uint64_t own_quiets = std::string(design) == "direct" ? 1 : 0;
      CHECK(nic.records == nic.begun[0] + nic.begun[1] + nic.begun[2] + own_quiets);
      CHECK((nic.begun[0] == 2 && nic.begun[1] == 1 && nic.begun[2] == 1));
      CHECK((nic.bytes_put == 3000 + 8 + 8 && nic.bytes_got == 700));
      CHECK(nic.served_atomics == 1);
      records += nic.records;
    }
    for (const auto& thread : network(result).threads) {
      threads_records += thread.records;
      found += thread.found;
      quiets += thread.operations[3].count;
    }
    CHECK(records == threads_records);
    CHECK(found == records + (std::string(design) == "direct" ? 0 : quiets));
    CHECK(quiets == 4);
  }
}

TEST_CASE("Statistics do not depend on threads, windows, skipping or the order of domains", "[matrix]") {
  for (const char* design : kDesigns)
    for (const std::uint16_t devices : {std::uint16_t{2}, std::uint16_t{8}}) {
      const NetScenario scenario = mixture(devices);
      const config::SystemConfig system = nodes(devices, design);
      const auto bytes = [&](const gpu::RunOptions& options) {
        return stats::to_json(scenario.run(system, options).report);
      };
      const std::string one = bytes({});
      CHECK(one.find("\"partial\":false") != std::string::npos);
      for (const unsigned way : {0u, 1u, 2u, 3u}) {
        INFO(design << ", " << devices << " devices, " << way);
        gpu::RunOptions options;
        options.threads = 1 + way;
        options.window = way == 0 ? 0 : 2 * way;
        options.skip = way != 2;
        options.shuffle = way + 1;
        CHECK((bytes(options) == one));
      }
    }
}

TEST_CASE("A device writes to its own memory by the network") {
  NetScenario scenario(2);
  scenario.queue(0);
  trace::NetOperation own = put(0, NetScenario::data(0), NetScenario::data(0) + 0x10000, 5000);
  own.signal = NetScenario::word(0, 0);
  scenario.request(0, own);
  scenario.await(0, NetScenario::word(0, 0), 1);
  const gpu::RunResult result = scenario.run(nodes());
  CHECK(of_kind(result, "put").count == 1);
  CHECK(network(result).nics[0].served_writes == (5000 + 127) / 128 + 1);
}

TEST_CASE("A single device with a NIC uses the network with itself") {
  NetScenario scenario(1);
  scenario.queue(0);
  scenario.wait(0, 0,
                scenario.request(0, get(0, NetScenario::data(0), NetScenario::data(0) + 0x10000, 5000)));
  const gpu::RunResult result = scenario.run(config::resolve_system("compnet_8", 1));
  CHECK(of_kind(result, "get").count == 1);
  CHECK(network(result).nics[0].served_reads == (5000 + 127) / 128);
}

TEST_CASE("A put's signal comes after all of its data, and ends a kernel's wait") {
  const auto end = [](std::uint64_t bytes) {
    NetScenario scenario;
    scenario.queue(0);
    trace::NetOperation one = some_put(bytes, false);
    one.signal = NetScenario::word(1, 0);
    scenario.request(0, one);
    scenario.await(1, NetScenario::word(1, 0), 1);
    const gpu::RunResult result = scenario.run(nodes());
    REQUIRE(result.outcome == gpu::Outcome::kDone);
    for (const stats::KernelResult& kernel : result.report.kernels)
      if (kernel.device == 1) return static_cast<double>(kernel.cycles) / 1.5;
    return 0.0;
  };
  CHECK(end(1 << 19) - end(1 << 18) == Approx((1 << 18) / 12.5).epsilon(0.05));
}

TEST_CASE("A small put signals each of its words once, wherever its source lies") {
  for (const std::uint64_t offset : {0u, 126u, 250u}) {  // over the end of a line
    NetScenario scenario;
    scenario.queue(0);
    scenario.request(0, put(1, NetScenario::data(0) + offset, NetScenario::word(1, 0), 16, false));
    for (unsigned word = 0; word < 4; ++word) scenario.await(1, NetScenario::word(1, 0) + 4 * word, 1);
    CHECK(scenario.run(nodes()).outcome == gpu::Outcome::kDone);
  }
}

TEST_CASE("A small put signals no word twice", "[long]") {
  NetScenario scenario;
  scenario.queue(0);
  scenario.request(0, put(1, NetScenario::data(0) + 126, NetScenario::word(1, 0), 16, false));
  scenario.await(1, NetScenario::word(1, 0), 2);
  CHECK(scenario.run(nodes()).outcome == gpu::Outcome::kDeadlock);
}

TEST_CASE("A quiet is finished when all before it in its queue are complete, and not before") {
  NetScenario scenario;
  scenario.queue(0);
  scenario.request(0, some_put(1 << 18, false));
  scenario.wait(0, 0, scenario.request(0, quiet()));
  const gpu::RunResult result = scenario.run(nodes());
  CHECK(total(of_kind(result, "quiet")) > (1 << 18) / 12.5 - 3000);
  CHECK(of_kind(result, "put").blocking == 0);
}

TEST_CASE("The smallest machines still serve: one entry, one command, one access, one operation at a time") {
  for (const char* design : kDesigns) {
    config::SystemConfig system = nodes(2, design);
    system.network.nic.outstanding = system.network.nic.operations = system.network.nic.queue_entries = 1;
    system.network.command_processor.outstanding = system.network.command_processor.cores = 1;
    NetScenario scenario(2, 1);
    scenario.queue(0);
    for (unsigned i = 0; i < 5; ++i) {
      trace::NetOperation one = some_put(300, i % 2 == 0);
      one.signal = NetScenario::word(1, 0);
      scenario.wait(0, 0, scenario.request(0, one));
    }
    scenario.wait(0, 0, scenario.request(0, quiet()));
    scenario.await(0, scenario.index(0, 0), 6);
    scenario.await(1, NetScenario::word(1, 0), 5);
    const gpu::RunResult result = scenario.run(system);
    CHECK(of_kind(result, "put").count == 5);
    CHECK(of_kind(result, "quiet").count == 1);
  }
}

TEST_CASE("A device's agents move to other memory, the same again, and back, between operations") {
  NetScenario scenario;
  scenario.queue(0);
  for (const std::uint64_t offset : {0x0u, 0x0u, 0x100u, 0x40000u, 0x0u}) {
    scenario.next_phase();
    scenario.give_memory(0, offset);
    const std::uint32_t queue = scenario.queue(0);
    for (unsigned i = 0; i < 3; ++i) {
      trace::NetOperation one = some_put(300, i == 2);
      one.queue = queue;
      const std::uint64_t number = scenario.request(0, one);
      if (i == 2) scenario.wait(0, queue, number);
    }
  }
  config::SystemConfig system = nodes();
  system.network.nic.queue_entries = 2;
  CHECK(of_kind(scenario.run(system), "put").count == 15);
}

TEST_CASE("480 queues are served") {
  NetScenario scenario(2, 4);
  for (std::uint32_t q = 0; q < 480; ++q) {
    scenario.queue(0);
    trace::NetOperation one = put(1, NetScenario::data(0) + q * 256, NetScenario::data(1) + q * 256, 64);
    one.queue = q;
    scenario.request(0, one);
  }
  for (std::uint32_t q = 0; q < 480; ++q) scenario.wait(0, q, 0);
  const gpu::RunResult result = scenario.run(nodes());
  CHECK(of_kind(result, "put").count == 480);
  for (const auto& thread : network(result).threads)
    if (thread.node == "gpu0") CHECK(thread.operations[0].count == 240);  // queues by turns
}

TEST_CASE("Agents that have nothing to serve do nothing") {
  NetScenario scenario;
  scenario.queue(0);
  scenario.sleep(0, 100'000);
  const gpu::RunResult result = scenario.run(nodes());
  for (const auto& thread : network(result).threads)
    CHECK((thread.polls == 0 && thread.instructions == 0 && thread.active_ps == 0));
}

TEST_CASE("The energy of service threads is that of their time and instructions") {
  const gpu::RunResult result = mixture(2).run(nodes());
  for (const auto& thread : network(result).threads) {
    const double seconds = static_cast<double>(thread.active_ps) * 1e-12;
    CHECK(static_cast<double>(thread.leak_pj) == Approx(0.224 * seconds * 1e12).margin(1));
    CHECK(static_cast<double>(thread.base_pj) == Approx(0.268 * seconds * 1e12).margin(1));
    CHECK(static_cast<double>(thread.instruction_pj) ==
          Approx(175.0 * static_cast<double>(thread.instructions)).margin(1));
  }
}

TEST_CASE("A wait for something never sent is a deadlock, and the dump lists the queues", "[long]") {
  NetScenario scenario;
  scenario.queue(0);
  const std::uint64_t number = scenario.post(0, some_put(8));  // the kernel never writes this entry
  scenario.wait(0, 0, number);
  const gpu::RunResult result = scenario.run(nodes());
  CHECK(result.outcome == gpu::Outcome::kDeadlock);
  CHECK_THAT(result.dump, Contains("waits for signals of other CTAs, kernels or devices"));
  CHECK_THAT(result.dump, Contains("gpu0: command processor, core 0"));
  CHECK_THAT(result.dump, Contains("queue 0 of device 0: 0 entries taken"));
}

TEST_CASE("Requests that no agent could serve are refused") {
  const auto refused = [](const trace::NetOperation& operation) {
    NetScenario scenario;
    scenario.queue(0);
    scenario.request(0, operation);
    return scenario;
  };
  trace::NetOperation bad = some_put(8);
  bad.target = 7;
  CHECK_THROWS_WITH(refused(bad).run(nodes()), Contains("memory of device 7; expected one of the 2 devices"));
  bad = some_put(8);
  bad.signal = 12;
  CHECK_THROWS_WITH(refused(bad).run(nodes()), Contains("a signal at 0xc; expected a multiple of 8"));
  bad = atomic(1, 0, NetScenario::word(1, 0));
  bad.bytes = 16;
  CHECK_THROWS_WITH(refused(bad).run(nodes()), Contains("expected 4 or 8 bytes"));
  bad = some_put(std::uint64_t{1} << 50);
  CHECK_THROWS_WITH(refused(bad).run(nodes()), Contains("bytes at once"));
  config::SystemConfig large = nodes();
  large.network.command_processor.cold_bytes = 1 << 20;
  CHECK_THROWS_WITH(refused(some_put(8)).run(large), Contains("expected at least"));
  CHECK_THROWS_WITH(refused(some_put(8)).run(config::resolve_system("dgx_a100", 2)), Contains("has no NICs"));
}

}  // namespace lockstep::test
