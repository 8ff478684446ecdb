// Reconvergence in random structured code: which lanes are active together at every place, against an
// interpreter of whole warps that walks the tree of ifs, loops, breaks, switches and calls. Lanes that exit
// are waited for no longer.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test::structured {
namespace {

constexpr unsigned kFlowThreads = 80;  // two warps and a half

struct Node;
using Body = std::vector<std::unique_ptr<Node>>;

struct Node {
  enum class Kind { kMix, kLook, kIf, kLoop, kBreak, kSwitch, kCall, kReturn, kExit } kind = Kind::kMix;
  unsigned bit = 0, constant = 0, number = 0;  // number: of its labels
  // kIf: then and else; kLoop: the body; kCall: a function, or two of which each lane calls one.
  Body first, second;
  std::array<Body, 3> arms;  // kSwitch
};

class TreeMaker {
 public:
  explicit TreeMaker(unsigned seed) : random_(seed) {}
  enum class Of { kKernel, kFunction, kLoop, kOther };
  /// Breaks stand in a loop's own body only: of an if with a break in it the lanes meet behind the loop.
  /// Returns and exits likewise stand in the body of a function or the kernel.
  Body body(unsigned depth, Of of) {
    Body all;
    for (unsigned n = 1 + below(4); n > 0; --n) all.push_back(node(depth, of));
    return all;
  }

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
  Node::Kind leaving(Of of) {
    if (of == Of::kLoop) return Node::Kind::kBreak;
    if (of == Of::kOther) return Node::Kind::kLook;
    return of == Of::kFunction && below(3) != 0 ? Node::Kind::kReturn : Node::Kind::kExit;
  }
  std::unique_ptr<Node> node(unsigned depth, Of of) {
    using Kind = Node::Kind;
    auto n = std::make_unique<Node>();
    const unsigned roll = below(depth > 0 ? 13 : 5);
    n->kind = roll < 2    ? Kind::kMix
              : roll < 4  ? Kind::kLook
              : roll < 5  ? leaving(of)
              : roll < 8  ? Kind::kIf
              : roll < 10 ? Kind::kLoop
              : roll < 11 ? Kind::kSwitch
                          : Kind::kCall;
    n->bit = below(16);
    n->constant = 1 + below(999);
    n->number = labels_++;
    if (n->kind == Kind::kIf) n->first = body(depth - 1, Of::kOther);
    if (n->kind == Kind::kIf && below(2) == 0) n->second = body(depth - 1, Of::kOther);
    if (n->kind == Kind::kLoop) n->first = body(depth - 1, Of::kLoop);
    if (n->kind == Kind::kCall) n->first = body(depth - 1, Of::kFunction);
    if (n->kind == Kind::kCall && below(2) == 0) n->second = body(depth - 1, Of::kFunction);
    if (n->kind == Kind::kSwitch)
      for (Body& arm : n->arms) arm = body(depth - 1, Of::kOther);
    return n;
  }
  std::mt19937 random_;
  unsigned labels_ = 0;
};

/// Of a warp: each lane's value, and what it has seen of the others.
struct WarpModel {
  std::array<std::uint32_t, 32> value{}, seen{};
  std::uint32_t exited = 0;

  /// Returns the lanes that get to the end; those that break leave the innermost loop, those that return the
  /// function.
  std::uint32_t run(const Body& body, std::uint32_t lanes) {
    for (const auto& node : body) {
      if (lanes == 0) return 0;
      lanes = run(*node, lanes);
    }
    return lanes;
  }

