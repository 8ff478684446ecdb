// Register dependences: what an instruction waits for, and a warp slot that changes hands.
#include "core/scoreboard.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

using namespace lockstep::core;

namespace {

/// An instruction that writes the first `destinations` of `registers` and reads the others.
IssueInst instruction(const std::vector<std::uint16_t>& registers, std::uint8_t destinations) {
  IssueInst inst;
  inst.registers = registers.data();
  inst.first_registers.fill(kNoRegister);
  std::copy_n(registers.begin(), std::min<std::size_t>(registers.size(), 4), inst.first_registers.begin());
  inst.destinations = destinations;
  inst.sources = static_cast<std::uint8_t>(registers.size() - destinations);
  return inst;
}

}  // namespace

TEST_CASE("an instruction waits for the latest of all its registers, however many") {
  Scoreboard board(2);
  for (std::uint16_t late = 1; late <= 12; ++late) {
    const std::vector<std::uint16_t> one{late};
    board.write(1, instruction(one, 1), 99 + late);
  }
  for (std::uint16_t count = 1; count <= 12; ++count) {
    std::vector<std::uint16_t> registers;
    for (std::uint16_t r = 1; r <= count; ++r) registers.push_back(r);
    CHECK(board.ready(1, instruction(registers, 1)) == 99u + count);
    CHECK(board.ready(0, instruction(registers, 1)) == 0);  // another warp's
  }
}

TEST_CASE("a new warp in a slot waits for nothing that the one before wrote") {
  Scoreboard board(1);
  const std::vector<std::uint16_t> all{1, 7, 99, 256, 320 + 6, kRegistersPerWarp - 1};
  board.clear(0, 100);
  board.write(0, instruction(all, 6), Scoreboard::kPendingLong);
  CHECK(board.ready(0, instruction(all, 6)) == Scoreboard::kPendingLong);
  board.clear(0, kRegistersPerWarp);
  CHECK(board.ready(0, instruction(all, 6)) == 0);
  CHECK_FALSE(board.read_pending(0, instruction(all, 6)));
}

TEST_CASE("moving the time base moves what is known, and leaves what is pending") {
  Scoreboard board(1);
  const auto reg = [](std::uint16_t r) { return std::vector<std::uint16_t>{r}; };
  const std::vector<std::uint16_t> later = reg(1), past = reg(2), at_delta = reg(3), longs = reg(4),
                                   shorts = reg(5);
  constexpr Tick kDelta = (1u << 30) - 128;
  board.write(0, instruction(later, 1), kDelta + 77);
  board.write(0, instruction(past, 1), 1000);
  board.write(0, instruction(at_delta, 1), kDelta);
  board.write(0, instruction(longs, 1), Scoreboard::kPendingLong);
  board.write(0, instruction(shorts, 1), Scoreboard::kPendingShort);
  board.add_readers(0, instruction(past, 0));
  board.rebase(kDelta);
  CHECK(board.ready(0, instruction(later, 1)) == 77);
  CHECK(board.ready(0, instruction(past, 1)) == 0);
  CHECK(board.ready(0, instruction(at_delta, 1)) == 0);
  CHECK(board.ready(0, instruction(longs, 1)) == Scoreboard::kPendingLong);
  CHECK(board.ready(0, instruction(shorts, 1)) == Scoreboard::kPendingShort);
  CHECK(board.read_pending(0, instruction(past, 1)));
}
