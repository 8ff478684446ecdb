// What the order of CUDA's streams becomes in a trace: against the rules of the CUDA Runtime API.
#include "cuda/stream_log.hpp"

#include <catch2/catch.hpp>
#include <string>

namespace lockstep::cuda {
using Kind = trace::Command::Kind;

namespace {

/// One letter a command and its numbers: K stream, R stream, S stream:event, E event, W. Calls of host
/// threads are left out.
std::string text(const StreamLog& log) {
  std::string all;
  for (const trace::Command& c : log.commands()) {
    if (c.kind == Kind::kHostCall) continue;
    if (!all.empty()) all += ' ';
    if (c.kind == Kind::kKernel) all += "K" + std::to_string(c.stream);
    if (c.kind == Kind::kEventRecord) all += "R" + std::to_string(c.stream);
    if (c.kind == Kind::kStreamWait) all += "S" + std::to_string(c.stream) + ":" + std::to_string(c.event);
    if (c.kind == Kind::kEventWait) all += "E" + std::to_string(c.event);
    if (c.kind == Kind::kWait) all += "W";
  }
  return all;
}
void kernel(StreamLog& log, std::uint32_t stream, bool blocking = true) {
  log.enter(stream, blocking);
  log.add(stream, {Kind::kKernel});
}

}  // namespace

TEST_CASE("blocking streams do not wait for each other, and wait for the default stream both ways") {
  StreamLog log;
  kernel(log, 1);
  kernel(log, 2);
  CHECK(text(log) == "K1 K2");
  kernel(log, 0);
  kernel(log, 0);
  CHECK(text(log) == "K1 K2 R1 S0:0 R2 S0:1 K0 K0");
  kernel(log, 2);
  kernel(log, 2);
  kernel(log, 1);
  CHECK(text(log) == "K1 K2 R1 S0:0 R2 S0:1 K0 K0 R0 S2:2 K2 K2 S1:2 K1");
}

TEST_CASE("a non-blocking stream has nothing to do with the default stream") {
  StreamLog log;
  kernel(log, 0);
  kernel(log, 1, false);
  kernel(log, 0);
  CHECK(text(log) == "K0 K1 K0");
}

TEST_CASE("an event of the device comes after all its streams' work, and makes none of them wait") {
  StreamLog log;
  const auto record = [&] {
    log.enter(7, false);
    log.wait_for_device(7);
    return log.record(7);
  };
  kernel(log, 1);
  kernel(log, 2, false);
  const std::uint32_t event = record();
  kernel(log, 1);
  CHECK(text(log) == "K1 K2 R1 S7:0 R2 S7:1 R7 K1");
  (void)record();  // 2 has nothing new
  CHECK(text(log) == "K1 K2 R1 S7:0 R2 S7:1 R7 K1 R1 S7:3 R7");
  CHECK(event == 2);
}

TEST_CASE(
    "all streams of a device wait once for what holds it, also those that are new, and no other device's") {
  StreamLog log(2);
  kernel(log, 3, false);
  const std::uint32_t event = log.mark_end(3);
  log.enter(8, false);
  log.stream_wait(8, event);
  log.hold_device(8);
  CHECK(text(log) == "K3 R3 S8:0 R8");
  kernel(log, 4, false);
  kernel(log, 4, false);
  kernel(log, 3, false);
  kernel(log, 0);
  CHECK(text(log) == "K3 R3 S8:0 R8 S4:1 K4 K4 S3:1 K3 S0:1 K0");
  log.enter(1, true, 1);
  log.add(1, {Kind::kKernel});
  CHECK(text(log) == "K3 R3 S8:0 R8 S4:1 K4 K4 S3:1 K3 S0:1 K0 K1");
}

TEST_CASE("the host's waits: for a stream by an event behind it, for all; none where nothing is new") {
  StreamLog log;
  log.wait_all();
  log.wait_stream(1);
  CHECK(log.commands().empty());
  kernel(log, 1);
  kernel(log, 2);
  log.wait_stream(1);
  log.wait_stream(1);
  CHECK(text(log) == "K1 K2 R1 E0");
  log.wait_all();
  log.wait_all();
  log.wait_stream(2);
  CHECK(text(log) == "K1 K2 R1 E0 W");
  // Synchronising the default stream waits for what a kernel in it would wait for.
  kernel(log, 1);
  log.wait_stream(0);
  CHECK(text(log) == "K1 K2 R1 E0 W K1 R1 S0:1 R0 E2");
}

TEST_CASE("an event is recorded behind the stream's commands and waited for by its number") {
  StreamLog log;
  kernel(log, 1);
  log.enter(1, true);
  const auto event = log.record(1);
  log.enter(2, true);
  log.stream_wait(2, event);
  kernel(log, 2);
  log.wait_event(event);
  CHECK(text(log) == "K1 R1 S2:0 K2 E0");
}

TEST_CASE(
    "an event without work before it is waited for by a wait for its stream or for all, and only once") {
  StreamLog log(2);
  const auto record = [&](std::uint32_t stream) {
    log.enter(stream, false);
    return log.record(stream);
  };
  kernel(log, 2, false);
  log.wait_all();
  (void)record(2);
  (void)record(2);
  log.wait_all(1);  // the other device
  log.wait_all();
  log.wait_all();
  CHECK(text(log) == "K2 W R2 R2 W");
  (void)record(2);
  (void)record(3);
  log.wait_stream(2);
  log.wait_stream(2);
  CHECK(text(log) == "K2 W R2 R2 W R2 R3 E2");
  log.wait_all();  // for stream 3's
  log.wait_all();
  CHECK(text(log) == "K2 W R2 R2 W R2 R3 E2 W");
  const std::uint32_t event = record(2), last = record(2);
  log.wait_event(event);
  log.wait_event(last);
  log.wait_all();  // the host has waited for both
  log.wait_stream(2);
  CHECK(text(log) == "K2 W R2 R2 W R2 R3 E2 W R2 R2 E4 E5");
  kernel(log, 2, false);
  log.wait_stream(2);  // by an event of the log's own, which the program does not know
  log.wait_stream(2);
  CHECK(text(log) == "K2 W R2 R2 W R2 R3 E2 W R2 R2 E4 E5 K2 R2 E6");
}

TEST_CASE("several devices: each has a default stream with its number, and waits of its own") {
  StreamLog log(2);
  const auto kernel_on = [&](unsigned device, std::uint32_t stream) {
    log.enter(stream, true, device);
    log.add(stream, {Kind::kKernel});
  };
  kernel_on(0, 0);
  kernel_on(1, 1);  // the default stream of device 1: nothing to do with that of device 0
  kernel_on(1, 2);
  kernel_on(0, 3);
  CHECK(text(log) == "K0 K1 R1 S2:0 K2 R0 S3:1 K3");
  log.wait_all(1);
  log.wait_all(1);
  kernel_on(1, 1);  // the host has waited for stream 2
  log.wait_stream(3);
  CHECK(text(log) == "K0 K1 R1 S2:0 K2 R0 S3:1 K3 W K1 R3 E2");
  const std::vector<unsigned> devices{0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0};  // with the waits' returns
  REQUIRE(log.commands().size() == devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) CHECK(log.commands()[i].device == devices[i]);
}

TEST_CASE("who calls: threads by the order in which they come, the process's first is 0; waits return") {
  using Call = trace::Command::Call;
  StreamLog log;
  log.launch_call(7, 0);
  kernel(log, 0);
  log.called_by(7);  // as before
  log.launch_call(0, 0);
  kernel(log, 0);
  log.called_by(9);
  log.wait_all();
  log.wait_all();
  log.called_by(7);
  kernel(log, 0);
  log.wait_stream(0, StreamLog::Waiter::kRuntime);
  std::string all;
  for (const trace::Command& c : log.commands()) {
    const std::string thread = std::to_string(c.thread);
    if (c.kind != Kind::kHostCall) all += '.';
    if (c.kind == Kind::kHostCall && c.call == Call::kNothing) all += " by" + thread;
    if (c.kind == Kind::kHostCall && c.call == Call::kLaunch) all += " launch" + thread;
    if (c.kind == Kind::kHostCall && c.call == Call::kReturn) all += " return" + thread;
  }
  CHECK(all == " launch1. launch0. by2. return2 by1...");
}

}  // namespace lockstep::cuda