 private:
  std::uint32_t run(const Node& n, std::uint32_t lanes) {
    switch (n.kind) {
      case Node::Kind::kMix:
        for_each(lanes, [&](unsigned l) { value[l] = value[l] * 1664525u + n.constant; });
        return lanes;
      case Node::Kind::kLook:
        for_each(lanes, [&](unsigned l) { seen[l] = seen[l] * 31u + lanes + n.constant; });
        return lanes;
      case Node::Kind::kBreak:
      case Node::Kind::kReturn:
        return lanes & ~chosen(n, lanes);
      case Node::Kind::kExit:
        exited |= chosen(n, lanes);
        return lanes & ~exited;
      case Node::Kind::kIf: {
        const std::uint32_t yes = chosen(n, lanes), after = run(n.first, yes);
        return after | run(n.second, lanes & ~yes);
      }
      case Node::Kind::kSwitch: {
        std::array<std::uint32_t, 3> of_arm{};
        for_each(lanes, [&](unsigned l) { of_arm[std::min(value[l] >> n.bit & 3, 2u)] |= 1u << l; });
        std::uint32_t after = 0;
        for (unsigned a = 0; a < 3; ++a) after |= run(n.arms[a], of_arm[a]);
        return after;
      }
      case Node::Kind::kCall: {
        const std::uint32_t yes = n.second.empty() ? lanes : chosen(n, lanes);
        run(n.first, yes);
        run(n.second, lanes & ~yes);
        return lanes & ~exited;
      }
      default: {
        std::array<std::uint32_t, 32> left{};
        for_each(lanes, [&](unsigned l) { left[l] = 1 + (value[l] >> n.bit & 3); });
        for (std::uint32_t now = lanes; now != 0;) {
          std::uint32_t again = 0;
          for_each(run(n.first, now), [&](unsigned l) {
            if (--left[l] != 0) again |= 1u << l;
          });
          now = again;
        }
        return lanes & ~exited;
      }
    }
  }
  [[nodiscard]] std::uint32_t chosen(const Node& n, std::uint32_t lanes) const {
    std::uint32_t yes = 0;
    for_each(lanes, [&](unsigned l) { yes |= (value[l] >> (n.bit + 5) & 1) << l; });
    return yes;
  }
  template <class Do>
  static void for_each(std::uint32_t lanes, Do what) {
    for (; lanes != 0; lanes &= lanes - 1) what(static_cast<unsigned>(std::countr_zero(lanes)));
  }
};

/// %v: the value, %s: what was seen. A loop's counter is %c with its number.
class Writer {
 public:
  /// Functions that are called are added to `functions`.
  explicit Writer(std::string& functions) : functions_(functions) {}
  std::string text;
  unsigned loops = 0;

  void body(const Body& all, const std::string& leave) {
    for (const auto& n : all) node(*n, leave);
  }

