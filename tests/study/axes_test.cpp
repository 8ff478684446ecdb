// Axes: what every form of them sets, at random, and what each mistake in them is told, with its line.
#include "study/axes.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>

#include "config/schema.hpp"
#include "stats/descriptors.hpp"
#include "study/plan.hpp"
#include "study/table.hpp"
#include "support.hpp"
#include "tests/random.hpp"

namespace lockstep::study {
namespace {

using test::Random32;
using Texts = std::vector<std::string>;

/// The message for a study with one workload, in lines 1 and 2, and an axis that begins in line 3.
std::string axis_error(const std::string& text) { return refused(kWorkload + "[[axis]]\n" + text); }

/// An axis as it is written, and what the runs of its points are started with.
struct WrittenAxis {
  std::string text;
  Texts labels;
  std::vector<Texts> arguments;
};

class AxisMaker {
 public:
  AxisMaker(std::uint32_t seed, std::string name) : random_(seed), name_(std::move(name)) {}

  WrittenAxis make() {
    axis_ = {"[[axis]]\n", {}, {}};
    const std::uint32_t form = below(5);
    count_ = 1 + below(5);
    if (form == 0) key_or_option("key", "--set", name_ + ".k=");
    if (form == 1) key_or_option("option", "", "--" + name_ + "=");
    if (form == 2) keys_together();
    if (form == 3) range();
    if (form == 4) points();
    if (below(3) == 0 && form != 4) rename();
    return axis_;
  }

 private:
  std::uint32_t below(std::uint32_t n) { return random_() % n; }

  void key_or_option(const std::string& how, const std::string& flag, const std::string& before) {
    axis_.text +=
        how == "key" ? fmt::format("key = \"{}.k\"\n", name_) : fmt::format("option = \"{}\"\n", name_);
    axis_.text += "values = [";
    for (std::uint32_t i = 0; i < count_; ++i) {
      const bool quoted = below(2) == 0;
      const std::string value = fmt::format("{}{}", 10 * i + below(10), quoted ? " KiB" : "");
      axis_.text += fmt::format("{}{}", i > 0 ? ", " : "", quoted ? '"' + value + '"' : value);
      axis_.labels.push_back(value);
      axis_.arguments.push_back(flag.empty() ? Texts{before + value} : Texts{flag, before + value});
    }
    axis_.text += "]\n";
  }

  void keys_together() {
    axis_.text += fmt::format("name = \"{0}\"\nkeys = [\"{0}.a\", \"{0}.b\"]\nvalues = [", name_);
    for (std::uint32_t i = 0; i < count_; ++i) {
      const std::uint32_t b = below(100);
      axis_.text += fmt::format("{}[{}, {}]", i > 0 ? ", " : "", i, b);
      axis_.labels.push_back(fmt::format("{} / {}", i, b));
      axis_.arguments.push_back(
          {"--set", fmt::format("{}.a={}", name_, i), "--set", fmt::format("{}.b={}", name_, b)});
    }
    axis_.text += "]\n";
  }

  /// Whole numbers, whose labels are exact: from, and the count minus one steps or factors of two.
  void range() {
    const bool steps = below(2) == 0;
    const std::uint32_t from = 1 + below(1000), step = 1 + below(500), rest = steps ? below(step) : 0;
    std::uint64_t last = from;
    for (std::uint32_t i = 0; i < count_; ++i) {
      last = steps ? from + i * step : from << i;
      axis_.labels.push_back(std::to_string(last));
      axis_.arguments.push_back({"--set", fmt::format("{}.k={} MHz", name_, last)});
    }
    axis_.text += fmt::format("key = \"{}.k\"\nrange = {{from = {}, to = {}, {}, unit = \"MHz\"}}\n", name_,
                              from, last + rest, steps ? fmt::format("step = {}", step) : "factor = 2");
  }

  void points() {
    axis_.text += fmt::format("name = \"{}\"\n", name_);
    for (std::uint32_t i = 0; i < count_; ++i) {
      axis_.labels.push_back(fmt::format("{}{}", name_, i));
      axis_.text += fmt::format("[[axis.point]]\nlabel = \"{}\"\n", axis_.labels.back());
      Texts arguments;
      if (const std::uint32_t value = below(50); below(2) == 0) {
        axis_.text += fmt::format("set = {{ {}.k = {} }}\n", name_, value);
        arguments = {"--set", fmt::format("{}.k={}", name_, value)};
      }
      axis_.text += fmt::format("options = {{ {} = {} }}\n", name_, i % 2 == 0 ? "true" : "\"x\"");
      arguments.push_back(i % 2 == 0 ? "--" + name_ : "--" + name_ + "=x");
      axis_.arguments.push_back(arguments);
    }
  }

