#include "accelsim/table.hpp"

#include <map>

namespace lockstep::accelsim {
namespace {

std::vector<Rule> all_rules() {
  std::vector<Rule> all;
  for (std::vector<Rule>& part : std::vector<std::vector<Rule>>{machine_rules(), memory_rules(), pipe_rules(),
                                                                dram_rules(), launch_rules()}) {
    for (Rule& rule : part) all.push_back(std::move(rule));
  }
  return all;
}

std::map<std::string_view, std::string_view> all_defaults() {
  std::map<std::string_view, std::string_view> defaults;
  for (const Rule& rule : rules()) {
    for (const Input& input : rule.inputs) defaults.emplace(input.option, input.fallback);
  }
  return defaults;
}

}  // namespace

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = all_rules();
  return all;
}

std::string_view default_of(std::string_view option) {
  static const std::map<std::string_view, std::string_view> defaults = all_defaults();
  const auto at = defaults.find(option);
  return at == defaults.end() ? std::string_view{} : at->second;
}

}  // namespace lockstep::accelsim
