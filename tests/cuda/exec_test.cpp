// `lockstep exec` on a real process: results, exit codes, and the same statistics whatever the threads.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "paths.hpp"
#include "support.hpp"
#include "tests/cli/program.hpp"

using namespace lockstep::cli;
using lockstep::cuda::kVectorAddPtx;

namespace {

Finished run_vector_add(std::vector<std::string> options, const std::string& fault = "") {
  options.insert(options.begin(), "exec");
  for (const std::string& word : {std::string("--"), std::string(LOCKSTEP_CUDA_PROGRAM), kVectorAddPtx})
    options.push_back(word);
  if (!fault.empty()) options.push_back(fault);
  return run(std::move(options));
}

}  // namespace

TEST_CASE("a program gets right results, and its output and exit code are passed through") {
  const Finished functional = run_vector_add({"--functional"});
  CHECK(functional.code == 0);
  CHECK(functional.out == "PASS\n");
  CHECK(functional.err.empty());
  const Finished failed = run({"exec", "--", LOCKSTEP_CUDA_PROGRAM});
  CHECK(failed.code == 3);
}

TEST_CASE("timing follows: the same bytes for every thread count, window and from the record") {
  const Folder folder;
  const Finished one = run_vector_add({"-q", "--threads", "1", "-o", folder / "one"});
  CHECK(one.code == 0);
  CHECK(one.out == "PASS\n");
  const std::string stats = slurp(folder / "one/stats.json");
  CHECK(stats.find("_Z3addPKfS0_Pfi") != std::string::npos);
  CHECK(run_vector_add({"-q", "--threads", "2", "--window", "7", "-o", folder / "two"}).code == 0);
  CHECK(slurp(folder / "two/stats.json") == stats);
  CHECK(run_vector_add(
            {"-q", "--no-skip", "--shuffle", "5", "--record", folder / "kept.lst", "-o", folder / "three"})
            .code == 0);
  CHECK(slurp(folder / "three/stats.json") == stats);
  CHECK(run({"run", folder / "kept.lst", "-q", "-o", folder / "four"}).code == 0);
  CHECK(slurp(folder / "four/stats.json") == stats);
}

TEST_CASE("what was executed is what the kernel must execute: instructions and addresses") {
  const Folder folder;
  CHECK(run({"record", folder / "add.lst", "--", LOCKSTEP_CUDA_PROGRAM, kVectorAddPtx}).code == 0);
  const std::string info = run({"info", folder / "add.lst"}).out;
  // 10,000 elements: the last of the 320 warps that has any is number ceil(10,000 / 32) = 313; each of them
  // loads twice, adds and stores; 3 * 40,000 bytes, a line of 128 bytes for each access.
  CHECK(info.find("global    626     313        0    117.2 KiB             939") != std::string::npos);
  CHECK(info.find("10,000  FADD") != std::string::npos);
  CHECK(info.find("20,000  LDG") != std::string::npos);
  CHECK(info.find("10,000  STG") != std::string::npos);
  CHECK(info.find("exit               320") != std::string::npos);
}

TEST_CASE("errors of the device program are the runtime's error codes and one line that says where") {
  const Finished null = run_vector_add({"--functional"}, "null");
  CHECK(null.code == 5);
  CHECK(null.out == "cudaErrorIllegalAddress\n");
  CHECK(null.err.find("_Z3addPKfS0_Pfi") != std::string::npos);
  const Finished geometry = run_vector_add({"--functional"}, "geometry");
  CHECK(geometry.out == "cudaErrorInvalidConfiguration\n");
  const Finished unsupported = run_vector_add({"--functional"}, "unsupported");
  CHECK(unsupported.out == "801\nPASS\n");
  CHECK(unsupported.err.find("cudaGraphicsMapResources is not supported") != std::string::npos);
}

