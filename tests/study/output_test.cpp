// Tables and figures of studies: CSV by RFC 4180, JSON, text, and the values that figures show.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <sstream>

#include "stats/files.hpp"
#include "study/figures.hpp"
#include "study/table.hpp"
#include "support.hpp"

namespace lockstep::study {
namespace {

using Catch::Contains;
using Texts = std::vector<std::string>;

/// A reader by the grammar of RFC 4180, section 2; every record ends with a line break.
std::vector<Texts> read_csv(const std::string& text) {
  std::vector<Texts> records{{""}};
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      records.back().back() += '"';
      ++i;
    } else if (c == '"') {
      inside = !inside;
    } else if (!inside && c == ',') {
      records.back().emplace_back();
    } else if (!inside && c == '\n') {
      records.push_back({""});
    } else {
      records.back().back() += c;
    }
  }
  CHECK_FALSE(inside);
  CHECK(records.back() == Texts{""});
  records.pop_back();
  return records;
}

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

const std::string kAxes = kWorkload +
                          "[[axis]]\nname = \"mhz\"\nkey = \"a\"\nvalues = [900, 500]\n"
                          "[[axis]]\nname = \"policy\"\nkey = \"b\"\nvalues = [\"x\", \"y\"]\n";

/// The table of kAxes' four runs, 900 MHz first: their values are 1, 2, 3 and 4, and 10 times that.
Table four_rows() {
  return {{"workload", "mhz", "policy", "state", "error", "run", "ipc", "ns"},
          {{"t", 900u, "x", "complete", nullptr, "runs/0", 1u, 10u},
           {"t", 900u, "y", "complete", nullptr, "runs/1", 2u, 20u},
           {"t", 500u, "x", "complete", nullptr, "runs/2", 3u, 30u},
           {"t", 500u, "y", "complete", nullptr, "runs/3", 4u, 40u}}};
}

std::string drawn(const std::string& figure) {
  const Study study = parse_study(kAxes + "[[figure]]\nname = \"f\"\n" + figure, "s.toml");
  return draw(study, study.figures.at(0), four_rows());
}

}  // namespace

TEST_CASE("CSV: texts with commas, quotes and line breaks are read again as they were") {
  Table table{{"plain", "with, comma", "with \"quotes\""}, {}};
  const Texts awkward{"a,b", "say \"yes\"", "\"", "two\nlines", "\r", "", " x ", ",\",\n"};
  for (const std::string& a : awkward)
    for (const std::string& b : awkward) table.rows.push_back({a, b, 1.5});
  table.rows.push_back({nullptr, 12345678901234567890u, true});
  const auto records = read_csv(to_csv(table));
  REQUIRE(records.size() == 1 + table.rows.size());
  CHECK(records[0] == Texts(table.columns));
  for (std::size_t r = 0; r + 1 < table.rows.size(); ++r)
    CHECK(records[r + 1] == Texts{awkward[r / awkward.size()], awkward[r % awkward.size()], "1.5"});
  CHECK(records.back() == Texts{"", "12345678901234567890", "true"});
}

TEST_CASE("JSON: an object for each row, without what is missing") {
  Table table{{"a", "b"}, {{1u, "x\"\n"}, {nullptr, 0.1}, {"\xff", nullptr}}};
  std::istringstream lines(to_json_lines(table));
  std::vector<Cell> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(Cell::parse(line));
  REQUIRE(rows.size() == 3);
  CHECK(rows[0] == Cell{{"a", 1}, {"b", "x\"\n"}});
  CHECK(rows[1] == Cell{{"b", 0.1}});
  CHECK(rows[2]["a"] == "\xef\xbf\xbd");  // no UTF-8: U+FFFD
  Study study = parse_study("title = \"both\"\n" + kWorkload, "s.toml");
  const Cell all = Cell::parse(to_json(study, table));
  CHECK(all["schema"] == 1);
  CHECK(all["title"] == "both");
  CHECK(all["runs"].size() == 3);
  CHECK(all["runs"][0] == rows[0]);
}

