#include "study/study_file.hpp"

#include <catch2/catch.hpp>

#include "study/plan.hpp"
#include "support.hpp"

namespace lockstep::study {
namespace {

std::vector<std::string> labels(const Axis& axis) {
  std::vector<std::string> all;
  for (const AxisPoint& point : axis.points) all.push_back(point.label);
  return all;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a study is the product of its workloads and axes, the last axis fastest") {
  const Study study = parse_study(R"(
title = "both"
config = "a100"
threads = 2
set = { sm.max_ctas = 8 }

[[workload]]
trace = "traces/one/"
[[workload]]
name = "two"
program = ["./p", "a b"]
inputs = ["graph"]
options = { kernels = "1-3" }

[[axis]]
config = ["v100", "a100"]
[[axis]]
name = "clocks"
keys = ["clock.core_mhz", "clock.l2_mhz"]
values = [[500, 400], [1000, 800]]
labels = ["slow", "fast"]
)",
                                  "s.toml");
  CHECK(study.threads == 2);
  CHECK(study.workloads[0].name == "one");
  const auto runs = plan(study);
  REQUIRE(runs.size() == 8);
  CHECK(description(study, runs[0]) == "one, config v100, clocks slow");
  CHECK(description(study, runs[1]) == "one, config v100, clocks fast");
  CHECK(description(study, runs[7]) == "two, config a100, clocks fast");
  CHECK(arguments_of(study, runs[1]) == Texts{"run", "-c", "v100", "--set", "sm.max_ctas=8", "--set",
                                              "clock.core_mhz=1000", "--set", "clock.l2_mhz=800",
                                              "traces/one/"});
  CHECK(arguments_of(study, runs[4]) == Texts{"exec", "-c", "v100", "--set", "sm.max_ctas=8", "--set",
                                              "clock.core_mhz=500", "--set", "clock.l2_mhz=400",
                                              "--kernels=1-3", "--", "./p", "a b"});
}

TEST_CASE("ranges have both ends, in decimals as people write them") {
  const auto axis = [](const std::string& range) {
    return parse_study(kWorkload + "[[axis]]\nkey = \"l1.bytes\"\nrange = {" + range + "}\n", "s.toml")
        .axes[0];
  };
  CHECK(labels(axis("from = 1, to = 9, step = 4")) == Texts{"1", "5", "9"});
  CHECK(labels(axis("from = 1, to = 10, step = 4")) == Texts{"1", "5", "9"});
  CHECK(labels(axis("from = 0.1, to = 0.5, step = 0.1")) == Texts{"0.1", "0.2", "0.3", "0.4", "0.5"});
  CHECK(labels(axis("from = 32, to = 256, factor = 2")) == Texts{"32", "64", "128", "256"});
  CHECK(labels(axis("from = 7, to = 7, step = 1")) == Texts{"7"});
  // In doubles -0.3 + 3 * 0.1 is 5.6e-17, and -0.0 has a sign.
  CHECK(labels(axis("from = -0.3, to = 0.1, step = 0.1")) == Texts{"-0.3", "-0.2", "-0.1", "0", "0.1"});
  CHECK(labels(axis("from = -0.0, to = 1, step = 1")) == Texts{"0", "1"});
  // Whole numbers have all their digits: 2^40 to 2^42, and neighbours of 13 digits.
  CHECK(labels(axis("from = 1099511627776, to = 4398046511104, factor = 2")) ==
        Texts{"1099511627776", "2199023255552", "4398046511104"});
  CHECK(labels(axis("from = 1234567890123, to = 1234567890125, step = 1")) ==
        Texts{"1234567890123", "1234567890124", "1234567890125"});
  const Axis units = axis("from = 32, to = 64, factor = 2, unit = \"KiB\"");
  CHECK(units.points[1].settings.set[0] == std::pair<std::string, std::string>("l1.bytes", "64 KiB"));
  CHECK(units.points[1].numeric);
}

TEST_CASE("later settings win: study, workload, axis") {
  const Study study = parse_study(R"(
config = "v100"
set = { "l1.mshrs" = 1, "sm.max_ctas" = 2 }
[[workload]]
trace = "t"
config = "a100"
set = { "l1.mshrs" = 3 }
[[axis]]
name = "x"
[[axis.point]]
label = "small"
set = { sm.max_ctas = 4 }
options = { strict = true, gpu-memory = "0.5x" }
)",
                                  "s.toml");
  const auto runs = plan(study);
  REQUIRE(runs.size() == 1);
  CHECK(arguments_of(study, runs[0]) == Texts{"run", "-c", "a100", "--set", "l1.mshrs=3", "--set",
                                              "sm.max_ctas=4", "--gpu-memory=0.5x", "--strict", "t"});
}

