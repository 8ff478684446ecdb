// Options of commands in general: what Syntax promises, with a command that exists here alone.
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/checkpoints.hpp"
#include "cli/options.hpp"
#include "cli/trace_argument.hpp"
#include "tests/random.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace {

namespace po = boost::program_options;
using Words = std::vector<std::string>;

Syntax example_syntax() {
  Syntax syntax;
  syntax.usage = "mix BOWL SPOON [options]";
  syntax.summary = "Mixes.";
  syntax.positionals = {"BOWL", "SPOON"};
  syntax.options.add_options()("speed,s", po::value<std::string>()->default_value("3"), "how fast")(
      "salt", "with salt")("egg", po::value<Words>()->composing(), "repeatable");
  return syntax;
}

std::optional<po::variables_map> parse_words(Words words, const Syntax& syntax) {
  words.insert(words.begin(), "mix");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return parse(static_cast<int>(words.size()), pointers.data(), syntax);
}

std::string parse_error(const Words& words, const Syntax& syntax = example_syntax()) {
  try {
    (void)parse_words(words, syntax);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

std::string device_error(const Words& words) {
  Syntax syntax;
  syntax.usage = "mix TRACE [options]";
  add_trace_argument(syntax);
  try {
    (void)trace_argument(*parse_words(words, syntax));
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("options: arguments and options in any order mean the same") {
  const std::vector<Words> parts = {{"bowl"},   {"spoon"},   {"--speed", "7"},
                                    {"--salt"}, {"--egg=1"}, {"--egg", "2"}};
  std::vector<std::size_t> order = {0, 1, 2, 3, 4, 5};
  test::Random32 random(3);
  for (int round = 0; round < 50; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    const auto place = [&](std::size_t part) { return std::find(order.begin(), order.end(), part); };
    Words words;
    for (const std::size_t part : order) words.insert(words.end(), parts[part].begin(), parts[part].end());
    const auto values = parse_words(words, example_syntax());
    REQUIRE(values.has_value());
    const bool swapped = place(1) < place(0), eggs_swapped = place(5) < place(4);
    CHECK((*values)["BOWL"].as<std::string>() == (swapped ? "spoon" : "bowl"));
    CHECK((*values)["SPOON"].as<std::string>() == (swapped ? "bowl" : "spoon"));
    CHECK((*values)["speed"].as<std::string>() == "7");
    CHECK((*values)["egg"].as<Words>() == (eggs_swapped ? Words{"2", "1"} : Words{"1", "2"}));
    CHECK(values->count("salt") == 1);
  }
}

TEST_CASE("options: each mistake is one line that names the command") {
  const std::string usage = " (usage: lockstep mix BOWL SPOON [options])";
  const std::pair<Words, std::string> rows[] = {
      {{}, "mix: BOWL is missing" + usage},
      {{"b"}, "mix: SPOON is missing" + usage},
      {{"b", ""}, "mix: SPOON is empty" + usage},
      {{"b", "s", "t"}, "mix: too many arguments" + usage},
      {{"b", "s", "--sped", "1"}, "mix: unknown option '--sped'; did you mean '--speed'?"},
      {{"b", "s", "--spee=1"}, "mix: unknown option '--spee=1'; did you mean '--speed'?"},
      {{"b", "s", "--halp"}, "mix: unknown option '--halp'; did you mean '--help'?"},
      {{"b", "s", "-x"}, "mix: unknown option '-x'"},
      {{"b", "s", "--BOWL2"}, "mix: unknown option '--BOWL2'"},
  };
  for (const auto& [words, message] : rows) {
    CAPTURE(words);
    CHECK_THAT(parse_error(words), Catch::StartsWith(message));
  }
  for (const Words& words : {Words{"b", "s", "--speed"}, Words{"b", "s", "--speed", "1", "--speed", "2"},
                             Words{"b", "s", "--salt=1"}}) {
    const std::string error = parse_error(words);
    CHECK_THAT(error, Catch::StartsWith("mix: ") && Catch::Contains("--"));
    CHECK(error.find('\n') == std::string::npos);
  }
}

TEST_CASE("options: one may stand in place of the arguments, and more arguments may be taken") {
  Syntax syntax = example_syntax();
  syntax.instead = "egg";
  CHECK(parse_error({"--egg", "1"}, syntax).empty());
  CHECK(parse_error({"b", "s"}, syntax).empty());
  CHECK(parse_error({"--egg", "1", "b"}, syntax) == "mix: found BOWL and --egg; expected one of them");
  Syntax open = example_syntax();
  open.rest = "others";
  const auto values = parse_words({"b", "s", "t", "--salt", "u"}, open);
  CHECK((*values)["others"].as<Words>() == Words{"t", "u"});
  CHECK(parse_words({"b", "s"}, open)->count("others") == 0);
}

TEST_CASE("options: what is given and would have no effect is named, defaults are not") {
  const auto idle = [](const Words& words) {
    const auto values = parse_words(words, example_syntax());
    try {
      refuse_idle(*values, "mix", {"SPOON", "speed", "salt"}, "today");
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(idle({"b", "s"}) == "mix: SPOON has no effect today");
  CHECK(idle({"b", "s", "--salt", "-s", "1"}) == "mix: SPOON, --speed, --salt have no effect today");
  const auto values = parse_words({"b", "s", "--egg", "1"}, example_syntax());
  CHECK_NOTHROW(refuse_idle(*values, "mix", {"speed", "salt"}, "today"));
}

TEST_CASE("options: --device names the devices from 0 on, once each, in any order") {
  CHECK(device_error({"t"}).empty());
  CHECK(device_error({"--device", "1=b", "--device", "0=a", "--device", "2=c=d"}).empty());
  const std::string form = "', expected N=FOLDER, such as 0=traces/gpu0";
  for (const std::string bad : {"a", "=a", "0=", "0", ""})
    CHECK(device_error({"--device", bad}) == "--device: found '" + bad + form);
  CHECK(device_error({"--device", "0=a", "--device", "0=b"}) == "--device: 0 is given twice");
  CHECK(device_error({"--device", "0=a", "--device", "2=b"}) ==
        "--device: 1 is missing; expected 0 to 2, each once");
  CHECK_THAT(device_error({"--device", "x=a"}),
             Catch::StartsWith("--device: found 'x', expected a whole number"));
  CHECK_THAT(device_error({"--device", "-1=a"}), Catch::StartsWith("--device: found '-1'"));
  CHECK(device_error({"t", "--device", "0=a"}) == "mix: found TRACE and --device; expected one of them");
}

TEST_CASE("options: times between checkpoints are whole seconds, minutes or hours") {
  using std::chrono::milliseconds;
  CHECK(parse_every("0s") == milliseconds(0));
  CHECK(parse_every("90s") == milliseconds(90'000));
  CHECK(parse_every("10min") == milliseconds(600'000));
  CHECK(parse_every("1000000h") == milliseconds(3'600'000'000'000));
  for (const char* bad : {"", "s", "min", "1.5h", "-1s", "1 s", "1ms", "10", "1m", "1H", "1hs", "1000001s"})
    CHECK_THROWS_AS(parse_every(bad), UserError);
}

}  // namespace lockstep::cli
