#include "util/output_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include "util/error.hpp"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using Until = OutputFile::Until;
using Target = OutputFile::Target;

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "lockstep-output-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& entry : fs::directory_iterator(path_)) all.insert(entry.path().filename().string());
    return all;
  }

 private:
  std::string path_;
};

std::string content(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_whole(const std::string& path, const std::string& text, Until until = Until::kUnnamed) {
  OutputFile file(path, Target::kAny, until);
  file.append(text);
  file.commit(OutputFile::Sync::kName);
}

/// A process that has written part of `path`, and is killed at the end of the scope.
class Writer {
 public:
  Writer(const std::string& path, Until until) {
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    process_ = fork();
    REQUIRE(process_ >= 0);
    if (process_ == 0) {
      OutputFile file(path, Target::kAny, until);
      file.append("half of ");
      [[maybe_unused]] const auto told = write(ready[1], "x", 1);
      for (;;) pause();
    }
    char byte = 0;
    REQUIRE(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    close(ready[1]);
  }
  ~Writer() { end(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  void end() {
    if (process_ < 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  pid_t process_ = -1;
};

/// Writes beyond `bytes` fail, as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    handler_ = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace

TEST_CASE("an output file is there as a whole or not at all") {
  for (const Until until : {Until::kUnnamed, Until::kNamed}) {
    const Folder folder;
    {
      OutputFile file(folder / "a", Target::kAny, until);
      file.append("lost");
      CHECK(folder.names().count("a") == 0);
    }
    CHECK(folder.names().empty());
    write_whole(folder / "a", "first", until);
    write_whole(folder / "a", "second", until);
    CHECK(content(folder / "a") == "second");
    CHECK(folder.names() == std::set<std::string>{"a"});
  }
}

TEST_CASE("a file that is replaced keeps its access rights, a new one has those of the umask") {
  const mode_t mask = umask(027);
  for (const Until until : {Until::kUnnamed, Until::kNamed}) {
    const Folder folder;
    write_whole(folder / "new", "", until);
    CHECK((fs::status(folder / "new").permissions() & fs::perms::all) == fs::perms(0640));
    fs::permissions(folder / "new", fs::perms(0604));
    write_whole(folder / "new", "", until);
    CHECK((fs::status(folder / "new").permissions() & fs::perms::all) == fs::perms(0604));
  }
  umask(mask);
}

TEST_CASE("a symbolic link is followed") {
  const Folder folder;
  write_whole(folder / "file", "old");
  fs::create_symlink("file", folder / "link");
  write_whole(folder / "link", "new");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(content(folder / "file") == "new");
}

TEST_CASE("a killed writer leaves nothing, or what the next writer of the file removes") {
  for (const Until until : {Until::kUnnamed, Until::kNamed}) {
    const Folder folder;
    write_whole(folder / "a", "old");
    Writer writer(folder / "a", until);
    write_whole(folder / "b", "");  // of another file: removes nothing
    const std::size_t named = until == Until::kNamed ? 1 : 0;
    CHECK(folder.names().size() == 2 + named);
    write_whole(folder / "a", "new", until);  // the other writer lives
    CHECK(folder.names().size() == 2 + named);
    writer.end();
    CHECK(folder.names().size() == 2 + named);
    write_whole(folder / "a", "newer", until);
    CHECK(folder.names() == std::set<std::string>{"a", "b"});
    CHECK(content(folder / "a") == "newer");
  }
}

TEST_CASE("several writers of one file: the last one wins and none disturbs another") {
  for (const Until until : {Until::kUnnamed, Until::kNamed}) {
    const Folder folder;
    OutputFile one(folder / "a", Target::kAny, until), two(folder / "a", Target::kAny, until);
    one.append("one");
    two.append("two");
    two.commit();
    one.commit();
    CHECK(content(folder / "a") == "one");
    CHECK(folder.names() == std::set<std::string>{"a"});
  }
}

TEST_CASE("a file can be cut and continued") {
  const Folder folder;
  OutputFile file(folder / "a");
  file.append("0123456789");
  file.resize(4);
  file.append("x");
  file.commit();
  CHECK(content(folder / "a") == "0123x");
}

TEST_CASE("what the system cannot take is an OutputError, a wrong path another UserError") {
  const Folder folder;
  fs::create_symlink("/dev/full", folder / "full");
  try {
    write_whole(folder / "full", "text");
    FAIL("a full device took it");
  } catch (const OutputError& e) {
    CHECK(std::string(e.what()) == folder / "full: cannot be written: No space left on device");
  }
  CHECK(fs::is_symlink(folder / "full"));
  CHECK_THROWS_WITH(OutputFile(folder / "full", Target::kRegular),
                    Catch::Contains("full: is not a regular file"));
  try {
    write_whole(folder / "none/a", "");
    FAIL("there is no such folder");
  } catch (const OutputError&) {
    FAIL("the path is wrong");
  } catch (const UserError& e) {
    CHECK(std::string(e.what()) == folder / "none/a: cannot be written: No such file or directory");
  }
  CHECK_THROWS_WITH(write_whole(folder / "", ""), Catch::Contains("Is a directory"));
}

TEST_CASE("a full disk leaves the old file and no other") {
  for (const Until until : {Until::kUnnamed, Until::kNamed}) {
    const Folder folder;
    write_whole(folder / "a", "old");
    {
      const FullDisk full(1000);
      CHECK_THROWS_AS(write_whole(folder / "a", std::string(5000, 'x'), until), OutputError);
    }
    CHECK(content(folder / "a") == "old");
    CHECK(folder.names() == std::set<std::string>{"a"});
  }
}

}  // namespace lockstep
