// The vocabulary against "PTX ISA 9.0", and suggestions for misspelt words against a search by definition.
#include "ptx/words.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace lockstep::ptx {
namespace {

using Extents = std::tuple<unsigned, unsigned, unsigned>;

/// Sections 9.7.14 (wmma, mma, ldmatrix, stmatrix, movmatrix) and 9.7.15 (wgmma).
std::set<Extents> shapes_of_the_isa() {
  std::set<Extents> shapes{{8, 8, 0},    {16, 16, 0}, {16, 8, 0},               // matrices moved as such
                           {16, 16, 16}, {32, 8, 16}, {8, 32, 16},              // wmma .f16, .bf16, .u8
                           {16, 16, 8},  {8, 8, 32},  {8, 8, 128},  {8, 8, 4},  // wmma .tf32, .u4, .b1; .f64
                           {8, 8, 16},   {16, 8, 4},  {16, 8, 8},   {16, 8, 16},
                           {16, 8, 32},  {16, 8, 64}, {16, 8, 128}, {16, 8, 256}};
  for (unsigned n = 8; n <= 256; n += 8)
    for (const unsigned k : {8u, 16u, 32u, 64u, 256u}) shapes.emplace(64, n, k);
  return shapes;
}

std::string shape_text(const Extents& s) {
  const auto [m, n, k] = s;
  return "m" + std::to_string(m) + "n" + std::to_string(n) + (k ? "k" + std::to_string(k) : "");
}

/// Insertions, deletions and replacements of one character (Levenshtein), by its recursive definition.
std::size_t distance_by_definition(std::string_view a, std::string_view b) {
  std::vector<std::size_t> known((a.size() + 1) * (b.size() + 1));  // 1 more than the distance; 0: not known
  const auto distance = [&](const auto& self, std::size_t i, std::size_t j) -> std::size_t {
    if (i == 0 || j == 0) return i + j;
    std::size_t& value = known[i * (b.size() + 1) + j];
    if (value == 0)
      value = 1 + std::min({self(self, i - 1, j) + 1, self(self, i, j - 1) + 1,
                            self(self, i - 1, j - 1) + (a[i - 1] != b[j - 1])});
    return value - 1;
  };
  return distance(distance, a.size(), b.size());
}

template <class E>
void add_names(std::vector<std::string_view>& words, E last, unsigned first = 0) {
  for (unsigned i = first; i <= static_cast<unsigned>(last); ++i) words.push_back(name(static_cast<E>(i)));
}

/// `word` with one character replaced, removed or inserted.
std::string misspelt(std::string word, std::mt19937& random) {
  const std::size_t at = random() % word.size();
  const char letter = "abcdefghijklmnopqrstuvwxyz0123456789"[random() % 36];
  switch (random() % 3) {
    case 0:
      word[at] = letter;
      break;
    case 1:
      word.erase(at, 1);
      break;
    default:
      word.insert(at, 1, letter);
  }
  return word;
}

template <class Nearest>
void check_suggestions(const std::vector<std::string_view>& words, Nearest nearest) {
  std::mt19937 random(8);
  unsigned suggested = 0, none = 0;
  for (int round = 0; round < 120; ++round) {
    std::string word(words[random() % words.size()]);
    for (auto changes = 1 + random() % 4; changes > 0 && !word.empty(); --changes)
      word = misspelt(word, random);
    std::size_t least = 1000;
    for (const std::string_view w : words) least = std::min(least, distance_by_definition(word, w));
    const std::string_view found = nearest(word);
    CAPTURE(word, found);
    // A short word is near at one change, a longer one at two.
    REQUIRE(found.empty() == (least > (word.size() < 4 ? 1 : 2)));
    if (!found.empty()) REQUIRE(distance_by_definition(word, found) == least);
    ++(found.empty() ? none : suggested);
  }
  CHECK(suggested > 20);
  CHECK(none > 5);
}

}  // namespace

TEST_CASE("ptx words: matrix shapes are those of the instructions, and no others") {
  const std::set<Extents> shapes = shapes_of_the_isa();
  for (const auto& s : shapes) {
    INFO(shape_text(s));
    const auto found = find_shape(shape_text(s));
    REQUIRE(found);
    CHECK(Extents{found->m, found->n, found->k} == s);
  }
  for (unsigned m : {0u, 4u, 8u, 16u, 32u, 64u, 128u})
    for (unsigned n = 0; n <= 264; n += 4)
      for (unsigned k : {0u, 1u, 2u, 4u, 8u, 12u, 16u, 24u, 32u, 48u, 64u, 512u})
        if (!shapes.contains({m, n, k}) && !(m == 8 && n == 16 && k == 0))  // m8n16: tcgen05, stmatrix .b8
          if (find_shape(shape_text({m, n, k}))) FAIL_CHECK(shape_text({m, n, k}));
  for (const char* text : {"", "m", "m16", "m16n", "m16n8k", "m16n8k16k16", "n8m16k16", "m016n8k16",
                           "m16n8k016", "m16n8k1600", "M16n8k16", "m16n8k16 ", "m-16n8k16"})
    CHECK_FALSE(find_shape(text));
}

