// Post-dominators and live registers of random graphs against second implementations that follow the
// definitions.
#include "ptx/control_flow.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <string>

#include "ptx/dominators.hpp"
#include "ptx/liveness.hpp"
#include "ptx/parser.hpp"
#include "tests/ptx/support.hpp"

namespace lockstep::ptx {
namespace {

/// A generator whose numbers fit ids.
struct Random {
  explicit Random(unsigned seed) : engine(seed) {}
  std::uint32_t operator()() { return static_cast<std::uint32_t>(engine()); }
  std::mt19937 engine;
};

/// Nodes reachable from `from` without entering `without`.
std::set<std::uint32_t> reachable(const Graph& g, std::uint32_t from, std::uint32_t without) {
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> todo;
  if (from != without) todo.push_back(from);
  while (!todo.empty()) {
    const std::uint32_t n = todo.back();
    todo.pop_back();
    if (!seen.insert(n).second) continue;
    for (const std::uint32_t s : g[n]) {
      if (s != without) todo.push_back(s);
    }
  }
  return seen;
}

/// By definition: x dominates n when n cannot be reached without x; the immediate one is dominated by all
/// others.
std::uint32_t dominator_by_definition(const Graph& g, std::uint32_t root, std::uint32_t n) {
  if (n == root || !reachable(g, root, kNoNode).contains(n)) return kNoNode;
  std::vector<std::uint32_t> dominators;
  for (std::uint32_t x = 0; x < g.size(); ++x) {
    if (x != n && !reachable(g, root, x).contains(n)) dominators.push_back(x);
  }
  for (const std::uint32_t x : dominators) {
    const std::set<std::uint32_t> before = reachable(g, root, x);
    const bool is_last = std::none_of(dominators.begin(), dominators.end(),
                                      [&](std::uint32_t y) { return y != x && !before.contains(y); });
    if (is_last) return x;
  }
  return kNoNode;
}

/// Random statements: a few labels, branches anywhere (so loops that no exit ends, and irreducible ones),
/// tables, guarded exits, calls of registers by simple arithmetic.
std::string random_body(Random& random) {
  const auto pick = [&](unsigned n) { return random() % n; };
  const unsigned blocks = 1 + pick(12), registers = 1 + pick(8);
  const auto reg = [&] { return "%r" + std::to_string(pick(registers)); };
  std::string body;
  for (unsigned b = 0; b < blocks; ++b) {
    body += "L" + std::to_string(b) + ":\n";
    for (unsigned i = pick(4); i > 0; --i) {
      const unsigned kind = pick(5);
      const std::string guard = pick(4) == 0 ? "@%p0 " : "";
      if (kind == 0) body += guard + "mov.b32 " + reg() + ", 7;\n";
      if (kind == 1) body += guard + "add.s32 " + reg() + ", " + reg() + ", " + reg() + ";\n";
      if (kind == 2) body += guard + "st.global.v2.b32 [%d0], {" + reg() + ", " + reg() + "};\n";
      if (kind == 3) body += "setp.eq.s32 %p0|%p1, " + reg() + ", 0;\n";
      if (kind == 4) body += "mov.b64 {" + reg() + ", _}, %d1;\n";
    }
    const auto label = [&] { return "L" + std::to_string(pick(blocks)); };
    const unsigned end = pick(7);
    if (end < 2) body += "@%p1 bra " + label() + ";\n";
    if (end == 2) body += "bra " + label() + ";\n";
    if (end == 3) body += "@!%p0 exit;\n";
    if (end == 4 && pick(3) == 0) body += "ret;\n";
    if (end == 5) {
      const std::string table = "T" + std::to_string(b);
      body += table + ": .branchtargets " + label() + ", " + label() + ", " + label() + ";\n";
      body += "brx.idx " + reg() + ", " + table + ";\n";
    }
  }
  return body;
}

/// Where control may go after instruction i; f.instructions.size() is the end.
std::vector<std::uint32_t> next_instructions(const Function& f, std::uint32_t i) {
  const Instruction& inst = f.instructions[i];
  const auto end = static_cast<std::uint32_t>(f.instructions.size());
  std::vector<std::uint32_t> next;
  const std::string op(name(inst.op()));
  if (op == "bra") next.push_back(f.labels[inst.operands[0].index].instruction);
  if (op == "brx") {
    for (const std::uint32_t l : f.branch_tables[inst.operands[1].index].labels)
      next.push_back(f.labels[l].instruction);
  }
  if (op == "ret" || op == "exit") next.push_back(end);
  if (next.empty() || inst.guard) next.push_back(i + 1);
  return next;
}

Graph instruction_graph(const Function& f) {
  Graph g(f.instructions.size() + 1);
  for (std::uint32_t i = 0; i < f.instructions.size(); ++i) g[i] = next_instructions(f, i);
  return g;
}

/// Live before each instruction by iterating the equations until nothing changes.
std::vector<std::set<RegisterId>> live_by_definition(const Function& f, const Graph& g) {
  std::vector<std::set<RegisterId>> live(g.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t i = 0; i < f.instructions.size(); ++i) {
      std::set<RegisterId> now;
      for (const std::uint32_t s : g[i]) now.insert(live[s].begin(), live[s].end());
      const RegisterUse use = register_use(f.instructions[i]);
      for (const RegisterId id : use.writes) now.erase(id);
      now.insert(use.reads.begin(), use.reads.end());
      changed |= now != live[i];
      live[i] = std::move(now);
    }
  }
  return live;
}

Pressure pressure_of_set(const Function& f, const std::set<RegisterId>& registers) {
  Pressure p;
  for (const RegisterId id : registers) {
    const Type t = f.registers[id].type;
    if (t == Type::kPred) ++p.predicates;
    if (t == Type::kB32) ++p.words;
    if (t == Type::kB64) p.words += 2;
  }
  return p;
}

}  // namespace

