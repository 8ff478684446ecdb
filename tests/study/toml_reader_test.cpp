// Tables of TOML as the readers of studies see them: each getter against each type, with the exact message.
#include "study/toml_reader.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/temporary_folder.hpp"
#include "util/error.hpp"

namespace lockstep::study {
namespace {

/// The message of what `read` does with a table, or "" if it accepts it.
std::string told(const std::string& text, const std::function<void(TableReader&)>& read,
                 const std::string& where = "axis 'a'") {
  try {
    const TomlValue root = parse_toml(text, "s.toml");
    TableReader reader(root, "s.toml", where);
    read(reader);
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

struct TypedValue {
  std::string text, shown, kind;
};
const std::vector<TypedValue> kOfEachType = {
    {"true", "'true'", "a boolean"}, {"12", "'12'", "a whole number"}, {"0.5", "'0.5'", "a decimal number"},
    {"\"t\"", "'t'", "a string"},    {"[1, 2]", "a list", "a list"},   {"{ b = 1 }", "a table", "a table"}};

/// Which of the types a getter takes, and what it says of the others.
void check_getter(const std::function<void(TableReader&)>& get, const std::vector<std::string>& takes,
                  const std::string& expected) {
  for (const TypedValue& value : kOfEachType) {
    CAPTURE(value.text, expected);
    const bool taken = std::count(takes.begin(), takes.end(), value.kind) > 0;
    CHECK(told("\nx = " + value.text, get) ==
          (taken ? "" : "s.toml:2: axis 'a': x = " + value.shown + ": expected " + expected));
  }
  CHECK(told("y = 1", get).empty());  // a key that is not there is no mistake
}

}  // namespace

TEST_CASE("toml: each getter takes its types, and names line, key, value and what it expects of others") {
  check_getter([](TableReader& r) { (void)r.text("x"); }, {"a string"}, "a string that is not empty");
  check_getter([](TableReader& r) { (void)r.integer("x", -3, 12); }, {"a whole number"},
               "a whole number from -3 to 12");
  check_getter([](TableReader& r) { (void)r.number("x"); }, {"a whole number", "a decimal number"},
               "a number");
  check_getter([](TableReader& r) { (void)r.texts("x"); }, {"a list"}, "a list with at least one element");
  check_getter([](TableReader& r) { (void)r.array("x"); }, {"a list"}, "a list with at least one element");
  check_getter([](TableReader& r) { (void)r.table("x"); }, {"a table"}, "a table");
  check_getter([](TableReader& r) { (void)r.tables("x"); }, {}, "tables, each headed [[x]]");
  CHECK(told("[[x]]\n[[x]]\n", [](TableReader& r) { CHECK(r.tables("x").size() == 2); }).empty());
}

TEST_CASE("toml: values know their type, their line and their text") {
  for (const TypedValue& value : kOfEachType) {
    const TomlValue root = parse_toml("\n\nx = " + value.text + "\n", "f");
    const TomlValue& x = std::get<TomlMap>(root.data).at("x");
    CAPTURE(value.text);
    CHECK(x.kind() == value.kind);
    CHECK(x.line == 3);
    CHECK(x.is_scalar() == (value.shown.front() == '\''));
    CHECK(x.text() == (x.is_scalar() ? value.shown.substr(1, value.shown.size() - 2) : ""));
    CHECK(x.is_number() == (value.text == "12" || value.text == "0.5"));
    if (x.is_number()) CHECK(x.number() == std::stod(value.text));
  }
  const TomlValue root = parse_toml("[a.b]\nc = [\n 1,\n 2,\n]\n", "f");
  const TomlValue& b = std::get<TomlMap>(std::get<TomlMap>(root.data).at("a").data).at("b");
  const TomlArray& c = std::get<TomlArray>(std::get<TomlMap>(b.data).at("c").data);
  CHECK(b.line == 1);
  CHECK(c.at(0).line == 3);
  CHECK(c.at(1).line == 4);
}

TEST_CASE("toml: bounds of whole numbers are inclusive") {
  for (const auto& [text, accepted] :
       {std::pair{"-3", true}, {"12", true}, {"0", true}, {"-4", false}, {"13", false}})
    CHECK(told(std::string("x = ") + text, [](TableReader& r) { (void)r.integer("x", -3, 12); }).empty() ==
          accepted);
  CHECK(told("x = 9223372036854775808", [](TableReader&) {}).starts_with("s.toml:1: not valid TOML: "));
}

TEST_CASE("toml: a key that is not read is unknown, the first by name, with the name that was meant") {
  const auto read_two = [](TableReader& r) {
    (void)r.text("title");
    (void)r.value("threads");
    r.done();
  };
  CHECK(told("title = \"x\"\nthreads = [[]]\n", read_two).empty());
  CHECK(told("threads = 1\nthread = 2\n", read_two) ==
        "s.toml:2: axis 'a': unknown key 'thread'; did you mean 'threads'?");
  CHECK(told("zzz = 1\nqqq = 2\n", read_two) == "s.toml:2: axis 'a': unknown key 'qqq'");
  CHECK(told("\"a\\u001bb\" = 1\n", read_two).find('\x1b') == std::string::npos);
}

TEST_CASE("toml: a message is of the table's line or one that is given, and says where, if that is known") {
  const std::string text = "\n\n[t]\na = 1\n";
  const auto fail = [](std::uint64_t line, const std::string& where) {
    return [line, where](TableReader& r) {
      TableReader inner(*r.table("t"), r.file(), "t");
      CHECK(inner.line() == 3);
      if (where != "t") inner.set_where(where);
      inner.fail("wrong", line);
    };
  };
  CHECK(told(text, fail(0, "t")) == "s.toml:3: t: wrong");
  CHECK(told(text, fail(4, "t")) == "s.toml:4: t: wrong");
  CHECK(told(text, fail(4, "the table")) == "s.toml:4: the table: wrong");
  CHECK(told(text, fail(4, "")) == "s.toml:4: wrong");
  CHECK(told("x = 1\n", [](TableReader& r) { TableReader(*r.value("x"), r.file(), "x"); }) ==
        "s.toml:1: x: found a whole number, expected a table");
}

TEST_CASE("toml: values may be sixteen deep") {
  const auto nested = [](std::size_t depth) {
    return told("x = " + std::string(depth, '[') + std::string(depth, ']'), [](TableReader&) {});
  };
  CHECK(nested(16).empty());
  CHECK(nested(17) == "s.toml:1: values are nested too deeply");
}

TEST_CASE("toml: files that cannot be studies") {
  const test::TemporaryFolder folder;
  const auto message = [](const std::string& file) -> std::string {
    try {
      (void)read_toml(file);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message(folder.write("good.toml", "a = 1\n")).empty());
  CHECK(message(folder / "none.toml") == folder / "none.toml: cannot be opened: No such file or directory");
  CHECK(message(folder.path().string()) == folder.path().string() + ": is a directory, expected a TOML file");
  const std::string large = folder.write("large.toml", "# " + std::string(1 << 20, 'x'));
  CHECK(message(large) == large + ": is larger than 1 MiB, expected a TOML file");
  const std::string twice = folder.write("twice.toml", "a = 1\n\na = 2\n");
  CHECK(message(twice).starts_with(twice + ":3: not valid TOML: "));
}

}  // namespace lockstep::study