TEST_CASE(
    "what nvcc -lineinfo leaves: faults name the line of the source, and the record keeps it for info") {
  const Folder folder;
  std::string ptx = slurp(kVectorAddPtx);
  const auto insert = [&](const std::string& before, const std::string& text) {
    const std::size_t at = ptx.find(before);
    REQUIRE(at != std::string::npos);
    ptx.insert(at, text);
  };
  insert("cvta.to.global.u64 \t%rd4", ".loc 1 12 5\n\t");
  insert("add.f32", ".loc 2 3 9, function_name $L__info0, inlined_at 1 12 5\n\t");
  ptx +=
      "\n.file 1 \"/home/me/vector_add.cu\"\n.file 2 \"/home/me/sum.cuh\"\n.section .debug_str { $L__info0: "
      ".b8 95, 0 }\n";
  std::ofstream(folder / "lines.ptx") << ptx;
  const Finished null =
      run({"exec", "--functional", "--", LOCKSTEP_CUDA_PROGRAM, folder / "lines.ptx", "null"});
  CHECK(null.code == 5);
  CHECK(null.err.find(" (vector_add.cu:12): illegal address in kernel _Z3addPKfS0_Pfi") != std::string::npos);
  CHECK(run({"record", folder / "add.lst", "--", LOCKSTEP_CUDA_PROGRAM, folder / "lines.ptx"}).code == 0);
  const auto info = nlohmann::json::parse(run({"info", folder / "add.lst", "--json"}).out);
  // 313 warps get behind the branch (10,000 elements); one FADD in each, of all 10,000 threads.
  const auto& lines = info["total"]["source_lines"];
  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["file"] == "/home/me/sum.cuh");
  CHECK(lines[0]["line"] == 3);
  CHECK(lines[1]["file"] == "/home/me/vector_add.cu");
  CHECK(lines[1]["line"] == 12);
  CHECK(lines[1]["warp"] >= 313 * 2);  // the loads
  CHECK(run({"info", folder / "add.lst"}).out.find("  vector_add.cu:12 ") != std::string::npos);
  // A timing run of both is the same.
  CHECK(run({"record", folder / "plain.lst", "--", LOCKSTEP_CUDA_PROGRAM, kVectorAddPtx}).code == 0);
  const auto cycles = [&](const std::string& trace) {
    CHECK(run({"run", folder / trace, "-q", "-o", folder / (trace + ".out")}).code == 0);
    return nlohmann::json::parse(slurp(folder / (trace + ".out/stats.json")))["kernels"];
  };
  CHECK(cycles("add.lst") == cycles("plain.lst"));
}

TEST_CASE("a program of the driver API: modules, launches, linking, graphs with conditions and memory") {
  const std::string ptx = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cuda/data/driver.ptx";
  const Finished functional = run({"exec", "--functional", "--", LOCKSTEP_DRIVER_PROGRAM, ptx});
  CHECK(functional.out == "PASS\n");
  CHECK(functional.code == 0);
  CHECK(functional.err.find("cuGreenCtxCreate is not supported") != std::string::npos);
  CHECK(functional.err.find("fatbin") == std::string::npos);
  // 1024 threads with 100 registers each are more than the 64 K of an SM, and this is no estimate.
  CHECK(run({"exec", "--functional", "--regs", "wide=100", "--", LOCKSTEP_DRIVER_PROGRAM, ptx}).out ==
        "FAIL: wide launch\nFAIL: wide sums\n");
  const Folder folder;
  const Finished timed = run({"exec", "-q", "-o", folder / "timed", "--", LOCKSTEP_DRIVER_PROGRAM, ptx});
  CHECK(timed.out == "PASS\n");
  CHECK(timed.err.find("fatbin") == std::string::npos);
  CHECK(slurp(folder / "timed/stats.json").find("\"scale\"") != std::string::npos);
}

TEST_CASE("registers given for a kernel that is never launched are an error, not ignored") {
  const Folder folder;
  const std::string ptx = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/cuda/data/driver.ptx";
  const std::vector<std::vector<std::string>> commands = {
      {"exec", "-q"}, {"exec", "-q", "--managed", "all"}, {"record", folder / "t.lst", "-q"}};
  for (std::vector<std::string> command : commands) {
    command.insert(command.end(),
                   {"--regs", "wide=60", "--regs", "wid=60", "--", LOCKSTEP_DRIVER_PROGRAM, ptx});
    const Finished done = run(command);
    INFO(command.front() << "\n" << done.err);
    CHECK(done.code == 2);
    CHECK(done.err.find("--regs: the program launched no kernel 'wid'") != std::string::npos);
  }
}

