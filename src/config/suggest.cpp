#include "config/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <vector>

#include "config/value.hpp"
#include "util/edit_distance.hpp"
#include "util/error.hpp"

namespace lockstep::config {
namespace {

constexpr std::size_t kLongestName = 64;  // a longer text is not a misspelt name

std::string question(std::string_view nearest) {
  return nearest.empty() ? "" : "; did you mean '" + std::string(nearest) + "'?";
}

/// A candidate that begins with the text is the closest: only its rest is missing.
std::string_view nearest_spelling(std::string_view text, std::span<const std::string_view> candidates) {
  constexpr std::size_t kShortest = 3;
  std::size_t best = std::max<std::size_t>(2, text.size() / 3) + 1;
  std::string_view nearest;
  for (const std::string_view candidate : candidates) {
    const bool begins = text.size() >= kShortest && candidate.starts_with(text);
    const std::size_t distance = begins ? 0 : edit_distance(text, candidate);
    const bool share_letters = distance < candidate.size();
    if (distance < best && share_letters) best = distance, nearest = candidate;
  }
  return nearest;
}

/// Words that people use for the same thing; the first is the schema's.
constexpr std::string_view kSynonyms[][8] = {
    {"bytes", "size", "capacity", "kb", "kib", "mb", "mib", "gb"},
    {"ways", "associativity", "assoc"},
    {"latency", "lat", "delay", "cycles"},
    {"mshrs", "mshr"},
    {"khz", "mhz", "ghz", "hz", "frequency", "freq", "clock", "speed"},
    {"icnt", "noc", "xbar", "crossbar", "network", "interconnect"},
    {"dram", "mem", "memory", "hbm", "gddr"},
    {"sms", "sm", "cores"},
    {"subcores", "schedulers", "smsps"},
    {"fp32", "float", "sp"},
    {"fp64", "double", "dp"},
    {"second", "bandwidth", "bw"},
    {"carveouts", "carveout", "smem"},
    {"registers", "regs", "register"},
    {"entries", "depth", "length"},
};
/// Words that do not help to identify a key.
constexpr std::string_view kFillers[] = {"num", "number", "n", "max", "of", "count", "per", "total"};

bool is_filler(std::string_view word) {
  return std::find(std::begin(kFillers), std::end(kFillers), word) != std::end(kFillers);
}

bool same_but_for_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

bool synonyms(std::string_view a, std::string_view b) {
  const auto holds = [](const auto& row, std::string_view word) {
    return std::find(std::begin(row), std::end(row), word) != std::end(row);
  };
  return std::any_of(std::begin(kSynonyms), std::end(kSynonyms),
                     [&](const auto& row) { return holds(row, a) && holds(row, b); });
}

using Words = std::vector<std::string_view>;

Words words_of(std::string_view key) {
  Words words;
  while (!key.empty()) {
    const std::size_t end = std::min(key.find_first_of("._"), key.size());
    if (end > 0) words.push_back(key.substr(0, end));
    key.remove_prefix(std::min(end + 1, key.size()));
  }
  return words;
}

/// The distance of a word from one of a key's words; empty: it is a different word. `known`: it is a word of
/// the schema, not a misspelling.
std::optional<std::size_t> word_distance(std::string_view text, std::string_view word, bool known) {
  if (text == word) return 0;
  if (same_but_for_case(text, word) || synonyms(text, word)) return 1;
  if (known) return std::nullopt;
  if (text.size() >= 3 && word.starts_with(text)) return 1;
  const std::size_t distance = edit_distance(text, word);
  if (distance > std::max<std::size_t>(1, text.size() / 4)) return std::nullopt;
  return 2 * distance;
}

bool synonym_in(std::string_view word, const Words& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view w) { return w != word && synonyms(w, word); });
}

struct Place {
  std::size_t at;        // index of the key's word; the number of its words: none is close
  std::size_t distance;  // of the words
};

/// Which word of the key corresponds to word `i` of the text: groups are compared with groups.
Place find_word(const Words& text, std::size_t i, const Words& key, const std::vector<bool>& used,
                bool known) {
  constexpr std::size_t kSurplus = 4;
  Place best{key.size(), is_filler(text[i]) || synonym_in(text[i], text) ? 0 : kSurplus};
  std::size_t least = kSurplus;
  for (std::size_t k = 0; k < key.size(); ++k) {
    if (used[k] || (i == 0) != (k == 0)) continue;
    const auto distance = word_distance(text[i], key[k], known);
    if (distance && *distance < least) best = {k, least = *distance};
  }
  return best;
}

/// The sum over the text's words of the distance to the closest word of the key, plus a penalty for words
/// without a counterpart. Empty: the groups differ, or no word apart from the group is the same.
std::optional<std::size_t> key_distance(const Words& text, const Words& key,
                                        const std::set<std::string_view>& vocabulary) {
  std::vector<bool> used(key.size());
  std::size_t sum = 0, matched = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Place place = find_word(text, i, key, used, vocabulary.count(text[i]) > 0);
    sum += place.distance;
    if (place.at == key.size()) {
      if (i == 0) return std::nullopt;
      continue;
    }
    used[place.at] = true;
    matched += is_filler(text[i]) ? 0 : 1;
  }
  if (matched < 2) return std::nullopt;
  for (std::size_t k = 0; k < key.size(); ++k)
    sum += used[k] || is_filler(key[k]) || synonym_in(key[k], text) ? 0 : 1;
  return sum;
}

std::string_view nearest_words(std::string_view text, std::span<const std::string_view> keys) {
  std::set<std::string_view> vocabulary;
  for (const std::string_view key : keys) {
    for (const std::string_view word : words_of(key)) vocabulary.insert(word);
  }
  const Words words = words_of(text);
  std::size_t best = 7;  // the penalty of one extra word, and a little more
  std::string_view nearest;
  for (const std::string_view key : keys) {
    const auto distance = key_distance(words, words_of(key), vocabulary);
    if (distance && *distance < best) best = *distance, nearest = key;
  }
  return nearest;
}

/// The key whose last part is the text, given without its group.
std::string_view key_named(std::string_view text, std::span<const std::string_view> keys) {
  const auto at = std::find_if(keys.begin(), keys.end(), [&](std::string_view key) {
    return key.size() > text.size() && key.ends_with(text) && key[key.size() - text.size() - 1] == '.';
  });
  return at == keys.end() || text.empty() ? std::string_view{} : *at;
}

}  // namespace

std::string list_of(std::span<const std::string_view> names) {
  std::string list;
  for (const std::string_view name : names) list.append(list.empty() ? "" : ", ").append(name);
  return list;
}

std::string suggestion(std::string_view text, std::span<const std::string_view> candidates) {
  return text.size() > kLongestName ? "" : question(nearest_spelling(text, candidates));
}

std::string key_suggestion(std::string_view text, std::span<const std::string_view> keys) {
  if (text.size() > kLongestName) return "";
  std::string_view nearest = nearest_words(text, keys);
  if (nearest.empty()) nearest = nearest_spelling(text, keys);
  if (nearest.empty()) nearest = key_named(text, keys);
  return question(nearest);
}

void unknown_key(std::string_view key, const std::vector<std::string_view>& names) {
  throw UserError(fmt::format("unknown key '{}'{}", printable(key), suggestion(key, names)));
}

}  // namespace lockstep::config
