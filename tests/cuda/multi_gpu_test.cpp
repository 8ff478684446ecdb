// Programs for several GPUs: CUDA's error codes, whose memory and variables are whose, kernels that wait for
// each other, and the recorded trace.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "exec/address_space.hpp"
#include "paths.hpp"
#include "support.hpp"
#include "tests/cli/program.hpp"
#include "trace/kernel_trace.hpp"

using namespace lockstep;
using namespace lockstep::cli;
using lockstep::cuda::kMultiGpuPtx;
using Kind = trace::Command::Kind;

namespace {

Finished run_multi_gpu(const std::string& which, const std::string& gpus,
                       std::vector<std::string> options = {}, const std::string& ptx = kMultiGpuPtx) {
  options.insert(options.begin(), {"exec", "--functional", "--gpus", gpus});
  for (const std::string& word : {std::string("--"), std::string(LOCKSTEP_MULTI_GPU_PROGRAM), ptx, which})
    options.push_back(word);
  return run(std::move(options));
}

// What each prints on a machine with two GPUs that are peers; multi_gpu.cpp says what the numbers are.
// `state`: each device's own variable begins at 5, the managed one at 7, a constant is 3; 1 is added on
// device 0, 2 on device 1, twice.
const std::map<std::string, std::string> kMultiGpuExpected = {
    {"errors", "2 1 0 \n101 101 \n0 704 101 101 \n0 705 \n400 400 0 \n1 0 1 \n1 \n"},
    {"access", "0 11 \n700 700 \n0 13 \n700 \n"},
    {"state", "18 27 12 \n6 2 0 \n9 2 1 \n1 0 67108864 \n6 5 18 \n"},
    {"copies", "77 0 77 101 \n"},
    {"barrier", "0 20 \n0 20 \n"},
    {"threads", "0 20 \n0 20 \n"},
    {"order", "0 0 0 0 0 \n0 0 0 0 0 \n0 0 0 0 0 \n0 0 0 0 0 \n"},
    {"pools", "0 0 3 0 21 \n0 700 \n"},
    {"mapped", "0 0 0 31 0 32 \n1 0 0 700 \n"},
    {"corners", "0 12 13 0 16 17 0 \n0 10 \n"},
    {"advice", "0 0 \n0 0 \n101 101 \n0 41 0 42 \n"},
    {"contexts", "1 0 704 1 0 \n0 \n"},
    {"graphs", "0 5 0 \n0 5 21 6 5 21 \n0 5 21 6 5 21 \n0 9 10 21 5 \n"},
};

std::vector<trace::Command> commands_of(const std::string& which, const std::string& gpus) {
  const Folder folder;
  CHECK(run_multi_gpu(which, gpus, {"--record", folder / "kept.lst"}).code == 0);
  return trace::open_trace(folder / "kept.lst")->commands();
}

}  // namespace

TEST_CASE("several GPUs: error codes, memory, variables, copies and waiting kernels are CUDA's") {
  for (const auto& [which, expected] : kMultiGpuExpected) {
    INFO(which);
    const Finished done = run_multi_gpu(which, "2");
    CHECK(done.out == expected);
    CHECK(done.code == 0);
  }
  CHECK(run_multi_gpu("barrier", "16").out == [] {
    std::string lines;
    for (int d = 0; d < 16; ++d) lines += "0 20 \n";
    return lines;
  }());
}

TEST_CASE("several GPUs: a ring all-reduce by stores to peers and flags is right for every number of them") {
  const std::string ptx = std::string(LOCKSTEP_SOURCE_DIR) + "/examples/multi_gpu/ptx/allreduce_peer.ptx";
  for (const char* gpus : {"1", "2", "3", "8"})
    for (const char* threads : {"1", "4"})
      CHECK(run_multi_gpu("ring", gpus, {"--threads", threads}, ptx).out == "0 0 \n");
}