TEST_CASE("ptx flow: immediate dominators of random graphs are those of the definition") {
  Random random(1);
  for (int round = 0; round < 400; ++round) {
    const std::uint32_t n = 1 + random() % 14;
    Graph g(n);
    for (unsigned e = random() % (3 * n); e > 0; --e) g[random() % n].push_back(random() % n);
    const auto root = random() % n;
    const auto found = immediate_dominators(g, root);
    for (std::uint32_t i = 0; i < n; ++i) REQUIRE(found[i] == dominator_by_definition(g, root, i));
  }
}

TEST_CASE("ptx flow: a long chain with back edges takes no recursion") {
  constexpr std::uint32_t kNodes = 200'000;
  Graph g(kNodes);
  for (std::uint32_t i = 0; i + 1 < kNodes; ++i) g[i] = {i + 1, i / 2};
  const auto found = immediate_dominators(g, 0);
  REQUIRE(found[0] == kNoNode);
  for (std::uint32_t i = 1; i < kNodes; ++i) REQUIRE(found[i] == i - 1);
}

TEST_CASE("ptx flow: reconvergence of random functions is the immediate post-dominator, by definition") {
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    const Function f = parse_kernel(random_body(random));
    const ControlFlow flow(f);
    const Graph g = instruction_graph(f);
    const auto end = static_cast<std::uint32_t>(f.instructions.size());
    Graph backwards(g.size());
    for (std::uint32_t i = 0; i < end; ++i) {
      for (const std::uint32_t s : g[i]) backwards[s].push_back(i);
    }
    const auto reached = reachable(g, 0, kNoNode);
    for (std::uint32_t i = 0; i < end; ++i) {
      const Block& block = flow.blocks()[flow.block_of(i)];
      REQUIRE(block.first <= i);
      REQUIRE(i < block.end);
      REQUIRE(block.reachable == reached.contains(i));
      if (i + 1 != block.end) {
        REQUIRE(g[i] == std::vector<std::uint32_t>{i + 1});
        continue;
      }
      const std::uint32_t expected = dominator_by_definition(backwards, end, i);
      const bool none = expected == kNoNode || expected == end;
      REQUIRE(flow.reconvergence(i) == (none ? ControlFlow::kAtExit : expected));
    }
  }
}

TEST_CASE("ptx flow: the known places where lanes meet again") {
  const Function f = parse_kernel(
      "@%p0 bra THEN;\n"              // 0
      "mov.b32 %r0, 1;\n"             // 1
      "bra JOIN;\n"                   // 2
      "THEN: mov.b32 %r0, 2;\n"       // 3
      "JOIN: add.s32 %r1, %r0, 1;\n"  // 4
      "LOOP: add.s32 %r1, %r1, 1;\n"  // 5
      "@%p1 bra LOOP;\n"              // 6
      "@%p2 exit;\n"                  // 7
      "FOREVER: bra FOREVER;");       // 8
  const ControlFlow flow(f);
  CHECK(flow.reconvergence(0) == 4);
  CHECK(flow.reconvergence(6) == 7);
  CHECK(flow.reconvergence(7) == ControlFlow::kAtExit);
  CHECK(flow.reconvergence(8) == ControlFlow::kAtExit);
  CHECK(flow.blocks().size() == 7);
}

