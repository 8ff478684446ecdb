#include "stats/label_cut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <set>
#include <string_view>

namespace lockstep::stats {
namespace {

using Positions = std::set<std::size_t>;  // in a text: where it begins to differ from another

/// A part of a text that is shown.
struct Part {
  std::size_t begin, end;
};

std::string cut_middle(std::string_view text, std::size_t width) {
  if (text.size() <= width) return std::string(text);
  if (text.front() == '~') return fmt::format("{}~", text.substr(0, width - 1));  // its beginning is gone
  const std::size_t head = width / 2, tail = width - 1 - head;
  return fmt::format("{}~{}", text.substr(0, head), text.substr(text.size() - tail));
}

/// For each of `texts`: where it begins to differ from another of `which`. Sorted, neighbours have the
/// longest beginnings in common: so these are all such positions.
std::vector<Positions> differences(const std::vector<std::string>& texts, std::vector<std::size_t> which) {
  std::vector<Positions> found(texts.size());
  std::ranges::sort(which, {}, [&](std::size_t i) -> const std::string& { return texts[i]; });
  for (std::size_t n = 1; n < which.size(); ++n) {
    const std::string &a = texts[which[n - 1]], &b = texts[which[n]];
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
    for (std::size_t i = n; i-- > 0 && texts[which[i]].compare(0, at, b, 0, at) == 0;)
      found[which[i]].insert(at);
    for (std::size_t i = n; i < which.size() && texts[which[i]].compare(0, at, a, 0, at) == 0; ++i)
      found[which[i]].insert(at);
  }
  return found;
}

bool of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The parts that hold `positions`, with up to `context` characters of the word before each.
std::vector<Part> parts_at(std::string_view text, const Positions& positions, std::size_t context) {
  std::vector<Part> parts;
  for (const std::size_t position : positions) {
    const std::size_t at = std::min(position, text.size() - 1);
    std::size_t begin = at;
    while (begin > 0 && at - begin < context && of_word(text[begin - 1])) --begin;
    if (!parts.empty() && begin <= parts.back().end + 1) {
      parts.back().end = std::max(parts.back().end, at + 1);
    } else {
      parts.push_back({begin, at + 1});
    }
  }
  return parts;
}

std::size_t length_of(const std::vector<Part>& parts, std::size_t text) {
  std::size_t length = parts.front().begin > 0 ? 1 : 0;
  for (const Part& part : parts) length += part.end - part.begin + 1;
  return length - (parts.back().end == text ? 1 : 0);
}

/// Lets the parts grow in turn, backwards from the last, which says the most, as long as they fit.
void grow(std::vector<Part>& parts, std::size_t text, std::size_t width) {
  for (bool grown = true; grown;) {
    grown = false;
    for (std::size_t n = parts.size(); n-- > 0;) {
      const std::size_t most = n + 1 < parts.size() ? parts[n + 1].begin : text;
      if (parts[n].end >= most || length_of(parts, text) >= width) continue;
      ++parts[n].end;
      grown = true;
    }
  }
}

/// The beginning and the parts of `text` at `positions`, as far as there is room.
std::string cut_around(std::string_view text, const Positions& positions, std::size_t width) {
  if (text.size() <= width || positions.empty()) return cut_middle(text, width);
  std::vector<Part> parts;
  for (const std::size_t context : {12u, 4u, 2u, 0u}) {
    parts = parts_at(text, positions, context);
    if (parts.front().begin > 1 && length_of(parts, text.size()) + 4 <= width)
      parts.insert(parts.begin(), {0, 1});
    if (length_of(parts, text.size()) <= width) break;
  }
  while (parts.size() > 1 && length_of(parts, text.size()) > width) parts.erase(parts.begin());
  grow(parts, text.size(), width);
  std::string label = parts.front().begin > 0 ? "~" : "";
  for (std::size_t n = 0; n < parts.size(); ++n) {
    label += text.substr(parts[n].begin, parts[n].end - parts[n].begin);
    const std::size_t next = n + 1 < parts.size() ? parts[n + 1].begin : text.size();
    if (parts[n].end < next) label += '~';
  }
  return label;
}

/// Cuts those again whose labels are the same, around the place where they differ.
void tell_apart(const std::vector<std::string>& texts, std::vector<std::string>& labels, std::size_t width,
                bool from_all) {
  std::vector<std::size_t> all(texts.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto of_all = from_all ? differences(texts, all) : std::vector<Positions>();
  for (const auto& [label, which] : positions_by_text(labels)) {
    if (which.size() < 2) continue;
    const auto positions = from_all ? of_all : differences(texts, which);
    for (const std::size_t i : which) labels[i] = cut_around(texts[i], positions[i], width);
  }
}

void number_equals(std::vector<std::string>& labels, std::size_t width) {
  std::set<std::string> taken(labels.begin(), labels.end());
  for (const auto& [label, which] : positions_by_text(labels)) {
    unsigned number = 1;
    for (std::size_t n = 1; n < which.size(); ++n) {
      std::string numbered;
      do {
        const std::string end = fmt::format("#{}", ++number);
        numbered = label.substr(0, width - std::min(width, end.size())) + end;
      } while (!taken.insert(numbered).second);
      labels[which[n]] = numbered;
    }
  }
}

}  // namespace

std::map<std::string, std::vector<std::size_t>> positions_by_text(const std::vector<std::string>& texts) {
  std::map<std::string, std::vector<std::size_t>> positions;
  for (std::size_t i = 0; i < texts.size(); ++i) positions[texts[i]].push_back(i);
  return positions;
}

std::vector<std::string> cut(const std::vector<std::string>& texts, std::size_t width) {
  std::vector<std::string> labels;
  for (const std::string& text : texts) labels.push_back(cut_middle(text, width));
  for (const bool from_all : {false, true}) tell_apart(texts, labels, width, from_all);
  number_equals(labels, width);
  return labels;
}

}  // namespace lockstep::stats