TEST_CASE("several GPUs: outside of a program's ranges results are the same") {
  const Folder folder;
  for (const auto& [which, expected] : kMultiGpuExpected) {
    INFO(which);
    CHECK(run_multi_gpu(which, "2", {"--record", folder / "none.lst", "--profile-from-start", "off"}).out ==
          expected);
  }
}

TEST_CASE("several GPUs: a fault says which device executed and whose memory it was") {
  const std::string err = run_multi_gpu("access", "2").err;
  CHECK(err.find("device 0 executed, and it is device 1's memory, to which it has no peer access") !=
        std::string::npos);
  CHECK(err.find("device 1 executed, and it is device 0's memory, to which it has no peer access") !=
        std::string::npos);
}

TEST_CASE("several GPUs: how many there are is checked") {
  for (const char* gpus : {"0", "65", "two"}) {
    const Finished wrong = run_multi_gpu("errors", gpus);
    CHECK(wrong.code == 2);
    CHECK(wrong.err.find("--gpus") != std::string::npos);
  }
}

TEST_CASE("several GPUs: simulated beside the program, results and report are those of its recording",
          "[matrix]") {
  const Folder folder;
  // "state" and "advice": managed memory that both devices and the host write.
  for (const char* which : {"copies", "barrier", "order", "corners", "graphs", "state", "advice"}) {
    INFO(which);
    const auto timed = [&](const std::string& out, std::vector<std::string> options) {
      options.insert(options.begin(), {"exec", "-q", "-c", "hgx_a100_4", "--gpus", "2", "-o", folder / out});
      for (const std::string& word :
           {std::string("--"), std::string(LOCKSTEP_MULTI_GPU_PROGRAM), kMultiGpuPtx})
        options.push_back(word);
      options.emplace_back(which);
      return run(std::move(options));
    };
    const Finished one = timed("one", {"--threads", "1", "--record", folder / "kept.lst"});
    CHECK(one.code == 0);
    CHECK(one.out == kMultiGpuExpected.at(which));
    const std::string stats = slurp(folder / "one/stats.json");
    CHECK(stats.find("\"partial\":false") != std::string::npos);
    CHECK(timed("two", {"--threads", "2", "--window", "7"}).out == one.out);
    CHECK(slurp(folder / "two/stats.json") == stats);
    CHECK(run({"run", folder / "kept.lst", "-q", "-c", "hgx_a100_4", "--gpus", "2", "-o", folder / "three"})
              .code == 0);
    CHECK(slurp(folder / "three/stats.json") == stats);
  }
}

TEST_CASE("several GPUs: one recording for every number of threads; one GPU's is that of a program without") {
  const Folder folder;
  for (const char* which : {"copies", "barrier", "state", "graphs"}) {
    INFO(which);
    CHECK(run_multi_gpu(which, "3", {"--record", folder / "one.lst"}).code == 0);
    CHECK(run_multi_gpu(which, "3", {"--threads", "4", "--record", folder / "four.lst"}).code == 0);
    CHECK(slurp(folder / "one.lst") == slurp(folder / "four.lst"));
  }
  CHECK(run_multi_gpu("barrier", "1", {"--record", folder / "alone.lst"}).code == 0);
  CHECK(run({"exec", "--functional", "--record", folder / "plain.lst", "--", LOCKSTEP_MULTI_GPU_PROGRAM,
             kMultiGpuPtx, "barrier"})
            .code == 0);
  CHECK(slurp(folder / "alone.lst") == slurp(folder / "plain.lst"));
}

TEST_CASE("several GPUs: the trace says whose addresses are whose, before all else") {
  const auto commands = commands_of("barrier", "3");
  REQUIRE(commands.size() > 3);
  for (std::uint16_t d = 0; d < 3; ++d) {
    CHECK(commands[d].kind == Kind::kPlace);
    CHECK(commands[d].device == d);
    CHECK(commands[d].address == exec::kArenaBase + (d == 0 ? 0 : d + 2) * exec::kRegionBytes);
    CHECK(commands[d].bytes == exec::kRegionBytes);
  }
  for (const trace::Command& c : commands_of("barrier", "1")) {
    CHECK(c.kind != Kind::kPlace);
    CHECK(c.device == 0);
  }
}

