// Kernels that use the network: results, what is recorded of them, errors; and the programs of
// examples/shmem.
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "paths.hpp"
#include "tests/cli/program.hpp"
#include "trace/awaited_signals.hpp"
#include "trace/kernel_trace.hpp"

using namespace lockstep;
using namespace lockstep::cli;
using Kind = trace::Command::Kind;
using Operation = trace::NetOperation;

namespace {

Finished run_pes(std::vector<std::string> program, const std::string& gpus,
                 std::vector<std::string> options = {}) {
  options.insert(options.begin(), {"exec", "--functional", "--gpus", gpus});
  options.emplace_back("--");
  options.insert(options.end(), program.begin(), program.end());
  return run(std::move(options));
}
Finished test_program(const std::string& which, const std::string& gpus,
                      std::vector<std::string> options = {}) {
  return run_pes({LOCKSTEP_SHMEM_PROGRAM, which}, gpus, std::move(options));
}
std::string repeated(const std::string& line, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += line;
  return text;
}

/// What the program prints for each PE where every PE does the same. `atomics`: what the comments in shmem.cu
/// say.
const std::map<std::string, std::string> kOfEachPe = {
    {"many", "1 200 \n"},
    {"full", "1 200 \n"},
    {"one_entry", "1 200 \n"},
    {"atomics", "12 17 18 240 240 3 51 18 100 \n"},
    {"barriers", "0 \n"},
    {"testing", "3 \n"},
    {"sizes", "0 0 0 171 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 \n0 52719 \n1 \n"},
};

/// How often each word is waited for, by kernel, and for how many signals at most.
struct Waits {
  std::map<Address, std::uint32_t> most, times;
};
/// Of the device's only kernel.
Waits waits_of(const trace::TraceSet& trace, std::uint16_t device) {
  Waits waits;
  std::uint32_t kernel = 0;
  for (const trace::Command& c : trace.commands())
    if (c.kind == Kind::kKernel && c.device == device) kernel = c.kernel;
  const auto feed = trace.open(kernel);
  const std::uint64_t ctas = feed->header().grid.count();
  feed->decode_now(ctas);
  for (std::uint64_t i = 0; i < ctas; ++i) {
    trace::CtaTrace* const cta = feed->take(i);
    for (const trace::WarpSpan& span : cta->warps) {
      std::uint32_t word = span.first_word;
      for (std::uint32_t r = 0; r < span.record_count; ++r) {
        const trace::Record& record = cta->records[span.first_record + r];
        if (feed->instructions()[record.inst()].signal == trace::SignalOp::kAwaits) {
          const auto awaited = trace::awaited_signals(record.form(), &cta->words[word]);
          waits.most[awaited.word] = std::max(waits.most[awaited.word], awaited.signals);
          ++waits.times[awaited.word];
        }
        word += trace::address_words(record.form(), record.mask);
      }
    }
    feed->release(cta);
  }
  return waits;
}

}  // namespace

TEST_CASE("network: results are right for 1, 2 and 8 PEs, full queues and queues of one entry too") {
  for (const int pes : {1, 2, 8})
    for (const auto& [which, line] : kOfEachPe) {
      INFO(which << " with " << pes);
      const Finished done = test_program(which, std::to_string(pes));
      CHECK(done.out == repeated(line, pes));
      CHECK(done.code == 0);
    }
}

TEST_CASE("network: 64 PEs have right results") {
  for (const char* which : {"many", "atomics", "barriers"}) {
    INFO(which);
    CHECK(test_program(which, "64").out == repeated(kOfEachPe.at(which), 64));
  }
}

TEST_CASE("network: atomics of all PEs on one word lose nothing") {
  for (const char* pes : {"1", "2", "8", "64"}) CHECK(test_program("tickets", pes).out == "1 1\n");
}

TEST_CASE("network: collective calls give what their definitions say, from one kernel to the next") {
  for (const int pes : {1, 2, 3, 8})
    CHECK(test_program("collectives", std::to_string(pes)).out == repeated(repeated("0 ", pes) + "\n", 2));
}