  void rename() {
    axis_.text += "labels = [";
    for (std::uint32_t i = 0; i < count_; ++i) {
      axis_.labels[i] = fmt::format("label {}", i);
      axis_.text += fmt::format("{}\"{}\"", i > 0 ? ", " : "", axis_.labels[i]);
    }
    axis_.text += "]\n";
  }

  Random32 random_;
  std::string name_;
  std::uint32_t count_ = 0;
  WrittenAxis axis_;
};

Texts sorted(Texts texts) {
  std::sort(texts.begin(), texts.end());
  return texts;
}

}  // namespace

TEST_CASE("axes: the runs of random axes are started with what their points say") {
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    std::vector<WrittenAxis> written;
    std::string text = kWorkload;
    for (std::uint32_t a = 0; a <= seed % 3; ++a) {
      written.push_back(AxisMaker(31 * seed + a, std::string(1, static_cast<char>('x' - a))).make());
      text += written.back().text;
    }
    INFO(text);
    const Study study = parse_study(text, "s.toml");
    REQUIRE(study.axes.size() == written.size());
    for (const PlannedRun& run : plan(study)) {
      Texts expected{"run", "t"};
      for (std::size_t a = 0; a < written.size(); ++a) {
        const std::size_t point = run.points[a];
        REQUIRE(study.axes[a].points.size() == written[a].labels.size());
        REQUIRE(study.axes[a].points[point].label == written[a].labels[point]);
        const Texts& more = written[a].arguments[point];
        expected.insert(expected.end(), more.begin(), more.end());
      }
      REQUIRE(sorted(arguments_of(study, run)) == sorted(expected));
    }
  }
}

TEST_CASE("axes: each mistake is told with its line and what is expected") {
  const std::pair<const char*, const char*> rows[] = {
      {"keys = [\"a\", \"b\"]\nvalues = [[1, 2]]\n", "3: axis: expected a name"},
      {"key = 5\nvalues = [1]\n", "4: axis: key = '5': expected a string that is not empty"},
      {"key = \"a\"\nvalues = [1, [2]]\n",
       "5: axis 'a': values = a list: expected strings, numbers or booleans in the list"},
      {"name = \"n\"\nkeys = [\"a\", \"b\"]\nvalues = [\n[1, 2],\n3]\n",
       "8: axis 'n': values = '3': expected lists of 2 values, one for each of keys"},
      {"name = \"n\"\nkeys = [\"a\", \"b\"]\nvalues = [[1, [2]]]\n",
       "6: axis 'n': values = a list: expected strings, numbers or booleans in the list"},
      {"key = \"a\"\nvalues = [1]\nrange = {from = 1, to = 2, step = 1}\n",
       "3: axis 'a': expected either values or range"},
      {"config = [\"v100\"]\nvalues = [1]\n", "5: axis 'config': unknown key 'values'"},
      {"name = \"n\"\nkeys = [\"a\", \"b\"]\nrange = {from = 1, to = 2, step = 1}\n",
       "6: axis 'n': range: expected values: a range is of one key or option"},
      {"key = \"a\"\nrange = {to = 2, step = 1}\n",
       "5: axis 'a': range: expected from, to, and either step or factor"},
      {"key = \"a\"\nrange = {from = 1, to = 2, step = 1, factor = 2}\n",
       "5: axis 'a': range: expected from, to, and either step or factor"},
      {"key = \"a\"\nrange = {from = \"1\", to = 2, step = 1}\n",
       "5: axis 'a': range: from = '1': expected a number"},
      {"key = \"a\"\nrange = {from = 1, to = inf, step = 1}\n",
       "5: axis 'a': range: found 1 to inf, expected to >= from"},
      {"key = \"a\"\nrange = {from = 1, to = 2, step = nan}\n",
       "5: axis 'a': range: found step = nan, expected more than 0"},
      {"key = \"a\"\nrange = {from = 1, to = 2, step = inf}\n",
       "5: axis 'a': range: found step = inf, expected more than 0"},
      {"key = \"a\"\nrange = {from = 1, to = 2, factor = inf}\n",
       "5: axis 'a': range: found factor = inf from 1, expected a factor above 1 from a number above 0"},
      {"key = \"a\"\nrange = {from = 1, to = 2, factor = 1}\n",
       "5: axis 'a': range: found factor = 1 from 1, expected a factor above 1 from a number above 0"},
      {"key = \"a\"\nrange = {from = 1, to = 2, step = 1, by = 1}\n", "5: axis 'a': range: unknown key 'by'"},
      {"name = \"n\"\n[[axis.point]]\nset = { a = 1 }\n", "5: axis 'n': point: expected a label"},
      {"name = \"n\"\n[[axis.point]]\nlabel = \"l\"\n",
       "5: axis 'n': point: expected config, set or options"},
      {"name = \"n\"\n[[axis.point]]\nlabel = \"l\"\nset = { a = [1] }\n",
       "7: axis 'n': point: a = a list: expected a string, a number or a boolean"},
      {"name = \"n\"\n[[axis.point]]\nlabel = \"l\"\nset = { a = 1 }\n[[axis.point]]\nlabel = \"l\"\nset = { "
       "a = 2 }\n",
       "8: axis 'n': the value 'l' is there twice"},
      {"name = \"n\"\n[[axis.point]]\nlabel = \"l\"\nsets = { a = 1 }\n",
       "7: axis 'n': point: unknown key 'sets'; did you mean 'set'?"},
      {"key = \"a\"\nvalues = [1, 2]\nlabels = [\"x\"]\n", "3: axis 'a': found 1 labels for 2 values"},
      {"key = \"a\"\nvalues = [1, 2]\nlabels = [\"x\", \"x\"]\n",
       "5: axis 'a': the value 'x' is there twice"},
      {"key = \"a\"\nvalues = [1, \"1\"]\n", "5: axis 'a': the value '1' is there twice"},
      {"key = \"a\"\nvalues = [1]\n[[axis]]\nkey = \"b\"\nname = \"a\"\nvalues = [1]\n",
       "6: two axes are called 'a'"},
      {"name = \"workload\"\nkey = \"a\"\nvalues = [1]\n",
       "3: an axis cannot be called 'workload', as a column of the table is"},
      {"config = [\"v100\"]\n[[axis]]\nname = \"m\"\n[[axis.point]]\nlabel = \"l\"\nconfig = \"a100\"\n",
       "5: axis 'm' sets what an axis before it sets (config)"},
      {"option = \"o\"\nvalues = [1]\n[[axis]]\nname = \"m\"\noption = \"o\"\nvalues = [2]\n",
       "6: axis 'm' sets what an axis before it sets (option o)"},
  };
  for (const auto& [text, message] : rows) {
    CAPTURE(text);
    CHECK_THAT(axis_error(text), Catch::StartsWith(std::string("s.toml:") + message));
  }
}

