// Results of runs on disk: each state from the files that make it, and what a failure or an end leaves.
#include "study/run_store.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stats/files.hpp"
#include "study/figures.hpp"
#include "study/table.hpp"
#include "support.hpp"
#include "tests/temporary_folder.hpp"

namespace lockstep::study {
namespace {

/// A store with one run, k.
struct StoreOfOne {
  test::TemporaryFolder folder;
  RunStore store{folder.path().string()};
  void put(const std::string& name, const std::string& text) const { folder.write("runs/k/" + name, text); }
  [[nodiscard]] bool has(const std::string& name) const {
    return std::filesystem::exists(folder / ("runs/k/" + name));
  }
  [[nodiscard]] State state() const { return store.lookup("k").state; }
};

std::string stats_text(const std::string& partial) {
  return R"({"schema":1,"trace":{"name":"t","hash":"0"},"kernels":[],"copies":[],"total":{"cycles":8})" +
         (partial.empty() ? "" : "," + partial) + "}";
}

}  // namespace

TEST_CASE("store: a run is complete if its results say that they are whole, or ended by a limit of its own") {
  const std::pair<const char*, State> rows[] = {
      {R"("partial":false)", State::kComplete},
      {R"("partial":true,"partial_reason":"max-cycles")", State::kComplete},
      {R"("partial":true,"partial_reason":"max-kernels")", State::kComplete},
      {R"("partial":true,"partial_reason":"interrupted")", State::kMissing},
      {R"("partial":true,"partial_reason":"")", State::kMissing},
      {R"("partial":true)", State::kMissing},
      {R"("partial":true,"partial_reason":7)", State::kMissing},
      {R"("partial":"no")", State::kMissing},
      {"", State::kMissing}};
  for (const auto& [partial, state] : rows) {
    CAPTURE(partial);
    const StoreOfOne one;
    one.put("stats.json", stats_text(partial));
    CHECK(one.state() == state);
  }
  for (const char* text : {"", "[]", "7", "{", "\xff", R"({"schema":1})"}) {
    CAPTURE(text);
    const StoreOfOne one;
    one.put("stats.json", text);
    CHECK(one.state() == State::kMissing);
  }
}

TEST_CASE("store: a failure counts before results, until the run is prepared anew") {
  const StoreOfOne one;
  one.put("stats.json", stats_text(R"("partial":false)"));
  one.store.fail("k", "exit code 3: \"so\"\n\x1b[1m\xff");
  const Stored failed = one.store.lookup("k");
  CHECK(failed.state == State::kFailed);
  CHECK(failed.error.starts_with("exit code 3: \"so\""));
  for (const char bad : {'\n', '\x1b', '\xff'}) CHECK(failed.error.find(bad) == std::string::npos);
  one.store.prepare("k", "what it is\n");
  CHECK(one.state() == State::kComplete);
  CHECK(stats::read_file(one.folder / "runs/k/identity.txt") == "what it is\n");
}

TEST_CASE("store: a failure that cannot be read is one nevertheless") {
  for (const char* text : {"", "{", "[]", "{}", R"({"error":5})"}) {
    CAPTURE(text);
    const StoreOfOne one;
    one.put("failure.json", text);
    CHECK(one.store.lookup("k").state == State::kFailed);
    CHECK(one.store.lookup("k").error == "failed; its failure.json cannot be read");
  }
}

TEST_CASE("store: what an interrupted run has left is resumed, and forgotten with the rest") {
  const StoreOfOne one;
  CHECK_FALSE(one.store.has_checkpoint("k"));
  for (const char* other : {"kernels-.checkpoint", "kernels-x.checkpoint", "kernels-3.checkpoint.part"})
    one.put(std::string("checkpoints/") + other, "");
  CHECK_FALSE(one.store.has_checkpoint("k"));
  one.put("checkpoints/kernels-3.checkpoint", "");
  CHECK(one.store.has_checkpoint("k"));
  one.put("stats.json", stats_text(R"("partial":false)"));
  one.put("log", "kept");
  one.store.forget("k");
  CHECK(one.state() == State::kMissing);
  CHECK_FALSE(one.store.has_checkpoint("k"));
  CHECK(one.has("log"));
  one.store.forget("k");  // there is nothing left
}

TEST_CASE("store: a lock goes along when it is moved, and with its last holder") {
  const StoreOfOne one;
  one.put("log", "");
  const std::string folder = one.store.folder_of("k");
  CHECK(folder == one.folder / "runs/k");
  auto first = RunLock::take(folder);
  REQUIRE(first);
  {
    RunLock moved(std::move(*first));
    first.reset();
    CHECK(one.state() == State::kRunning);
    CHECK(one.store.lookup_unlocked("k").state == State::kMissing);
    CHECK_FALSE(RunLock::take(folder));
  }
  CHECK(one.state() == State::kMissing);
  CHECK_THROWS_WITH(RunLock::take(one.folder / "nowhere"), Catch::Contains("nowhere/lock: cannot be made"));
}

TEST_CASE("store: keys of texts that differ in one place differ") {
  std::set<std::string> keys;
  const std::string text = "run -c v100 --set l1.bytes=65536 traces/sgemm";
  for (std::size_t at = 0; at <= text.size(); ++at) {
    keys.insert(key_of(text.substr(0, at)));
    if (at < text.size()) keys.insert(key_of(std::string(text).replace(at, 1, "#")));
  }
  CHECK(keys.size() == 2 * text.size() + 1);
  for (const std::string& key : keys)
    CHECK((key.size() == 16 && key.find_first_not_of("0123456789abcdef") == std::string::npos));
  const char* names[] = {"missing", "running", "complete", "failed"};
  for (const State state : {State::kMissing, State::kRunning, State::kComplete, State::kFailed})
    CHECK(std::string(name_of(state)) == names[static_cast<int>(state)]);
}

TEST_CASE("store: a table has the columns that its runs bring, and nothing in those of others") {
  const test::TemporaryFolder folder;
  const RunStore store(folder.path().string());
  const Study study = parse_study(kWorkload + "[[axis]]\nkey = \"a\"\nvalues = [1, 2, 3]\n", "s.toml");
  folder.write("runs/k0/stats.json",
               R"({"schema":1,"trace":{"name":"t","hash":"0"},"kernels":[],"copies":[],"partial":false,)"
               R"("total":{"only":{"first":5}},"overrides":["a=1"],"unknown_opcodes":{"X":2}})");
  folder.write("runs/k2/stats.json", stats_text(R"("partial":false)"));
  const Table table = make_table(study, plan(study), std::vector<std::string>{"k0", "k1", "k2"}, store);
  CHECK(table.at(0, "only.first") == 5);
  CHECK(table.at(0, "cycles").is_null());
  CHECK(table.at(2, "cycles") == 8);
  CHECK(table.at(2, "only.first").is_null());
  CHECK(table.at(1, "state") == "missing");
  CHECK(table.at(1, "trace.name").is_null());
  CHECK(table.at(0, "trace.name") == "t");
  for (const char* none : {"overrides", "unknown_opcodes.X", "schema", "kernels", "nothing"})
    CHECK(table.column(none) == table.columns.size());
  CHECK(table.at(0, "nothing").is_null());
  for (const auto& row : table.rows) CHECK(row.size() == table.columns.size());
}

TEST_CASE("store: figures of several workloads leave out runs without a value") {
  const std::string two =
      "[[workload]]\nname = \"one\"\ntrace = \"t\"\n[[workload]]\nname = \"two\"\ntrace = "
      "\"u\"\n[[axis]]\nname = \"kib\"\nkey = \"a\"\nvalues = [16, 32]\n";
  const Table table{{"workload", "kib", "ipc", "ns"},
                    {{"one", 16u, 1.5, 100u},
                     {"one", 32u, nullptr, 90u},
                     {"two", 16u, 0.5, 80u},
                     {"two", 32u, 0.75, nullptr}}};
  const auto drawn_as = [&](const std::string& figure) {
    const Study study = parse_study(two + "[[figure]]\nname = \"f\"\n" + figure, "s.toml");
    return draw(study, study.figures.at(0), table);
  };
  using Catch::Contains;
  const std::string lines = drawn_as("x = \"kib\"\ny = \"ipc\"\nseries = \"workload\"\n");
  CHECK_THAT(lines, Contains("workload one: 16, 1.5<") && Contains("workload two: 16, 0.5<") &&
                        Contains("workload two: 32, 0.75<") && !Contains("workload one: 32"));
  const std::string bars = drawn_as("kind = \"bars\"\nx = \"workload\"\ny = \"ipc\"\nseries = \"kib\"\n");
  CHECK_THAT(bars,
             Contains("one, kib 16: 1.5<") || Contains("kib 16, one: 1.5<") || Contains("kib 16 one: 1.5<"));
  const std::string pareto = drawn_as("kind = \"pareto\"\nx = \"ipc\"\ny = \"ns\"\n");
  CHECK_THAT(pareto,
             Contains("one, kib 16: 1.5, 100<") && Contains("two, kib 16: 0.5, 80<") && !Contains("kib 32:"));
}

}  // namespace lockstep::study