TEST_CASE("text: axes as they are written, statistics in groups of digits, errors below") {
  Study study = parse_study("columns = [\"ipc\", \"ns\"]\n" + kAxes, "s.toml");
  Table table = four_rows();
  table.rows[0][7] = 1234567u;
  table.rows[1][6] = 0.123456789;
  table.rows[2][3] = "failed";
  table.rows[2][4] = "exit code 3\x1b";
  table.rows[2][6] = nullptr;
  table.rows[3][1] = 1312u;
  std::istringstream lines(to_text(study, table));
  std::vector<Texts> words;
  for (std::string line; std::getline(lines, line);) {
    CHECK(line.back() != ' ');
    std::istringstream row(line);
    words.emplace_back();
    for (std::string word; row >> word;) words.back().push_back(word);
  }
  REQUIRE(words.size() == 6);
  CHECK(words[0] == Texts{"mhz", "policy", "state", "ipc", "ns"});  // one workload is not a column
  CHECK(words[1] == Texts{"900", "x", "complete", "1", "1,234,567"});
  CHECK(words[2] == Texts{"900", "y", "complete", "0.123457", "20"});
  CHECK(words[3] == Texts{"500", "x", "failed", "-", "30"});
  CHECK(words[4] == Texts{"1312", "y", "complete", "4", "40"});
  CHECK(words[5][0] == "runs/2:");
  CHECK(to_text(study, table).find('\x1b') == std::string::npos);
}

TEST_CASE("jobs: how each stands, counted from 1") {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("lockstep-jobs-" + std::to_string(getpid()))).string();
  const RunStore store(path);
  stats::make_folder(store.folder_of("k2"));
  store.fail("k2", "exit code 3");
  const Cell json =
      Cell::parse(jobs_json(std::vector<Job>{{"k1", "", {}}, {"k2", "", {}}}, Texts{"one", "two"}, store));
  std::filesystem::remove_all(path);
  CHECK(json["runs"] == Cell::parse(R"([{"task":1,"state":"missing","key":"k1","run":"one"},
                                       {"task":2,"state":"failed","key":"k2","run":"two","error":"exit code 3"}])"));
}

TEST_CASE("lines: a point for each run, sorted by x, a line for each value of the series") {
  const std::string svg = drawn("x = \"mhz\"\ny = \"ipc\"\nseries = \"policy\"\n");
  for (const char* point :
       {"policy x: 900, 1<", "policy y: 900, 2<", "policy x: 500, 3<", "policy y: 500, 4<"})
    CHECK_THAT(svg, Contains(point));
  CHECK(svg.find("policy x: 500, 3<") < svg.find("policy x: 900, 1<"));
}

TEST_CASE("`where` leaves only its runs in a figure, bars and heat maps show each value at its place") {
  const std::string lines = drawn("x = \"mhz\"\ny = \"ipc\"\nwhere = { policy = \"y\" }\n");
  CHECK_THAT(lines,
             Contains("900, 2<") && Contains("500, 4<") && !Contains("900, 1<") && !Contains("500, 3<"));
  const std::string bars = drawn("kind = \"bars\"\nx = \"policy\"\ny = \"ns\"\nwhere = { mhz = 500 }\n");
  CHECK_THAT(bars, Contains("x: 30<") && Contains("y: 40<") && !Contains("x: 10<"));
  const std::string map = drawn("kind = \"heat_map\"\nx = \"mhz\"\ny = \"policy\"\nvalue = \"ipc\"\n");
  for (const char* cell : {"x, 900: 1<", "y, 900: 2<", "x, 500: 3<", "y, 500: 4<"})
    CHECK_THAT(map, Contains(cell));
}

TEST_CASE("Pareto: a point for each run with its axes, in the directions asked for") {
  const std::string svg = drawn("kind = \"pareto\"\nx = \"ipc\"\ny = \"ns\"\nx_better = \"higher\"\n");
  for (const char* point : {"mhz 900, policy x: 1, 10<", "mhz 900, policy y: 2, 20<",
                            "mhz 500, policy x: 3, 30<", "mhz 500, policy y: 4, 40<"})
    CHECK_THAT(svg, Contains(point));
  CHECK_THAT(svg, Contains("ipc, higher is better") && Contains("ns, lower is better"));
}

/// "1e3" is the number 1000 in the table: the label that the study wrote means the same run.
TEST_CASE("`where` finds a run by its label, however the number is written") {
  const std::string axes = kWorkload +
                           "[[axis]]\nname = \"n\"\nkey = \"a\"\nvalues = [\"1e3\", \"2.50\"]\n"
                           "[[axis]]\nname = \"m\"\nkey = \"b\"\nvalues = [1, 2]\n";
  for (const char* label : {"1e3", "2.50"}) {
    INFO(label);
    const Study study = parse_study(
        axes + "[[figure]]\nname = \"f\"\nx = \"m\"\ny = \"ipc\"\nwhere = { n = \"" + label + "\" }\n",
        "s.toml");
    const auto runs = plan(study);
    const RunStore store((std::filesystem::temp_directory_path() / "lockstep-no-such-folder").string());
    Table table = make_table(study, runs, Texts{"a", "b", "c", "d"}, store);
    table.columns.emplace_back("ipc");
    for (std::size_t r = 0; r < 4; ++r) table.rows[r].emplace_back(r + 5);
    const std::string svg = draw(study, study.figures.at(0), table);
    CHECK(count_of(svg, "<circle") == 2);
    CHECK_THAT(svg, label == std::string("1e3") ? Contains("1, 5<") && Contains("2, 6<")
                                                : Contains("1, 7<") && Contains("2, 8<"));
  }
}

