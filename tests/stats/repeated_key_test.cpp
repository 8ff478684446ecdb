// Keys that are in an object twice are found, wherever they are; equal keys of different objects are no
// mistake.
#include "stats/repeated_key.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "stats/files.hpp"
#include "stats/stored_run.hpp"
#include "tests/stats/samples.hpp"
#include "util/error.hpp"

namespace lockstep::stats {
namespace {

/// Writes random JSON. One object of it, where `repeats`, gets its first key again at its end.
class Maker {
 public:
  Maker(std::mt19937& random, std::size_t repeats) : random_(random), repeats_(repeats) {}
  std::string object(const std::string& path, unsigned depth) {
    const bool repeated = objects_++ == repeats_;
    std::string text = "{";
    const auto keys = 1 + random_() % 4;
    for (std::uint64_t k = 0; k < keys; ++k) {
      const std::string key = "k" + std::to_string(k);
      text += (k > 0 ? ",\"" : "\"") + key + "\":" + value(path + (path.empty() ? "" : ".") + key, depth);
    }
    if (repeated) {
      text += ",\"\\u006b0\":null";  // "k0", written otherwise
      expected = path + (path.empty() ? "" : ".") + "k0";
    }
    return text + "}";
  }
  std::string expected;  // empty: there were fewer objects

 private:
  std::string value(const std::string& path, unsigned depth) {
    switch (depth == 0 ? 3 : random_() % 4) {
      case 0:
        return object(path, depth - 1);
      case 1:
        return "[" + object(path, depth - 1) + "," + object(path, depth - 1) + "]";
      case 2:
        return R"(["k0","k0",{},"\"k0\":1,\"k0\":2"])";
      default:
        return random_() % 2 ? "-1.5e3" : "true";
    }
  }

  std::mt19937& random_;
  std::size_t repeats_, objects_ = 0;
};

}  // namespace

TEST_CASE("repeated keys: random objects have none, and the one that is put in is found by its path") {
  std::mt19937 random(43);
  int found = 0;
  for (int round = 0; round < 1000; ++round) {
    Maker none(random, std::string::npos);
    REQUIRE_FALSE(repeated_key(none.object("", 4)).has_value());
    Maker one(random, random() % 10);
    const std::string text = one.object("", 4);
    INFO(text);
    if (one.expected.empty()) {
      REQUIRE_FALSE(repeated_key(text).has_value());
      continue;
    }
    ++found;
    REQUIRE(repeated_key(text) == one.expected);
  }
  CHECK(found > 300);
}

TEST_CASE("repeated keys: a stats.json that has one is refused with its path") {
  const auto error_of = [](const std::string& total) {
    const TemporaryFolder folder;
    write_file(folder / "stats.json",
               R"({"schema":1,"trace":{},"kernels":[],"copies":[],"total":)" + total + "}");
    try {
      (void)load_run(folder.path());
    } catch (const InputError& e) {
      return std::string(e.what()).substr(e.file().size());
    }
    return std::string();
  };
  CHECK(error_of(R"({"cycles":1,"l1":{"hits":2},"l2":{"hits":2}})") == "");
  CHECK(error_of(R"({"cycles":1,"l1":{"hits":2,"hits":2}})") ==
        ": \"total.l1.hits\" is there twice, expected each key once");
  CHECK(error_of(R"({"a\u0007":1,"a\u0007":2})") == ": \"total.a?\" is there twice, expected each key once");
}

}  // namespace lockstep::stats
