#include "correlate/correlation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "plot/chart.hpp"
#include "stats/text.hpp"
#include "util/csv.hpp"

namespace lockstep::correlate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShown = 10;  // unmatched measurements and unknown metrics in text; --json has all

std::vector<std::string> programs_of(const std::vector<Pair>& pairs) {
  std::vector<std::string> programs;
  for (const Pair& pair : pairs)
    if (std::ranges::find(programs, pair.program) == programs.end()) programs.push_back(pair.program);
  return programs;
}

std::string percent(double error) { return fmt::format("{:+.1f} %", 100 * error); }

std::string optional_text(const std::optional<double>& value) {
  return value ? fmt::format("{:.3f}", *value) : "-";
}

std::string table_text(const std::vector<Group>& groups, bool programs) {
  std::vector<std::vector<std::string>> lines{{"counter", "program", "values", "mean", "median", "mean |e|",
                                               "median |e|", "p90 |e|", "maximum", "geo. mean", "r",
                                               "r (log)"}};
  for (const Group& g : groups) {
    const Errors& e = g.errors;
    const bool any = e.count > e.zeros;
    const auto shown = [&](double value) { return any ? percent(value) : std::string("-"); };
    const auto absolute = [&](double value) {
      return any ? fmt::format("{:.1f} %", 100 * value) : std::string("-");
    };
    lines.push_back({stats::printable(g.counter), stats::printable(g.program), std::to_string(e.count),
                     shown(e.mean), shown(e.median), absolute(e.mean_absolute), absolute(e.median_absolute),
                     absolute(e.p90_absolute), shown(e.maximum), optional_text(e.geometric_mean),
                     optional_text(e.correlation), optional_text(e.log_correlation)});
  }
  if (!programs)
    for (auto& line : lines) line.erase(line.begin() + 1);
  const std::size_t left = programs ? 2 : 1;
  std::vector<std::size_t> widths(lines.front().size());
  for (const auto& line : lines)
    for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size());
  std::string text;
  for (const auto& line : lines) {
    for (std::size_t c = 0; c < line.size(); ++c)
      text += c < left ? fmt::format("{:<{}}  ", line[c], widths[c])
                       : fmt::format("{:>{}}{}", line[c], widths[c], c + 1 < line.size() ? "  " : "\n");
  }
  return text;
}

std::string list_text(const std::vector<std::string>& list, std::string_view title) {
  if (list.empty()) return "";
  std::string text = fmt::format("\n{}: {}\n", title, list.size());
  for (std::size_t i = 0; i < std::min(kShown, list.size()); ++i)
    text += fmt::format("  {}\n", stats::printable(list[i]));
  if (list.size() > kShown)
    text += fmt::format("  ... and {} more; --json lists all\n", list.size() - kShown);
  return text;
}

std::string error_text(const Values& v) {
  return v.hardware == 0 ? "-" : percent((v.simulated - v.hardware) / v.hardware);
}

std::string pairs_text(const std::vector<Pair>& pairs) {
  std::string text = "\n";
  for (const Pair& p : pairs)
    fmt::format_to(std::back_inserter(text), "{:<16} {:<40} {:>5} {:<20} {:>14.6g} {:>14.6g} {:>10}\n",
                   stats::printable(p.program), stats::printable(p.kernel),
                   p.instances > 1 ? fmt::format("x{}", p.instances) : std::to_string(p.launch),
                   stats::printable(p.counter), p.values.hardware, p.values.simulated, error_text(p.values));
  return text;
}

Json optional_json(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json group_json(const Group& g) {
  const Errors& e = g.errors;
  Json object = {{"counter", g.counter}};
  if (!g.program.empty()) object["program"] = g.program;
  object.update({{"values", e.count}, {"hardware_zeros", e.zeros}});
  if (e.count > e.zeros)
    object.update({{"mean", e.mean},
                   {"median", e.median},
                   {"mean_absolute", e.mean_absolute},
                   {"median_absolute", e.median_absolute},
                   {"p90_absolute", e.p90_absolute},
                   {"maximum", e.maximum},
                   {"geometric_mean", optional_json(e.geometric_mean)},
                   {"correlation", optional_json(e.correlation)},
                   {"log_correlation", optional_json(e.log_correlation)}});
  return object;
}

Json pair_json(const Pair& p) {
  Json object = {{"program", p.program},           {"kernel", p.kernel},   {"launch", p.launch},
                 {"instances", p.instances},       {"counter", p.counter}, {"hardware", p.values.hardware},
                 {"simulated", p.values.simulated}};
  if (p.values.hardware != 0) object["error"] = (p.values.simulated - p.values.hardware) / p.values.hardware;
  return object;
}

}  // namespace