TEST_CASE("network: puts come before the flag behind them, one work-group does not hold up another") {
  CHECK(test_program("order", "2").out == "0 \n20 \n");
  CHECK(test_program("beside", "1").out == "1\n");
  CHECK(test_program("early", "2").out == "50 \n3 \n");
}

TEST_CASE("network: a wait for a put that no PE makes is an error that says who waits for what") {
  const Finished done = test_program("lost", "3");
  CHECK(done.out.find("702\n") != std::string::npos);
  CHECK(done.err.find("device 1, kernel _Z4lost") != std::string::npos);
  CHECK(done.err.find("of PE 1's symmetric heap, which is 0") != std::string::npos);
  CHECK(done.err.find("device 2, kernel _Z4lost") != std::string::npos);
  CHECK(done.err.find("device 0, kernel") == std::string::npos);
}

TEST_CASE("network: an entry that asks for something impossible is one error that names it") {
  const std::map<std::string, std::string> kErrors = {
      {"status", "status 77; expected 0 or 1"},
      {"operation", "operation 9; expected one below 4"},
      {"flags", "flags 0x40, reserved 0x0; expected flags of 0x1f and 0"},
      {"pe", "PE 2; there are 2, counted from 0"},
      {"context", "it is of the context of queue 3"},
      {"remote", "it writes 8 bytes at offset 0xfffffffffffffffc of the symmetric heap"},
      {"end", "it writes 4194304 bytes at offset"},
      {"local", "which is not memory of device 0"},
      {"null", "its data come from 8 bytes at 0x0, which is not memory of device 0"},
      {"inline", "9 bytes in the entry itself; expected at most 8"},
      {"signal", "expected a multiple of 8"},
      {"atomic", "atomic operation 7; expected one below 7"},
      {"width", "an atomic operation on 2 bytes; expected 4 or 8"},
      {"alignment", "which is not a multiple of that"},
  };
  CHECK(run_pes({LOCKSTEP_SHMEM_PROGRAM, "hostile", "none"}, "2").out == "0\n");
  for (const auto& [what, message] : kErrors) {
    INFO(what);
    const Finished done = run_pes({LOCKSTEP_SHMEM_PROGRAM, "hostile", what}, "2");
    CHECK(done.code == 1);
    CHECK(done.err.find("device 0, network queue 0, entry 0: ") != std::string::npos);
    CHECK(done.err.find(message) != std::string::npos);
  }
}

TEST_CASE("network: a checked run finds no error in the library") {
  for (const char* which : {"collectives", "tickets", "sizes"}) {
    const Finished done = test_program(which, "2", {"--check", "memory,race,init"});
    CHECK(done.code == 0);
    CHECK(done.err.find("lockstep: check: 0 errors") != std::string::npos);
  }
}

TEST_CASE("network: the host's functions refuse what cannot work") {
  CHECK(test_program("errors", "1").out ==
        "shmem: init() has not been called\n"
        "shmem: init() needs at least one work-group, and queues with a power of two of entries\n"
        "shmem: init() needs at least one work-group, and queues with a power of two of entries\n"
        "shmem: init() has been called before\n"
        "shmem: the symmetric heap has no room for 2097152 bytes more; init() makes it as large as "
        "Options::heap_bytes says\n"
        "shmem: the symmetric heap has no room for 256 bytes more; init() makes it as large as "
        "Options::heap_bytes says\n"
        "shmem: free() of what malloc() has not given\n"
        "shmem: a kernel of 4001 work-groups; init() made queues for 4000\n"
        "shmem: a kernel of 4000 work-groups of 1024 threads; 160 are resident on a device at a time, and "
        "those "
        "would wait for the others for ever\n"
        "shmem: init() has not been called\n");
  const Folder folder;
  const Finished ranges =
      test_program("many", "2", {"--record", folder / "x.lst", "--profile-from-start", "off"});
  CHECK(ranges.code != 0);
  CHECK_THAT(ranges.out + ranges.err,
             Catch::Contains("--profile-from-start off: the program's kernels use the network"));
  const Finished crowd = test_program("crowd", "1");
  CHECK(crowd.out == "719\n");  // cudaErrorLaunchFailure
  CHECK(crowd.err.find("trap in kernel") != std::string::npos);
}

