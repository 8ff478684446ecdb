// Kernels that wait for each other's signals (trace/awaited_signals.hpp), from traces written by hand.
#include <catch2/catch.hpp>
#include <fstream>

#include "config/system_config.hpp"
#include "end_to_end.hpp"
#include "resume_support.hpp"

namespace lockstep::test {
namespace {

constexpr const char* kWordOfDevice0 = "0x10000000040";
constexpr const char* kWordOfDevice1 = "0x20000000040";
constexpr const char* kWordPlaces =
    "Device,0\nPlace,0x10000000000,2097152\nDevice,1\nPlace,0x20000000000,2097152\n";

/// One warp.
std::string kernel_text(int id, const std::vector<std::string>& instructions) {
  std::string text = "-kernel name = k" + std::to_string(id) + "\n-kernel id = " + std::to_string(id) +
                     "\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = 16\n"
                     "-binary version = 80\n-cuda stream id = " +
                     std::to_string(id) +
                     "\n-shmem base_addr = 0x00007f7e00000000\n-local mem base_addr = 0x00007f7dfe000000\n"
                     "-nvbit version = 1.7.1\n-accelsim tracer version = 5\n-enable lineinfo = 0\n\n"
                     "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] "
                     "mem_width [adrrescompress?] [mem_addresses] immediate\n\n#BEGIN_TB\n\nthread block = "
                     "0,0,0\n\nwarp = 0\ninsts = " +
                     std::to_string(instructions.size()) + "\n";
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    char pc[8];
    std::snprintf(pc, sizeof pc, "%04zx ", 16 * i);
    text += pc + instructions[i] + "\n";
  }
  return text + "\n#END_TB\n";
}

std::string sleep(int nanoseconds) { return "ffffffff 0 NANOSLEEP 0 0 " + std::to_string(nanoseconds); }
std::string signal(const std::string& word) {
  return "00000001 0 ST.E.STRONG.SYS.SIGNALS 2 R2 R4 4 0 " + word;
}
std::string reduce(const std::string& word) {
  return "00000003 0 RED.E.ADD.STRONG.SYS.SIGNALS 2 R2 R4 4 0 " + word + " " + word;
}
std::string await(const std::string& word, int signals) {
  return "00000003 0 AWAIT 0 4 1 " + word + " " + std::to_string(signals);
}
const std::string kExit = "ffffffff 0 EXIT 0 0";

struct Kernel {
  int device;
  std::vector<std::string> instructions;
};

/// `between`: commands after each kernel.
std::unique_ptr<trace::TraceSet> write(const std::filesystem::path& path, const std::vector<Kernel>& kernels,
                                       const std::string& between = "") {
  std::filesystem::create_directory(path);
  std::ofstream list(path / "kernelslist.g");
  list << kWordPlaces;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const int id = static_cast<int>(i) + 1;
    std::ofstream(path / ("kernel-" + std::to_string(id) + ".traceg"))
        << kernel_text(id, kernels[i].instructions);
    list << "Device," << kernels[i].device << "\nkernel-" << id << ".traceg\n" << between;
  }
  list.close();
  return trace::open_trace(path.string());
}

gpu::RunResult simulate(const std::vector<Kernel>& kernels, gpu::RunOptions options = {},
                        const char* system = "dgx_a100") {
  const TemporaryFolder folder;
  const auto trace = write(folder.path() / "t", kernels);
  options.system = config::resolve_system(system, 2);
  options.config = options.system->devices.front();
  return gpu::simulate(*trace, options);
}

/// When the last of the kernels has ended, of which kernel 1 waits and the others signal.
double end_ns(const gpu::RunResult& result) {
  CHECK(result.outcome == gpu::Outcome::kDone);
  return static_cast<double>(result.report.total_cycles) / 1.41;
}

double end_of_wait(int signaller, int waiter, const char* word, int slept) {
  return end_ns(
      simulate({{waiter, {await(word, 1), kExit}}, {signaller, {sleep(slept), signal(word), kExit}}}));
}

// A poll of a word of another device: two links each way and what it takes there, below 2 us.
constexpr double kRound = 2000;
// What ends a kernel that has stored to another device: sync.membar_system, 2900 cycles at 1410 MHz.
constexpr double kRelease = 2900 / 1.41;

}  // namespace

