// Measured launches against simulated ones: a slow second implementation, on random programs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "correlate/kernel_name.hpp"
#include "correlate/match.hpp"
#include "util/error.hpp"

namespace lockstep::correlate {
namespace {

constexpr std::uint64_t kShapes = 3, kKernels = 3;

std::string letter(std::uint64_t kernel) { return std::string(1, static_cast<char>('a' + kernel)); }

SimulatedProgram random_program(std::mt19937& random, const std::string& name) {
  SimulatedProgram program{name, {}};
  for (auto n = random() % 12; n > 0; --n) {
    SimulatedLaunch& launch = program.launches.emplace_back();
    launch.kernel = letter(random() % kKernels);
    launch.id = program.launches.size();
    launch.grid = {1 + random() % kShapes, 1, 1};
    launch.counters["cycles"] = static_cast<double>(random() % 1000);
  }
  return program;
}

Measurement random_measurement(std::mt19937& random, std::uint64_t line) {
  Measurement m;
  m.line = line;
  if (random() % 2) m.program = random() % 8 ? "p" : "q";
  m.kernel = letter(random() % (kKernels + 1));  // the last one is in no program
  if (random() % 3 == 0) m.launch = random() % 5;
  if (random() % 2) m.grid = Dimensions{1 + random() % kShapes, 1, 1};
  m.counters["cycles"] = static_cast<double>(line);
  return m;
}

/// A line of the file with the launch of the program that it is of, by its index.
using Assigned = std::map<std::uint64_t, const SimulatedLaunch*>;

/// Program by program and line by line, as match() is described.
Assigned assigned(const std::vector<SimulatedProgram>& programs, const Measurements& measured) {
  Assigned result;
  for (const SimulatedProgram& program : programs) {
    std::set<const SimulatedLaunch*> taken;
    for (const Measurement& m : measured.launches) {
      if ((m.program.empty() ? "p" : m.program) != program.program) continue;
      const SimulatedLaunch* chosen = nullptr;
      std::uint64_t number = 0;
      for (const SimulatedLaunch& launch : program.launches) {
        if (launch.kernel != m.kernel) continue;
        const bool shape = !m.grid || *m.grid == launch.grid;
        const bool wanted = m.launch ? *m.launch == number : !taken.contains(&launch);
        if (shape && wanted && !chosen) chosen = &launch;
        ++number;
      }
      if (!chosen) continue;
      taken.insert(chosen);
      result[m.line] = chosen;
    }
  }
  return result;
}

std::uint64_t number_among_its_kernel(const SimulatedProgram& program, const SimulatedLaunch* launch) {
  std::uint64_t number = 0;
  for (const SimulatedLaunch& other : program.launches) {
    if (&other == launch) break;
    if (other.kernel == launch->kernel) ++number;
  }
  return number;
}

}  // namespace

TEST_CASE("matching: random measurements get the launches that a search through all of them finds") {
  std::mt19937 random(37);
  for (int round = 0; round < 300; ++round) {
    const std::vector<SimulatedProgram> programs{random_program(random, "p"), random_program(random, "q")};
    if (programs[0].launches.empty() && programs[1].launches.empty()) continue;
    Measurements measured;
    for (std::uint64_t line = 2; line < 2 + random() % 14; ++line)
      measured.launches.push_back(random_measurement(random, line));
    const Matched matched = match(programs, measured, "f", "p");
    const Assigned expected = assigned(programs, measured);
    INFO("round " << round);
    REQUIRE(matched.pairs.size() == expected.size());
    REQUIRE(matched.unmatched.size() == measured.launches.size() - expected.size());
    std::set<std::pair<std::string, const SimulatedLaunch*>> used;
    for (const Pair& pair : matched.pairs) {
      const auto line = static_cast<std::uint64_t>(pair.values.hardware);
      REQUIRE(expected.contains(line));
      const SimulatedLaunch* launch = expected.at(line);
      const SimulatedProgram& program = programs[pair.program == "p" ? 0 : 1];
      REQUIRE(pair.kernel == launch->kernel);
      REQUIRE(pair.values.simulated == launch->counters.at("cycles"));
      REQUIRE(pair.launch == number_among_its_kernel(program, launch));
      used.insert({pair.program, launch});
    }
    // Of programs that are measured at all, launches without a measurement are counted.
    std::size_t all = 0;
    for (const SimulatedProgram& program : programs)
      if (std::ranges::any_of(measured.launches, [&](const Measurement& m) {
            return (m.program.empty() ? "p" : m.program) == program.program;
          }))
        all += program.launches.size();
    REQUIRE(matched.unmeasured == all - used.size());
  }
}

TEST_CASE("matching: why a measurement has no launch is said with its line") {
  const SimulatedProgram program{"p", {{"a", 1, {1, 1, 1}, {1, 1, 1}, {{"cycles", 5}}}}};
  const auto why = [&](Measurement m) {
    m.line = 9;
    m.counters = {{"cycles", 1}};
    const Matched matched = match({program}, {{m}, {}}, "f.csv", "p");
    return matched.unmatched.empty() ? "" : matched.unmatched.at(0);
  };
  Measurement m;
  m.kernel = "a";
  CHECK(why(m) == "");
  m.launch = 1;
  CHECK(why(m) == "f.csv:9: a: the run has no such launch of this kernel");
  m.launch = 0;
  m.block = Dimensions{2, 1, 1};
  CHECK(why(m) == "f.csv:9: a: the run has no such launch of this kernel");
  m.block.reset();
  m.instances = 2;
  CHECK(why(m) == "f.csv:9: a: a mean over 2 launches, and the run has 1");
  m.instances = 0;
  m.kernel = "b\x07";
  CHECK(why(m) == "f.csv:9: b?: the run has no such kernel");
}

TEST_CASE("matching: names made of the same parts are the same in each tool's spelling, and others are not") {
  std::mt19937 random(41);
  struct Type {
    const char *ncu, *nsys;  // "(int)8" and "8"
  };
  const Type arguments[] = {{"float", "float"},           {"(int)8", "8"},
                            {"(bool)1", "true"},          {"(unsigned int)7", "7u"},
                            {"ns::T<int>", "ns::T<int>"}, {"(long)-3", "-3l"}};
  const char* const parameters[] = {"float *", "const float *", "int", "ns::T<int>", "unsigned int"};
  std::vector<std::tuple<std::vector<std::uint64_t>, KernelName, KernelName>> names;
  for (int i = 0; i < 60; ++i) {
    std::vector<std::uint64_t> parts{random() % 3};
    std::string ncu = "void ns" + std::to_string(parts[0]) + "::k<",
                nsys = "ns" + std::to_string(parts[0]) + "::k<";
    for (auto n = 1 + random() % 3; n > 0; --n) {
      parts.push_back(random() % std::size(arguments));
      ncu += std::string(arguments[parts.back()].ncu) + (n > 1 ? ", " : "");
      nsys += std::string(arguments[parts.back()].nsys) + (n > 1 ? ", " : "");
    }
    ncu += ">(";
    nsys += ">";
    const std::uint64_t parameter = random() % std::size(parameters);
    ncu += std::string(parameters[parameter]) + ")";
    names.emplace_back(parts, kernel_name(ncu), kernel_name(nsys));
    CHECK(std::get<1>(names.back()).parameters.front() == '(');
    CHECK(std::get<2>(names.back()).parameters.empty());
  }
  for (const auto& [parts, ncu, nsys] : names)
    for (const auto& [other_parts, other_ncu, other_nsys] : names) {
      REQUIRE(same_function(ncu, other_nsys) == (parts == other_parts));
      REQUIRE(same_function(nsys, other_ncu) == (parts == other_parts));
      REQUIRE(same_function(kernel_name(ncu.plain), other_ncu) == (parts[0] == other_parts[0]));
    }
}

}  // namespace lockstep::correlate
