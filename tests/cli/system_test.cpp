// Systems of several GPUs from the command line.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "paths.hpp"
#include "program.hpp"

namespace lockstep::cli {
namespace {

using Catch::Contains;
using Catch::StartsWith;

std::string example(const char* name) {
  return (std::filesystem::path(LOCKSTEP_DRIVER_EXAMPLE).parent_path() / name).string();
}

/// The numbers of the table below `title`, by row and column; -1 where there is none.
std::vector<std::vector<double>> table_of(const std::string& text, const std::string& title) {
  std::istringstream lines(text.substr(text.find(title)));
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  std::vector<std::vector<double>> rows;
  while (std::getline(lines, line) && line.rfind("  ", 0) == 0) {
    std::istringstream cells(line);
    std::string cell;
    cells >> cell;
    rows.emplace_back();
    while (cells >> cell) rows.back().push_back(cell == "-" ? -1 : std::stod(cell));
  }
  return rows;
}

TEST_CASE("A program measures the links of the machine that it runs on; threads change no byte", "[matrix]") {
  const Folder folder;
  const auto measure = [&](const char* threads, const std::string& out) {
    return run({"exec", "-c", "dgx1_v100", "--gpus", "6", "-q", "-t", threads, "-o", folder / out, "--",
                example("p2p_bandwidth"), "1"});
  };
  const Finished one = measure("1", "a"), three = measure("3", "b");
  REQUIRE(one.code == 0);
  CHECK_THAT(one.out, Contains("PASS"));
  CHECK(one.out == three.out);
  CHECK((slurp(folder / "a/stats.json") == slurp(folder / "b/stats.json")));
  CHECK((slurp(folder / "a/stats.csv") == slurp(folder / "b/stats.csv")));
  const auto copies = table_of(one.out, "copies");
  REQUIRE(copies.size() == 6);
  // One link of NVLink 2 between 0 and 1, two between 0 and 3, none between 0 and 5: 25 GB/s each, less
  // headers of a sixteenth; and the start of a copy, which takes 2.73 us between A100s.
  const auto of_one_mib = [](double gigabytes) { return 1048.576 / (1048.576 / gigabytes + 2.73); };
  CHECK(copies[0][1] == Approx(of_one_mib(25 * 256 / 272.0)).epsilon(0.01));
  CHECK(copies[0][3] == Approx(of_one_mib(50 * 256 / 272.0)).epsilon(0.01));
  const auto small = table_of(one.out, "a copy of 16 bytes");
  CHECK(small[0][1] == Approx(2.73).epsilon(0.02));
  CHECK(small[0][5] == -1);
  const auto both = table_of(one.out, "copies both ways");
  CHECK(both[0][1] > 1.9 * copies[0][1]);  // acknowledgements take little
  CHECK(both[0][1] < 2 * copies[0][1]);
  CHECK(copies[0][5] == -1);
  CHECK(copies[5][0] == -1);
  // The request and the reply, 300 ns each, and at most 100 ns for the ports at both ends.
  const auto load = table_of(one.out, "a load from the L2");
  CHECK(load[0][1] > load[0][0] + 600);
  CHECK(load[0][1] < load[0][0] + 700);
  CHECK(load[0][5] == -1);
}

TEST_CASE("A recorded program of several GPUs runs again as it did, and results name the system",
          "[matrix]") {
  const Folder folder;
  const std::string trace = folder / "t.lst";
  REQUIRE(run({"exec", "-c", "dgx_a100", "--gpus", "2", "-q", "-o", folder / "live", "--record", trace, "--",
               example("p2p_bandwidth"), "1"})
              .code == 0);
  REQUIRE(run({"run", trace, "-c", folder / "live/system.ini", "-q", "-o", folder / "again"}).code == 0);
  const std::string live = slurp(folder / "live/stats.json");
  CHECK_THAT(live, Contains("\"schema\":2") && Contains("\"from\":\"gpu0\",\"to\":\"nvswitch\""));
  const Finished compared = run({"compare", folder / "live", folder / "again"});
  CHECK(compared.code == 0);
  CHECK_THAT(compared.out, Contains("no difference"));
  CHECK_THAT(run({"info", trace}).out, Contains("Devices"));
  const Finished timeline =
      run({"run", trace, "-c", "dgx_a100", "--gpus", "2", "--timeline", folder / "t.json"});
  CHECK_THAT(timeline.out, Contains("on dgx_a100, 2 devices: a100") && Contains("link gpu0 to nvswitch"));
  CHECK_THAT(slurp(folder / "t.json"), Contains("device 1: a100") && Contains("copies to other devices"));
  const Finished single = run({"run", trace, "-c", "a100"});
  CHECK(single.code == 2);
  CHECK_THAT(single.err, Contains("the trace has work of device 1") && Contains("--gpus 2"));
}

/// The values of a column of CSV text.
std::vector<std::string> column(const std::string& csv, const std::string& name) {
  std::istringstream lines(csv);
  std::string line, cell;
  std::vector<std::string> values;
  std::size_t at = std::string::npos;
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    for (std::size_t i = 0; std::getline(cells, cell, ','); ++i) {
      if (cell == name)
        at = i;
      else if (i == at)
        values.push_back(cell);
    }
  }
  return values;
}

TEST_CASE("A folder for each device is one run of a system; threads change no byte") {
  const Folder folder;
  for (const char* d : {"a", "b"}) {
    const std::string ctas = *d == 'a' ? "32" : "48";
    REQUIRE(run({"synth", "streaming", "--ctas", ctas, "-o", folder / d}).code == 0);
  }
  // What device 0 has written goes to device 1, whose kernel reads it: the inputs of "streaming" begin at
  // 0x7f8000000000, its output at 0x7f8020000000.
  std::ofstream(folder / "a/kernelslist.g")
      << "kernel-1.traceg\n"
         "MemcpyPeer,1:0x7f8000000000,0x7f8020000000,32768,0\nEventRecord,0\n";
  std::ofstream(folder / "b/kernelslist.g") << "StreamWait,0,0:0\nkernel-1.traceg\n";
  const std::string a = "0=" + (folder / "a"), b = "1=" + (folder / "b");
  const auto simulate = [&](const char* threads, const std::string& out) {
    return run({"run", "-c", "dgx_a100", "--device", b, "--device", a, "-t", threads, "-o", folder / out});
  };
  const Finished one = simulate("1", "x"), three = simulate("3", "y");
  REQUIRE(one.code == 0);
  CHECK_THAT(one.out, Contains("a+b") && Contains("dgx_a100, 8 devices") &&
                          Contains("link gpu0 to nvswitch") && Contains("32.0 KiB data"));
  CHECK((slurp(folder / "x/stats.json") == slurp(folder / "y/stats.json")));
  // Device 1 reads two arrays of 48 CTAs * 256 threads * 4 bytes; of the first 32,768 bytes are in its L2.
  const auto reads = column(slurp(folder / "x/stats.csv"), "dram.reads");
  CHECK(reads == std::vector<std::string>{std::to_string(2 * 32 * 256 * 4 / 32),
                                          std::to_string((2 * 48 * 256 * 4 - 32768) / 32)});
  const Finished info = run({"info", "--device", a, "--device", b});
  CHECK_THAT(info.out, Contains("Trace a+b: 2 kernels") && Contains("32.0 KiB to 1"));
}

TEST_CASE("The parameters of a system are explained by key and by section") {
  // Values: systems/compnet_8.ini (ComP-Net, table 1: 100 Gb/s) and systems/dgx_a100.ini.
  const Finished wire = run({"config", "compnet_8", "--explain", "wire.bytes_per_second"});
  CHECK(wire.code == 0);
  CHECK_THAT(wire.out, StartsWith("wire.bytes_per_second = 12500000000 B/s\n") &&
                           Contains("of one link, in each direction") && Contains("none, it must be given"));
  const std::string section = run({"config", "compnet_8", "--explain", "command_processor"}).out;
  CHECK_THAT(section, Contains("command_processor.cores = ") &&
                          Contains("source of the default: ComP-Net, table 1") &&
                          !Contains("nic.outstanding"));
  CHECK_THAT(run({"config", "compnet_8", "--explain", "node.design"}).out,
             StartsWith("node.design = compnet\n") && Contains("inter_kernel"));
  // What the printed configuration has in such a section, is explained with the same value.
  const std::string all = run({"config", "compnet_8", "--explain", "all"}).out;
  std::istringstream lines(run({"config", "compnet_8"}).out);
  std::size_t compared = 0;
  std::string section_name;
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    if (std::regex_match(line, parts, std::regex("\\[(.*)\\]"))) section_name = parts[1];
    if (section_name == "system" || section_name == "devices" || section_name == "edges") continue;
    if (!std::regex_match(line, parts, std::regex("(\\w+) = (\\w+).*"))) continue;
    INFO(line);
    CHECK_THAT("\n" + all,
               Contains(fmt::format("\n{}.{} = {}", section_name, parts[1].str(), parts[2].str())));
    ++compared;
  }
  CHECK(compared > 50);
  const auto refused = [](const std::string& wanted, const std::string& why) {
    const Finished done = run({"config", "dgx_a100", "--explain", wanted});
    CHECK(done.code == 2);
    CHECK_THAT(done.err, Contains(why));
  };
  refused("l1.bytes",
          "'l1.bytes' is a parameter of a GPU; expected `lockstep config a100 --explain l1.bytes`");
  refused("nvlink3.latency", "did you mean 'nvlink3.latency_ps'?");
  refused("window", "dgx_a100 has no parameter or section 'window'");
}

