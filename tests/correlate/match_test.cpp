#include "correlate/match.hpp"

#include <catch2/catch.hpp>

#include "correlate/correlation.hpp"
#include "correlate/kernel_name.hpp"
#include "util/error.hpp"

namespace lockstep::correlate {
namespace {

SimulatedLaunch launch(const std::string& kernel, std::uint64_t id, double cycles,
                       Dimensions grid = {1, 1, 1}) {
  return {kernel, id, grid, {32, 1, 1}, {{"cycles", cycles}}};
}

Matched matched(const std::vector<SimulatedLaunch>& launches, const std::string& csv) {
  return match({{"p", launches}}, parse_measurements(csv, "f"), "f", "p");
}

std::vector<double> simulated(const Matched& m) {
  std::vector<double> values;
  for (const Pair& pair : m.pairs) values.push_back(pair.values.simulated);
  return values;
}

}  // namespace

TEST_CASE("names of kernels are the same however they are written") {
  // add<float, 8, true>(float const*, float*, int)
  const KernelName mangled = kernel_name("_Z3addIfLi8ELb1EEvPKT_PS0_i");
  CHECK(mangled.function == "add<float,8,true>");
  CHECK(mangled.plain == "add");
  CHECK(mangled.parameters == "(float*,float*,int)");
  const KernelName ncu = kernel_name("void add<float, (int)8, (bool)1>(const float *, float *, int)");
  CHECK(ncu.function == mangled.function);
  CHECK(ncu.parameters == mangled.parameters);
  CHECK(same_function(kernel_name("add"), mangled));
  CHECK(!same_function(kernel_name("ad"), mangled));
  CHECK(!same_function(kernel_name("add<float, 9, true>"), mangled));
  CHECK(kernel_name("ns::k<unsigned int, 4u>()").function == "ns::k<unsignedint,4>");
  CHECK(kernel_name("plain").parameters.empty());
}

TEST_CASE("the n-th measured launch is the n-th simulated one") {
  const std::vector<SimulatedLaunch> launches{launch("_Z1aPf", 1, 10), launch("_Z1bPf", 2, 20),
                                              launch("_Z1aPf", 3, 30)};
  const Matched m = matched(launches, "kernel,cycles\na,1\na,2\nb,3\n");
  CHECK(simulated(m) == std::vector<double>{10, 30, 20});
  CHECK(m.pairs[1].launch == 1);
  CHECK(m.unmatched.empty());
  CHECK(m.unmeasured == 0);
  const Matched more = matched(launches, "kernel,cycles\na,1\na,2\na,3\nc,4\n");
  CHECK(simulated(more) == std::vector<double>{10, 30});
  REQUIRE(more.unmatched.size() == 2);
  CHECK(more.unmatched[0] == "f:4: a: the run has no such launch of this kernel");
  CHECK(more.unmatched[1] == "f:5: c: the run has no such kernel");
  CHECK(more.unmeasured == 1);
}

TEST_CASE("grid, block and launch say which one") {
  const std::vector<SimulatedLaunch> launches{launch("k", 1, 10, {4, 1, 1}), launch("k", 2, 20, {8, 1, 1}),
                                              launch("k", 3, 30, {4, 1, 1})};
  CHECK(simulated(matched(launches, "kernel,grid,cycles\nk,8x1x1,1\nk,4x1x1,1\nk,4x1x1,1\n")) ==
        std::vector<double>{20, 10, 30});
  CHECK(simulated(matched(launches, "kernel,launch,cycles\nk,2,1\nk,0,1\n")) == std::vector<double>{30, 10});
  CHECK(matched(launches, "kernel,launch,cycles\nk,3,1\n").unmatched.size() == 1);
  CHECK(matched(launches, "kernel,launch,grid,cycles\nk,0,8x1x1,1\n").unmatched.size() == 1);
}

TEST_CASE("overloads are distinguished by their parameters") {
  const std::vector<SimulatedLaunch> launches{launch("_Z1aPf", 1, 10), launch("_Z1aPd", 2, 20)};
  CHECK(simulated(matched(launches, "kernel,cycles\na(double *),1\na(float *),2\n")) ==
        std::vector<double>{20, 10});
  const Matched open = matched(launches, "kernel,cycles\na,1\n");
  CHECK(open.pairs.empty());
  CHECK(open.unmatched.front() == "f:2: a: the run has several kernels of this name");
}

TEST_CASE("a mean is compared with the mean over all launches") {
  const std::string header = "Time (%),Total Time (ns),Instances,Avg (ns),Name\n";
  std::vector<SimulatedLaunch> launches{launch("k", 1, 10), launch("k", 2, 30)};
  for (SimulatedLaunch& l : launches) l.counters["elapsed_ns"] = l.counters["cycles"];
  const Matched m = matched(launches, header + "1,50,2,25,k\n");
  CHECK(simulated(m) == std::vector<double>{20});
  CHECK(m.pairs[0].instances == 2);
  CHECK(m.unmeasured == 0);
  CHECK_THAT(matched(launches, header + "1,75,3,25,k\n").unmatched.front(),
             Catch::Contains("a mean over 3 launches, and the run has 2"));
}

TEST_CASE("counters that do not exist are refused") {
  CHECK_THROWS_WITH(matched({launch("k", 1, 10)}, "kernel,cycels\nk,1\n"),
                    Catch::Contains("f:2: found 'cycels', expected a counter of stats.json"));
}

TEST_CASE("groups by counter and by program, and what they print") {
  std::vector<SimulatedProgram> programs{{"p", {launch("k", 1, 110)}}, {"q", {launch("k", 1, 80)}}};
  const Measurements csv = parse_measurements("program,kernel,cycles\np,k,100\nq,k,100\nr,k,5\n", "f");
  const Correlation c = correlate(match(programs, csv, "f", ""), {"odd__metric.sum"});
  REQUIRE(c.by_counter.size() == 1);
  CHECK(c.by_counter[0].errors.mean == Approx(-0.05));
  REQUIRE(c.by_program.size() == 2);
  CHECK(c.by_program[0].errors.mean == Approx(0.1));
  CHECK(c.by_program[1].program == "q");
  CHECK(c.matched.unmatched == std::vector<std::string>{"f:4: no run is of program 'r'"});
  CHECK(to_csv(c) ==
        "program,kernel,launch,instances,counter,hardware,simulated,error\n"
        "p,k,0,1,cycles,100,110,0.100000\nq,k,0,1,cycles,100,80,-0.200000\n");
  CHECK_THAT(to_text(c, true), Catch::Contains("-5.0 %") && Catch::Contains("odd__metric.sum"));
  CHECK_THAT(scatter_plot(c, "cycles"), Catch::Contains("<svg"));
}

}  // namespace lockstep::correlate