TEST_CASE("A wait ends when the signal has come, whatever the distance") {
  for (const auto& [signaller, waiter, word] : {std::tuple{0, 1, kWordOfDevice1},
                                                {0, 1, kWordOfDevice0},
                                                {0, 0, kWordOfDevice0},
                                                {1, 1, kWordOfDevice0}}) {
    INFO(signaller << " signals, " << waiter << " waits, at " << word);
    const double early = end_of_wait(signaller, waiter, word, 10'000),
                 late = end_of_wait(signaller, waiter, word, 60'000);
    CHECK(late > 60'000);
    CHECK(late - early == Approx(50'000).margin(kRound));
  }
}

TEST_CASE("A signal travels as far as the memory is away") {
  // Where both are on the word's device nothing crosses a link; else the store, or the polls, and 150 ns a
  // link, two links each way.
  const double here = end_of_wait(0, 0, kWordOfDevice0, 20'000);
  const double store_travels = end_of_wait(0, 1, kWordOfDevice1, 20'000);
  const double poll_travels = end_of_wait(0, 1, kWordOfDevice0, 20'000);
  CHECK(store_travels > here + 2 * 150 - 100);
  CHECK(store_travels < here + kRound + kRelease);
  CHECK(poll_travels > here + 2 * 150 - 100);
  CHECK(poll_travels < here + 2 * kRound);
}

TEST_CASE("A wait for several signals ends with the last; each instruction signals once") {
  const auto end = [](int signals, const std::vector<std::string>& third) {
    return end_ns(simulate({{1, {await(kWordOfDevice1, signals), kExit}},
                            {0, {sleep(10'000), reduce(kWordOfDevice1), kExit}},
                            {1, third}}));
  };
  const std::vector<std::string> late = {sleep(70'000), signal(kWordOfDevice1), kExit}, quick = {kExit};
  CHECK(end(2, late) > 70'000);
  CHECK(end(1, quick) < 20'000);
}

TEST_CASE("Waits that follow each other wait for the last of their signals") {
  const auto end = [&](int first, int second) {
    return end_ns(simulate({{1, {await(kWordOfDevice0, 1), await(kWordOfDevice1, 1), kExit}},
                            {0, {sleep(first), signal(kWordOfDevice0), kExit}},
                            {0, {sleep(second), signal(kWordOfDevice1), kExit}}}));
  };
  CHECK(end(5'000, 50'000) > 50'000);
  CHECK(end(50'000, 5'000) > 50'000);
  CHECK(end(5'000, 50'000) == Approx(end(50'000, 5'000)).margin(kRound));
}

TEST_CASE("A wait for a signal that never comes is a deadlock, and the dump says what is waited for") {
  const gpu::RunResult result =
      simulate({{1, {await(kWordOfDevice1, 2), kExit}}, {0, {signal(kWordOfDevice1), kExit}}});
  CHECK(result.outcome == gpu::Outcome::kDeadlock);
  CHECK(result.dump.find("waits for signals of other CTAs, kernels or devices") != std::string::npos);
}

TEST_CASE("A run goes on from its state with the signals that have come") {
  const TemporaryFolder folder;
  const auto trace = write(folder.path() / "t",
                           {{0, {signal(kWordOfDevice1), kExit}},
                            {1, {await(kWordOfDevice1, 1), signal(kWordOfDevice0), kExit}},
                            {1, {reduce(kWordOfDevice1), kExit}},
                            {0, {await(kWordOfDevice1, 2), await(kWordOfDevice0, 1), kExit}}},
                           "Wait\n");
  gpu::RunOptions options;
  options.system = config::resolve_system("dgx_a100", 2);
  options.config = options.system->devices.front();
  check_resume(*trace, options, 3);
}

TEST_CASE("Threads, windows, skipping and the order of domains do not change when waits end") {
  const std::vector<Kernel> kernels = {
      {1, {await(kWordOfDevice1, 1), signal(kWordOfDevice0), await(kWordOfDevice1, 2), kExit}},
      {0, {sleep(3'000), signal(kWordOfDevice1), await(kWordOfDevice0, 1), reduce(kWordOfDevice1), kExit}}};
  const auto bytes = [&](gpu::RunOptions options) {
    const gpu::RunResult result = simulate(kernels, options);
    return stats::to_json(result.report);
  };
  const std::string one = bytes({});
  for (const unsigned way : {0u, 1u, 2u, 3u}) {
    gpu::RunOptions options;
    options.threads = 1 + way;
    options.window = way == 0 ? 0 : 2 * way;
    options.skip = way != 2;
    options.shuffle = way + 1;
    CHECK((bytes(options) == one));
  }
}

}  // namespace lockstep::test
