// The same random measurements in every form that profilers and people write: each reader gives what was
// measured.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "correlate/measurements.hpp"
#include "correlate/metrics.hpp"
#include "correlate/quantity.hpp"
#include "tests/random.hpp"
#include "util/error.hpp"

namespace lockstep::correlate {
namespace {

using test::Random32;

/// A launch as it was measured.
struct MeasuredLaunch {
  std::string kernel;
  Dimensions grid, block;
  std::uint64_t ns = 0, bytes = 0, instructions = 0;
};

std::vector<MeasuredLaunch> measured_launches(Random32& random) {
  const char* const kKernels[] = {"add", "void scale<float, (int)8>(float *, int)", "ns::\"quoted\"(int)",
                                  "a,b"};
  std::vector<MeasuredLaunch> launches(1 + random() % 6);
  for (MeasuredLaunch& l : launches) {
    l.kernel = kKernels[random() % std::size(kKernels)];
    for (Dimensions* d : {&l.grid, &l.block})
      for (std::uint64_t& n : *d) n = 1 + random() % 100;
    l.ns = 1 + random() % 50'000'000;
    l.bytes = random() % 4'000'000'000;
    l.instructions = random();
  }
  return launches;
}

std::string quoted_field(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out + "\"";
}

std::string with_commas(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string size_text(const Dimensions& d) { return fmt::format("({}, {}, {})", d[0], d[1], d[2]); }

/// `nanoseconds` in a unit chosen at random, exactly, with the name of the unit.
std::pair<std::string, std::string> in_some_unit(std::uint64_t nanoseconds, Random32& random) {
  switch (random() % 3) {
    case 0:
      return {with_commas(nanoseconds), random() % 2 == 0 ? "nsecond" : "ns"};
    case 1:
      return {fmt::format("{}.{:03}", with_commas(nanoseconds / 1000), nanoseconds % 1000),
              random() % 2 == 0 ? "usecond" : "us"};
    default:
      return {fmt::format("{}.{:06}", nanoseconds / 1'000'000, nanoseconds % 1'000'000), "ms"};
  }
}

std::string ncu_lines(const std::vector<MeasuredLaunch>& launches, Random32& random) {
  std::string text = "==PROF== Connected to process 7 (\"/a \"b\")\n==PROF== Disconnected\n";
  text +=
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Metric Name\",\"Metric "
      "Unit\",\"Metric Value\"\n";
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const MeasuredLaunch& l = launches[i];
    const auto line = [&](const std::string& metric, const std::string& unit, const std::string& value) {
      text += fmt::format("\"{}\",\"7\",{},\"{}\",\"{}\",\"{}\",\"{}\",\"{}\"\r\n", i, quoted_field(l.kernel),
                          size_text(l.block), size_text(l.grid), metric, unit, value);
    };
    const auto [time, unit] = in_some_unit(l.ns, random);
    line("gpu__time_duration.sum", unit, time);
    line("", "", "");  // a rule of the details page
    line("dram__bytes.sum", "byte", with_commas(l.bytes));
    line("smsp__inst_executed.sum", "inst", with_commas(l.instructions));
    line("sm__of_no_counterpart.sum", "", "n/a");
  }
  return text;
}

std::string ncu_columns(const std::vector<MeasuredLaunch>& launches) {
  std::string text =
      "\"ID\",\"Kernel Name\",\"Grid Size\",\"Block Size\",\"dram__bytes.sum\",\"sm__of_no_counterpart.sum\","
      "\"gpu__time_duration.sum\",\"smsp__inst_executed.sum\"\n\"\",\"\",\"\",\"\",\"Kbyte\",\"%\","
      "\"usecond\",\"inst\"\n";
  for (const MeasuredLaunch& l : launches)
    text += fmt::format("\"0\",{},\"{}\",\"{}\",\"{}.{:03}\",\"\",\"{}.{:03}\",\"{}\"\n",
                        quoted_field(l.kernel), size_text(l.grid), size_text(l.block), l.bytes / 1000,
                        l.bytes % 1000, l.ns / 1000, l.ns % 1000, l.instructions);
  return text;
}

std::string own_columns(const std::vector<MeasuredLaunch>& launches) {
  std::string text = "kernel,grid,block,elapsed_ns,dram.bytes,warp_instructions\r\n";
  for (const MeasuredLaunch& l : launches)
    text += fmt::format("{},{}x{}x{},\"{}\",{},{},{}\r\n", quoted_field(l.kernel), l.grid[0], l.grid[1],
                        l.grid[2], size_text(l.block), l.ns, l.bytes, l.instructions);
  return text;
}

std::string own_lines(const std::vector<MeasuredLaunch>& launches, Random32& random) {
  std::string text = "kernel,grid,block,counter,value,unit\n";
  for (const MeasuredLaunch& l : launches) {
    const std::string place =
        fmt::format("{},\"{}\",\"{}\"", quoted_field(l.kernel), size_text(l.grid), size_text(l.block));
    const auto [time, unit] = in_some_unit(l.ns, random);
    text += fmt::format("{0},elapsed_ns,\"{1}\",{2}\n{0},dram.bytes,{3},byte\n{0},warp_instructions,{4},\n",
                        place, time, unit, l.bytes, l.instructions);
  }
  return text;
}

void require_measured(const std::string& text, const std::vector<MeasuredLaunch>& launches) {
  INFO(text);
  const Measurements all = parse_measurements(text, "f.csv");
  REQUIRE(all.launches.size() == launches.size());
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Measurement& m = all.launches[i];
    CHECK(m.kernel == launches[i].kernel);
    CHECK((m.grid == launches[i].grid && m.block == launches[i].block));
    REQUIRE(m.counters.size() == 3);
    CHECK(m.counters.at("elapsed_ns") == Approx(static_cast<double>(launches[i].ns)));
    CHECK(m.counters.at("dram.bytes") == Approx(static_cast<double>(launches[i].bytes)));
    CHECK(m.counters.at("warp_instructions") == static_cast<double>(launches[i].instructions));
    CHECK(m.instances == 0);
  }
}

}  // namespace