TEST_CASE("ptx words: sizes of types in bits and in memory") {
  struct Row {
    Type type;
    unsigned bits, bytes;
  };
  constexpr Row kRows[] = {
      {Type::kU8, 8, 1},      {Type::kS16, 16, 2},     {Type::kB32, 32, 4},       {Type::kF64, 64, 8},
      {Type::kB128, 128, 16}, {Type::kPred, 1, 1},     {Type::kBf16, 16, 2},      {Type::kTf32, 32, 4},
      {Type::kF16x2, 32, 4},  {Type::kF32x2, 64, 8},   {Type::kU8x4, 32, 4},      {Type::kB1, 1, 1},
      {Type::kS4, 4, 1},      {Type::kE2m3, 6, 1},     {Type::kUe8m0x2, 16, 2},   {Type::kE2m1x2, 8, 1},
      {Type::kE5m2x4, 32, 4}, {Type::kE2m1x4, 16, 2},  {Type::kSurfref, 64, 8},   {Type::kB1024, 1024, 128},
      {Type::kB4x16, 64, 8},  {Type::kB8x16, 128, 16}, {Type::kSamplerref, 64, 8}};
  for (const Row& row : kRows) {
    INFO(name(row.type));
    CHECK(bits(row.type) == row.bits);
    CHECK(bytes(row.type) == row.bytes);
  }
  // The digits of a plain type's name are its bits.
  for (const Type t : {Type::kU8, Type::kU16, Type::kU32, Type::kU64, Type::kS8, Type::kS16, Type::kS32,
                       Type::kS64, Type::kB8, Type::kB16, Type::kB32, Type::kB64, Type::kF16, Type::kF32}) {
    CHECK(std::to_string(bits(t)) == name(t).substr(1));
    CHECK(is_signed(t) == (name(t)[0] == 's'));
    CHECK(is_float(t) == (name(t)[0] == 'f'));
  }
}

TEST_CASE("ptx words: special registers have the types of chapter 10, and families their limits") {
  struct Row {
    const char* text;
    Type type;
    SpecialKind kind;
  };
  constexpr Row kRows[] = {{"%tid", Type::kU32, SpecialKind::kVector},
                           {"%nctaid", Type::kU32, SpecialKind::kVector},
                           {"%laneid", Type::kU32, SpecialKind::kScalar},
                           {"%gridid", Type::kU64, SpecialKind::kScalar},
                           {"%clock", Type::kU32, SpecialKind::kScalar},
                           {"%clock64", Type::kU64, SpecialKind::kScalar},
                           {"%globaltimer", Type::kU64, SpecialKind::kScalar},
                           {"%globaltimer_hi", Type::kU32, SpecialKind::kScalar},
                           {"%cluster_ctaid", Type::kU32, SpecialKind::kVector},
                           {"%pm7_64", Type::kU64, SpecialKind::kScalar},
                           {"%is_explicit_cluster", Type::kPred, SpecialKind::kScalar}};
  for (const Row& row : kRows) {
    INFO(row.text);
    const auto found = find_special(row.text);
    REQUIRE(found);
    CHECK(name(found->special) == row.text);
    CHECK(type(found->special) == row.type);
    CHECK(kind(found->special) == row.kind);
  }
  const std::pair<std::string, unsigned> families[] = {
      {"%envreg", 32}, {"%pm", 8}, {"%reserved_smem_offset_", 2}};
  for (const auto& [family, limit] : families) {
    for (unsigned i = 0; i < limit + 3; ++i) {
      const auto found = find_special(family + std::to_string(i));
      CHECK(found.has_value() == (i < limit));
      if (found) CHECK(found->index == i);
    }
    CHECK_FALSE(find_special(family + "00"));
    CHECK_FALSE(find_special(family + "1x"));
  }
  for (const char* text : {"tid", "%TID", "%tid0", "%tid.x", "%clock640", "%", ""})
    CHECK_FALSE(find_special(text));
}

TEST_CASE("ptx words: the suggestion for a misspelt instruction is one of the nearest") {
  std::vector<std::string_view> words;
  add_names(words, Opcode::kWmma);
  check_suggestions(words, nearest_opcode);
  CHECK(nearest_opcode(std::string(65, 'a')).empty());
}

TEST_CASE("ptx words: the suggestion for a misspelt modifier is the nearest type, space or modifier") {
  std::vector<std::string_view> words;
  add_names(words, Type::kSurfref);
  add_names(words, Space::kTex);
  add_names(words, Mod::k32x128b);
  check_suggestions(words, nearest_suffix);
}

}  // namespace lockstep::ptx
