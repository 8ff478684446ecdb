// Lines of the source: whatever .loc directives a function has, each line's callers are those that the
// directives named; and where parameters and variables lie, by their types.
#include "ptx/source_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ptx/parser.hpp"
#include "tests/ptx/support.hpp"

namespace lockstep::ptx {
namespace {

using Position = SourceLines::Position;
/// File and line of a place and of what it was inlined at, from the innermost on.
using Chain = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

Chain chain_of(const SourceLine& line, const std::vector<SourceLine>& callers) {
  Chain chain;
  for (SourceLine at = line; at.line != 0; at = callers.at(at.caller - 1)) {
    chain.emplace_back(at.file, at.line);
    if (at.caller == 0) break;
  }
  return chain;
}

struct TypeRow {
  const char* name;
  unsigned size;
};
constexpr TypeRow kTypes[] = {{"b8", 1},  {"u16", 2}, {"f16", 2}, {"s32", 4},
                              {"f32", 4}, {"u64", 8}, {"f64", 8}};

}  // namespace

TEST_CASE("ptx source lines: callers of random directives are those that were named, the latest of a place") {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned bound) { return static_cast<std::uint32_t>(random() % bound); };
    const auto place = [&] { return Position{below(2), 1 + below(5), below(2)}; };
    SourceLines lines;
    std::vector<SourceLine> callers;
    std::map<Position, Chain> latest;
    CHECK(lines.line(callers) == SourceLine{});
    for (int round = 0; round < 40; ++round) {
      const Position at = place();
      Chain expected{{at.file, at.line}};
      if (below(3) == 0) {
        lines.locate(at, std::nullopt);
      } else {
        const Position caller = place();
        const auto known = latest.find(caller);
        const Chain outer = known == latest.end() ? Chain{{caller.file, caller.line}} : known->second;
        if (outer.size() > 60) continue;
        expected.insert(expected.end(), outer.begin(), outer.end());
        lines.locate(at, caller);
      }
      latest[at] = expected;
      CAPTURE(seed, round);
      REQUIRE(chain_of(lines.line(callers), callers) == expected);
      for (std::uint32_t n = 0; n < callers.size(); ++n)
        REQUIRE(callers[n].caller <= n);  // each behind its own
    }
  }
}

TEST_CASE("ptx source lines: a line is the same number while nothing changes, callers are listed once") {
  SourceLines lines;
  std::vector<SourceLine> callers;
  lines.locate({0, 10, 1}, std::nullopt);
  lines.locate({1, 3, 1}, Position{0, 10, 1});
  const SourceLine first = lines.line(callers);
  CHECK(lines.line(callers) == first);
  lines.locate({1, 4, 7}, Position{0, 10, 1});
  lines.locate({1, 3, 1}, Position{0, 10, 1});
  CHECK(lines.line(callers) == first);
  CHECK(callers.size() == 1);
}

TEST_CASE("ptx source lines: chains of callers end after 64") {
  SourceLines lines;
  std::vector<SourceLine> callers;
  lines.locate({0, 1, 0}, std::nullopt);
  for (std::uint32_t n = 2; n <= 200; ++n) {
    lines.locate({0, n, 0}, Position{0, n - 1, 0});
    CHECK(chain_of(lines.line(callers), callers).size() <= 65);
  }
}

TEST_CASE("ptx source lines: text names files without their folders") {
  Function f;
  f.callers = {{0, 12, 0}, {1, 7, 1}};
  const std::vector<std::string> files{"/home/me/vector_add.cu", "helper.cuh", ""};
  CHECK(source_text({0, 5, 0}, f, files) == "vector_add.cu:5");
  CHECK(source_text({1, 3, 1}, f, files) == "helper.cuh:3, inlined at vector_add.cu:12");
  CHECK(source_text({1, 3, 2}, f, files) ==
        "helper.cuh:3, inlined at helper.cuh:7, inlined at vector_add.cu:12");
  CHECK(source_text({}, f, files).empty());
  CHECK(source_text({2, 4, 0}, f, files) == "?:4");
  CHECK(source_text({9, 4, 0}, f, files) == "?:4");
}

TEST_CASE("ptx layout: parameters follow each other, each at a multiple of its alignment") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
    std::string text;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> expected;  // offset and size
    std::uint64_t end = 0;
    for (unsigned n = 0, count = 1 + below(12); n < count; ++n) {
      const TypeRow& type = kTypes[below(7)];
      const unsigned vector = below(4) == 0 ? 2u << below(2) : 1;
      const unsigned elements = below(3) == 0 ? 1 + below(9) : 0;
      std::uint64_t align = std::uint64_t{type.size} * vector;
      text += n == 0 ? ".param " : ", .param ";
      if (below(3) == 0) align = std::uint64_t{1} << below(7), text += fmt::format(".align {} ", align);
      if (vector > 1) text += fmt::format(".v{} ", vector);
      text += fmt::format(".{} p{}", type.name, n);
      if (elements > 0) text += fmt::format("[{}]", elements);
      const std::uint64_t size = std::uint64_t{type.size} * vector * std::max(elements, 1u);
      while (end % align != 0) ++end;
      expected.emplace_back(end, size);
      end += size;
    }
    CAPTURE(text);
    const Module m = parse(module_text(".entry k(" + text + ") { ret; }"), "test");
    const auto& parameters = m.functions.at(0).parameters;
    REQUIRE(parameters.size() == expected.size());
    for (std::size_t n = 0; n < expected.size(); ++n) {
      CHECK(parameters[n].offset == expected[n].first);
      CHECK(parameters[n].size == expected[n].second);
    }
  }
}

TEST_CASE("ptx layout: values of random initialisers are at the places that their indices give") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
    const unsigned size = 1u << below(4), rows = 1 + below(4), columns = 1 + below(4);
    std::vector<std::uint8_t> expected;
    std::string list;
    for (unsigned r = 0, given = 1 + below(rows); r < given; ++r) {
      list += r == 0 ? "{" : ", {";
      expected.resize(std::size_t{r} * columns * size);
      for (unsigned c = 0, values = 1 + below(columns); c < values; ++c) {
        const std::uint32_t value = below(120);
        list += fmt::format("{}{}", c == 0 ? "" : ", ", value);
        for (unsigned b = 0; b < size; ++b) expected.push_back(static_cast<std::uint8_t>(b == 0 ? value : 0));
      }
      list += "}";
    }
    const bool open = below(2) == 0;
    const std::string text = fmt::format(".global .b{} v[{}][{}] = {{{}}};", 8 * size,
                                         open ? "" : std::to_string(rows), columns, list);
    CAPTURE(text);
    const Variable v = parse(module_text(text), "test").variables.at(0);
    CHECK(v.initial == expected);
    const auto given = static_cast<std::uint64_t>(std::count(list.begin(), list.end(), '{'));
    CHECK(v.dims == std::vector<std::uint64_t>{open ? given : rows, columns});
    CHECK(v.size == (open ? given : rows) * columns * size);
    CHECK_FALSE(v.unsized);
  }
}

}  // namespace lockstep::ptx
