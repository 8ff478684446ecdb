// Labels that are cut: what a reader can rely on, for any texts, and examples worked out by hand.
#include "stats/label_cut.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "tests/random.hpp"

namespace lockstep::stats {
namespace {

using Texts = std::vector<std::string>;

/// Whether what the label shows stands in the text in this order, from its beginning to its end but for what
/// "~" stands for.
bool is_part_of(const std::string& label, const std::string& text) {
  std::size_t at = 0;
  for (std::size_t i = 0; i <= label.size();) {
    const std::size_t end = std::min(label.find('~', i), label.size());
    const std::string piece = label.substr(i, end - i);
    std::size_t found = i == 0 ? 0 : text.find(piece, at);
    if (end == label.size() && text.size() >= piece.size()) found = text.size() - piece.size();
    if (found == std::string::npos || found < at || text.compare(found, piece.size(), piece) != 0)
      return false;
    if (i == 0 && found != 0) return false;
    at = found + piece.size();
    i = end + 1;
  }
  return true;
}

}  // namespace

TEST_CASE("cut labels: what fits stays, and one text alone keeps its beginning and its end") {
  CHECK(cut({"", "a", "12345678"}, 8) == Texts{"", "a", "12345678"});
  CHECK(cut({"123456789"}, 8) == Texts{"1234~789"});
  CHECK(cut({"abcdefghijklmnopqrstuvwxyz"}, 9) == Texts{"abcd~wxyz"});
  CHECK(cut({"~abcdefghij"}, 8) == Texts{"~abcdef~"});  // its beginning is gone already
}

TEST_CASE("cut labels: texts that differ in the middle show it, and those that do not stay as they are") {
  const Texts labels = cut({"gemm_kernel_with_tile_64_and_stages", "gemm_kernel_with_tile_32_and_stages",
                            "another_name_that_is_also_too_long"},
                           16);
  CHECK(labels[0].find("64") != std::string::npos);
  CHECK(labels[1].find("32") != std::string::npos);
  CHECK(labels[2] == "another_~oo_long");
  for (const std::string& label : labels) CHECK(label.size() <= 16);
}

TEST_CASE("cut labels: equal texts are numbered from the second on, within the width") {
  CHECK(cut({"scale", "scale", "add", "scale"}, 8) == Texts{"scale", "scale#2", "add", "scale#3"});
  CHECK(cut({"12345678", "12345678"}, 8) == Texts{"12345678", "123456#2"});
  CHECK(cut({"scale", "scale#2", "scale"}, 8) == Texts{"scale", "scale#2", "scale#3"});  // the name is taken
  Texts many(120, "kernelname");
  const Texts labels = cut(many, 8);
  CHECK(labels[9].ends_with("#10"));
  CHECK(labels[119].ends_with("#120"));
  for (const std::string& label : labels) CHECK(label.size() <= 8);
  CHECK(std::set<std::string>(labels.begin(), labels.end()).size() == 120);
}

TEST_CASE("cut labels: those of any texts fit, are all different, and show parts of their texts in order") {
  test::Random32 random(17);
  for (unsigned round = 0; round < 300; ++round) {
    const std::size_t width = 8 + random() % 40;
    const unsigned letters = 1 + random() % 3;
    Texts texts;
    std::set<std::string> different;
    for (unsigned n = 1 + random() % 12; n > 0; --n) {
      std::string text;
      for (unsigned length = random() % 60; length > 0; --length)
        text += random() % 7 == 0 ? ':' : static_cast<char>('a' + random() % letters);
      if (!texts.empty() && random() % 2 == 0) {  // like an earlier one but for a character
        text = texts[random() % texts.size()];
        if (!text.empty()) text[random() % text.size()] = 'x';
      }
      texts.push_back(text);
      different.insert(text);
    }
    const Texts labels = cut(texts, width);
    REQUIRE(labels.size() == texts.size());
    CHECK(std::set<std::string>(labels.begin(), labels.end()).size() == labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      INFO(texts[i] << " in " << width << ": " << labels[i]);
      CHECK(labels[i].size() <= width);
      if (labels[i].find('#') != std::string::npos) continue;
      if (texts[i].size() <= width) CHECK(labels[i] == texts[i]);
      CHECK(is_part_of(labels[i], texts[i]));
    }
  }
}

TEST_CASE("cut labels: the order of the texts changes no label of different texts") {
  test::Random32 random(3);
  Texts texts;
  for (unsigned i = 0; i < 20; ++i)
    texts.push_back("void_reduce_kernel<" + std::string(i % 5, 'T') + ">(block_" + std::to_string(i * 7) +
                    ", float const*)");
  const Texts before = cut(texts, 24);
  std::vector<std::size_t> order(texts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::shuffle(order, random);
  Texts shuffled;
  for (const std::size_t i : order) shuffled.push_back(texts[i]);
  const Texts after = cut(shuffled, 24);
  for (std::size_t i = 0; i < order.size(); ++i) CHECK(after[i] == before[order[i]]);
}

TEST_CASE("positions by text: each place of each text, in order") {
  const auto positions = positions_by_text({"b", "a", "b", "", "b"});
  REQUIRE(positions.size() == 3);
  CHECK(positions.at("b") == std::vector<std::size_t>{0, 2, 4});
  CHECK(positions.at("a") == std::vector<std::size_t>{1});
  CHECK(positions.at("") == std::vector<std::size_t>{3});
}

}  // namespace lockstep::stats