TEST_CASE("mistakes in a study are named by line") {
  using Catch::Contains;
  CHECK_THAT(refused(""), Contains("s.toml") && Contains("expected at least one [[workload]]"));
  CHECK_THAT(refused("x = "), Contains("s.toml:1: not valid TOML"));
  CHECK_THAT(refused("titel = \"x\"\n" + kWorkload),
             Contains("s.toml:1: unknown key 'titel'; did you mean 'title'?"));
  CHECK_THAT(refused(kWorkload + "traces = \"u\"\n"),
             Contains("s.toml:3: workload 't': unknown key 'traces'"));
  CHECK_THAT(refused("[[workload]]\nname = \"x\"\n"), Contains("expected one of trace, devices"));
  CHECK_THAT(refused(kWorkload + kWorkload), Contains("two workloads are called 't'"));
  CHECK_THAT(refused("threads = 0\n" + kWorkload),
             Contains("s.toml:1: threads = '0': expected a whole number"));
  const auto axis = [](const std::string& text) { return refused(kWorkload + "[[axis]]\n" + text); };
  CHECK_THAT(axis("name = \"x\"\n"), Contains("found none of config, key"));
  CHECK_THAT(axis("key = \"a\"\nconfig = [\"v100\"]\n"), Contains("found several of config, key"));
  CHECK_THAT(axis("key = \"a\"\nvalues = []\n"),
             Contains("s.toml:5: axis 'a': values = a list: expected a list with"));
  CHECK_THAT(axis("key = \"a\"\nvalues = [1, 1]\n"), Contains("the value '1' is there twice"));
  CHECK_THAT(axis("key = \"a\"\n"), Contains("expected either values or range"));
  CHECK_THAT(axis("key = \"a\"\nrange = {from = 1, to = 2}\n"), Contains("either step or factor"));
  CHECK_THAT(axis("key = \"a\"\nrange = {from = 2, to = 1, step = 1}\n"), Contains("expected to >= from"));
  CHECK_THAT(axis("key = \"a\"\nrange = {from = 1, to = 2, step = 0}\n"), Contains("expected more than 0"));
  CHECK_THAT(axis("key = \"a\"\nrange = {from = 0, to = 2, factor = 2}\n"),
             Contains("from a number above 0"));
  CHECK_THAT(axis("key = \"a\"\nrange = {from = 0, to = 2, step = 1e-9}\n"),
             Contains("at most 10000 values"));
  CHECK_THAT(axis("name = \"n\"\nkeys = [\"a\", \"b\"]\nvalues = [[1, 2], [3]]\n"),
             Contains("lists of 2 values"));
  CHECK_THAT(axis("name = \"state\"\nkey = \"a\"\nvalues = [1]\n"), Contains("cannot be called 'state'"));
  CHECK_THAT(axis("key = \"a\"\nvalues = [1]\n[[axis]]\nname = \"b\"\nkey = \"a\"\nvalues = [2]\n"),
             Contains("s.toml:6: axis 'b' sets what an axis before it sets (set a)"));
  CHECK_THAT(axis("key = \"a\"\nrange = {from = 1, to = 9000, step = 1}\n[[axis]]\nkey = \"b\"\n"
                  "range = {from = 1, to = 9000, step = 1}\n"),
             Contains("more than 100000 runs"));
}

TEST_CASE("figures and speed-ups refer to axes and values that are there") {
  using Catch::Contains;
  const std::string axes = kWorkload +
                           "[[axis]]\nname = \"mhz\"\nkey = \"a\"\nvalues = [500, 900]\n"
                           "[[axis]]\nname = \"policy\"\nkey = \"b\"\nvalues = [\"x\", \"y\"]\n";
  const auto figure = [&](const std::string& text) {
    return refused(axes + "[[figure]]\nname = \"f\"\n" + text);
  };
  CHECK(figure("x = \"mhz\"\ny = \"ipc\"\nseries = \"policy\"\n") == "accepted");
  CHECK(figure("x = \"mhz\"\ny = \"ipc\"\nwhere = { policy = \"x\" }\n") == "accepted");
  CHECK(figure("kind = \"pareto\"\nx = \"ipc\"\ny = \"time_ns\"\nx_better = \"higher\"\n") == "accepted");
  CHECK_THAT(figure("x = \"mhz\"\ny = \"ipc\"\n"),
             Contains("several runs would stand at one place: expected axis 'policy'"));
  CHECK_THAT(figure("x = \"mzh\"\ny = \"ipc\"\n"), Contains("'mzh' is not an axis; did you mean 'mhz'?"));
  CHECK_THAT(figure("x = \"policy\"\ny = \"ipc\"\nseries = \"mhz\"\n"),
             Contains("are not numbers; expected kind = \"bars\""));
  CHECK_THAT(figure("x = \"mhz\"\ny = \"ipc\"\nwhere = { policy = \"z\" }\n"),
             Contains("expected one of x, y"));
  CHECK_THAT(figure("kind = \"pie\"\nx = \"mhz\"\ny = \"ipc\"\n"), Contains("found kind = 'pie'"));
  CHECK_THAT(refused(axes + "[[figure]]\nname = \"../f\"\nx = \"mhz\"\ny = \"ipc\"\n"),
             Contains("letters, digits"));
  CHECK_THAT(refused(axes + "[speedup]\nagainst = { mhz = 501 }\n"), Contains("expected one of 500, 900"));
  CHECK_THAT(refused(axes + "[speedup]\nof = \"cycles\"\n"), Contains("expected against"));
}

}  // namespace lockstep::study
