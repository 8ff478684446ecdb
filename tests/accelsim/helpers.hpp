#pragma once

#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "accelsim/option.hpp"
#include "accelsim/translate.hpp"
#include "config/schema.hpp"
#include "config/value.hpp"
#include "paths.hpp"
#include "util/error.hpp"

namespace lockstep::accelsim::test {

inline std::string slurp(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  REQUIRE(in);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Columns of shipped_options.tsv.
enum Column : std::size_t { kDefault = 1, kQv100 = 2, kRtx3070 = 3 };

/// A column as the text of an option file, quoted where it must be.
inline std::string shipped(Column column) {
  std::istringstream in(slurp(std::string(LOCKSTEP_SOURCE_DIR) + "/tests/accelsim/shipped_options.tsv"));
  std::string out, line;
  for (std::size_t number = 0; std::getline(in, line); ++number) {
    if (number < 2) continue;  // source, header
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '\t');) cells.push_back(cell);
    cells.resize(4);
    const std::string& value = cells[column];
    const bool quote = value.empty() || value.find(' ') != std::string::npos;
    out += cells[0] + " " + (quote ? "\"" + value + "\"" : value) + "\n";
  }
  return out;
}

inline Translation translated(const std::string& text, const std::string& base = "v100") {
  return translate(parse_options(text, "gpgpusim.config"), base);
}

/// The value of a key as the schema writes it.
inline std::string value_of(const config::GpuConfig& config, const std::string& key) {
  const config::Match match = config::find(key);
  INFO("key " << key);
  REQUIRE(match.parameter);
  return config::value_text(*match.parameter, config);
}

inline std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const UserError& e) {
    return e.what();
  }
  return "(no error)";
}

/// The error of reading and resolving `text`.
inline std::string error_of(const std::string& text) {
  return error_of([&] { (void)resolve(translated(text)); });
}

}  // namespace lockstep::accelsim::test
