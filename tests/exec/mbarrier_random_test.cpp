// Random sequences of mbarrier operations of one thread against the counts that the PTX ISA describes:
// pending and expected arrivals, bytes, phases.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/exec/one_thread.hpp"
#include "tests/random.hpp"

namespace lockstep::exec::test {
namespace {

/// PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier", Phase.
struct MbarrierCounts {
  std::uint32_t expected = 1, pending = 1, phase = 0;
  std::int32_t bytes = 0;

  void init(std::uint32_t count) { *this = {count, count, phase + 1000, 0}; }
  void arrive(std::uint32_t count) {
    pending -= count;
    settle();
  }
  void drop(std::uint32_t count) {
    expected -= count;
    arrive(count);
  }
  void expect(std::int32_t more) { bytes += more; }
  void complete(std::int32_t some) {
    bytes -= some;
    settle();
  }
  void settle() {
    if (pending != 0 || bytes != 0) return;
    pending = expected;
    ++phase;
  }
};

/// A program for two objects and what each of its results has to be.
class MbarrierProgram {
 public:
  explicit MbarrierProgram(std::uint32_t seed) : random_(seed) {
    text = "mov.u32 %r1, shared;\n";
    init(0), init(1);
    for (int i = 0; i < 120; ++i) step(below(2));
  }
  std::string text;
  std::vector<std::uint64_t> expected;
  std::vector<std::string> lines;  // what each result is of

 private:
  struct State {
    std::uint32_t phase = 0, pending = 0;
    bool known = false;
  };
  struct Object {
    MbarrierCounts counts;
    State state;  // kept in %d of the object
    std::uint32_t first_phase = 0;
  };

  std::uint32_t below(std::uint32_t n) { return random_() % n; }
  void line(std::string what) { text += std::move(what) + "\n"; }
  void result(const char* convert, const char* name, std::uint64_t value) {
    line(fmt::format(fmt::runtime(convert), name));
    line(fmt::format("st.global.u64 [%d0+{}], %d7;", 8 * expected.size()));
    lines.push_back(text.substr(text.rfind("mbarrier")));
    expected.push_back(value);
  }
  [[nodiscard]] std::string at(std::uint32_t o) const { return fmt::format("[%r1+{}]", 8 * o); }

  void init(std::uint32_t o) {
    Object& object = objects_[o];
    const std::uint32_t count = 1 + below(below(2) != 0 ? 5 : 1 << 20);
    line(fmt::format("mbarrier.init.shared.b64 {}, {};", at(o), std::min(count, (1u << 20) - 1)));
    object.counts.init(std::min(count, (1u << 20) - 1));
    object.first_phase = object.counts.phase;
    object.state.known = false;
  }

  /// An arrival whose state is kept, and what the state says.
  void arrived(std::uint32_t o, const std::string& how, std::uint32_t phase, std::uint32_t pending) {
    Object& object = objects_[o];
    line(fmt::format("mbarrier.{} %d{}, {};", how.substr(0, how.find('|')), 1 + o,
                     at(o) + how.substr(how.find('|') + 1)));
    object.state = {phase, pending, true};
    line(fmt::format("mbarrier.pending_count.b64 %r2, %d{};", 1 + o));
    result("cvt.u64.u32 %d7, {};", "%r2", pending);
  }

  void arrive(std::uint32_t o) {
    MbarrierCounts& counts = objects_[o].counts;
    if (counts.pending == 0) return complete(o);
    const std::uint32_t phase = counts.phase, pending = counts.pending;
    const std::uint32_t most = below(3) == 0 ? pending : std::min(pending, 3u), count = 1 + below(most);
    const bool drops = below(4) == 0 && counts.expected > count;
    const std::string number = count == 1 && below(2) != 0 ? "" : fmt::format(", {}", count);
    if (drops) {
      arrived(o, "arrive_drop.shared.b64|" + number, phase, pending);
      counts.drop(count);
    } else if (below(3) == 0) {
      const std::int32_t bytes = static_cast<std::int32_t>(below(1000));
      arrived(o, fmt::format("arrive.expect_tx.shared.b64|, {}", bytes), phase, pending);
      counts.expect(bytes);
      counts.arrive(1);
    } else {
      arrived(o, "arrive.shared.b64|" + number, phase, pending);
      counts.arrive(count);
    }
  }

  void expect(std::uint32_t o) {
    const std::int32_t bytes = 1 + static_cast<std::int32_t>(below(5000));
    line(fmt::format("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 {}, {};", at(o), bytes));
    objects_[o].counts.expect(bytes);
  }

  /// Not more than is missing.
  void complete(std::uint32_t o) {
    MbarrierCounts& counts = objects_[o].counts;
    if (counts.bytes == 0) return;
    const auto all = static_cast<std::uint32_t>(counts.bytes);
    const auto bytes = static_cast<std::int32_t>(below(2) != 0 ? all : 1 + below(all));
    line(fmt::format("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 {}, {};", at(o), bytes));
    counts.complete(bytes);
  }

  void test(std::uint32_t o) {
    const Object& object = objects_[o];
    const std::uint32_t passed = object.counts.phase - object.first_phase;
    const char* const wait = below(2) != 0 ? "test_wait" : "try_wait";
    if (object.state.known && object.counts.phase - object.state.phase <= 1 && below(2) != 0) {
      line(fmt::format("mbarrier.test_wait.shared.b64 %p1, {}, %d{};", at(o), 1 + o));
      return result("selp.u64 %d7, 1, 0, {};", "%p1", object.counts.phase - object.state.phase);
    }
    const std::uint32_t parity = below(2);
    const bool complete = (passed & 1) != parity;  // the phase before the current one has that parity
    if (!complete && wait[1] == 'r') return;       // a try_wait may take its time
    line(fmt::format("mbarrier.{}.parity.shared.b64 %p1, {}, {};", wait, at(o), parity));
    result("selp.u64 %d7, 1, 0, {};", "%p1", complete ? 1 : 0);
  }

  void step(std::uint32_t o) {
    switch (below(10)) {
      case 0:
        return below(4) == 0 ? init(o) : expect(o);
      case 1:
        return expect(o);
      case 2:
      case 3:
        return complete(o);
      case 4:
      case 5:
      case 6:
        return test(o);
      default:
        return arrive(o);
    }
  }

  lockstep::test::Random32 random_;
  Object objects_[2];
};

TEST_CASE("mbarrier: random operations give the states and phases that the counts give") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    const MbarrierProgram program(seed);
    Statements statements{program.text};
    statements.cells.resize(program.expected.size());
    (void)statements.run({});
    for (std::size_t i = 0; i < program.expected.size(); ++i) {
      INFO("seed " << seed << ", result " << i << ": " << program.lines[i]);
      REQUIRE(statements.cells[i] == program.expected[i]);
    }
  }
}

}  // namespace
}  // namespace lockstep::exec::test
