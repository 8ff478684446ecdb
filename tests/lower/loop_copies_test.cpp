// Copies of loop bodies: whatever the number of iterations, the copies store the same values at the same
// addresses in the same order, and each store says of which one of the source it is.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "lower/counted_loops.hpp"
#include "lower/iterations.hpp"
#include "lower/known_bits.hpp"
#include "lower/unroll.hpp"
#include "ptx/liveness.hpp"
#include "tests/lower/interpreter.hpp"
#include "tests/lower/support.hpp"

namespace lockstep::lower::test {
namespace {

/// A store: of which instruction of the source, where, and what.
using Store = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>;

class StoreLog : public Interpreter {
 public:
  StoreLog(const ptx::Function& f, RegisterFile& file, const std::vector<std::uint32_t>& origin)
      : Interpreter(f, file), origin_(origin) {}
  [[nodiscard]] const std::vector<Store>& stores() const { return stores_; }

 protected:
  void execute(std::uint32_t at) override {
    const ptx::Instruction& i = function_.instructions[at];
    if (i.op() == ptx::Opcode::kSt && !guarded_out(i)) {
      const std::uint64_t to = address_register(i.operands[0].reg);
      stores_.emplace_back(origin_[at], to + static_cast<std::uint64_t>(i.operands[0].offset),
                           operand(i.operands[1]));
    }
    Interpreter::execute(at);
  }

