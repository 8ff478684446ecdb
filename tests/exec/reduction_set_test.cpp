// Sums of elements that parts of a launch only add to, against a map.
#include "exec/reduction_set.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>

namespace lockstep::exec {
namespace {

std::uint64_t add_words(std::uint64_t old, std::uint64_t operand, std::uint64_t) { return old + operand; }
std::uint64_t larger_word(std::uint64_t old, std::uint64_t operand, std::uint64_t) {
  return std::max(old, operand);
}

TEST_CASE("reductions: sums of thousands of elements, in the order of their first operands") {
  ReductionSet set;
  for (int round = 0; round < 3; ++round) {  // what is cleared takes no part in the next round
    std::map<Address, std::uint64_t> sums;
    std::vector<Address> order;
    std::mt19937_64 random(static_cast<std::uint64_t>(round));
    CHECK(set.find(0x1000) == nullptr);
    for (int i = 0; i < 50'000; ++i) {
      // Close to each other, and 2^32 bytes and more apart.
      const Address at = 0x7f0000000000 + random() % 3000 * 8 + random() % 3 * (Address{1} << 32);
      const std::uint64_t operand = random();
      bool fresh = false;
      REQUIRE(set.add({at, operand, add_words, 8}, fresh));
      REQUIRE(fresh == !sums.contains(at));
      if (fresh) order.push_back(at);
      sums[at] += operand;
    }
    REQUIRE(set.all().size() == sums.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      REQUIRE(set.all()[i].at == order[i]);
      REQUIRE(set.all()[i].value == sums[order[i]]);
      REQUIRE(set.find(order[i]) == &set.all()[i]);
    }
    CHECK(set.find(0x7f0000000004) == nullptr);
    set.clear();
    CHECK(set.all().empty());
    CHECK(set.find(order[0]) == nullptr);
  }
}

TEST_CASE("reductions: another operation on an element that has one is refused") {
  ReductionSet set;
  bool fresh = false;
  CHECK(set.add({64, 5, larger_word, 4}, fresh));
  CHECK(set.add({64, 3, larger_word, 4}, fresh));
  CHECK_FALSE(fresh);
  CHECK(set.find(64)->value == 5);
  CHECK(set.add({68, 3, add_words, 4}, fresh));  // a neighbour
  CHECK_FALSE(set.add({64, 3, add_words, 4}, fresh));
  CHECK_FALSE(set.add({68, 3, larger_word, 4}, fresh));
}

}  // namespace
}  // namespace lockstep::exec