TEST_CASE("labels that JSON does not accept as numbers are not numbers on the axis of lines") {
  for (const char* label : {"007", "5.", ".5", "inf", "1e999", "0x10", "1 "}) {
    INFO(label);
    CHECK_THAT(refused(kWorkload + "[[axis]]\nname = \"n\"\nkey = \"a\"\nvalues = [\"" + label +
                       "\", 1]\n[[figure]]\nname = \"f\"\nx = \"n\"\ny = \"ipc\"\n"),
               Contains("the values of x = 'n' are not numbers"));
  }
}

TEST_CASE("mistakes of figures and axes that name nothing") {
  const auto figure = [](const std::string& text) { return refused(kAxes + "[[figure]]\n" + text); };
  const std::string f = "name = \"f\"\n";
  CHECK_THAT(figure("x = \"mhz\"\n"), Contains("expected name, which names its file"));
  CHECK_THAT(figure(f + "y = \"ipc\"\n"), Contains("expected x, an axis"));
  CHECK_THAT(figure(f + "kind = \"pareto\"\nx = \"ipc\"\n"), Contains("expected y, a column of the table"));
  CHECK_THAT(figure(f + "kind = \"heat_map\"\nx = \"mhz\"\ny = \"policy\"\n"),
             Contains("expected value, a column"));
  CHECK_THAT(
      figure(f + "kind = \"heat_map\"\nx = \"mhz\"\ny = \"policy\"\nvalue = \"i\"\nseries = \"mhz\"\n"),
      Contains("series: a heat map has none"));
  CHECK_THAT(figure(f + "kind = \"pareto\"\nx = \"i\"\ny = \"j\"\nseries = \"mhz\"\n"),
             Contains("series: a Pareto figure has none"));
  CHECK_THAT(figure(f + "x = \"mhz\"\ny = \"ipc\"\nseries = \"policy\"\nx_better = \"lower\"\n"),
             Contains("x_better: only a Pareto figure has it"));
  CHECK_THAT(figure(f + "kind = \"pareto\"\nx = \"i\"\ny = \"j\"\ny_better = \"more\"\n"),
             Contains("found y_better = 'more', expected lower or higher"));
  CHECK_THAT(figure(f + "kind = \"pareto\"\nx = \"i\"\ny = \"j\"\n[[figure]]\n" + f +
                    "kind = \"pareto\"\nx = \"i\"\ny = \"j\"\n"),
             Contains("two figures have this name"));
  const auto axis = [](const std::string& text) { return refused(kWorkload + "[[axis]]\n" + text); };
  CHECK_THAT(axis("name = \"x\"\n[[axis.point]]\nset = { a = 1 }\n"),
             Contains("axis 'x': point: expected a label"));
  CHECK_THAT(axis("name = \"x\"\n[[axis.point]]\nlabel = \"l\"\n"),
             Contains("expected config, set or options"));
  CHECK_THAT(axis("keys = [\"a\", \"b\"]\nvalues = [[1, 2]]\n"), Contains("expected a name"));
  CHECK_THAT(axis("key = \"a\"\nvalues = [1, 2]\nlabels = [\"one\"]\n"),
             Contains("found 1 labels for 2 values"));
  CHECK_THAT(axis("name = \"x\"\nkeys = [\"a\", \"b\"]\nrange = {from = 1, to = 2, step = 1}\n"),
             Contains("expected values: a range is of one key or option"));
  CHECK_THAT(axis("key = \"a\"\nvalues = [1]\n[[axis]]\nname = \"a\"\nkey = \"b\"\nvalues = [1]\n"),
             Contains("two axes are called 'a'"));
}