 private:
  const std::vector<std::uint32_t>& origin_;
  std::vector<Store> stores_;
};

std::vector<Store> stores_of(const Unrolled& all) {
  RegisterFile file;
  StoreLog log(all.function, file, all.origin);
  (void)log.run();
  return log.stores();
}

/// A loop with counter %i1. %i1 and the limit %i2 are not known where they are `hidden`.
struct Loop {
  std::string how;
  int start = 0, step = 1, limit = 0;
  bool hidden = true;
  std::string type = "s32";
};

const std::vector<std::string>& bodies() {
  static const std::vector<std::string> all{
      // Addresses that grow with the counter, values that do not.
      "mul.wide.s32 %l3, %i1, 4;\nadd.s64 %l4, %r1, %l3;\nst.global.u32 [%l4+8], %i6;\n",
      // The counter is stored itself; a sum goes on from iteration to iteration.
      "add.s32 %i6, %i6, %i1;\nst.global.u32 [%r1], %i6;\nst.global.u32 [%r1+4], %i1;\n",
      // A second counter, and a register that is written before and behind its reader.
      "xor.b32 %i7, %i8, 5;\nst.global.u32 [%l5], %i7;\nadd.s64 %l5, %l5, 12;\nadd.s32 %i8, %i7, 3;\n",
      // Under a guard.
      "and.b32 %i9, %i1, 1;\nsetp.eq.s32 %p2, %i9, 0;\n@%p2 st.global.u32 [%r1+16], %i1;\n"
      "@!%p2 add.s32 %i6, %i6, 7;\nst.global.u32 [%r1+20], %i6;\n",
      // Loads of what was stored before.
      "ld.global.u32 %i9, [%l5+-12];\nadd.s32 %i9, %i9, %i6;\nst.global.u32 [%l5], %i9;\n"
      "add.s64 %l5, %l5, 12;\nadd.s32 %i6, %i6, 1;\n",
  };
  return all;
}

std::string text_of(const Loop& loop, const std::string& body) {
  std::string text =
      "ld.global.u32 %i15, [%r1];\nand.b32 %i15, %i15, 0;\nadd.s64 %l5, %r1, 4096;\n"
      "mov.b32 %i6, 100;\nmov.b32 %i8, 9;\n";
  if (loop.hidden) {
    text += fmt::format("add.s32 %i1, %i15, {};\nadd.s32 %i2, %i15, {};\n", loop.start, loop.limit);
  } else {
    text += fmt::format("mov.b32 %i1, {};\n", loop.start);
  }
  return text +
         fmt::format("LOOP:\n{}add.s32 %i1, %i1, {};\nsetp.{}.{} %p1, %i1, {};\n@%p1 bra LOOP;\n", body,
                     loop.step, loop.how, loop.type,
                     loop.hidden ? std::string("%i2") : std::to_string(loop.limit)) +
         "st.global.u32 [%r1+64], %i1;\nst.global.u32 [%r1+68], %i6;\nst.global.u64 [%r1+72], %l5;\n";
}

/// How many loops there were left in part.
std::size_t check(const Loop& loop, const std::string& body, unsigned arch = 86) {
  CAPTURE(loop.how, loop.type, loop.start, loop.step, loop.limit, loop.hidden, body, arch);
  const ptx::Function f = function_of(text_of(loop, body));
  const auto expected = stores_of(not_unrolled(f));
  const Unrolled all = unroll(f, {}, arch);
  CHECK(stores_of(all) == expected);
  CHECK(all.origin.size() == all.function.instructions.size());
  CHECK(all.gone.size() == all.origin.size());
  CHECK(all.added.size() == all.origin.size());
  for (std::size_t at = 0; at < all.origin.size(); ++at)
    if (!all.gone[at] && !all.added[at])
      CHECK(all.function.instructions[at].op() == f.instructions[all.origin[at]].op());
  return all.partial.size();
}

}  // namespace

TEST_CASE("loops of unknown length: copies store what the loop does, for 1 to 14 iterations") {
  std::size_t in_part = 0, checked = 0;
  for (const std::string& body : bodies())
    for (int n = 1; n <= 14; ++n) {
      for (const int step : {1, 3}) {
        in_part += check({"lt", 2, step, 2 + step * n}, body);
        in_part += check({"lt", 2, step, 2 + step * n - (step - 1)}, body);
        in_part += check({"le", 2, step, 2 + step * (n - 1)}, body);
        in_part += check({"ne", 2, step, 2 + step * n}, body);
        in_part += check({"gt", 2, -step, 2 - step * n}, body);
        in_part += check({"ge", 2, -step, 2 - step * (n - 1)}, body);
        checked += 6;
      }
      in_part += check({"lt", 2, 1, 2 + n, true, "u32"}, body);
      ++checked;
    }
  CHECK(in_part == checked);
}

TEST_CASE("loops of known length are unrolled as a whole, and store what they did") {
  for (const std::string& body : bodies())
    for (const int n : {2, 3, 4, 7, 16, 33}) {
      CHECK(check({"lt", 0, 1, n, false}, body) == 0);
      CHECK(check({"ne", 5 * n, -5, 0, false}, body, 75) == 0);
      CHECK(check({"ge", n - 1, -1, 0, false}, body, 90) == 0);
      const ptx::Function whole = unroll(function_of(text_of({"lt", 0, 1, n, false}, body)), {}, 86).function;
      CHECK_FALSE(find_counted_loop(whole, 0));
    }
}

TEST_CASE("long loops of known length are unrolled in part, with or without a rest") {
  std::size_t in_part = 0;
  for (const std::string& body : bodies())
    for (const int n : {1000, 1001, 1023, 1500}) in_part += check({"lt", 0, 1, n, false}, body);
  CHECK(in_part == 4 * bodies().size());
}

TEST_CASE("a loop that may not be unrolled stays") {
  const std::string text = text_of({"lt", 0, 1, 8, false}, bodies()[0]);
  const ptx::Function plain = function_of(text);
  REQUIRE(unroll(plain, {}, 86).function.instructions.size() > plain.instructions.size());
  std::string marked = text;
  marked.insert(marked.find("LOOP:\n") + 6, ".pragma \"nounroll\";\n");
  const ptx::Function f = function_of(marked);
  const Unrolled all = unroll(f, {}, 86);
  CHECK(all.function.instructions.size() == f.instructions.size());
  CHECK(std::ranges::count(all.gone, true) == 0);
  ptx::Function whole = plain;
  whole.directives.pragmas.push_back("nounroll");
  CHECK(unroll(whole, {}, 86).function.instructions.size() == plain.instructions.size());
}

TEST_CASE("addresses of copies are offsets from the first one's, and their sums are gone") {
  const ptx::Function f = function_of(text_of({"lt", 0, 1, 4, false}, bodies()[0]));
  const auto loop = find_counted_loop(f, 0);
  REQUIRE(loop);
  const auto possible = possible_bits(f, {});
  const Iterations four(f, *loop, 4, false, f.registers, possible);
  // A product reads the counter, so each copy steps it; no copy compares or branches.
  CHECK(four.instructions() == 4 * 4);
  const std::string body = "st.global.u32 [%l5], %i6;\nadd.s64 %l5, %l5, 12;\n";
  const ptx::Function g = function_of(text_of({"lt", 0, 1, 4, false}, body));
  const auto inner = find_counted_loop(g, 0);
  REQUIRE(inner);
  const auto bits = possible_bits(g, {});
  const Iterations stores(g, *inner, 4, false, g.registers, bits);
  CHECK(stores.instructions() == 4 + 2);  // four stores; one sum for each of the two counters
  std::vector<std::int64_t> offsets;
  for (std::size_t at = 0; at < stores.code().size(); ++at)
    if (!stores.gone()[at] && stores.code()[at].op() == ptx::Opcode::kSt)
      offsets.push_back(stores.code()[at].operands[0].offset);
  CHECK(offsets == std::vector<std::int64_t>{0, 12, 24, 36});
}

TEST_CASE("what stands for no instruction reads and writes nothing, and does not move") {
  const ptx::Function f = function_of("@%p1 st.global.v2.b32 [%r1], {%i1, %i2};\n");
  const ptx::Instruction nothing = nothing_of(f.instructions[1]);
  const ptx::RegisterUse use = ptx::register_use(nothing);
  CHECK(use.reads.empty());
  CHECK(use.writes.empty());
  CHECK_FALSE(nothing.guard);
  CHECK(nothing.place.line == f.instructions[1].place.line);
}

TEST_CASE("code in a loop's place moves the labels behind it and leaves those before") {
  ptx::Function f = function_of("A: mov.b32 %i1, 1;\nB: mov.b32 %i2, 2;\nC: mov.b32 %i3, 3;\nD:\n");
  Unrolled all = not_unrolled(f);
  InPlace by;
  by.code.assign(5, f.instructions[2]);
  by.origin.assign(5, 2);
  by.gone.assign(5, false);
  by.added.assign(5, true);
  replace(all, 2, 3, by);
  const auto at = [&](const std::string& name) {
    return std::ranges::find(all.function.labels, name, &ptx::Label::name)->instruction;
  };
  CHECK(at("A") == 1);
  CHECK(at("B") == 2);
  CHECK(at("C") == 7);
  CHECK(at("D") == 8);
  CHECK(all.origin == std::vector<std::uint32_t>{0, 1, 2, 2, 2, 2, 2, 3, 4});
  CHECK(std::ranges::count(all.added, true) == 5);
}

}  // namespace lockstep::lower::test
