// Readable lists.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep::study {

[[nodiscard]] inline std::string joined(const std::vector<std::string>& texts, std::string_view separator) {
  std::string all;
  for (const std::string& text : texts) all.append(&text == &texts.front() ? "" : separator).append(text);
  return all;
}

}  // namespace lockstep::study