Correlation correlate(Matched matched, std::vector<std::string> unknown) {
  Correlation result;
  const auto programs = programs_of(matched.pairs);
  std::map<std::string, std::vector<Values>> all;
  std::map<std::pair<std::string, std::size_t>, std::vector<Values>> own;
  for (const Pair& pair : matched.pairs) {
    const auto p = static_cast<std::size_t>(std::ranges::find(programs, pair.program) - programs.begin());
    all[pair.counter].push_back(pair.values);
    own[{pair.counter, p}].push_back(pair.values);
  }
  for (const auto& [counter, values] : all) result.by_counter.push_back({counter, "", errors_of(values)});
  if (programs.size() > 1)
    for (const auto& [key, values] : own)
      result.by_program.push_back({key.first, programs[key.second], errors_of(values)});
  result.matched = std::move(matched);
  result.unknown = std::move(unknown);
  return result;
}

std::string to_text(const Correlation& correlation, bool all_pairs) {
  std::string text = table_text(correlation.by_counter, false);
  if (!correlation.by_program.empty()) text += "\n" + table_text(correlation.by_program, true);
  if (all_pairs) text += pairs_text(correlation.matched.pairs);
  text += list_text(correlation.matched.unmatched, "measurements without a simulated launch");
  if (correlation.matched.unmeasured > 0)
    text += fmt::format("\nsimulated launches without a measurement: {}\n", correlation.matched.unmeasured);
  text += list_text(correlation.unknown, "metrics without a counterpart");
  return text +
         "\nerror e = (simulated - hardware) / hardware; geo. mean: of simulated / hardware; r: Pearson's\n";
}

std::string to_json(const Correlation& correlation) {
  Json root = {{"schema", 1}};
  for (const auto& [key, groups] :
       {std::pair("by_counter", &correlation.by_counter), std::pair("by_program", &correlation.by_program)}) {
    root[key] = Json::array();
    for (const Group& group : *groups) root[key].push_back(group_json(group));
  }
  root["pairs"] = Json::array();
  for (const Pair& pair : correlation.matched.pairs) root["pairs"].push_back(pair_json(pair));
  root["unmatched"] = correlation.matched.unmatched;
  root["unmeasured_launches"] = correlation.matched.unmeasured;
  root["unknown_metrics"] = correlation.unknown;
  return root.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_csv(const Correlation& correlation) {
  std::string text = "program,kernel,launch,instances,counter,hardware,simulated,error\n";
  for (const Pair& p : correlation.matched.pairs)
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{}\n", csv_field(p.program),
                   csv_field(p.kernel), p.launch, p.instances, csv_field(p.counter), p.values.hardware,
                   p.values.simulated,
                   p.values.hardware == 0
                       ? ""
                       : fmt::format("{:.6f}", (p.values.simulated - p.values.hardware) / p.values.hardware));
  return text;
}

std::string scatter_plot(const Correlation& correlation, const std::string& counter) {
  plot::Chart chart;
  chart.title = counter + ": simulated against hardware";
  chart.x = {"hardware", counter, plot::Scale::kLogarithmic, {}, {}, false};
  chart.y = {"simulated", counter, plot::Scale::kLogarithmic, {}, {}, false};
  chart.diagonal = true;
  for (const std::string& program : programs_of(correlation.matched.pairs)) {
    plot::Series series{program, {}, plot::Mark::kPoints, {}};
    for (const Pair& p : correlation.matched.pairs)
      if (p.program == program && p.counter == counter)
        series.points.push_back({p.values.hardware, p.values.simulated, p.kernel});
    chart.series.push_back(std::move(series));
  }
  return plot::svg(chart);
}

}  // namespace lockstep::correlate
