// Steps of lowering by name, and the table of sequences as it is read.
#include "lower/passes.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "lower/sequences.hpp"
#include "lower/temporaries.hpp"
#include "tests/lower/random_kernel.hpp"
#include "tests/lower/support.hpp"
#include "util/error.hpp"

namespace lockstep::lower::test {
namespace {

/// An operand as the table writes it.
std::string written(const SequenceOperand& o) {
  using Kind = SequenceOperand::Kind;
  const std::string half = o.high ? "h" : "";
  switch (o.kind) {
    case Kind::kDestination:
      return "d" + half;
    case Kind::kSource:
      return std::string(1, static_cast<char>('a' + o.number)) + half;
    case Kind::kTemporary:
      return "t" + std::to_string(o.number) + half;
    default:
      return "-";
  }
}

/// A step without what it writes where that is all that it leaves out at the end.
std::string written(const SequenceStep& step) {
  std::string text = step.skipped > 0 ? "+" + std::to_string(step.skipped) + " " : "";
  text += step.lanes == Lanes::kSlow ? "?" : step.lanes == Lanes::kUsual ? ":" : "";
  text += step.opcode;
  const bool writes = step.destination.kind != SequenceOperand::Kind::kNone;
  if (writes || !step.sources.empty()) text += " " + written(step.destination);
  for (const SequenceOperand& source : step.sources) text += " " + written(source);
  return text;
}

/// Words of a text with one space between them, without a last "-".
std::string plain(const std::string& text) {
  std::istringstream words(text);
  std::string all, word;
  while (words >> word) all += (all.empty() ? "" : " ") + word;
  return all.ends_with(" -") ? all.substr(0, all.size() - 2) : all;
}

}  // namespace

TEST_CASE("each step can be left out by its name, alone or with others") {
  std::vector<std::string> names;
  std::string list = lower::step_names();
  const auto last = list.rfind(" or ");
  REQUIRE(last != std::string::npos);
  list.replace(last, 4, ", ");
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(", ", at), list.size());
    names.push_back(list.substr(at, end - at));
    at = end + 2;
  }
  CHECK(names.size() == 13);
  CHECK(all_but({}) == Passes{});
  for (const std::string& name : names) {
    CAPTURE(name);
    const Passes without = all_but({name});
    CHECK_FALSE(without == Passes{});
    for (const std::string& other : names) CHECK((all_but({other}) == without) == (other == name));
    CHECK(all_but({name, name}) == without);
  }
  CHECK_FALSE(all_but({"unroll"}).unroll);
  CHECK_FALSE(all_but({"merge", "slow_paths"}).slow_paths);
  CHECK(all_but({"merge", "slow_paths"}).schedule);
  CHECK_FALSE(all_but(names).signals);  // no step: what a run needs
}

TEST_CASE("a step that is not known is an error that lists the steps") {
  try {
    (void)all_but({"merge", "inlining"});
    FAIL("no error");
  } catch (const UserError& e) {
    CHECK(std::string(e.what()) == "--without: " + step_names() + " expected, 'inlining' found");
  }
}

TEST_CASE("every sequence is read as it is written") {
  std::set<std::string> keys;
  std::size_t steps_read = 0;
  for (const SequenceText& row : sequence_texts()) {
    CAPTURE(row.key);
    CHECK(keys.insert(std::string(row.key)).second);
    const auto* steps = find_sequence(row.key);
    REQUIRE(steps != nullptr);
    std::istringstream all{std::string(row.text)};
    std::size_t at = 0;
    for (std::string text; std::getline(all, text, ';'); ++at) {
      REQUIRE(at < steps->size());
      CHECK(written((*steps)[at]) == plain(text));
    }
    CHECK(at == steps->size());
    steps_read += at;
  }
  CHECK(steps_read > 500);
  CHECK(find_sequence("add.i31") == nullptr);
  CHECK(find_sequence("") == nullptr);
}

TEST_CASE("no sequence without a subroutine reads a temporary before it has written it") {
  std::size_t looked_at = 0;
  for (const SequenceText& row : sequence_texts()) {
    CAPTURE(row.key);
    if (row.key.ends_with(".slow") || row.text.find("CALL") != std::string_view::npos) continue;
    ++looked_at;
    std::set<unsigned> written_so_far;
    for (const SequenceStep& step : *find_sequence(row.key)) {
      for (const SequenceOperand& source : step.sources)
        if (source.kind == SequenceOperand::Kind::kTemporary) {
          // The upper half of a wide result is the odd one of a pair.
          const unsigned pair = source.number & ~1u;
          CAPTURE(step.opcode, unsigned{source.number});
          CHECK((written_so_far.contains(source.number) || written_so_far.contains(pair)));
        }
      if (step.destination.kind == SequenceOperand::Kind::kTemporary)
        written_so_far.insert(step.destination.number);
    }
  }
  CHECK(looked_at > 100);
}

TEST_CASE("temporaries take no register that a value of a random kernel is in, the lowest that is free") {
  std::size_t busy_registers = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    const ptx::Function f = ptx::parse(random_kernel(seed), "test").functions.front();
    const RegisterAssignment registers(f, 24);
    const auto held = registers.held();
    Temporaries temporaries(registers);
    for (std::uint32_t at = 0; at < f.instructions.size(); ++at) {
      Temporaries::Busy expected;
      for (const HeldRegisters& h : held)
        for (unsigned r = h.place; h.first <= at + 1 && at <= h.last && r < h.place + h.words; ++r)
          expected[r] = true;
      const Temporaries::Busy busy = temporaries.busy(at);
      CHECK(busy == expected);
      busy_registers += busy.count();
      std::vector<unsigned> free, pairs;
      for (unsigned r = 0; r < kMaxRegisters; ++r)
        if (!expected[r]) free.push_back(r);
      for (unsigned r = 0; r + 1 < kMaxRegisters; r += 2)
        if (!expected[r] && !expected[r + 1]) pairs.push_back(r);
      for (unsigned number = 0; number < 4; ++number) {
        CHECK(temporaries.place(busy, number, false) == free.at(number));
        CHECK(temporaries.place(busy, number, true) == pairs.at(number / 2) + number % 2);
      }
    }
    CHECK(temporaries.used() > 0);
    Temporaries above(registers, false);
    for (unsigned number = 0; number < 4; ++number)
      CHECK(above.place(above.busy(3), number, number % 2 == 0) == registers.used() + number);
    CHECK(above.used() == registers.used() + 4);
  }
  CHECK(busy_registers > 1000);
}

}  // namespace lockstep::lower::test
