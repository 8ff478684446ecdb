// What decoding marks: accesses to shared memory, polls, writes that others may wait for, loops that take
// work, loops that wait, accesses through one base. Each instruction is in a small kernel of its own.
#include "exec/passes.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/exec/support.hpp"

namespace lockstep::exec::test {
namespace {

/// A kernel of some statements. %d1 is an address; `tile` is in shared memory. One at a time: a process has
/// one place for the memory of devices.
class Marked {
 public:
  explicit Marked(const std::string& body)
      : device_(
            ".entry k(.param .u64 p) {\n.reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<9>; .reg .b16 "
            "%h<4>;\n"
            ".shared .align 16 .b8 tile[256];\nld.param.u64 %d1, [p];\n" +
            body + "ret;\n}\n"),
        kernel(device_.kernel("k")) {}
  /// The nth operation of a handler, from 0; the first one is the load of the parameter, which is none.
  [[nodiscard]] const Operation& operation(Handler handler, unsigned n = 0) const {
    for (std::size_t at = 1; at < kernel->operations().size(); ++at)
      if (kernel->operations()[at].handler == handler && n-- == 0) return kernel->operations()[at];
    throw std::runtime_error("no such operation");
  }
  [[nodiscard]] const MemoryForm& memory(Handler handler, unsigned n = 0) const {
    return kernel->memory()[operation(handler, n).detail];
  }
  [[nodiscard]] const MemoryForm& load(unsigned n = 0) const { return memory(Handler::kLoad, n); }
  [[nodiscard]] const MemoryForm& store(unsigned n = 0) const { return memory(Handler::kStore, n); }

 private:
  Device device_;

