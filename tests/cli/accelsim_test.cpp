// --accelsim-config and --accelsim-stats of the real program.
#include <catch2/catch.hpp>
#include <regex>

#include "tests/cli/support.hpp"

using namespace lockstep::cli;

namespace {

constexpr const char* kOptions =
    "-gpgpu_n_clusters 4 -gpgpu_n_cores_per_cluster 2 # eight SMs\n"
    "-gpgpu_concurrent_kernel_sm 0\n"
    "-gpgpu_shmem_num_banks 16\n";

std::vector<std::string> all(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator i(text.begin(), text.end(), regex), end; i != end; ++i) found.push_back((*i)[1]);
  return found;
}

}  // namespace

TEST_CASE("run: files of Accel-Sim, and blocks that run on kernel by kernel in one slot") {
  const Folder folder;
  spill(folder / "gpgpusim.config", kOptions);
  const TinyTrace trace{.kernels = 3};
  write_trace(folder / "trace", trace);
  const Finished done = run({"run", folder / "trace", "-o", folder / "out", "--accelsim-stats",
                             "--accelsim-config", folder / "gpgpusim.config"});
  REQUIRE(done.code == 0);
  CHECK(has(done.out,
            "3 Accel-Sim options mapped, 1 ignored (1 of them differ from the model), 0 unknown (see " +
                (folder / "out") + "/accelsim-config.txt)\n"));
  const auto instructions = all(done.out, "gpgpu_n_tot_w_icount = (\\d+)");
  REQUIRE(instructions.size() == 3);
  for (unsigned i = 0; i < 3; ++i)
    CHECK(instructions[i] == std::to_string(trace.warp_instructions() / 3 * (i + 1)));
  CHECK((all(done.out, "kernel_launch_uid = (\\d+)").size() == 3));
  CHECK(has(done.out, "GPGPU-Sim: *** exit detected ***\n"));
  const std::string report = slurp(folder / "out/accelsim-config.txt");
  CHECK(has(report, "sms = 8 ; -gpgpu_n_clusters 4, -gpgpu_n_cores_per_cluster 2 ("));
  CHECK(has(report, "max_kernels = 1 ; "));
  CHECK(has(report, "; DIFFERS -gpgpu_shmem_num_banks 16 ("));
  // The report is a configuration: the run again from it has the same statistics.
  const Finished again =
      run({"run", folder / "trace", "-o", folder / "again", "-q", "-c", folder / "out/accelsim-config.txt"});
  REQUIRE(again.code == 0);
  CHECK((slurp(folder / "again/stats.json") == slurp(folder / "out/stats.json")));
}

TEST_CASE("config: the annotated configuration; unknown options warn, or fail with --strict") {
  const Folder folder;
  spill(folder / "gpgpusim.config", std::string(kOptions) + "-gpgpu_frobs 3\n");
  const std::string file = folder / "gpgpusim.config";
  const Finished shown = run({"config", "a100", "--accelsim-config", file, "--set", "l1.mshrs=99"});
  CHECK(shown.code == 0);
  CHECK(has(shown.out, "sms = 8 ; -gpgpu_n_clusters 4"));
  CHECK(has(shown.out, "mshrs = 99 ; --set\n"));
  CHECK(has(shown.out, "arch = 80 ; a100\n"));
  CHECK(has(shown.out, "; Unknown (1):\n; -gpgpu_frobs 3 (" + file + ":4)\n"));
  const Finished strict = run({"config", "--strict", "--accelsim-config", file});
  CHECK(strict.code == 2);
  CHECK(has(strict.err, file + ":4: unknown Accel-Sim option '-gpgpu_frobs'"));
  write_trace(folder / "trace", {});
  const Finished warned = run({"run", folder / "trace", "-q", "--accelsim-config", file});
  CHECK(warned.code == 0);
  CHECK(has(warned.err, "warning: unknown Accel-Sim options have no effect: -gpgpu_frobs (" + file + ":4)"));
  CHECK(warned.out.empty());
}

TEST_CASE("files of Accel-Sim that cannot be read") {
  const Folder folder;
  spill(folder / "bad.config", "-gpgpu_n_mem 32\n-gpgpu_n_clusters many\n");
  const Finished bad = run({"config", "--accelsim-config", folder / "bad.config"});
  CHECK(bad.code == 2);
  CHECK(has(bad.err, (folder / "bad.config") + ":2: -gpgpu_n_clusters many: expected a whole number"));
  const Finished none = run({"config", "--accelsim-config", folder / "none"});
  CHECK(none.code == 2);
  CHECK(has(none.err, (folder / "none") + ": cannot be opened"));
}