TEST_CASE("memory pools, what a pointer and a stream are, and copies in batches, as the documentation says") {
  const Finished done = run({"exec", "--functional", "--", LOCKSTEP_POOLS_PROGRAM});
  CHECK(done.out == "PASS\n");
  CHECK(done.code == 0);
  CHECK(done.err.empty());
}

TEST_CASE("the README's program, which needs no CUDA compiler") {
  const std::string ptx = std::string(LOCKSTEP_SOURCE_DIR) + "/examples/ptx/vector_add.ptx";
  const Folder folder;
  const auto timed = [&](const std::string& threads) {
    const Finished done = run({"exec", "-q", "--threads", threads, "-o", folder / threads, "--",
                               LOCKSTEP_DRIVER_EXAMPLE, ptx, "5000"});
    CHECK(done.out == "PASS\n");
    CHECK(done.code == 0);
    return slurp(folder / threads + "/stats.json");
  };
  CHECK(timed("1") == timed("2"));
  const std::string text = std::string(LOCKSTEP_SOURCE_DIR) + "/README.md";
  const Finished bad = run({"exec", "--functional", "--", LOCKSTEP_DRIVER_EXAMPLE, text});
  CHECK(bad.out == "CUDA_ERROR_INVALID_PTX\nFAIL\n");
  CHECK(bad.code == 1);
}

TEST_CASE(
    "of a program's processes the first that uses CUDA is simulated, and others say that they are not") {
  const Folder folder;
  const std::string once = std::string(LOCKSTEP_CUDA_PROGRAM) + " " + kVectorAddPtx;
  const auto execute_shell = [&](const std::string& script, const std::string& out) {
    return run({"exec", "-q", "-o", folder / out, "--", "sh", "-c", script});
  };
  CHECK(execute_shell("true; " + once, "one").err.empty());
  const Finished two = execute_shell(once + "; " + once, "two");
  CHECK(two.code == 0);
  CHECK(two.out == "PASS\nPASS\n");
  CHECK(two.err.find("is executed but not simulated") != std::string::npos);
  const std::string stats = slurp(folder / "one/stats.json");
  CHECK(slurp(folder / "two/stats.json") == stats);
  CHECK(
      run({"exec", "-q", "-o", folder / "forked", "--", LOCKSTEP_CUDA_PROGRAM, kVectorAddPtx, "fork"}).code ==
      0);
  CHECK(slurp(folder / "forked/stats.json") == stats);
}

TEST_CASE("bad usage of exec and record") {
  CHECK(run({"exec"}).code == 2);
  CHECK(run({"exec", "--functional"}).err.find("no program") != std::string::npos);
  const Finished missing = run({"exec", "--", "no-such-program"});
  CHECK(missing.code == 2);
  CHECK(missing.err.find("no-such-program: No such file") != std::string::npos);
  CHECK(run({"record", "--", "true"}).code == 2);
  const Finished step = run({"record", "--without", "sleep", "x.lst", "--", "true"});
  CHECK(step.code == 2);
  CHECK(step.err.find(
            "--without: constants, unroll, merge, schedule, rest, integers, setup, fusion, predication, "
            "left_out, temporaries, uniform or slow_paths expected, 'sleep' found") != std::string::npos);
}