TEST_CASE("several GPUs: kernels and copies between devices stand in their devices' streams") {
  std::map<std::uint64_t, std::uint16_t> device_of;  // by stream
  std::vector<trace::Command> peers;
  for (const trace::Command& c : commands_of("copies", "3")) {
    if (c.kind == Kind::kPeerCopy) peers.push_back(c);
    if (c.kind != Kind::kKernel && c.kind != Kind::kPeerCopy && c.kind != Kind::kFill) continue;
    const auto [known, added] = device_of.emplace(c.stream, c.device);
    CHECK(known->second == c.device);
  }
  REQUIRE(peers.size() == 4);  // around the ring, and one with the devices waiting
  const auto base = [](unsigned d) { return exec::kArenaBase + (d == 0 ? 0 : d + 2) * exec::kRegionBytes; };
  for (unsigned d = 0; d < 3; ++d) {
    CHECK(peers[d].device == d);
    CHECK(peers[d].bytes == 4);
    CHECK(peers[d].source - base(d) < exec::kRegionBytes);
    CHECK(peers[d].address - base((d + 1) % 3) < exec::kRegionBytes);
  }
  CHECK(peers[3].device == 0);
}

TEST_CASE("several GPUs: a graph's nodes stand in streams of their devices, and events order them") {
  // Of the first launch: a kernel and a copy of device 0, a copy and a kernel of device 1, whose first waits
  // for device 0's first kernel, and for whose last device 0's copy waits.
  const auto commands = commands_of("graphs", "2");
  std::vector<std::uint16_t> events;  // by event: the device that records it
  std::vector<trace::Command> kernels, copies;
  std::map<std::uint16_t, std::set<std::uint16_t>> waits;  // by device: for which others
  for (const trace::Command& c : commands) {
    if (c.kind == Kind::kEventRecord) events.push_back(c.device);
    if (c.kind == Kind::kStreamWait && events.at(c.event) != c.device)
      waits[c.device].insert(events[c.event]);
    if (c.kind == Kind::kKernel) kernels.push_back(c);
    if (c.kind == Kind::kPeerCopy) copies.push_back(c);
  }
  CHECK((waits[0] == std::set<std::uint16_t>{1} && waits[1] == std::set<std::uint16_t>{0}));
  const auto on = [](const std::vector<trace::Command>& all, std::uint16_t device) {
    return std::ranges::count(all, device, &trace::Command::device);
  };
  CHECK((on(kernels, 0) == 6 && on(kernels, 1) == 5));  // three launches of 2 and 1, and two by hand
  CHECK((on(copies, 0) == 4 && on(copies, 1) == 3));    // of 1 and 1, and one by hand
}

TEST_CASE("several GPUs: info shows what each device does") {
  const Folder folder;
  CHECK(run_multi_gpu("copies", "3", {"--record", folder / "kept.lst"}).code == 0);
  const auto info = nlohmann::json::parse(run({"info", folder / "kept.lst", "--json"}).out);
  // 4 bytes each around the ring, 4 more from device 0 to device 1; the program reads two words of devices
  // 0, 1.
  CHECK(info["devices"].size() == 3);
  CHECK(info["devices"][0]["kernels"] == 1);
  CHECK(info["devices"][0]["peer_bytes_to"] == nlohmann::json({0, 8, 0}));
  CHECK(info["devices"][1]["peer_bytes_to"] == nlohmann::json({0, 0, 4}));
  CHECK(info["devices"][2]["peer_bytes_to"] == nlohmann::json({4, 0, 0}));
  CHECK(run({"info", folder / "kept.lst"}).out.find("8 B to 1") != std::string::npos);
}