TEST_CASE("network: processes of hosts send, receive and reduce, in the order of their streams") {
  for (const char* pes : {"2", "3", "4"}) {
    const Finished done = test_program("processes", pes);
    CHECK(done.out == "42\n1 1 1 1 1 \n");
  }
  const Finished unsent = test_program("unsent", "2");
  CHECK(unsent.out == "702\n");
  CHECK(unsent.err.find("the process of PE 1, which receives from PE 0, waits for") != std::string::npos);
  const Finished errors = test_program("process_errors", "2");
  std::vector<std::string> lines;
  std::istringstream text(errors.out);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0] == "shmem: init() has not been called");
  CHECK(lines[1] == "shmem: the process of PE 0 names PE 2; there are 2, counted from 0");
  CHECK_THAT(lines[2], Catch::Contains("PE 0 sends 2097152 bytes to offset") && Catch::Contains("which has"));
  CHECK_THAT(lines[3],
             Catch::Contains("PE 0 sends 64 bytes at") && Catch::Contains("not memory of device 0"));
}

TEST_CASE("network: recordings are the same for every number of threads and in every run", "[long]") {
  const Folder folder;
  for (const char* which : {"tickets", "collectives"})
    for (const char* pes : {"1", "3"}) {
      INFO(which << " with " << pes);
      const auto record = [&](const char* name, const char* threads) {
        CHECK(test_program(which, pes, {"--threads", threads, "--record", folder / name}).code == 0);
        return slurp(folder / name);
      };
      const std::string one = record("one.lst", "1");
      CHECK(record("again.lst", "1") == one);
      CHECK(record("four.lst", "4") == one);
    }
}

TEST_CASE(
    "network: what is recorded is what the kernels asked for, and waits have the signals that they need") {
  constexpr std::uint32_t kOperations = 401, kDepth = 4;  // 400 puts and a quiet, by shmem.cu
  for (const char* pes : {"1", "2"}) {
    INFO(pes);
    const Folder folder;
    CHECK(test_program("full", pes, {"--record", folder / "kept.lst"}).code == 0);
    const auto trace = trace::open_trace(folder / "kept.lst");
    std::map<std::uint16_t, std::vector<Operation>> operations;
    std::map<std::uint16_t, trace::Command> queues;
    std::uint32_t kernels = 0;
    for (const trace::Command& c : trace->commands()) {
      if (c.kind == Kind::kNetQueue) CHECK(queues.emplace(c.device, c).second);
      if (c.kind == Kind::kNetOperation) operations[c.device].push_back(c.operation);
      if (c.kind == Kind::kKernel) {  // its operations stand before it
        ++kernels;
        CHECK(operations[c.device].size() == kOperations);
      }
    }
    const auto devices = static_cast<std::size_t>(std::stoi(pes));
    CHECK((queues.size() == devices && operations.size() == devices && kernels == devices));
    for (const auto& [device, own] : operations) {
      for (std::uint32_t i = 0; i < own.size(); ++i) {
        const bool last = i + 1 == kOperations;
        CHECK(own[i].kind == (last ? Operation::Kind::kQuiet : Operation::Kind::kPut));
        CHECK((own[i].inlined == !last && own[i].blocking == last && own[i].bytes == (last ? 0 : 4)));
        CHECK(own[i].queue == 0);
        CHECK(own[i].ready == 2 * (i / kDepth) + 1);
        CHECK(own[i].target == (last ? device : (device + 1u) % devices));
      }
      const trace::Command& queue = queues.at(device);
      CHECK(queue.bytes == kDepth * trace::kNetEntryBytes);
      const Waits waits = waits_of(*trace, device);
      // From operation 5 on the queue is full: each waits until the one four before it has been finished.
      CHECK(waits.times.at(queue.source) == kOperations - kDepth);
      CHECK(waits.most.at(queue.source) == kOperations - kDepth);
      // The quiet, in entry 400 modulo 4, waits for its status: two signals for each use of the entry.
      CHECK(waits.most.at(queue.address) == 2 * (kOperations / kDepth + 1));
    }
  }
}

