// Figures of studies: which random ones are unambiguous, by counting the runs at each place, and each
// mistake's line and words.
#include "study/figure_reader.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "study/plan.hpp"
#include "support.hpp"
#include "tests/random.hpp"

namespace lockstep::study {
namespace {

using Labels = std::vector<std::string>;

/// Two workloads and three axes, in lines 1 to 18: two of numbers, one of them with a single value.
const std::string kStudy =
    "[[workload]]\ntrace = \"t\"\n[[workload]]\ntrace = \"u\"\n"
    "[[axis]]\nname = \"mhz\"\nkey = \"a\"\nvalues = [500, 900]\n"
    "[[axis]]\nname = \"policy\"\nkey = \"b\"\nvalues = [\"x\", \"y\"]\n"
    "[[axis]]\nname = \"one\"\nkey = \"c\"\nvalues = [\n7]\n";
const std::map<std::string, Labels> kColumns = {
    {"workload", {"t", "u"}}, {"mhz", {"500", "900"}}, {"policy", {"x", "y"}}, {"one", {"7"}}};

std::string figure_error(const std::string& text) {
  return refused(kStudy + "[[figure]]\nname = \"f\"\n" + text);
}

/// The label of each column for a run.
std::map<std::string, std::string> labels_of(const Study& study, const PlannedRun& run) {
  std::map<std::string, std::string> labels{{"workload", study.workloads[run.workload].name}};
  for (std::size_t a = 0; a < study.axes.size(); ++a)
    labels[study.axes[a].name] = study.axes[a].points[run.points[a]].label;
  return labels;
}

/// Whether no two runs that `where` lets through have the same labels in the columns shown.
bool is_unambiguous(const Study& study, const Labels& shown,
                    const std::map<std::string, std::string>& where) {
  std::set<Labels> places;
  for (const PlannedRun& run : plan(study)) {
    const auto labels = labels_of(study, run);
    if (!std::ranges::all_of(where, [&](const auto& w) { return labels.at(w.first) == w.second; })) continue;
    Labels place;
    for (const std::string& column : shown) place.push_back(labels.at(column));
    if (!places.insert(place).second) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("figures: those are read of which no place has several runs") {
  const Study study = parse_study(kStudy, "s.toml");
  const char* const axes[] = {"workload", "mhz", "policy", "one"};
  test::Random32 random(5);
  unsigned read = 0, ambiguous = 0;
  for (int round = 0; round < 600; ++round) {
    const bool heat = random() % 3 == 0;
    const std::string x = axes[random() % 4], y = heat ? axes[random() % 4] : "ipc",
                      series = heat || random() % 3 == 0 ? "" : axes[random() % 4];
    std::map<std::string, std::string> where;
    for (const auto& [column, labels] : kColumns)
      if (random() % 3 == 0) where[column] = labels[random() % labels.size()];
    std::string text =
        fmt::format("kind = \"{}\"\nx = \"{}\"\ny = \"{}\"\n", heat ? "heat_map" : "bars", x, y);
    if (heat) text += "value = \"ipc\"\n";
    if (!series.empty()) text += fmt::format("series = \"{}\"\n", series);
    std::string pairs;
    for (const auto& [column, label] : where)
      pairs += fmt::format("{}{} = \"{}\"", pairs.empty() ? "" : ", ", column, label);
    if (!where.empty()) text += "where = { " + pairs + " }\n";
    Labels shown{x};
    if (heat) shown.push_back(y);
    if (!series.empty()) shown.push_back(series);
    INFO(text);
    const std::string error = figure_error(text);
    if (is_unambiguous(study, shown, where)) {
      ++read;
      REQUIRE(error == "accepted");
    } else {
      ++ambiguous;
      REQUIRE_THAT(
          error,
          Catch::StartsWith("s.toml:18: figure 'f': several runs would stand at one place: expected axis '"));
    }
  }
  CHECK(read > 50);
  CHECK(ambiguous > 50);
}

TEST_CASE("figures: each mistake is told with its line and what is expected") {
  const std::string axes = "workload, mhz, policy, one";
  const std::string rest = "where = { workload = \"t\", policy = \"x\" }\n";
  const std::pair<std::string, std::string> rows[] = {
      {"y = \"ipc\"\n", "18: figure 'f': expected x, an axis"},
      {"x = \"mhz\"\n", "18: figure 'f': expected y, a column of the table"},
      {"kind = \"pareto\"\ny = \"ipc\"\n", "18: figure 'f': expected x, a column of the table"},
      {"kind = \"heat_map\"\nx = \"mhz\"\n", "18: figure 'f': expected y, an axis"},
      {"kind = \"heat_map\"\nx = \"mhz\"\ny = \"policy\"\n",
       "18: figure 'f': expected value, a column of the table"},
      {"kind = \"heat_map\"\nx = \"mhz\"\ny = \"ipc\"\nvalue = \"ipc\"\n",
       "18: figure 'f': y: 'ipc' is not an axis; expected one of " + axes},
      {"kind = \"heat_map\"\nx = \"mhz\"\ny = \"policy\"\nvalue = \"ipc\"\nseries = \"one\"\n",
       "18: figure 'f': series: a heat map has none"},
      {"kind = \"pareto\"\nx = \"ipc\"\ny = \"cycles\"\nseries = \"one\"\n",
       "18: figure 'f': series: a Pareto figure has none"},
      {"kind = \"bars\"\nx = \"mhz\"\ny = \"ipc\"\nseries = \"polcy\"\n",
       "18: figure 'f': series: 'polcy' is not an axis; did you mean 'policy'?; expected one of " + axes},
      {"x = \"workload\"\ny = \"ipc\"\n",
       "18: figure 'f': the values of x = 'workload' are not numbers; expected kind = \"bars\", or labels "
       "that are"},
      {"x = \"mhz\"\ny = \"ipc\"\nx_better = \"higher\"\n" + rest,
       "18: figure 'f': x_better: only a Pareto figure has it"},
      {"kind = \"pareto\"\nx = \"ipc\"\ny = \"cycles\"\ny_better = \"more\"\n",
       "18: figure 'f': found y_better = 'more', expected lower or higher"},
      {"kind = \"\"\nx = \"mhz\"\ny = \"ipc\"\n",
       "20: figure 'f': kind = '': expected a string that is not empty"},
      {"x = \"mhz\"\ny = \"ipc\"\nwhere = \"policy\"\n",
       "22: figure 'f': where = 'policy': expected a table"},
      {"x = \"mhz\"\ny = \"ipc\"\nwhere = { polcy = \"x\" }\n",
       "22: figure 'f': where: 'polcy' is not an axis; did you mean 'policy'?; expected one of " + axes},
      {"x = \"mhz\"\ny = \"ipc\"\nwhere = { policy = [\"x\"] }\n",
       "22: figure 'f': where.policy = a list: expected one value of the axis"},
      {"x = \"mhz\"\ny = \"ipc\"\nwhere = { policy = \"z\" }\n",
       "22: figure 'f': where.policy = 'z': expected one of x, y"},
      {"x = \"mhz\"\ny = \"ipc\"\ncolour = \"red\"\n" + rest, "22: figure 'f': unknown key 'colour'"},
      {"x = \"mhz\"\ny = \"ipc\"\n" + rest +
           "[[figure]]\nname = \"f\"\nkind = \"pareto\"\nx = \"ipc\"\ny = \"cycles\"\n",
       "23: figure 'f': two figures have this name"},
  };
  for (const auto& [text, message] : rows) {
    CAPTURE(text);
    CHECK_THAT(figure_error(text), Catch::StartsWith("s.toml:" + message));
  }
}

TEST_CASE("figures: a name is a file's, of at most 100 letters, digits, dashes and underscores") {
  const auto named = [](const std::string& name) {
    return refused(kStudy + "[[figure]]\nname = \"" + name +
                   "\"\nkind = \"pareto\"\nx = \"ipc\"\ny = \"cycles\"\n");
  };
  CHECK(named("a-B_9") == "accepted");
  CHECK(named(std::string(100, 'x')) == "accepted");
  for (const std::string& bad : {std::string(101, 'x'), std::string("a b"), std::string("a.svg"),
                                 std::string("../a"), std::string("\\u00e4"), std::string("a\\nb")})
    CHECK(named(bad) == "s.toml:18: figure: name: expected at most 100 letters, digits, '-' and '_'");
}

TEST_CASE("figures: what a line says is what is drawn of the study") {
  const Study study = parse_study("title = \"all\"\n" + kStudy +
                                      "[[figure]]\nname = \"p\"\nkind = \"pareto\"\nx = \"ipc\"\ny = "
                                      "\"time\"\nx_better = \"higher\"\ny_better = \"lower\"\n"
                                      "[[figure]]\nname = \"q\"\ntitle = \"own\"\nx = \"mhz\"\ny = "
                                      "\"ipc\"\nseries = \"policy\"\nwhere = { workload = \"u\" }\n",
                                  "s.toml");
  REQUIRE(study.figures.size() == 2);
  const Figure &p = study.figures[0], &q = study.figures[1];
  CHECK((p.kind == Figure::Kind::kPareto && p.title == "all" && p.x_higher && !p.y_higher && p.line == 19));
  CHECK((q.kind == Figure::Kind::kLines && q.title == "own" && q.series == "policy" && q.line == 26));
  CHECK(q.where == Where{{"workload", "u"}});
}

}  // namespace lockstep::study
