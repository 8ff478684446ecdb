// Every pipe of every GPU: a chain of dependent instructions takes the published latency, independent
// ones the published rate.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <sstream>

#include "micro.hpp"
#include "paths.hpp"

namespace lockstep::test {
namespace {

/// A line of published.tsv; see its head.
struct Published {
  std::string where, op, value;
  double mhz = 0, operations = 0;
  [[nodiscard]] double number() const { return std::stod(value); }
};

std::vector<Published> published(const std::string& measure) {
  std::ifstream file(std::string(LOCKSTEP_SOURCE_DIR) + "/tests/micro/published.tsv");
  REQUIRE(file);
  std::vector<Published> found;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string kind, mhz, operations;
    Published p;
    words >> kind >> p.where >> p.op >> p.value >> mhz >> operations;
    REQUIRE(words);
    if (kind != measure) continue;
    if (mhz != "-") p.mhz = std::stod(mhz);
    if (operations != "-") p.operations = std::stod(operations);
    found.push_back(p);
  }
  return found;
}

/// Cycles from an instruction to the one that needs its result.
double latency(const Micro& micro, const std::string& op) {
  return micro.each("pipe", "instructions", 48, 96, {{"op", op}});
}

/// Enough chains for any latency, or what the registers hold: a warpgroup's results are wide.
std::string chains_for(const std::string& op) {
  return op.starts_with("HGMMA.64x128") ? "2" : op.find("GMMA") == 1 ? "3" : "8";
}

/// Warp instructions a cycle of one SM: a warp in each sub-core, with enough independent chains.
double rate(const Micro& micro, const std::string& op) {
  const std::uint64_t warps = micro.config().sm.subcores;
  const double each =
      micro.each("pipe", "instructions", 48, 96,
                 {{"op", op}, {"chains", chains_for(op)}, {"threads", std::to_string(warps * kWarpSize)}});
  return static_cast<double>(warps) / each;
}

TEST_CASE("a chain of dependent instructions takes the published latency") {
  const auto rows = published("latency");
  REQUIRE(rows.size() > 20);
  for (const Published& row : rows) {
    INFO(row.where << " " << row.op);
    CHECK(latency(Micro(row.where), row.op) == row.number());
  }
}

TEST_CASE("independent instructions issue at the published rate") {
  const auto rows = published("rate");
  REQUIRE(rows.size() > 50);
  for (const std::string& model : config::gpu_model_names()) {
    const Micro micro(model);
    for (const Published& row : rows) {
      if (row.where != std::to_string(micro.config().gpu.arch)) continue;
      INFO(model << " " << row.op);
      CHECK(rate(micro, row.op) * row.operations == Approx(row.number()).epsilon(1e-9));
    }
  }
}

/// Half a unit of the last digit.
double rounding(const std::string& figure) {
  const std::size_t point = figure.find('.');
  const auto decimals = point == std::string::npos ? 0.0 : static_cast<double>(figure.size() - point - 1);
  return 0.5 * std::pow(10, -decimals);
}

TEST_CASE("peak FP32, FP64 and tensor rates are the published ones to their last digit") {
  const auto rows = published("peak");
  REQUIRE(rows.size() > 40);
  for (const Published& row : rows) {
    INFO(row.where << " " << row.op);
    const double sms = config::resolve(row.where).gpu.sms;
    const double tera = sms * rate(Micro(row.where), row.op) * row.operations * row.mhz / 1e6;
    // NVIDIA rounds twice: 1248 is twice 624, which is 623.8.
    CHECK(std::abs(tera - row.number()) <= std::max(rounding(row.value), 0.0005 * tera));
  }
}

TEST_CASE("sixteen warps a sub-core reach the rate of one with independent chains") {
  for (const char* model : {"v100", "a100"}) {
    const Micro micro(model);
    for (const char* op : {"FFMA", "DFMA", "MUFU.EX2"}) {
      INFO(model << " " << op);
      const double warps = 64;
      const double pass =
          micro.pass("pipe", {{"op", op}, {"threads", "1024"}, {"ctas", "2"}, {"instructions", "256"}});
      // Two CTAs on two SMs: 32 warps each. The branch of a warp hides behind the other warps; turns at the
      // SM's branch unit set the warps apart, so that a pass may end some cycles earlier or later than
      // another.
      CHECK(warps / 2 * 256 / pass == Approx(rate(micro, op)).epsilon(0.015));
    }
  }
}

TEST_CASE("the rate of more chains is that of the latency until the pipe is full") {
  // n chains of latency L in one warp: n results every L cycles, at most one an interval.
  const Micro micro("v100");
  const auto each = [&](unsigned chains, const char* op) {
    return micro.each("pipe", "instructions", 120, 240, {{"op", op}, {"chains", std::to_string(chains)}});
  };
  for (unsigned chains = 1; chains <= 6; ++chains) {
    INFO(chains << " chains");
    CHECK(each(chains, "FFMA") == Approx(std::max(4.0 / chains, 2.0)).margin(0.05));
    CHECK(each(chains, "DFMA") == Approx(std::max(8.0 / chains, 4.0)).margin(0.05));
    CHECK(each(chains, "MUFU.RCP") == Approx(std::max(16.0 / chains, 8.0)).margin(0.1));
  }
}

}  // namespace
}  // namespace lockstep::test
