// Checkpoints as bytes and as files.
#include "checkpoint/file.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "checkpoint/folder.hpp"
#include "tests/temporary_folder.hpp"
#include "util/error.hpp"

namespace lockstep::checkpoint {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;
using test::TemporaryFolder;

Checkpoint sample(std::uint64_t kernels = 7) {
  return {{{"trace", "abc"}, {"configuration", "12"}}, kernels, std::string(5000, '\0') + "state"};
}

}  // namespace

TEST_CASE("a checkpoint is read as it was written, and is small where its state is empty") {
  const std::string bytes = encode(sample());
  CHECK(bytes.size() < 500);
  const Checkpoint read = decode(bytes, "f");
  CHECK(read.made_from == sample().made_from);
  CHECK(read.kernels == 7);
  CHECK(read.state == sample().state);
}

TEST_CASE("every byte that is changed or missing is noticed") {
  const std::string bytes = encode(sample());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    CHECK_THROWS_AS(decode(std::string_view(bytes).substr(0, i), "f"), InputError);
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    CHECK_THROWS_AS(decode(changed, "f"), InputError);
  }
  CHECK_THROWS_AS(decode(bytes + "x", "f"), InputError);
}

TEST_CASE("errors say what was found and what was expected") {
  std::string bytes = encode(sample());
  CHECK_THROWS_WITH(decode("hello", "f"), "f: is not a checkpoint of lockstep");
  CHECK_THROWS_WITH(decode(bytes.substr(0, bytes.size() - 1), "f"), Contains("f: is damaged or cut off"));
  bytes[20] = 2;
  CHECK_THROWS_WITH(decode(bytes, "f"), "f: is a checkpoint of format 2; expected format 1");
}

TEST_CASE("the first difference in what a run is made from is named") {
  MadeFrom here = sample().made_from;
  CHECK_NOTHROW(check_made_from(sample(), here, "f"));
  here[1].second = "13";
  CHECK_THROWS_WITH(check_made_from(sample(), here, "f"),
                    "f: is of another configuration: found 12, expected 13");
  here.insert(here.begin(), {"build", "x"});
  CHECK_THROWS_WITH(check_made_from(sample(), here, "f"), "f: is of another build: found none, expected x");
}

TEST_CASE("a folder keeps the newest two checkpoints, and nothing else is touched") {
  const TemporaryFolder folder;
  const std::string own = folder / "kernels-x.checkpoint";
  std::ofstream(own) << "mine";
  CHECK(list(folder.path()).empty());
  CHECK(list(folder / "none").empty());
  for (const std::uint64_t kernels : {9u, 10u, 1000u}) add(folder.path(), sample(kernels));
  const auto there = list(folder.path());
  REQUIRE(there.size() == 2);
  CHECK_THAT(there[0], Contains("kernels-000000001000.checkpoint"));
  CHECK_THAT(there[1], Contains("kernels-000000000010.checkpoint"));
  CHECK(read(folder.path()).checkpoint.kernels == 1000);
  CHECK(read(there[1]).checkpoint.kernels == 10);
  clear(folder.path());
  CHECK(list(folder.path()).empty());
  CHECK(fs::exists(own));
}

TEST_CASE("what is not there is named") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(read(folder.path()), Contains("has no checkpoint"));
  CHECK_THROWS_WITH(read(folder / "none"), Contains("is not there"));
  std::ofstream(folder / "file") << "x";
  CHECK_THROWS_AS(prepare(folder / "file/below"), UserError);
  prepare(folder / "a/b");
  CHECK(fs::is_directory(folder / "a/b"));
  CHECK(fs::is_empty(folder / "a/b"));
}

}  // namespace lockstep::checkpoint
