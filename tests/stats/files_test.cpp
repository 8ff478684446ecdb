#include "stats/files.hpp"

#include <signal.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "stats/report.hpp"
#include "tests/stats/samples.hpp"
#include "util/error.hpp"

namespace lockstep::stats {
namespace {

/// Writes beyond `bytes` fail, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    handler_ = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

std::size_t files_in(const std::string& folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

TEST_CASE("a file is replaced as a whole") {
  const TemporaryFolder folder;
  write_file(folder / "a", "old");
  write_file(folder / "a", std::string(100000, 'x'));
  CHECK(read_file(folder / "a") == std::string(100000, 'x'));
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a full disk leaves the old file, no temporary one, and one clear error") {
  const TemporaryFolder folder;
  write_file(folder / "a", "old");
  std::string message;
  {
    const FullDisk full(1000);
    try {
      write_file(folder / "a", std::string(5000, 'x'));
    } catch (const UserError& e) {
      message = e.what();
    }
  }
  CHECK(message.find(folder / "a") != std::string::npos);
  CHECK(message.find("cannot be written") != std::string::npos);
  CHECK(read_file(folder / "a") == "old");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a full disk while results are written leaves the earlier stats.json") {
  const TemporaryFolder folder;
  write_outputs(folder.path(), sample_report(1), {});
  const std::string before = read_file(folder / "stats.json");
  {
    const FullDisk full(before.size() + 1000);
    CHECK_THROWS_AS(write_outputs(folder.path(), sample_report(50), {}), UserError);
  }
  CHECK(read_file(folder / "stats.json") == before);
  CHECK(before == to_json(sample_report(1)));
}

TEST_CASE("outputs are the files that are documented") {
  const TemporaryFolder folder;
  RunReport report = sample_report(1);
  report.intervals.push_back({100, {}});
  write_outputs(folder / "new/deep", report, {});
  for (const char* name : {"stats.json", "stats.csv", "intervals.csv", "host.json"}) {
    CHECK(std::filesystem::exists(folder / "new/deep/" + name));
  }
  report.intervals.clear();
  write_outputs(folder / "new/deep", report, {});
  CHECK(!std::filesystem::exists(folder / "new/deep/intervals.csv"));
}

TEST_CASE("paths that cannot be written are named") {
  const TemporaryFolder folder;
  write_file(folder / "file", "");
  CHECK_THROWS_WITH(make_folder(folder / "file"), Catch::Contains("file: cannot make the folder"));
  CHECK_THROWS_WITH(write_file(folder / "none/x", ""),
                    Catch::Contains("none/x: cannot be written: No such file"));
  CHECK_THROWS_WITH(read_file(folder / "none"), Catch::Contains("none: cannot open: No such file"));
  CHECK_THROWS_WITH(read_file(folder.path()), Catch::Contains("cannot read: Is a directory"));
  CHECK_NOTHROW(remove_file(folder / "none"));
}

}  // namespace lockstep::stats
