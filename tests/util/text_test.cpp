// Small texts: fields of CSV read back by RFC 4180's rules, cells of Markdown, edit distances, units of
// sizes.
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "util/csv.hpp"
#include "util/edit_distance.hpp"
#include "util/markdown.hpp"
#include "util/size.hpp"

namespace lockstep {
namespace {

/// The records of a file as RFC 4180 has them, with LF or CRLF at their ends.
std::vector<std::vector<std::string>> records_of(const std::string& file) {
  std::vector<std::vector<std::string>> records(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < file.size(); ++i) {
    const char c = file[i];
    std::string& field = records.back().back();
    if (quoted && c == '"' && i + 1 < file.size() && file[i + 1] == '"') {
      field += file[i++];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      records.back().emplace_back();
    } else if (!quoted && c == '\n') {
      records.push_back({""});
    } else {
      field += c;
    }
  }
  return records;
}

std::string random_text(std::mt19937& random, const std::string& letters) {
  std::string text(random() % 12, ' ');
  for (char& c : text) c = letters[random() % letters.size()];
  return text;
}

}  // namespace

TEST_CASE("any texts as fields of CSV are read back as they were") {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::vector<std::string>> table(1 + random() % 4);
    std::string file;
    for (auto& row : table) {
      for (unsigned i = 1 + random() % 4; i > 0; --i) row.push_back(random_text(random, "ab,\"\n\r; \xC3"));
      for (std::size_t f = 0; f < row.size(); ++f) file += (f ? "," : "") + csv_field(row[f]);
      file += &row == &table.back() ? "" : "\n";
    }
    CAPTURE(file);
    REQUIRE(records_of(file) == table);
  }
  CHECK(csv_field("plain text; with spaces") == "plain text; with spaces");
}

TEST_CASE("a cell of Markdown stays one cell of one line") {
  std::mt19937 random(2);
  for (int round = 0; round < 500; ++round) {
    const std::string text = random_text(random, "a|\\\n\rb");
    const std::string cell = markdown_cell(text);
    CAPTURE(text, cell);
    for (std::size_t i = 0; i < cell.size(); ++i) {
      REQUIRE(cell[i] != '\n');
      REQUIRE(cell[i] != '\r');
      if (cell[i] != '|') continue;
      std::size_t slashes = 0;
      while (slashes < i && cell[i - 1 - slashes] == '\\') ++slashes;
      REQUIRE(slashes % 2 == 1);  // the bar is escaped, not the backslash before it
    }
  }
  CHECK(markdown_cell("a|b") == "a\\|b");
}

TEST_CASE("edit distances are those of the literature") {
  struct Row {
    const char *a, *b;
    std::size_t distance;
  };
  // Levenshtein's textbook pairs; "optimal string alignment" of CA and ABC (Boytsov, ACM JEA 16, 2011).
  const Row rows[] = {{"", "", 0},
                      {"", "abc", 3},
                      {"kitten", "sitting", 3},
                      {"flaw", "lawn", 2},
                      {"Sunday", "Saturday", 3},
                      {"ab", "ba", 1},
                      {"CA", "ABC", 3},
                      {"a cat", "an act", 2},
                      {"intention", "execution", 5},
                      {"golbal", "global", 1}};
  for (const Row& row : rows) {
    INFO(row.a << " " << row.b);
    CHECK(edit_distance(row.a, row.b) == row.distance);
    CHECK(edit_distance(row.b, row.a) == row.distance);
  }
}

TEST_CASE("edit distances of words that differ by random edits are at most their number") {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    const std::string word = random_text(random, "abcd");
    std::string edited = word;
    const unsigned edits = random() % 4;
    for (unsigned e = 0; e < edits; ++e) {
      const std::size_t at = random() % (edited.size() + 1);
      if (random() % 3 == 0) {
        edited.insert(at, 1, 'x');
      } else if (at < edited.size()) {
        random() % 2 ? (void)edited.erase(at, 1) : (void)(edited[at] = 'y');
      }
    }
    REQUIRE(edit_distance(word, edited) <= edits);
    REQUIRE((edit_distance(word, edited) == 0) == (word == edited));
    const std::size_t longer = std::max(word.size(), edited.size()),
                      shorter = std::min(word.size(), edited.size());
    REQUIRE(edit_distance(word, edited) >= longer - shorter);
  }
}

TEST_CASE("units of sizes: bytes in powers of 1024, never bits") {
  struct Row {
    const char* text;
    int shift;  // -1: no unit
  };
  const Row rows[] = {{"B", 0},    {"K", 10},   {"KB", 10},  {"KiB", 10},  {"kb", 10},    {"kib", 10},
                      {"M", 20},   {"MB", 20},  {"MiB", 20}, {"mib", 20},  {"G", 30},     {"GB", 30},
                      {"GiB", 30}, {"TiB", 40}, {"t", 40},   {"Kb", -1},   {"Mb", -1},    {"Gb", -1},
                      {"Kib", -1}, {"Mib", -1}, {"Gib", -1}, {"", -1},     {"Ki", -1},    {"BB", -1},
                      {"iB", -1},  {"KBB", -1}, {"PB", -1},  {"KiBs", -1}, {"bytes", -1}, {"K B", -1}};
  for (const Row& row : rows) {
    INFO(row.text);
    const SizeUnit* const unit = find_size_unit(row.text);
    CHECK((unit ? static_cast<int>(unit->shift) : -1) == row.shift);
  }
}

}  // namespace lockstep
