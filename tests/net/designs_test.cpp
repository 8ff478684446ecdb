// What the designs differ in: where queues stand, who polls them, and what crosses which link.
#include <map>
#include <string>

#include "mem/apertures.hpp"
#include "support.hpp"

namespace lockstep::test {
namespace {

/// One operation of device 0, by a queue of its own, that the kernel waits for.
NetScenario one(const trace::NetOperation& operation) {
  NetScenario scenario;
  scenario.queue(0);
  scenario.wait(0, 0, scenario.request(0, operation));
  return scenario;
}

/// What a poll of an entry that has long been finished adds to a kernel.
double poll(const config::SystemConfig& system) {
  const auto time = [&](bool polls) {
    NetScenario scenario;
    scenario.queue(0);
    const std::uint64_t number = scenario.request(0, some_put(8, false));
    scenario.sleep(0, 30'000);
    if (polls) scenario.wait(0, 0, number);
    return kernel_time(scenario.run(system));
  };
  return time(true) - time(false);
}

std::uint64_t messages(const gpu::RunResult& result, const char* from, const char* to) {
  for (const stats::LinkResult& link : result.report.system->links)
    if (link.from == from && link.to == to) return link.messages;
  FAIL("no link from " << from << " to " << to);
  return 0;
}

}  // namespace

TEST_CASE("A kernel's polls a status word crosses what lies between it and the queue, there and back") {
  // There a header, back a sector and a header; twice over PCIe, 2 * 250 ns each way, or once over the link
  // to the directory, 80 ns; the host's memory takes 80 ns.
  const double pcie = 2 * 500 + 80 + 2 * (24 + 56) / 15.75, directory = 2 * 80 + 80 + (8 + 40) / 96.0;
  const double on_gpu = poll(nodes(2, "compnet"));
  CHECK(on_gpu == Approx(poll(nodes(2, "direct"))).margin(2));
  CHECK(on_gpu == Approx(poll(nodes(2, "dgpu"))).margin(2));
  const double host = poll(nodes(2, "dgpu_host")), apu = poll(nodes(2, "apu"));
  CHECK(host - apu == Approx(pcie - directory).margin(4));
  CHECK(host - on_gpu > pcie - 100);  // without the L2's own latency of 79 cycles
  CHECK(host - on_gpu < pcie);
}

TEST_CASE("A host polls queues of its own memory without crossing a link") {
  // Commands are fetched from it, and completion records written to it, as without.
  const double bytes_ns = 1 / 15.75;
  for (const char* design : {"dgpu_host", "apu"}) {
    INFO(design);
    const gpu::RunResult result = one(some_put(8)).run(nodes(2, design));
    const Stages stages = of_kind(result, "put");
    CHECK(stage(stages, "fetched") == Approx(2 * 325 + 80 + 2 * (24 + 88) * bytes_ns).margin(4));
    CHECK(stage(stages, "noticed") == Approx(325 + 2 * (32 + 24) * bytes_ns).margin(4));
    // The entry from memory, and the call's instructions.
    CHECK(stage(stages, "issued") == Approx(80 + 800 / 1.8 / 4.0).margin(4));
    // Of the host: the doorbell and the command; the replies to the kernel's store and polls go to the
    // device.
    const std::string way = std::string(design) == "apu" ? "gpu0" : "pcie0";
    std::uint64_t polls = 0;
    for (const auto& thread : network(result).threads) polls += thread.polls;
    CHECK(polls > 20);
    CHECK(messages(result, "host0", way.c_str()) < 20);
  }
}

TEST_CASE("If no agent serves a queue, the NIC has the command after a doorbell and a fetch over PCIe") {
  // Of a put of a line: doorbell, command, data and its status over both links of PCIe here, data and
  // acknowledgement there.
  const auto time = [](std::uint64_t more_ps) {
    config::SystemConfig system = nodes(2, "direct");
    kind(system, "pcie_nic").latency_ps += more_ps;
    return kernel_time(one(some_put(128)).run(system));
  };
  CHECK(time(400'000) - time(0) == Approx((1 + 2 + 2 + 2 + 1) * 400).margin(120));  // a poll's period
  const gpu::RunResult result = one(some_put(128)).run(nodes(2, "direct"));
  const Stages stages = of_kind(result, "put");
  CHECK(stage(stages, "issued") == 0);
  CHECK(stage(stages, "rung") == 0);
  CHECK(stage(stages, "fetched") > 2 * 325 + 2 * (24 + 88) / 15.75 + 79 / 1.5);
  CHECK(stage(stages, "fetched") < 2 * 325 + 2 * (24 + 88) / 15.75 + 300);
  for (const auto& thread : network(result).threads) {
    CHECK((thread.polls == 0 && thread.instructions == 0 && thread.leak_pj == 0));
    CHECK(thread.node.starts_with("nic"));
  }
}

TEST_CASE("The store that rings a doorbell is posted: the kernel does not wait for PCIe") {
  const auto time = [](const char* design, bool waits) {
    NetScenario scenario;
    scenario.queue(0);
    const std::uint64_t number = scenario.request(0, some_put(8, false));
    scenario.fence(0);
    if (waits) scenario.wait(0, 0, number);
    return kernel_time(scenario.run(nodes(2, design)));
  };
  CHECK(time("direct", false) < time("compnet", false) + 100);
  CHECK(time("dgpu_host", false) > time("direct", false) + 1000);  // its fence waits for the host
  CHECK(time("direct", true) > time("direct", false) + 1000);
}

TEST_CASE("A NIC serves the entries of its own queue in their order") {
  NetScenario scenario;
  scenario.queue(0);
  scenario.request(0, some_put(1 << 18, false));
  const std::uint64_t small =
      scenario.request(0, put(1, NetScenario::data(0), NetScenario::word(1, 0), 8, false));
  scenario.wait(0, 0, small);
  CHECK(kernel_time(scenario.run(nodes(2, "direct"))) > (1 << 18) / 12.5);
  // A thread finishes one that does not block when the NIC has its command.
  CHECK(kernel_time(scenario.run(nodes(2, "compnet"))) < (1 << 18) / 12.5);
}

TEST_CASE("Memory that is allocated where a queue was is that no more; the latest queue of a place counts") {
  mem::Apertures apertures;
  const auto at = [&](Address address) { return apertures.doorbell(address); };
  apertures.ring(0x1000, 0x1000, 7);
  apertures.ring(0x3000, 0x100, 8);
  CHECK((at(0xfff) == mem::Apertures::kNoDoorbell && at(0x1000) == 7 && at(0x1fff) == 7));
  CHECK((at(0x2000) == mem::Apertures::kNoDoorbell && at(0x30ff) == 8));
  apertures.ring(0x1800, 0x1000, 9);
  CHECK((at(0x1000) == mem::Apertures::kNoDoorbell && at(0x1800) == 9 && at(0x27ff) == 9));
  apertures.place(0x2000, 0x100, 0);
  CHECK((at(0x1800) == mem::Apertures::kNoDoorbell && at(0x3000) == 8));
}

TEST_CASE("The ways of the designs are ordered as ComP-Net's paper has them, for small operations") {
  std::map<std::string, double> ns;
  for (const char* design : kDesigns)
    ns[design] =
        kernel_time(one(get(1, NetScenario::data(0), NetScenario::data(1), 64)).run(nodes(2, design)));
  CHECK(ns["apu"] < ns["dgpu_host"]);
  CHECK(ns["compnet"] < ns["dgpu"]);
  CHECK(ns["direct"] < ns["compnet"]);
}

}  // namespace lockstep::test
