// Processes of hosts: what their tasks take, and their order with kernels.
#include <sstream>

#include "../gpu/listed_trace.hpp"
#include "../gpu/resume_support.hpp"
#include "support.hpp"

namespace lockstep::test {
namespace {

using Catch::Matchers::Contains;
constexpr double kCallNs = 1000, kPcieByteNs = 1 / 15.75, kHandOverNs = 24;  // host.command_latency_ps

/// A list of tasks of some devices' processes, each in its device's stream 0.
class Tasks {
 public:
  Tasks& on(int device) { return text_ << "Device," << device << "\n", *this; }
  Tasks& compute(std::uint64_t instructions, std::uint64_t bytes) {
    return add(0, 0, instructions, bytes, 0, 0);
  }
  Tasks& send(int to, std::uint64_t bytes, bool within = false) {
    return add(within ? 5 : 1, to, 0, bytes, NetScenario::data(0), NetScenario::data(1));
  }
  Tasks& receive(int from, bool within = false) { return add(within ? 6 : 2, from, 0, 0, 0, 0); }
  Tasks& flush() { return add(3, 0, 0, 0, 0, 0); }
  /// One-sided operations, by their number.
  Tasks& get(int from, std::uint64_t number, std::uint64_t bytes) {
    return add(24, from, number, bytes, NetScenario::data(0), NetScenario::data(1));
  }
  Tasks& atomic(int at, std::uint64_t number, std::uint64_t bytes) {
    return add(26, at, number, bytes, 0, NetScenario::data(1));
  }
  Tasks& done(int other, std::uint64_t number) { return add(28, other, number, 0, 0, 0); }
  Tasks& kernel() { return text_ << "kernel-1.traceg\n", *this; }
  [[nodiscard]] gpu::RunResult run(const config::SystemConfig& system, gpu::RunOptions options = {}) const {
    const ListedTrace trace(text_.str());
    options.system = system;
    options.config = system.devices.front();
    return gpu::simulate(*trace, options);
  }
  /// From the states after its kernels, of which there are at least that many.
  void resume(const config::SystemConfig& system, std::size_t least) const {
    const ListedTrace trace(text_.str());
    gpu::RunOptions options;
    options.system = system;
    options.config = system.devices.front();
    options.timeline = true;
    check_resume(*trace, options, least);
  }