TEST_CASE("forms: random launches are the same from each of the tools' tables") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Random32 random(seed);
    const auto launches = measured_launches(random);
    const std::string lines = ncu_lines(launches, random), columns = ncu_columns(launches);
    require_measured(lines, launches);
    require_measured(columns, launches);
    require_measured(own_columns(launches), launches);
    require_measured(own_lines(launches, random), launches);
    for (const std::string& text : {lines, columns})
      CHECK(parse_measurements(text, "f").unknown == std::vector<std::string>{"sm__of_no_counterpart.sum"});
  }
}

TEST_CASE("forms: Nsight Systems' means are kept with the number of their launches") {
  Random32 random(1);
  std::string text =
      "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n";
  std::vector<std::pair<std::uint64_t, double>> rows;
  for (int i = 0; i < 40; ++i) {
    rows.emplace_back(1 + random() % 1000, random() % 100'000 / 10.0);
    text += fmt::format("1.0,5,{},{:.1f},1,1,1,0.0,\"k{}(int, float)\"\n", rows.back().first,
                        rows.back().second, i);
  }
  const Measurements all = parse_measurements(text, "f.csv");
  REQUIRE(all.launches.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(all.launches[i].instances == rows[i].first);
    CHECK(all.launches[i].counters.at("elapsed_ns") == Approx(rows[i].second));
    CHECK(all.launches[i].line == i + 2);
  }
}

TEST_CASE("forms: a number that its unit takes beyond all doubles is refused as one that is none") {
  const auto error = [](const std::string& text) {
    try {
      (void)parse_measurements(text, "f.csv");
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  CHECK(error("kernel,counter,value,unit\nadd,elapsed_ns,1e308,ns\n") == "accepted");
  CHECK(error("kernel,counter,value,unit\nadd,elapsed_ns,1,ns\nadd,elapsed_ns,1e308,s\n") ==
        "f.csv:3: value: found '1e308' in 's', expected a number below 1.8e308 in base units");
  CHECK(error("ID,Kernel Name,Metric Name,Metric Unit,Metric Value\n0,k,Duration,second,1e300\n") ==
        "f.csv:2: Metric Value: found '1e300' in 'second', expected a number below 1.8e308 in base units");
  CHECK(error("ID,Kernel Name,dram__bytes.sum\n,,Gbyte\n0,k,1e300\n") ==
        "f.csv:3: dram__bytes.sum: found '1e300' in 'Gbyte', expected a number below 1.8e308 in base units");
}

TEST_CASE("forms: every metric of a profiler has one counterpart, and nothing else has one") {
  for (const Metric& metric : metrics()) {
    CHECK(counter_of(metric.profiler) == metric.counter);
    CHECK_FALSE(counter_of(std::string(metric.profiler) + " ").has_value());
  }
  for (const char* other : {"", "duration", "elapsed_ns", "l1tex__t_sectors", "dram__bytes.sum.per_second"})
    CHECK_FALSE(counter_of(other).has_value());
}

}  // namespace lockstep::correlate