TEST_CASE("ranges: both ends, decimals as people write them, and what is no range") {
  const auto axis = [](const std::string& range) {
    return kWorkload + "[[axis]]\nkey = \"a\"\nrange = { " + range + " }\n";
  };
  const auto labels = [&](const std::string& range) {
    const Study study = parse_study(axis(range), "s.toml");
    std::string all;
    for (const AxisPoint& point : study.axes.at(0).points) all += point.label + " ";
    return all;
  };
  CHECK(labels("from = 0.1, to = 0.3, step = 0.1") == "0.1 0.2 0.3 ");
  CHECK(labels("from = 1, to = 10, step = 4") == "1 5 9 ");
  CHECK(labels("from = 1, to = 1000, factor = 10") == "1 10 100 1000 ");
  CHECK(labels("from = 5, to = 5, step = 1") == "5 ");
  const auto mistake = [&](const std::string& range) { return refused(axis(range)); };
  for (const char* text : {"to = 2, step = 1", "from = 1, step = 1", "from = 1, to = 2",
                           "from = 1, to = 2, step = 1, factor = 2"})
    CHECK_THAT(mistake(text), Contains("range: expected from, to, and either step or factor"));
  CHECK_THAT(mistake("from = 2, to = 1, step = 1"), Contains("found 2 to 1, expected to >= from"));
  CHECK_THAT(mistake("from = 1, to = inf, step = 1"), Contains("found 1 to inf"));
  for (const char* step : {"0", "-1", "nan"})
    CHECK_THAT(mistake(std::string("from = 1, to = 2, step = ") + step), Contains("expected more than 0"));
  CHECK_THAT(mistake("from = 1, to = 2, factor = 1"),
             Contains("found factor = 1 from 1, expected a factor above 1"));
  CHECK_THAT(mistake("from = 0, to = 2, factor = 2"), Contains("found factor = 2 from 0"));
  CHECK_THAT(mistake("from = 0, to = 1e9, step = 1"), Contains("expected at most") && Contains("values"));
}

TEST_CASE("mistakes of axes, figures and speed-ups as a whole") {
  const auto axis = [](const std::string& text) { return refused(kWorkload + "[[axis]]\n" + text); };
  CHECK_THAT(axis("name = \"x\"\nvalues = [1]\n"),
             Contains("found none of config, key, keys, option and [[axis.point]]"));
  CHECK_THAT(axis("key = \"a\"\noption = \"b\"\nvalues = [1]\n"), Contains("found several of config, key"));
  CHECK_THAT(axis("key = \"a\"\nvalues = []\n"), Contains("expected a list with at least one element"));
  CHECK_THAT(axis("name = \"speedup\"\nkey = \"a\"\nvalues = [1]\n"),
             Contains("an axis cannot be called 'speedup'"));
  CHECK_THAT(refused(kAxes + "[[figure]]\nname = \"a/b\"\nx = \"mhz\"\ny = \"ipc\"\n"),
             Contains("name: expected at most 100 letters, digits, '-' and '_'"));
  CHECK_THAT(refused(kAxes + "[speedup]\n"), Contains("expected against = { AXIS = VALUE }"));
  CHECK_THAT(refused(kAxes + "[speedup]\nagainst = {}\n"), Contains("against: expected at least one axis"));
  CHECK_THAT(refused("x = " + std::string(20, '[') + std::string(20, ']') + "\n"),
             Contains("values are nested too deeply"));
}

TEST_CASE("mistakes of workloads") {
  CHECK_THAT(refused("[[workload]]\ntrace = \"t\"\nprogram = [\"p\"]\n"),
             Contains("expected one of trace, devices"));
  CHECK_THAT(refused("[[workload]]\nprogram = [\"p\"]\nlaunch = \"l\"\n"),
             Contains("launch: expected trace, a PTX file, with it"));
  CHECK_THAT(refused("[[workload]]\ntrace = \"t\"\ninputs = [\"i\"]\n"),
             Contains("inputs: expected program with it"));
  CHECK_THAT(refused("[[workload]]\ntrace = 5\n"),
             Contains("s.toml:2: workload: trace = '5': expected a string that is not empty"));
  CHECK_THAT(refused("jobs = 1025\n" + kWorkload),
             Contains("jobs = '1025': expected a whole number from 1 to 1024"));
  CHECK_THAT(refused("workload = 5\n"), Contains("expected tables, each headed [[workload]]"));
  CHECK_THAT(refused("set = 5\n" + kWorkload), Contains("set = '5': expected a table"));
}

TEST_CASE("arguments: devices, launches and flags") {
  const Study study = parse_study(
      "[[workload]]\nname = \"two\"\ndevices = [\"a\", \"b/c\"]\noptions = { strict = true, quiet = false, "
      "kernels = 3 }\n"
      "[[workload]]\ntrace = \"k.ptx\"\nlaunch = \"f<<<1,32>>>()\"\n",
      "s.toml");
  const auto runs = plan(study);
  REQUIRE(runs.size() == 2);
  CHECK(arguments_of(study, runs[0]) ==
        Texts{"run", "--kernels=3", "--strict", "--device", "0=a", "--device", "1=b/c"});
  CHECK(arguments_of(study, runs[1]) == Texts{"run", "k.ptx", "--launch", "f<<<1,32>>>()"});
}

}  // namespace lockstep::study
