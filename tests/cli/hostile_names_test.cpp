// Names that are not ours, in traces, folders, studies and tables: no command hands their control characters
// on to the terminal, or takes them for a place outside of the folder that it writes to.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/support.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;

const std::string kEscape = "\x1b[31m\x07\x7f";

/// Text for a terminal has lines of what can be seen, and nothing that moves the cursor.
bool is_plain(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\n' || byte == '\t' || (byte >= ' ' && byte != 0x7f);
  });
}

void check_plain(const std::vector<std::string>& arguments, int code = 0) {
  const Finished done = run(arguments);
  CAPTURE(arguments.front(), done.out, done.err);
  CHECK(done.code == code);
  CHECK(is_plain(done.out));
  CHECK(is_plain(done.err));
}

/// A trace with such names of its folder, its kernel, an opcode and a command of its list.
std::string hostile_trace(const Folder& folder) {
  const std::string trace = folder / ("t" + kEscape);
  write_trace(trace,
              {.last_lines = "00a0 ffffffff 1 R4 FRIS" + kEscape + "BEE 1 R5 0 0 \n", .last_count = 1});
  std::string kernel = slurp(trace + "/kernel-1.traceg");
  const std::size_t name = kernel.find("-kernel name = ") + 15;
  kernel.replace(name, kernel.find('\n', name) - name, "k" + kEscape + "\xff");
  spill(trace + "/kernel-1.traceg", "-nvbit version = 1" + kEscape + "\n" + kernel);
  spill(trace + "/kernelslist.g", "cuda" + kEscape + ",1\nkernel-1.traceg\n");
  return trace;
}

}  // namespace

TEST_CASE("hostile names: commands on a trace and its results print what can be seen alone") {
  const Folder folder;
  const std::string trace = hostile_trace(folder), first = folder / "r", second = folder / "s";
  check_plain({"info", trace});
  check_plain({"run", trace, "-o", first});
  check_plain({"run", trace, "-o", second, "--set", "l1.hit_latency=99", "--accelsim-stats"});
  check_plain({"run", trace, "--all-launches", "-q"});
  check_plain({"compare", first, second});
  check_plain({"convert", trace, folder / "o"});
  check_plain({"info", folder / "o"});
  check_plain({"report", first, "-o", folder / "p"});
  check_plain({"run", trace, "--strict"}, 2);
  check_plain({"run", trace, "--kernels", "7"}, 2);
  spill(folder / "m.csv", "kernel,cycles\n\"k" + kEscape + "\xef\xbf\xbd\",5\nother" + kEscape + ",6\n");
  check_plain({"correlate", first, "--hardware", folder / "m.csv", "--pairs"});
}

TEST_CASE("hostile names: studies and configurations print what can be seen alone") {
  const Folder folder;
  write_trace(folder / "t", {});
  spill(folder / "s.toml",
        "title = \"a\\u001b[31m\"\n[[workload]]\nname = \"w\\u001b[31m\"\ntrace = \"t\"\n[[axis]]\nname = "
        "\"x\\u0007\"\n"
        "key = \"l1.mshrs\"\nvalues = [64, 128]\nlabels = [\"a\\u001b\", \"b\\u007f\"]\n");
  check_plain({"sweep", folder / "s.toml", "-o", folder / "out"});
  check_plain({"sweep", folder / "s.toml", "-o", folder / "out", "--list"});
  const std::string ini = folder / ("g" + kEscape + ".ini");
  spill(ini, "include = v100 ; base" + kEscape + "\n[l1]\nmshrs = 99 ; assumed: " + kEscape + "\n");
  check_plain({"config", ini});
  check_plain({"config", ini, "--explain", "l1.mshrs"});
  check_plain({"config", ini, "--assumed"});
  check_plain({"config", ini, "--set", "l1.mshrs=x" + kEscape}, 2);
  spill(folder / "a.config", "-gpgpu_n_mem 32\n-odd" + kEscape + " 1\n");
  check_plain({"config", "--accelsim-config", folder / "a.config"});
}

TEST_CASE("hostile names: plots of counters are files in their folder, one for each") {
  const Folder folder;
  const std::string longest(300, 'x');
  spill(folder / "p.csv",
        "counter,hardware,simulated\n../evil,1,2\na/b,1,3\na_b,2,3\n\"x\ny\",2,3\n..,1,1\n" + longest +
            ",1,2\nl1.hits,1,2\n.hidden,1,2\n");
  fs::create_directory(folder / "d");
  check_plain({"correlate", folder / "p.csv", "--plots", folder / "d/plots"});
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder / "d"))
    if (entry.is_regular_file()) {
      CHECK(entry.path().parent_path() == folder / "d/plots");
      files.push_back(entry.path().filename().string());
    }
  CHECK(files.size() == 8);
  CHECK(std::find(files.begin(), files.end(), "l1.hits.svg") != files.end());
  CHECK(std::find(files.begin(), files.end(), "a_b-2.svg") != files.end());
  for (const std::string& file : files) {
    CHECK(file.front() != '.');
    CHECK(file.size() <= 110);
    CHECK_THAT(slurp(folder / ("d/plots/" + file)), Catch::Contains("<svg"));
  }
}

}  // namespace lockstep::cli