TEST_CASE("axes: the number at the beginning of a range is itself, however large the step") {
  const auto first = [](const std::string& range) {
    return parse_study(kWorkload + "[[axis]]\nkey = \"a\"\nrange = {" + range + "}\n", "s.toml")
        .axes[0]
        .points[0]
        .label;
  };
  CHECK(first("from = 1, to = 3e9, step = 1e9") == "1");
  CHECK(first("from = -0.5, to = 3e9, step = 1e9") == "-0.5");
  CHECK(first("from = 0, to = 3e9, step = 1e9") == "0");
}

TEST_CASE("axes: labels are numbers where JSON would read them as such") {
  const auto numeric = [](const std::string& value) {
    return parse_study(kWorkload + "[[axis]]\nkey = \"a\"\nvalues = [" + value + "]\n", "s.toml")
        .axes[0]
        .points[0]
        .numeric;
  };
  for (const char* number : {"0", "-1", "1.5", "\"12\"", "\"-0.25\"", "\"1e3\"", "1e300"})
    CHECK(numeric(number));
  for (const char* text : {"true", "\"007\"", "\".5\"", "\"5.\"", "\"+1\"", "\" 1\"", "\"1 \"", "\"0x10\"",
                           "\"\"", "\"1e999\"", "inf", "nan", "\"1 KiB\""})
    CHECK_FALSE(numeric(text));
}

TEST_CASE("axes: a later setting wins over an earlier one that a third has another name for") {
  const Study study = parse_study("set = { \"clock.core_mhz\" = 500 }\n" + kWorkload +
                                      "set = { \"clock.core_khz\" = 600000 }\n"
                                      "[[axis]]\nkey = \"clock.core_mhz\"\nvalues = [700]\n",
                                  "s.toml");
  CHECK(arguments_of(study, plan(study)[0]) ==
        Texts{"run", "--set", "clock.core_khz=600000", "--set", "clock.core_mhz=700", "t"});
}

TEST_CASE("axes: none has the name of a statistic, whose column would be the same") {
  const auto error = [](const std::string& name) {
    try {
      check_names_of_columns(parse_study(
          kWorkload + "[[axis]]\nname = \"" + name + "\"\nkey = \"a\"\nvalues = [1]\n", "s.toml"));
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  for (const std::string name : {"gpu", "cycles", "ipc", "trace.name", "l1.hits"})
    CHECK(error(name) == "s.toml:3: an axis cannot be called '" + name +
                             "', as a statistic of the runs is; expected another name = \"...\"");
  const auto is_statistic = [](const std::string& key) {
    return std::ranges::find(stats::descriptors(), key, &stats::Descriptor::name) !=
           stats::descriptors().end();
  };
  CHECK(is_statistic("l2.mshr_merges"));  // the requests that an entry may hold, and those that were merged
  for (const config::Parameter& p : config::schema()) {
    CAPTURE(p.key);
    CHECK(error(p.key).empty() != is_statistic(p.key));
  }
}

}  // namespace lockstep::study
