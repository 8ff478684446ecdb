// Suggestions for misspelt keys: one mistake of the fingers in any key of the schema, words of other tools,
// and texts that are close to nothing.
#include "config/suggest.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>

#include "config/schema.hpp"
#include "helpers.hpp"

namespace lockstep::config {
namespace {

/// Optimal string alignment (Levenshtein's distance with swapped neighbours) by its recursive definition,
/// with what is known kept.
std::size_t distance_between(std::string_view a, std::string_view b,
                             std::map<std::pair<std::size_t, std::size_t>, std::size_t>& known) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const auto [found, added] = known.try_emplace({a.size(), b.size()}, 0);
  if (!added) return found->second;
  std::size_t least =
      std::min({distance_between(a.substr(1), b, known) + 1, distance_between(a, b.substr(1), known) + 1,
                distance_between(a.substr(1), b.substr(1), known) + (a[0] == b[0] ? 0 : 1)});
  if (a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0])
    least = std::min(least, distance_between(a.substr(2), b.substr(2), known) + 1);
  return known[{a.size(), b.size()}] = least;
}
std::size_t distance_between(std::string_view a, std::string_view b) {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> known;
  return distance_between(a, b, known);
}

/// A letter too many, too few, or another one.
std::string with_mistake(std::string text, std::mt19937& random) {
  const std::size_t at = random() % text.size();
  const char letter = static_cast<char>('a' + random() % 26);
  switch (random() % 3) {
    case 0:
      return text.insert(at, 1, letter);
    case 1:
      return text.erase(at, 1);
    default:
      text[at] = letter;
      return text;
  }
}

/// The key in "; did you mean 'KEY'?".
std::string suggested(const std::string& question) {
  const auto start = question.find('\'');
  return start == std::string::npos ? "" : question.substr(start + 1, question.rfind('\'') - start - 1);
}

std::vector<std::string_view> schema_keys() {
  std::vector<std::string_view> keys;
  for (const Parameter& p : schema()) keys.push_back(p.key);
  return keys;
}

}  // namespace

TEST_CASE("suggestions: of single words the closest is named, by the recursive definition of the distance") {
  std::mt19937 random(71);
  const auto word = [&] {
    std::string text;
    for (auto n = 1 + random() % 7; n > 0; --n) text += static_cast<char>('a' + random() % 3);
    return text;
  };
  for (int round = 0; round < 500; ++round) {
    std::vector<std::string> words;
    for (auto n = 1 + random() % 5; n > 0; --n) words.push_back(word());
    const std::string text = word();
    const std::vector<std::string_view> candidates(words.begin(), words.end());
    const std::string found = suggested(suggestion(text, candidates));
    std::size_t least = 100;
    for (const std::string& w : words)
      if (distance_between(text, w) < w.size()) least = std::min(least, distance_between(text, w));
    const bool begins =
        text.size() >= 3 && std::ranges::any_of(words, [&](const auto& w) { return w.starts_with(text); });
    INFO(text << " -> " << found << " of " << list_of(candidates));
    if (begins) {
      REQUIRE(found.starts_with(text));
    } else if (least <= std::max<std::size_t>(2, text.size() / 3)) {
      REQUIRE(distance_between(text, found) == least);
    } else {
      REQUIRE(found == "");
    }
  }
}

TEST_CASE("suggestions: a key of the schema with one mistake gives a key that is as close") {
  std::mt19937 random(73);
  const auto keys = schema_keys();
  std::size_t itself = 0, all = 0;
  for (const std::string_view key : keys)
    for (int i = 0; i < 3; ++i) {
      const std::string text = with_mistake(std::string(key), random);
      if (std::ranges::find(keys, text) != keys.end()) continue;
      const std::string found = suggested(key_suggestion(text, keys));
      INFO(text << " for " << key << " -> " << found);
      REQUIRE(std::ranges::find(keys, found) != keys.end());
      ++all;
      itself += found == key ? 1 : 0;
    }
  REQUIRE(all > 500);
  CHECK(static_cast<double>(itself) > 0.97 * static_cast<double>(all));
}

TEST_CASE("suggestions: keys as other simulators and data sheets have them") {
  const auto keys = schema_keys();
  const auto close_to = [&](std::string_view text) { return suggested(key_suggestion(text, keys)); };
  CHECK(close_to("l1.size") == "l1.bytes");
  CHECK(close_to("l1.assoc") == "l1.ways");
  CHECK(close_to("L1.ways") == "l1.ways");
  CHECK(close_to("gpu.num_sms") == "gpu.sms");
  CHECK(close_to("dram.trcd") == "dram.tRCD");
  CHECK(close_to("ways") != "");
}

TEST_CASE("suggestions: texts that are close to nothing get none") {
  const auto keys = schema_keys();
  for (const std::string text : {"", "qqqqqqqqqqqqqqqqqqqq", "zz.zzzzzzzzzzzz", "....", "\xff\xfe\xfd\xfc"}) {
    INFO(text);
    CHECK(key_suggestion(text, keys) == "");
  }
  CHECK(key_suggestion("l1.bytes" + std::string(60, 'x'), keys) == "");  // of more than 64 characters
  CHECK(key_suggestion("l1.bytes", {}) == "");
  CHECK(suggestion("abc", {}) == "");
}

TEST_CASE("suggestions: the error for an unknown key is one line, with bytes that are safe to print") {
  const auto message = [](std::string_view key) {
    return test::error_of([&] { unknown_key(key, {"ways", "bytes"}); });
  };
  CHECK(message("way") == "unknown key 'way'; did you mean 'ways'?");
  CHECK(message("qqq") == "unknown key 'qqq'");
  CHECK(message("a\n\x1b[0m") == "unknown key 'a\\x0a\\x1b[0m'");
}

}  // namespace lockstep::config
