#include "correlate/measurements.hpp"

#include <catch2/catch.hpp>

#include "correlate/csv.hpp"
#include "correlate/quantity.hpp"
#include "util/error.hpp"

namespace lockstep::correlate {
namespace {

std::string refused_measurements(const std::string& text) {
  try {
    (void)parse_measurements(text, "f.csv");
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("CSV: quotes, separators in them, CR LF, a byte order mark") {
  const auto rows = parse_csv(
      "\xef\xbb\xbf"
      "a,\"b,c\",\"d\"\"e\"\r\n\r\n,\"x\ny\"\n1,2",
      "f");
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].fields == std::vector<std::string>{"a", "b,c", "d\"e"});
  CHECK(rows[1].fields == std::vector<std::string>{"", "x\ny"});
  CHECK(rows[1].line == 3);
  CHECK(rows[2].fields == std::vector<std::string>{"1", "2"});
  CHECK(rows[2].line == 5);
  CHECK_THROWS_WITH(parse_csv("a\n\"b", "f"), "f:2: found a quote that is not closed");
  CHECK_THROWS_WITH(parse_csv("\"a\"b", "f"), Catch::Contains("f:1: found text behind a closing quote"));
}

TEST_CASE("numbers and units of profilers") {
  CHECK(parse_number("1,234,567.5").value() == 1234567.5);
  CHECK(parse_number("12").value() == 12);
  CHECK(parse_number(" 1.5e3 ").value() == 1500);
  CHECK(parse_number("-3").value() == -3);
  for (const char* bad : {"", "1,23", "12,3456", ",1", "1,", "1.2,3", "1,234,5", "n/a", "inf", "nan", "1x"}) {
    CAPTURE(bad);
    CHECK(!parse_number(bad));
  }
  CHECK(unit_factor("us") == 1e3);
  CHECK(unit_factor("usecond") == 1e3);
  CHECK(unit_factor("msecond") == 1e6);
  CHECK(unit_factor("second") == 1e9);
  CHECK(unit_factor("nsecond") == 1);
  CHECK(unit_factor("Kbyte") == 1e3);
  CHECK(unit_factor("Mbyte") == 1e6);
  CHECK(unit_factor("byte") == 1);
  CHECK(unit_factor("%") == 1);
  CHECK(unit_factor("sector") == 1);
  CHECK(unit_factor("Msector") == 1e6);
  CHECK(unit_factor("inst/cycle") == 1);
}

TEST_CASE("ncu --csv, a line a metric") {
  const Measurements all = parse_measurements(
      "==PROF== Connected to process 12 (\"/x\")\n"
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Metric Name\",\"Metric "
      "Unit\",\"Metric Value\"\r\n"
      "\"0\",\"12\",\"void add<float>(float *, int)\",\"(256, 1, 1)\",\"(80, 2, "
      "1)\",\"gpu__time_duration.sum\",\"usecond\",\"1,234.5\"\r\n"
      "\"0\",\"12\",\"void add<float>(float *, int)\",\"(256, 1, 1)\",\"(80, 2, "
      "1)\",\"dram__bytes.sum\",\"Mbyte\",\"2.5\"\r\n"
      "\"0\",\"12\",\"void add<float>(float *, int)\",\"(256, 1, 1)\",\"(80, 2, "
      "1)\",\"sm__strange.sum\",\"\",\"1\"\r\n"
      "\"1\",\"12\",\"void add<float>(float *, int)\",\"(256, 1, 1)\",\"(80, 2, "
      "1)\",\"gpu__time_duration.sum\",\"nsecond\",\"900\"\r\n",
      "f.csv");
  REQUIRE(all.launches.size() == 2);
  CHECK(all.launches[0].kernel == "void add<float>(float *, int)");
  CHECK(all.launches[0].grid == Dimensions{80, 2, 1});
  CHECK(all.launches[0].block == Dimensions{256, 1, 1});
  CHECK(all.launches[0].counters ==
        std::map<std::string, double>{{"dram.bytes", 2.5e6}, {"elapsed_ns", 1234500}});
  CHECK(all.launches[1].counters.at("elapsed_ns") == 900);
  CHECK(all.launches[1].line == 6);
  CHECK(all.unknown == std::vector<std::string>{"sm__strange.sum"});
}

TEST_CASE("ncu --page raw, a column a metric with a row of units") {
  const Measurements all = parse_measurements(
      "\"ID\",\"Kernel Name\",\"Grid Size\",\"Block "
      "Size\",\"gpu__time_duration.sum\",\"smsp__inst_executed.sum\",\"x__y.sum\"\n"
      "\"\",\"\",\"\",\"\",\"us\",\"inst\",\"%\"\n"
      "\"0\",\"add\",\"(1, 1, 1)\",\"(32, 1, 1)\",\"2.5\",\"1,000\",\"3\"\n",
      "f.csv");
  REQUIRE(all.launches.size() == 1);
  CHECK(all.launches[0].counters ==
        std::map<std::string, double>{{"elapsed_ns", 2500}, {"warp_instructions", 1000}});
  CHECK(all.unknown == std::vector<std::string>{"x__y.sum"});
}

TEST_CASE("nsys stats --report cuda_gpu_kern_sum") {
  const Measurements all = parse_measurements(
      "Processing [x.sqlite] with [cuda_gpu_kern_sum.py]...\n\n"
      "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
      "60.0,6000,3,2000.0,2000.0,1900,2100,10.0,\"scale(float *, int)\"\n",
      "f.csv");
  REQUIRE(all.launches.size() == 1);
  CHECK(all.launches[0].instances == 3);
  CHECK(all.launches[0].counters == std::map<std::string, double>{{"elapsed_ns", 2000}});
  CHECK(all.launches[0].line == 4);
}

TEST_CASE("our own CSV, a column a counter or a line a value") {
  const Measurements wide = parse_measurements(
      "program,kernel,launch,grid,block,elapsed_ns,l1.hits\np 1,add,2,4x2x1,\"(64, 1, 1)\",1500,\np "
      "2,add,,,,7,8\n",
      "f.csv");
  REQUIRE(wide.launches.size() == 2);
  CHECK(wide.launches[0].program == "p 1");
  CHECK(wide.launches[0].launch == 2u);
  CHECK(wide.launches[0].grid == Dimensions{4, 2, 1});
  CHECK(wide.launches[0].block == Dimensions{64, 1, 1});
  CHECK(wide.launches[0].counters == std::map<std::string, double>{{"elapsed_ns", 1500}});
  CHECK(!wide.launches[1].launch);
  const Measurements lines = parse_measurements(
      "kernel,counter,value,unit\nadd,elapsed_ns,1.5,us\nadd,l1.hits,3,\nadd,elapsed_ns,2,us\n", "f.csv");
  REQUIRE(lines.launches.size() == 2);
  CHECK(lines.launches[0].counters == std::map<std::string, double>{{"elapsed_ns", 1500}, {"l1.hits", 3}});
  CHECK(lines.launches[1].counters == std::map<std::string, double>{{"elapsed_ns", 2000}});
}

TEST_CASE("mistakes below what a profiler prints before its table are named by the line of the file") {
  const std::string before = "==PROF== Connected to \"p\n==PROF== Disconnected\n";
  CHECK_THROWS_WITH(parse_measurements(before + "kernel,cycles\nk,\"1\n", "f"),
                    "f:4: found a quote that is not closed");
  CHECK_THROWS_WITH(parse_measurements(before + "kernel,cycles\nk,1\nk,\"1\"2\n", "f"),
                    "f:5: found text behind a closing quote, expected a comma or the line's end");
  CHECK_THROWS_WITH(parse_measurements(before + "kernel,cycles\nk,one\n", "f"),
                    "f:4: cycles: found 'one', expected a number");
  CHECK(parse_measurements(before + "kernel,cycles\nk,1\n", "f").launches.at(0).line == 4);
}

TEST_CASE("mistakes in measurements are named by line") {
  using Catch::Contains;
  CHECK_THAT(refused_measurements("a,b\n1,2\n"), Contains("f.csv: found no header of measurements"));
  CHECK_THAT(refused_measurements(""), Contains("found no header"));
  CHECK_THAT(refused_measurements("kernel,cycles\n"), Contains("f.csv:1: found a header and no measurement"));
  CHECK_THAT(refused_measurements("kernel,cycles\nadd,x\n"),
             Contains("f.csv:2: cycles: found 'x', expected a number"));
  CHECK_THAT(refused_measurements("kernel,cycles\n,1\n"), Contains("f.csv:2: found no kernel's name"));
  CHECK_THAT(refused_measurements("kernel,grid,cycles\nadd,wide,1\n"),
             Contains("f.csv:2: grid: found 'wide'"));
  CHECK_THAT(refused_measurements("kernel,launch,cycles\nadd,-1,1\n"), Contains("launch: found '-1'"));
  CHECK(refused_measurements("\nkernel,cycles\nadd,1\nadd,1,234\n") ==
        "f.csv:4: found 3 fields, expected 2 as in line 2");
  CHECK(refused_measurements("kernel,cycles\nadd\n") == "f.csv:2: found 1 fields, expected 2 as in line 1");
  CHECK(refused_measurements("kernel,counter,value\nadd,cycles,1,us\n") ==
        "f.csv:2: found 4 fields, expected 3 as in line 1");
  CHECK(refused_measurements("kernel,cycles,cycles\nadd,1,2\n") == "f.csv:1: found two columns 'cycles'");
  CHECK(refused_measurements("kernel,cycles\nadd,-1\n") ==
        "f.csv:2: cycles: found '-1', expected a number of 0 or more");
  CHECK(refused_measurements("kernel,counter,value\nadd,cycles,-1\n") ==
        "f.csv:2: value: found '-1', expected a number of 0 or more");
  CHECK(refused_measurements("kernel,cycles,,\nadd,0,,\n") == "accepted");  // as spreadsheets write it
  CHECK_THAT(refused_measurements("Time (%),Instances,Avg (ns),Name\n1,0,5,k\n"),
             Contains("Instances: found 0"));
}

}  // namespace lockstep::correlate