TEST_CASE("ptx flow: live registers of random functions are those of the equations") {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    const Function f = parse_kernel(random_body(random));
    const ControlFlow flow(f);
    const Liveness liveness(f, flow);
    const Graph g = instruction_graph(f);
    const auto live = live_by_definition(f, g);
    Pressure most;
    for (std::uint32_t i = 0; i < f.instructions.size(); ++i) {
      if (!flow.blocks()[flow.block_of(i)].reachable) {
        REQUIRE(liveness.live_before(i).empty());
        continue;
      }
      REQUIRE(liveness.live_before(i) == std::vector<RegisterId>(live[i].begin(), live[i].end()));
      std::set<RegisterId> after;
      for (const std::uint32_t s : g[i]) after.insert(live[s].begin(), live[s].end());
      for (const RegisterId id : register_use(f.instructions[i]).writes) after.insert(id);
      const Pressure p = pressure_of_set(f, live[i]), q = pressure_of_set(f, after);
      const Pressure both{std::max(p.words, q.words), std::max(p.predicates, q.predicates)};
      REQUIRE(liveness.pressure()[i] == both);
      most = {std::max(most.words, both.words), std::max(most.predicates, both.predicates)};
    }
    REQUIRE(liveness.max_pressure() == most);
  }
}

TEST_CASE("ptx flow: what instructions read and write") {
  using Ids = std::vector<std::string>;
  const auto check = [](const std::string& statement, const Ids& reads, const Ids& writes) {
    INFO(statement);
    const Function f = parse_kernel("P: .callprototype (.param .b32 _) _ (.param .b32 _);\n" + statement);
    const auto names = [&f](const std::vector<RegisterId>& ids) {
      Ids out;
      for (const RegisterId id : ids) out.push_back(f.registers[id].name);
      return out;
    };
    const RegisterUse use = register_use(f.instructions[0]);
    CHECK(names(use.reads) == reads);
    CHECK(names(use.writes) == writes);
  };
  check("add.s32 %r1, %r2, %r2;", {"%r2"}, {"%r1"});
  check("@!%p1 mov.b32 %r1, %r2;", {"%p1", "%r2", "%r1"}, {"%r1"});
  check("ld.global.v2.b32 {%r1, %r2}, [%d1+4];", {"%d1"}, {"%r1", "%r2"});
  check("st.shared.v2.b32 [%r3], {%r1, %r2};", {"%r3", "%r1", "%r2"}, {});
  check("setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;", {"%r1", "%r2", "%p3"}, {"%p1", "%p2"});
  check("red.global.add.u32 [%d1], %r1;", {"%d1", "%r1"}, {});
  check("atom.global.cas.b32 %r1, [%d1], %r2, %r3;", {"%d1", "%r2", "%r3"}, {"%r1"});
  check("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5, %f6}];", {"%d1", "%f5", "%f6"},
        {"%f1", "%f2", "%f3", "%f4"});
  check("call (%r1), %d1, (%r2), P;", {"%d1", "%r2"}, {"%r1"});
  check("bar.sync %r1, %r2;", {"%r1", "%r2"}, {});
  check("bar.red.popc.u32 %r1, 0, %p1;", {"%p1"}, {"%r1"});
  check("mbarrier.arrive.shared.b64 %d1, [%r1];", {"%r1"}, {"%d1"});
  check("mbarrier.init.shared.b64 [%r1], %r2;", {"%r1", "%r2"}, {});
  check("wmma.store.d.sync.aligned.row.m8n8k4.f64 [%d1], {%d2, %d3}, %r1;", {"%d1", "%d2", "%d3", "%r1"}, {});
  check("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d2, 1, 1, 1, 0, 0;",
        {"%d1", "%d2", "%f1", "%f2", "%f3", "%f4"}, {"%f1", "%f2", "%f3", "%f4"});
  check("shfl.sync.idx.b32 %r1|%p1, %r2, %r3, 31, -1;", {"%r2", "%r3"}, {"%r1", "%p1"});
}

}  // namespace lockstep::ptx