 private:
  Tasks& add(int kind, int peer, std::uint64_t instructions, std::uint64_t bytes, Address local,
             Address remote) {
    text_ << "HostTask," << kind << ',' << peer << ',' << std::dec << instructions << ',' << bytes << ",0x"
          << std::hex << local << ",0x" << remote << std::dec << ",0\n";
    return *this;
  }
  std::ostringstream text_;
};

double total_ns(const gpu::RunResult& result) {
  REQUIRE(result.outcome == gpu::Outcome::kDone);
  return static_cast<double>(result.report.total_cycles) / 1.5;
}

/// Of all tasks of a kind of a device's process.
double task_ns(const gpu::RunResult& result, std::uint32_t device, const char* kind) {
  REQUIRE(result.outcome == gpu::Outcome::kDone);
  for (std::size_t k = 0; k < stats::kHostTaskNames.size(); ++k)
    if (stats::kHostTaskNames[k] == kind)
      return static_cast<double>(network(result).processes[device].tasks[k].total_ps) / 1000;
  FAIL("no tasks " << kind);
  return 0;
}

std::uint64_t data_bytes(const gpu::RunResult& result, const char* from, const char* to) {
  for (const stats::LinkResult& link : result.report.system->links)
    if (link.from == from && link.to == to) return link.data_bytes;
  FAIL("no link from " << from << " to " << to);
  return 0;
}

}  // namespace

TEST_CASE("A task of computing takes what its instructions or its bytes take, whichever is more") {
  // 16 threads of 1.8 instructions a cycle of 4 GHz; 90 GB/s.
  const auto time = [](std::uint64_t instructions, std::uint64_t bytes, auto... change) {
    config::SystemConfig system = nodes(2, "cpu");
    (change(system.network.host_process), ...);
    return task_ns(Tasks().compute(instructions, bytes).run(system), 0, "compute");
  };
  CHECK(time(1'152'000, 0) == Approx(10'000).margin(1));
  CHECK(time(0, 900'000) == Approx(10'000).margin(1));
  CHECK(time(1'152'000, 899'000) == Approx(10'000).margin(1));
  CHECK(time(1'151'000, 1'800'000) == Approx(20'000).margin(1));
  CHECK(time(0, 0) == 0);
  CHECK(time(1'152'000, 0, [](auto& p) { p.threads = 4; }) == Approx(40'000).margin(1));
  CHECK(time(1'152'000, 0, [](auto& p) { p.milli_ipc = 900; }) == Approx(20'000).margin(1));
  CHECK(time(1'152'000, 0, [](auto& p) { p.khz = 2'000'000; }) == Approx(20'000).margin(1));
  CHECK(time(0, 900'000, [](auto& p) { p.memory_mb_per_second = 45'000; }) == Approx(20'000).margin(1));
}

TEST_CASE("A process does its tasks one after another, and different processes theirs side by side") {
  Tasks tasks;
  for (int i = 0; i < 3; ++i) tasks.compute(0, 900'000);
  const double alone = total_ns(tasks.run(nodes(2, "cpu")));
  // Each is handed over, and its end handed back before the next.
  CHECK(alone == Approx(30'000 + (3 + 2) * kHandOverNs).margin(5));
  tasks.on(1);
  for (int i = 0; i < 3; ++i) tasks.compute(0, 900'000);
  CHECK(total_ns(tasks.run(nodes(2, "cpu"))) == Approx(alone).margin(1));
}

TEST_CASE("What a message takes is the sum of its parts, in host memory and in a GPU's") {
  for (const char* design : {"cpu", "inter_kernel"}) {
    INFO(design);
    const gpu::RunResult result = Tasks().send(1, 128).flush().on(1).receive(0).run(nodes(2, design));
    const Stages stages = of_kind(result, "put");
    CHECK((stages.count == 1 && stages.blocking == 0));
    std::uint64_t sum = 0;
    for (const std::uint64_t one : stages.sum_ps) sum += one;
    CHECK(sum == stages.total_ps);
    CHECK(stage(stages, "issued") == Approx(kCallNs).margin(1));
    CHECK(task_ns(result, 0, "send") == Approx(kCallNs).margin(1));
    CHECK(stage(stages, "rung") == Approx(325 + 2 * (24 + 32) * kPcieByteNs).margin(4));  // 250 + 75 ns
    CHECK(stage(stages, "fetched") == Approx(2 * 325 + 80 + 2 * (24 + 88) * kPcieByteNs).margin(4));
    // 50 ns until the operation begins; then the line is read: of the host's memory 80 ns.
    const double read = stage(stages, "sent") - 50 - 2 * 325 - 2 * (24 + 24 + 128) * kPcieByteNs;
    if (std::string(design) == "cpu") CHECK(read == Approx(80).margin(4));
    if (std::string(design) == "inter_kernel") CHECK((read > 79 / 1.5 && read < 600));  // the L2, or the DRAM
    // Over the wires, 50 ns in the target's NIC, from there to memory and back, the same of the signal, which
    // waits there for the data, and back over the wires.
    const double ways = 2 * 2 * 50 + 50 + 2 * 2 * 325 + 80;
    const double memory = std::string(design) == "cpu" ? 80 : 79 / 1.5;
    CHECK(stage(stages, "complete") > ways + memory);
    CHECK(stage(stages, "complete") < ways + memory + 120);  // bytes over links; the L2's ports
    CHECK(network(result).processes[0].bytes_sent == 128);
  }
}

TEST_CASE("A receive ends when the message has crossed both wires, a flush when it is acknowledged, too") {
  for (const char* design : {"cpu", "inter_kernel"}) {
    INFO(design);
    const auto run = [&](std::uint64_t more_ps) {
      config::SystemConfig system = nodes(2, design);
      kind(system, "wire").latency_ps += more_ps;
      return Tasks().send(1, 4096).flush().on(1).receive(0).run(system);
    };
    const gpu::RunResult near = run(0), far = run(10'000'000);
    // The signal leaves with the data, so that both cross the wires at the same time.
    CHECK(task_ns(far, 1, "receive") - task_ns(near, 1, "receive") == Approx(2 * 10'000).margin(2));
    CHECK(task_ns(far, 0, "flush") - task_ns(near, 0, "flush") == Approx(4 * 10'000).margin(2));
    CHECK(task_ns(far, 0, "send") == task_ns(near, 0, "send"));
  }
}

TEST_CASE("Within a call, a task takes only the library's instructions") {
  const gpu::RunResult result =
      Tasks().send(1, 8).send(1, 8, true).on(1).receive(0).receive(0, true).run(nodes(2, "cpu"));
  CHECK(task_ns(result, 0, "send") == Approx(kCallNs + 800 / 1.8 / 4.0).margin(2));
}

TEST_CASE("Messages are received in the order of sending, however long each takes") {
  constexpr std::uint64_t kLong = 1 << 20;
  const auto first = [&](bool is_long) {
    Tasks tasks;
    tasks.send(1, is_long ? kLong : 8).send(1, 8).on(1).receive(0);
    return task_ns(tasks.run(nodes(2, "cpu")), 1, "receive");
  };
  CHECK(first(true) > kLong / 12.5);
  CHECK(first(false) < 10'000);
}

TEST_CASE("A process that has more messages under way than its NIC has commands waits for the first") {
  config::SystemConfig system = nodes(2, "cpu");
  system.network.nic.queue_entries = 2;
  Tasks tasks;
  for (int i = 0; i < 9; ++i) tasks.send(1, 1024);
  tasks.flush().on(1);
  for (int i = 0; i < 9; ++i) tasks.receive(0);
  const gpu::RunResult few = tasks.run(system), many = tasks.run(nodes(2, "cpu"));
  CHECK(task_ns(many, 0, "send") == Approx(9 * kCallNs).margin(9));
  CHECK(task_ns(few, 0, "send") > task_ns(many, 0, "send") + 4 * 1000);
  CHECK(of_kind(few, "put").count == 9);
  CHECK(data_bytes(few, "nic0", "net") == data_bytes(many, "nic0", "net"));
}

TEST_CASE("Between a kernel and a task the process waits, and between a task and a kernel it launches") {
  const auto time = [](const Tasks& tasks, std::uint32_t wait_ns, std::uint32_t call_ns) {
    config::SystemConfig system = nodes(2, "inter_kernel");
    for (config::GpuConfig& device : system.devices) {
      device.launch.wait_ns = wait_ns;
      device.launch.call_ns = call_ns;
    }
    return total_ns(tasks.run(system));
  };
  Tasks both;
  both.kernel().compute(0, 900'000).kernel();
  const double base = time(both, 0, 0);
  CHECK(time(both, 10'000, 0) - time(both, 5000, 0) == Approx(5000).margin(2));
  CHECK(time(both, 0, 3000) - base == Approx(3000).margin(2));
  CHECK(time(Tasks().kernel().kernel(), 5000, 3000) == Approx(time(Tasks().kernel().kernel(), 0, 0)));
  // Two kernels and their launch floors, and the task, which none of them overlaps.
  const double one = time(Tasks().kernel(), 0, 0);
  CHECK(base == Approx(2 * one + 10'000).margin(600));
}

TEST_CASE("A program of processes and kernels goes on from its state") {
  Tasks tasks;
  for (int step = 0; step < 3; ++step) {
    for (const int device : {0, 1}) tasks.on(device).kernel().send(1 - device, 5000);
    for (const int device : {0, 1}) tasks.on(device).receive(1 - device).compute(40'000, 90'000).flush();
    const auto number = static_cast<std::uint64_t>(2 * step);
    for (const int device : {0, 1}) tasks.on(device).get(1 - device, number, 9000);
    for (const int device : {0, 1}) tasks.on(device).kernel().atomic(1 - device, number + 1, 8);
    for (const int device : {0, 1}) tasks.on(device).done(1 - device, number).done(1 - device, number + 1);
  }
  tasks.resume(nodes(2, "inter_kernel"), 2);
}

TEST_CASE("Tasks are the same in every way to run them") {
  for (const char* design : {"cpu", "inter_kernel"}) {
    INFO(design);
    Tasks tasks;
    for (int d = 0; d < 4; ++d) {
      tasks.on(d);
      if (std::string(design) == "inter_kernel") tasks.kernel();
      tasks.compute(10'000u * static_cast<unsigned>(d), 5000)
          .send((d + 1) % 4, 700)
          .send((d + 2) % 4, 8, true);
      tasks.receive((d + 3) % 4).receive((d + 2) % 4).flush();
      if (std::string(design) == "inter_kernel") tasks.kernel();
    }
    const auto result_json = [&](auto change) {
      gpu::RunOptions options;
      change(options);
      const gpu::RunResult result = tasks.run(nodes(4, design), options);
      REQUIRE(result.outcome == gpu::Outcome::kDone);
      return std::pair(result.report.total_cycles, stats::network_json(network(result)));
    };
    const auto expected = result_json([](gpu::RunOptions& o) { o.threads = 1; });
    CHECK(result_json([](gpu::RunOptions& o) { o.threads = 2; }) == expected);
    CHECK(result_json([](gpu::RunOptions& o) { o.threads = 3, o.window = 1; }) == expected);
    CHECK(result_json([](gpu::RunOptions& o) { o.threads = 2, o.shuffle = 5; }) == expected);
    CHECK(result_json([](gpu::RunOptions& o) { o.threads = 1, o.skip = false; }) == expected);
  }
}

TEST_CASE("A process that waits for something never sent is a deadlock that says so") {
  const gpu::RunResult result = Tasks().send(1, 8).on(1).receive(0).receive(0).run(nodes(2, "cpu"));
  CHECK(result.outcome == gpu::Outcome::kDeadlock);
  CHECK_THAT(result.dump,
             Contains("process of device 1: 1 tasks left") && Contains("waits for message 1 of process 0"));
}

TEST_CASE("Tasks, kernels and requests that a design does not have are refused") {
  CHECK_THROWS_WITH(Tasks().compute(1, 1).run(nodes(2, "compnet")),
                    Contains("the host of device 0 computes or communicates by itself") &&
                        Contains("design = compnet; expected"));
  CHECK_THROWS_WITH(Tasks().kernel().compute(1, 1).run(nodes(2, "cpu")),
                    Contains("has no GPU to run on in [node] design = cpu"));
  CHECK_THROWS_WITH(Tasks().atomic(1, 0, 16).run(nodes(2, "cpu")), Contains("has an atomic of 16 bytes"));
  CHECK_THROWS_WITH(Tasks().receive(2).run(nodes(2, "cpu")), Contains("names process 2; expected one of"));
  CHECK_THROWS_WITH(Tasks().send(1, std::uint64_t{1} << 41).run(nodes(2, "cpu")),
                    Contains("expected at most"));
  NetScenario scenario;
  scenario.queue(0);
  scenario.request(0, some_put(8));
  CHECK_THROWS_WITH(scenario.run(nodes(2, "inter_kernel")),
                    Contains("but no agent serves queues in [node] design = inter_kernel"));
  CHECK_THROWS_WITH(Tasks().compute(1, 1).run(config::resolve_system("dgx_h100", 2)), Contains("no NICs"));
}

}  // namespace lockstep::test
