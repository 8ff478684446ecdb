// Register dependences: what an instruction waits for, and a warp slot that changes hands.
#include "core/scoreboard.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
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

TEST_CASE("random instructions of several warps against tables of every register") {
  constexpr unsigned kWarps = 3;
  Scoreboard board(kWarps);
  struct Register {
    std::uint64_t ready = 0;
    unsigned readers = 0;
  };
  std::array<std::map<std::uint16_t, Register>, kWarps> known;
  struct Reading {
    unsigned warp;
    std::vector<std::uint16_t> registers;
    std::uint8_t destinations;
  };
  std::vector<Reading> readings;
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    const unsigned warp = static_cast<unsigned>(random() % kWarps);
    std::vector<std::uint16_t> registers(1 + random() % 9);
    for (auto& r : registers) r = static_cast<std::uint16_t>(1 + random() % 40);
    const auto destinations = static_cast<std::uint8_t>(random() % (registers.size() + 1));
    const IssueInst inst = instruction(registers, destinations);
    std::uint64_t ready = 0;
    bool read_later = false;
    for (std::size_t i = 0; i < registers.size(); ++i) {
      const Register& r = known[warp][registers[i]];
      ready = std::max(ready, r.ready);
      read_later |= i < destinations && r.readers > 0;
    }
    REQUIRE(board.ready(warp, inst) == ready);
    REQUIRE(board.read_pending(warp, inst) == read_later);

    const unsigned kind = static_cast<unsigned>(random() % 100);
    if (kind < 50) {
      const Tick at = kind < 5   ? Scoreboard::kPendingLong
                      : kind < 9 ? Scoreboard::kPendingShort
                                 : static_cast<Tick>(random() % 5000);
      board.write(warp, inst, at);
      for (std::uint8_t i = 0; i < destinations; ++i) known[warp][registers[i]].ready = at;
    } else if (kind < 70 && readings.size() < 60) {
      board.add_readers(warp, inst);
      for (std::size_t i = destinations; i < registers.size(); ++i) ++known[warp][registers[i]].readers;
      readings.push_back({warp, registers, destinations});
    } else if (kind < 95 && !readings.empty()) {
      const std::size_t which = random() % readings.size();
      const Reading done = readings[which];
      readings.erase(readings.begin() + static_cast<std::ptrdiff_t>(which));
      board.release_readers(done.warp, instruction(done.registers, done.destinations));
      for (std::size_t i = done.destinations; i < done.registers.size(); ++i)
        --known[done.warp][done.registers[i]].readers;
    } else if (kind < 97) {
      const Tick delta = static_cast<Tick>(random() % 3000);
      board.rebase(delta);
      for (auto& of_warp : known)
        for (auto& [ignored, r] : of_warp)
          if (r.ready < Scoreboard::kPendingLong) r.ready -= std::min<std::uint64_t>(r.ready, delta);
    } else if (kind == 97) {
      board.clear(warp, 41);
      known[warp].clear();
      std::erase_if(readings, [&](const Reading& r) { return r.warp == warp; });
    }
  }
}