 private:
  void choose(const Node& n) {
    text += fmt::format("shr.u32 %t, %v, {}; and.b32 %t, %t, 1; setp.ne.u32 %p, %t, 0;\n", n.bit + 5);
  }
  void node(const Node& n, const std::string& leave) {
    switch (n.kind) {
      case Node::Kind::kMix:
        text += fmt::format("mad.lo.u32 %v, %v, 1664525, {};\n", n.constant);
        return;
      case Node::Kind::kLook:
        text +=
            fmt::format("activemask.b32 %t; add.u32 %t, %t, {}; mad.lo.u32 %s, %s, 31, %t;\n", n.constant);
        return;
      case Node::Kind::kBreak:
        choose(n);
        text += fmt::format("@%p bra {};\n", leave);
        return;
      case Node::Kind::kReturn:
        choose(n);
        text += "st.param.b32 [rv], %v; st.param.b32 [rs], %s;\n@%p ret;\n";
        return;
      case Node::Kind::kExit:
        choose(n);
        text += "@%p exit;\n";
        return;
      case Node::Kind::kCall:
        return call(n);
      case Node::Kind::kSwitch:
        text += fmt::format(
            "shr.u32 %t, %v, {1}; and.b32 %t, %t, 3; min.u32 %t, %t, 2;\n"
            "TO{0}: .branchtargets ARM{0}_0, ARM{0}_1, ARM{0}_2;\nbrx.idx %t, TO{0};\n",
            n.number, n.bit);
        for (unsigned a = 0; a < 3; ++a) {
          text += fmt::format("ARM{}_{}:\n", n.number, a);
          body(n.arms[a], leave);
          text += fmt::format("bra JOIN{};\n", n.number);
        }
        text += fmt::format("JOIN{}:\n", n.number);
        return;
      case Node::Kind::kIf:
        choose(n);
        text += fmt::format("@!%p bra ELSE{};\n", n.number);
        body(n.first, leave);
        text += fmt::format("bra JOIN{0};\nELSE{0}:\n", n.number);
        body(n.second, leave);
        text += fmt::format("JOIN{}:\n", n.number);
        return;
      case Node::Kind::kLoop: {
        const unsigned counter = loops++;
        text += fmt::format("shr.u32 %t, %v, {}; and.b32 %t, %t, 3; add.u32 %c{}, %t, 1;\nLOOP{}:\n", n.bit,
                            counter, n.number);
        body(n.first, fmt::format("DONE{}", n.number));
        text +=
            fmt::format("sub.u32 %c{0}, %c{0}, 1; setp.ne.u32 %p, %c{0}, 0;\n@%p bra LOOP{1};\nDONE{1}:\n",
                        counter, n.number);
        return;
      }
    }
  }
  void add_function(const std::string& name, const Body& all) {
    Writer inner(functions_);
    inner.body(all, "");
    functions_ += fmt::format(
        ".func (.param .b32 rv, .param .b32 rs) {}(.param .b32 av, .param .b32 as) {{\n"
        ".reg .b64 %f; .reg .b32 %v, %s, %t, %c<{}>; .reg .pred %p;\n"
        "ld.param.b32 %v, [av]; ld.param.b32 %s, [as];\n{}"
        "st.param.b32 [rv], %v; st.param.b32 [rs], %s;\nret;\n}}\n",
        name, inner.loops + 1, inner.text);
  }
  void call(const Node& n) {
    const std::string first = fmt::format("F{}_0", n.number), second = fmt::format("F{}_1", n.number);
    add_function(first, n.first);
    std::string to = "call (c, d), " + first + ", (a, b);";
    if (!n.second.empty()) {
      add_function(second, n.second);
      choose(n);
      text += fmt::format("mov.u64 %f, {}; @%p mov.u64 %f, {};\n", second, first);
      to = fmt::format(
          "P{0}: .callprototype (.param .b32 _, .param .b32 _) _ (.param .b32 _, .param .b32 _);\n"
          "call (c, d), %f, (a, b), P{0};",
          n.number);
    }
    text += fmt::format(
        "{{ .param .b32 a; .param .b32 b; .param .b32 c; .param .b32 d;\n"
        "st.param.b32 [a], %v; st.param.b32 [b], %s;\n{}\n"
        "ld.param.b32 %v, [c]; ld.param.b32 %s, [d]; }}\n",
        to);
  }
  std::string& functions_;
};

std::string kernel_of(const Body& tree) {
  std::string functions;
  Writer writer(functions);
  writer.body(tree, "");
  return functions +
         fmt::format(
             ".visible .entry k(.param .u64 out) {{\n.reg .b64 %d<3>, %f; .reg .b32 %v, %s, %t, %c<{}>; .reg "
             ".pred %p;\n"
             "ld.param.u64 %d1, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %d2, %t, 12; add.u64 %d1, %d1, %d2;\n"
             "mul.lo.u32 %v, %t, 2654435761; mov.u32 %s, 0;\n{}activemask.b32 %t;\nst.global.u32 [%d1], %v;\n"
             "st.global.u32 [%d1+4], %s; st.global.u32 [%d1+8], %t;\nret;\n}}\n",
             writer.loops + 1, writer.text);
}

}  // namespace

TEST_CASE(
    "lanes of random structured code are active together where the tree of the code has them together") {
  std::size_t divided = 0, exited = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    const Body tree = TreeMaker(seed).body(4, TreeMaker::Of::kKernel);
    CAPTURE(kernel_of(tree));
    Device device(kernel_of(tree));
    const Address out = device.zeros<std::uint32_t>(std::size_t{3} * kFlowThreads);
    device.run("k", {1, 1, 1}, {kFlowThreads, 1, 1}, Arguments(out));
    const auto found = device.read<std::uint32_t>(out, std::size_t{3} * kFlowThreads);
    for (unsigned first = 0; first < kFlowThreads; first += 32) {
      const unsigned count = std::min(32u, kFlowThreads - first);
      const std::uint32_t lanes = count == 32 ? ~0u : (1u << count) - 1;
      WarpModel warp;
      for (unsigned l = 0; l < count; ++l) warp.value[l] = (first + l) * 2654435761u;
      const std::uint32_t last = warp.run(tree, lanes);
      REQUIRE(last == (lanes & ~warp.exited));
      for (unsigned l = 0; l < count; ++l) {
        CAPTURE(first + l);
        if (warp.exited >> l & 1) {
          REQUIRE(found[std::size_t{3} * (first + l) + 2] == 0);
          ++exited;
          continue;
        }
        REQUIRE(found[std::size_t{3} * (first + l)] == warp.value[l]);
        REQUIRE(found[std::size_t{3} * (first + l) + 1] == warp.seen[l]);
        REQUIRE(found[std::size_t{3} * (first + l) + 2] == last);  // all meet at the end
        divided += warp.seen[l] != warp.seen[0];
      }
    }
  }
  CHECK(divided > 1000);
  CHECK(exited > 500);
}

}  // namespace lockstep::exec::test::structured