TEST_CASE("network: kernels that wait for each other's puts are recorded with one signal for each") {
  const Folder folder;
  const std::string program = std::string(LOCKSTEP_SHMEM_EXAMPLES) + "/ping_pong";
  CHECK(run_pes({program, "4096", "6"}, "2", {"--record", folder / "kept.lst"}).code == 0);
  const auto trace = trace::open_trace(folder / "kept.lst");
  for (const trace::Command& c : trace->commands()) {
    if (c.kind != Kind::kNetOperation || c.operation.kind != Operation::Kind::kPut) continue;
    CHECK((c.operation.blocking && !c.operation.inlined && c.operation.bytes == 4096));
    const Waits waits = waits_of(*trace, c.operation.target);
    CHECK(waits.most.at(c.operation.signal) == 6);
    CHECK(waits.times.at(c.operation.signal) == 6);
  }
}

TEST_CASE("network: info counts operations, and a machine without NICs refuses the trace") {
  const Folder folder;
  CHECK(test_program("full", "2", {"--record", folder / "kept.lst"}).code == 0);
  const auto info = nlohmann::json::parse(run({"info", folder / "kept.lst", "--json"}).out);
  REQUIRE(info["network"].size() == 2);
  for (const auto& device : info["network"]) {
    CHECK(device["queues"] == 1);
    CHECK(device["puts"] == nlohmann::json({{"operations", 400}, {"bytes", 1600}}));
    CHECK(device["gets"]["operations"] == 0);
    CHECK(device["quiets"]["operations"] == 1);
    CHECK(device["signals"] == 0);
  }
  CHECK(run({"info", folder / "kept.lst"}).out.find("400 (1.6 KiB)") != std::string::npos);
  const Finished timed =
      run({"run", folder / "kept.lst", "-c", "hgx_a100_4", "--gpus", "2", "-o", folder / "out"});
  CHECK(timed.code == 2);
  CHECK(timed.err.find("device 0 uses the network, but hgx_a100_4 has no NICs") != std::string::npos);
}

TEST_CASE("network: the program in the documentation is the example") {
  const std::string root = LOCKSTEP_SOURCE_DIR;
  CHECK(slurp(root + "/docs/networking.md").find(slurp(root + "/examples/shmem/ping_pong.cu")) !=
        std::string::npos);
}

TEST_CASE("network: the programs of examples/shmem find their results right", "[long]") {
  const std::map<std::string, std::vector<std::string>> kPrograms = {
      {"get_latency", {"1", "3"}},
      {"queue_service", {"1", "2"}},
      {"full_load", {"2"}},
      {"jacobi", {"1", "3"}},
      {"allreduce_rings", {"2", "3", "8"}},
      {"all_to_all", {"1", "2", "5"}},
      {"message_rate", {"2"}},
      {"ping_pong", {"2"}},
      {"streaming", {"2"}},
  };
  for (const auto& [program, all] : kPrograms)
    for (const std::string& pes : all) {
      INFO(program << " with " << pes);
      const Finished done = run_pes({std::string(LOCKSTEP_SHMEM_EXAMPLES) + "/" + program}, pes);
      CHECK(done.out.ends_with("PASS\n"));
      CHECK(done.code == 0);
    }
  for (const char* form : {"intra", "inter", "cpu"})
    for (const std::string pes : {"2", "3", "4"}) {
      INFO(form << " with " << pes);
      const std::string folder = LOCKSTEP_SHMEM_EXAMPLES;
      CHECK(run_pes({folder + "/jacobi", "100", "3", form}, pes).out.ends_with("PASS\n"));
      CHECK(run_pes({folder + "/allreduce_rings", "64", "3", form}, pes).out.ends_with("PASS\n"));
    }
  const Finished alone = run_pes({std::string(LOCKSTEP_SHMEM_EXAMPLES) + "/ping_pong"}, "1");
  CHECK(alone.code == 1);
  CHECK(alone.out == "ping_pong needs two devices: lockstep exec --gpus 2\nFAIL\n");
}
