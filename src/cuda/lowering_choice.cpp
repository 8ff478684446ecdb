#include "cuda/lowering_choice.hpp"

#include <cstdlib>
#include <sstream>

namespace lockstep::cuda {

std::string to_text(const std::vector<std::string>& without) {
  std::string text;
  for (const std::string& name : without) text += (text.empty() ? "" : ",") + name;
  return text;
}

lower::Passes read_passes() {
  std::vector<std::string> names;
  if (const char* text = std::getenv(kWithoutVariable)) {
    std::istringstream list(text);
    for (std::string name; std::getline(list, name, ',');) names.push_back(name);
  }
  return lower::all_but(names);
}

}  // namespace lockstep::cuda