TEST_CASE("Systems are listed and printed; what does not fit them is refused") {
  CHECK_THAT(run({"config"}).out, Contains("dgx_a100"));
  const Finished printed = run({"config", "hgx_a100_4"});
  CHECK(printed.code == 0);
  CHECK_THAT(printed.out, Contains("gpu2.gpu3 = nvlink3 * 4"));
  const auto refused = [](std::vector<std::string> arguments, const std::string& why) {
    const Finished done = run(std::move(arguments));
    CHECK(done.code == 2);
    CHECK_THAT(done.err, Contains(why));
  };
  const std::string traces = std::string(LOCKSTEP_SOURCE_DIR) + "/traces/chain";
  refused({"run", traces, "-c", "hgx_a100_4", "--gpus", "5"}, "hgx_a100_4 has 4 devices");
  refused({"run", traces, "--gpus", "65"}, "--gpus");
  refused({"run", traces, "--gpus", "0"}, "--gpus");
  refused({"run", traces, "-c", "dgx_a1000"}, "did you mean 'dgx_a100'?");
  refused({"run", traces, "-c", "pcie_4", "--accelsim-stats"}, "Accel-Sim has one");
  refused({"run", "--device", "0"}, "found '0', expected N=FOLDER");
  refused({"run", "--device", "x=" + traces}, "--device: found 'x', expected a whole number from 0 to 15");
  refused({"run", "--device", "1=" + traces}, "--device: 0 is missing; expected 0 to 1, each once");
  refused({"run", "--device", "0=" + traces, "--device", "0=" + traces}, "--device: 0 is given twice");
  refused({"run", traces, "--device", "0=" + traces}, "found TRACE and --device; expected one of them");
  refused({"run", "--device", "0=" + traces, "--device", "1=" + traces, "-c", "a100"},
          "1 is not a device of a100");
  refused({"run", "--device", "0=" + traces, "--launch", "x"}, "--launch has no effect with --device");
  refused({"run", "-c", "pcie_4", "--set", "host.copy_mode=overlapped", "--device", "0=" + traces},
          "expected blocking");
  const Folder folder;
  std::ofstream(folder / "mixed.ini") << "[system]\ndevices = a100, v100\n";
  refused({"exec", "-c", folder / "mixed.ini", "--", "/bin/true"}, "expected GPUs of one kind");
}

}  // namespace
}  // namespace lockstep::cli