 public:
  std::unique_ptr<Executable> kernel;
};

/// Of the statement's operation, as "reads", "writes?" (only where the address is one of shared memory), ...
std::string sharing_of_statement(const std::string& statement) {
  const Marked m(statement + "\n");
  const SharedAccess access = m.kernel->shared_accesses().at(1);
  static const char* const kNames[] = {"none", "reads", "writes", "updates", "compares"};
  return std::string(kNames[static_cast<int>(access.sharing)]) + (access.generic ? "?" : "");
}

/// Of each store and atomic of a body: 'S' where others may wait for it, else '-'.
std::string signals(const std::string& body) {
  const Marked m(body);
  std::string all;
  for (const Operation& op : m.kernel->operations())
    if (op.handler == Handler::kStore || op.handler == Handler::kAtomic)
      all += m.kernel->memory()[op.detail].signals ? 'S' : '-';
  return all;
}

/// `while (!done) body;`, where the body sets %p1 once it is done.
std::string loop(const std::string& body) { return "LOOP:\n" + body + "@!%p1 bra LOOP;\n"; }

const std::string kLook = "ld.global.b32 %r1, [%d1];\nsetp.ne.s32 %p1, %r1, 0;\n";

}  // namespace

TEST_CASE("passes: what operations do with shared memory") {
  CHECK(sharing_of_statement("ld.shared.b32 %r1, [tile];") == "reads");
  CHECK(sharing_of_statement("ld.b32 %r1, [%d1];") == "reads?");
  CHECK(sharing_of_statement("ld.global.b32 %r1, [%d1];") == "none");
  CHECK(sharing_of_statement("ld.local.b32 %r1, [%r2];") == "none");
  CHECK(sharing_of_statement("st.shared.b32 [tile], %r1;") == "writes");
  CHECK(sharing_of_statement("st.b32 [%d1], %r1;") == "writes?");
  CHECK(sharing_of_statement("st.global.b32 [%d1], %r1;") == "none");
  CHECK(sharing_of_statement("atom.shared.add.u32 %r1, [tile], 1;") == "updates");
  CHECK(sharing_of_statement("red.shared.add.u32 [tile], 1;") == "updates");
  CHECK(sharing_of_statement("atom.add.u32 %r1, [%d1], 1;") == "updates?");
  CHECK(sharing_of_statement("atom.shared.cas.b32 %r1, [tile], 0, 1;") == "compares");
  CHECK(sharing_of_statement("atom.global.cas.b32 %r1, [%d1], 0, 1;") == "none");
  CHECK(sharing_of_statement("cp.async.ca.shared.global [tile], [%d1], 4;") == "writes");
  CHECK(sharing_of_statement("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];") == "reads");
  CHECK(sharing_of_statement("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%r1};") == "writes");
  CHECK(sharing_of_statement("add.s32 %r1, %r2, 1;") == "none");
  CHECK(sharing_of_statement("bar.sync 0;") == "none");
}

TEST_CASE("passes: strong loads poll, plain ones in a loop that does nothing but look, with a fence") {
  CHECK(Marked("ld.volatile.global.b32 %r1, [%d1];\n").load().polls);
  CHECK(Marked("ld.acquire.gpu.global.b32 %r1, [%d1];\n").load().polls);
  CHECK(Marked("ld.relaxed.gpu.global.b32 %r1, [%d1];\n").load().polls);
  CHECK_FALSE(Marked("ld.global.b32 %r1, [%d1];\n").load().polls);
  CHECK_FALSE(Marked(loop(kLook)).load().polls);
  CHECK(Marked(loop(kLook + "membar.gl;\n")).load().polls);
  CHECK(Marked(loop("fence.acq_rel.gpu;\n" + kLook)).load().polls);
  CHECK(Marked(loop(kLook + "nanosleep.u32 50;\n")).load().polls);
  CHECK_FALSE(Marked(loop(kLook + "membar.gl;\nst.global.b32 [%d1+8], %r2;\n")).load().polls);
  CHECK_FALSE(Marked(loop(kLook + "membar.gl;\nred.global.add.u32 [%d1+8], 1;\n")).load().polls);
  CHECK_FALSE(Marked(loop(kLook) + "membar.gl;\n").load().polls);
  CHECK_FALSE(
      Marked(loop("ld.shared.b32 %r1, [tile];\nsetp.ne.s32 %p1, %r1, 0;\nmembar.gl;\n")).load().polls);
  std::string arithmetic;
  for (int n = 0; n < 70; ++n) arithmetic += "add.s32 %r2, %r2, 3;\n";
  CHECK_FALSE(Marked(loop(kLook + "membar.gl;\n" + arithmetic)).load().polls);  // too long to be a wait
}

TEST_CASE("passes: strong stores and what follows a fence are signals, of plain stores the first") {
  CHECK(signals("st.volatile.global.b32 [%d1], 1;\n") == "S");
  CHECK(signals("st.release.gpu.global.b32 [%d1], 1;\n") == "S");
  CHECK(signals("st.relaxed.sys.global.b32 [%d1], 1;\n") == "S");
  CHECK(signals("st.global.b32 [%d1], 1;\n") == "-");
  CHECK(signals("st.volatile.shared.b32 [tile], 1;\n") == "-");
  const std::string store = "st.global.b32 [%d1], 1;\n", strong = "st.volatile.global.b32 [%d1], 1;\n";
  CHECK(signals("membar.gl;\n" + store + store) == "S-");
  CHECK(signals("membar.gl;\n" + strong + store + store) == "SS-");
  CHECK(signals("membar.gl;\n" + store + "fence.acq_rel.sys;\n" + store) == "SS");
  CHECK(signals("membar.cta;\n" + store) == "-");
  CHECK(signals(store + "membar.gl;\n") == "-");
  const std::string red = "red.global.add.u32 [%d1], 1;\n";
  CHECK(signals(red + "membar.gl;\n" + red + red + "red.shared.add.u32 [tile], 1;\n") == "-SS-");
  CHECK(signals("red.release.gpu.global.add.u32 [%d1], 1;\n" + red) == "S-");
}

TEST_CASE("passes: a loop takes work where it counts in global memory and uses the number") {
  const auto takes = [](const std::string& body) { return Marked(body).kernel->takes_work(); };
  const std::string use = "setp.gt.u32 %p1, %r1, 100;\n";
  CHECK(takes(loop("atom.global.add.u32 %r1, [%d1], 1;\n" + use)));
  CHECK(takes(loop("atom.inc.u32 %r1, [%d1], 7;\n" + use)));
  CHECK_FALSE(takes(loop("red.global.add.u32 [%d1], 1;\n" + use)));
  CHECK_FALSE(takes(loop("atom.global.add.u32 %r2, [%d1], 1;\n" + use)));  // the number is not used
  CHECK_FALSE(takes(loop("atom.shared.add.u32 %r1, [tile], 1;\n" + use)));
  CHECK_FALSE(takes(loop("atom.global.max.u32 %r1, [%d1], 1;\n" + use)));
  CHECK_FALSE(takes("atom.global.add.u32 %r1, [%d1], 1;\n" + use + "@%p1 bra END;\nEND:\n"));
  CHECK_FALSE(takes(loop("add.s32 %r1, %r1, 1;\n" + use) + "atom.global.add.u32 %r3, [%d1], %r1;\n" +
                    "st.global.b32 [%d1], %r3;\n"));
}

TEST_CASE("passes: a loop waits where what it loads alone decides that it ends") {
  const std::string poll = "ld.volatile.global.b32 %r1, [%d1];\nsetp.ne.s32 %p1, %r1, 0;\n";
  const auto spins = [](const std::string& body) { return Marked(body).kernel->spins().size(); };
  CHECK(spins(loop(poll)) == 1);
  CHECK(spins(loop(poll) +
              "LAST:\nld.acquire.gpu.global.b32 %r2, [%d1+8];\nsetp.eq.s32 %p2, %r2, 5;\n@%p2 bra LAST;\n") ==
        2);
  CHECK(spins(poll) == 0);
  CHECK(spins(loop(kLook)) == 0);
  CHECK(spins(loop(poll + "st.global.b32 [%d1+4], %r2;\n")) == 0);
  CHECK(spins(loop(poll + "add.s64 %d1, %d1, 4;\n")) == 0);
  CHECK(spins(loop("ld.volatile.global.b32 %r1, [%d1];\nadd.s32 %r2, %r2, 1;\nsetp.gt.s32 %p1, %r2, 9;\n")) ==
        0);
  const Marked m(
      loop("ld.volatile.global.b32 %r1, [%d1];\nld.volatile.global.b32 %r2, [%d1+4];\n"
           "add.s32 %r3, %r1, %r2;\nsetp.gt.s32 %p1, %r3, 9;\n"));
  REQUIRE(m.kernel->spins().size() == 1);
  const SpinLoop& spin = m.kernel->spins()[0];
  CHECK(spin.begin == 1);
  CHECK(spin.end == 5);
  CHECK(spin.loads == std::vector<std::uint32_t>{1, 2});
  CHECK(m.load(0).spin == 1);
  CHECK(m.load(1).spin == 1);
  CHECK(spin.written.size() == 4);
}

TEST_CASE("passes: accesses of a block through one base know it from the first on, until it is written") {
  const Marked m(
      "ld.global.b32 %r1, [%d1];\nld.global.b32 %r2, [%d1+4];\nst.global.b32 [%d1+8], %r1;\n"
      "ld.global.b32 %r3, [%d2];\nadd.s64 %d1, %d1, 64;\nld.global.b32 %r4, [%d1];\nld.global.b32 %r5, "
      "[%d1+4];\n"
      "bar.sync 0;\nld.global.b32 %r6, [%d1+8];\n@%p1 bra NEXT;\nNEXT:\nld.global.b32 %r7, [%d1+12];\n");
  CHECK_FALSE(m.load(0).known);
  CHECK(m.load(1).known);
  CHECK(m.store(0).known);
  CHECK(m.load(1).place == m.load(0).place);
  CHECK_FALSE(m.load(2).known);
  CHECK(m.load(2).place != m.load(0).place);
  CHECK_FALSE(m.load(3).known);  // behind the sum
  CHECK(m.load(4).known);
  CHECK_FALSE(m.load(5).known);  // behind the barrier
  CHECK_FALSE(m.load(6).known);  // in the next block
}

TEST_CASE("passes: vectors, polls, and bases of another width are not known") {
  const Marked m(
      "ld.global.b32 %r1, [%d1];\nld.global.v2.b32 {%r2, %r3}, [%d1+8];\nld.volatile.global.b32 %r4, "
      "[%d1+16];\n"
      "ld.shared.b32 %r5, [%d1];\nld.shared.b32 %r6, [%d1+4];\nld.global.b64 %d1, [%d1+8];\n"
      "ld.global.b32 %r7, [%d1];\n");
  CHECK_FALSE(m.load(1).known);
  CHECK_FALSE(m.load(2).known);
  CHECK_FALSE(m.load(3).known);  // shared memory has addresses of 32 bits
  CHECK(m.load(4).known);
  CHECK(m.load(5).known);
  CHECK_FALSE(m.load(6).known);  // what was loaded is another base
}

}  // namespace lockstep::exec::test