TEST_CASE("managed memory: allocations, prefetch, advice and the host's accesses reach the model") {
  const Folder folder;
  // Without a prefetcher the bytes follow from the accesses.
  const std::vector<std::string> quick = {"-q",
                                          "--set",
                                          "uvm.interrupt_ns=200",
                                          "--set",
                                          "uvm.batch_ns=300",
                                          "--set",
                                          "uvm.host_fault_ns=500",
                                          "--set",
                                          "uvm.prefetcher=none",
                                          "--set",
                                          "uvm.prefetcher_oversubscribed=none"};
  const auto stats = [&](const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> options = quick;
    options.insert(options.end(), more.begin(), more.end());
    options.insert(options.end(), {"-o", folder / out});
    const Finished done = run_vector_add(options, "managed");
    CHECK(done.out == "PASS\n");
    CHECK(done.code == 0);
    return slurp(folder / out + "/stats.json");
  };
  const std::string one = stats("one", {"-t", "1"});
  const auto managed = nlohmann::json::parse(one).at("managed");
  constexpr unsigned kPages = 10;  // of 40,000 bytes
  CHECK(managed.at("allocations") == 3);
  CHECK(managed.at("footprint_bytes") == 3 * 65536);
  CHECK(managed.at("user_prefetched_pages") == kPages);
  CHECK(managed.at("advised_pages") == kPages);
  CHECK(managed.at("host_faults") == 4);  // a, b and c between the kernels, c at the end
  CHECK(managed.at("bytes_to_host") == (1 + 3 * kPages) * 4096);
  CHECK(managed.at("bytes_to_device") == (3 * kPages + 1 + 2 * kPages) * 4096);
  CHECK(stats("two", {"-t", "2", "--window", "7", "--shuffle", "3"}) == one);
  const auto small = nlohmann::json::parse(stats("small", {"--gpu-memory", "0.1x"})).at("managed");
  CHECK(small.at("device_bytes") == 4 * 4096);  // of 48 pages
  CHECK(small.at("evictions") > 0);
  CHECK(run_vector_add({"-q", "--managed", "none", "-o", folder / "none"}, "managed").code == 0);
  CHECK(slurp(folder / "none/stats.json").find("\"managed\"") == std::string::npos);
}

TEST_CASE("managed memory: a copy of the default kind is the host's where the host is preferred") {
  const Folder folder;
  const Finished done =
      run_vector_add({"-q", "--set", "uvm.prefetcher=none", "-o", folder / "one"}, "managed-default");
  CHECK(done.out == "PASS\n");
  const auto managed = nlohmann::json::parse(slurp(folder / "one/stats.json")).at("managed");
  constexpr unsigned kPages = 10;                             // of 40,000 bytes
  CHECK(managed.at("device_accessed_pages") == kPages);       // b
  CHECK(managed.at("bytes_to_device") == 2 * kPages * 4096);  // b, c; a is read where it is
  CHECK(managed.at("remote_reads") == 40000 / 128 + 1);       // lines of a
}

TEST_CASE("managed memory: copies and fills by the device bring pages, copies by the host take them back") {
  const Folder folder;
  const auto stats = [&](const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> options = {"-q",
                                        "--set",
                                        "uvm.prefetcher=none",
                                        "--set",
                                        "uvm.prefetcher_oversubscribed=none",
                                        "--set",
                                        "uvm.batch_ns=300",
                                        "-o",
                                        folder / out};
    options.insert(options.end(), more.begin(), more.end());
    const Finished done = run_vector_add(options, "managed-copies");
    CHECK(done.out == "PASS\n");
    return slurp(folder / out + "/stats.json");
  };
  const std::string one = stats("one", {"-t", "1"});
  const auto managed = nlohmann::json::parse(one).at("managed");
  constexpr unsigned kPages = 10;                            // of 40,000 bytes
  CHECK(managed.at("device_accessed_pages") == 2 * kPages);  // a, b
  CHECK(managed.at("faults") == kPages);                     // c
  CHECK(managed.at("bytes_to_device") == 3 * kPages * 4096);
  CHECK(managed.at("bytes_to_host") == kPages * 4096);  // c, for the host's copy
  CHECK(managed.at("host_faults") == 1);
  CHECK(stats("two", {"-t", "2", "--window", "7", "--shuffle", "3"}) == one);
  const auto remote =
      nlohmann::json::parse(stats("remote", {"--set", "uvm.host_access=remote"})).at("managed");
  CHECK(remote.at("bytes_to_host") == 0);
  CHECK(remote.at("host_remote_pages") == kPages);
}
