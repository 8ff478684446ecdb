// Launch scripts: what is read, what is refused, and runs of a PTX file with one.
#include "cuda/launch_script.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "paths.hpp"
#include "tests/cli/program.hpp"
#include "util/error.hpp"

namespace lockstep::cuda {
using Catch::Matchers::Contains;

namespace {

const std::string kExamples = std::string(LOCKSTEP_SOURCE_DIR) + "/examples/";

LaunchScript read(const std::string& text) { return read_launch_script(text, "s.launch"); }

cli::Finished play(const cli::Folder& folder, const std::string& text,
                   std::vector<std::string> options = {"-q"}) {
  std::ofstream(folder / "s.launch") << text;
  cli::Launch launch;
  launch.arguments = {"run", kExamples + "ptx/vector_add.ptx", "--launch", folder / "s.launch"};
  launch.arguments.insert(launch.arguments.end(), options.begin(), options.end());
  return run(launch);
}

}  // namespace

TEST_CASE("a script's steps with their numbers, types and places") {
  const auto script = read(
      "# comment\n\nbuffer a 0x100 random s32 7 -3 3\nbuffer \"b c\" 8 sequence f64 1e3 -0.5 # more\n"
      "launch k block 32x2 grid 4x5x6 shared 16 stream 2 cooperative args a+8 -1 0.25 \"b c\"\nwait\n"
      "expect a+4 s32 sequence 1 1 count 2 within 1e-3\nprint a u8 3");
  REQUIRE(script.steps.size() == 6);
  CHECK(script.steps[0].line == 3);
  const auto& a = std::get<ScriptBuffer>(script.steps[0].what);
  CHECK((a.name == "a" && a.bytes == 256 && a.data.seed == 7 && a.data.low.real == -3 &&
         a.data.high.bits == 3));
  CHECK(a.data.low.bits == ~std::uint64_t{2});
  const auto& b = std::get<ScriptBuffer>(script.steps[1].what);
  CHECK((b.name == "b c" && b.data.type == ElementType::kF64 && b.data.first.real == 1000 &&
         b.data.step.real == -0.5));
  const auto& l = std::get<ScriptLaunch>(script.steps[2].what);
  CHECK((l.kernel == "k" && l.grid == Dim3{4, 5, 6} && l.block == Dim3{32, 2, 1} && l.shared == 16 &&
         l.stream == 2));
  REQUIRE(l.arguments.size() == 4);
  CHECK((l.cooperative && l.arguments[0].buffer == "a" && l.arguments[0].offset == 8));
  CHECK((l.arguments[1].number.bits == ~std::uint64_t{0} && l.arguments[2].number.real == 0.25));
  CHECK(l.arguments[3].buffer == "b c");
  const auto& e = std::get<ScriptExpect>(script.steps[4].what);
  CHECK((e.offset == 4 && e.count == 2 && e.within == 1e-3 && e.data.type == ElementType::kS32));
  CHECK(std::get<ScriptPrint>(script.steps[5].what).count == 3);
}

TEST_CASE("what is wrong in a script is said with file, line and what was expected") {
  const auto error = [](const std::string& text) {
    try {
      (void)read(text);
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK_THAT(error("\nbufer a 4\n"), Contains("s.launch:2: found 'bufer'; expected buffer, launch"));
  CHECK_THAT(error("buffer a 0"), Contains("expected a size in bytes from 1 to"));
  CHECK_THAT(error("buffer a"), Contains("the line ends here"));
  CHECK_THAT(error("buffer 5 5"), Contains("cannot be a name"));
  CHECK_THAT(error("buffer a 4\nbuffer a 4"), Contains(":2: buffer 'a' is there already"));
  CHECK_THAT(error("buffer a 4 sequence u32 0.5 1"), Contains("expected a whole one"));
  CHECK_THAT(error("buffer a 4 sequence u33 0 1"), Contains("found 'u33'; expected a type"));
  CHECK_THAT(error("buffer a 4 random s32 1 5 -5"), Contains("lowest value is above"));
  CHECK_THAT(error("buffer a 4 zero 3"), Contains("found '3'; expected the end of the line"));
  CHECK_THAT(error("launch k grid 1 args"), Contains("no grid or no block"));
  CHECK_THAT(error("launch k grid 1x0 block 1"), Contains("found '1x0'; expected X, XxY"));
  CHECK_THAT(error("launch k grid 1x1x1x1 block 1"), Contains("expected X, XxY"));
  CHECK_THAT(error("launch k grid 1 block 1 args b"), Contains("there is no buffer 'b'"));
  CHECK_THAT(error("buffer b 4\nlaunch k grid 1 block 1 args b+4"),
             Contains(":2: offset '4'; expected one from 0 to 3"));
  CHECK_THAT(error("buffer b 4\nexpect b u32 sequence 0 0 count 2"),
             Contains("the buffer has fewer elements"));
  CHECK_THAT(error("buffer b 4\nprint b u64 1"), Contains("expected elements from 1 to 0"));
  CHECK_THAT(error("print \"x"), Contains("quotation mark is not closed"));
}

TEST_CASE("a script's launches are executed and simulated; expectations decide the exit code") {
  const cli::Folder folder;
  cli::Launch launch;
  launch.arguments = {"run",         kExamples + "ptx/vector_add.ptx",
                      "--launch",    kExamples + "vector_add.launch",
                      "-q",          "-o",
                      folder / "out"};
  const cli::Finished done = run(launch);
  CHECK(done.code == 0);
  CHECK(done.out.empty());
  CHECK(done.err.empty());
  const std::string stats = cli::slurp(folder / "out/stats.json");
  CHECK(stats.find("_Z3addPKfS0_Pfi") != std::string::npos);
  CHECK(stats.find("vector_add.ptx") != std::string::npos);
  // The record is simulated to the same report.
  cli::Launch record;
  record.arguments = {"record",   folder / "add.lst",
                      "--launch", kExamples + "vector_add.launch",
                      "--",       kExamples + "ptx/vector_add.ptx"};
  CHECK(run(record).code == 0);
  cli::Launch replay;
  replay.arguments = {"run", folder / "add.lst", "-q", "-o", folder / "again"};
  CHECK(run(replay).code == 0);
  CHECK(cli::slurp(folder / "again/stats.json") == stats);
}

TEST_CASE("data: sequences, files, offsets, tolerance, random numbers as splitmix64 gives them") {
  const cli::Folder folder;
  {
    std::ofstream raw(folder / "b.bin", std::ios::binary);
    const float values[] = {0.5f, 1.5f, 2.5f, 3.5f};
    raw.write(reinterpret_cast<const char*>(values), sizeof values);
  }
  const std::string head =
      "buffer a 16 sequence f32 1 1\nbuffer b 16 file b.bin\nbuffer c 32\n"
      "launch _Z3addPKfS0_Pfi grid 1 block 32 stream 3 args a b c+16 4\n";
  const auto good = play(folder, head + "expect c+16 f32 sequence 1.5 2\nprint c f32 6\n");
  CHECK(good.code == 0);
  CHECK(good.out == "c: 0 0 0 0 1.5 3.5\n");
  const auto bad = play(folder, head + "expect c+16 f32 sequence 1.5 2.5 count 3\n");
  CHECK(bad.code == 1);
  CHECK_THAT(
      bad.out,
      Contains("s.launch:5: 2 of 3 elements of c are not as expected; first element 1: 3.5 instead of 4"));
  CHECK(play(folder, head + "expect c+16 f32 sequence 1.5 2.5 within 0.2\n").code == 0);
  // First outputs of splitmix64 with seed 0: 0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4 (Vigna's reference code).
  CHECK(play(folder, "buffer r 16 random u64 0 0 0xffffffffffffffff\nprint r u64 2\n" + head).out ==
        "r: 1.6294208416658608e+19 7.960286522194355e+18\n");
  CHECK_THAT(play(folder, "buffer a 4\nlaunch nope grid 1 block 1 args\n").err, Contains("s.launch:2: "));
  const auto count = play(folder, "buffer a 4\nlaunch _Z3addPKfS0_Pfi grid 1 block 1 args a\n");
  CHECK(count.code == 2);
  CHECK_THAT(count.err, Contains("s.launch:2: 1 arguments; _Z3addPKfS0_Pfi has 4 parameters"));
  CHECK_THAT(play(folder, "buffer a 4\nlaunch _Z3addPKfS0_Pfi grid 1 block 1 args 0 0 0 1\n").err,
             Contains("s.launch:2: "));
}

TEST_CASE("PTX for sm_120 is executed and simulated on an RTX 5090") {
  const cli::Folder folder;
  std::ofstream(folder / "twice.ptx") << R"(.version 8.7
.target sm_120
.address_size 64
.visible .entry twice(.param .u64 data) {
  .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [data]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, %r2; st.global.u32 [%rd1], %r2;
  ret;
}
)";
  std::ofstream(folder / "s.launch")
      << "buffer data 256 sequence u32 5 1\nlaunch twice grid 1 block 64 args data\n"
         "wait\nexpect data u32 sequence 10 2\n";
  const auto done = cli::run({"run", folder / "twice.ptx", "--launch", folder / "s.launch", "-c", "rtx5090",
                              "-q", "-o", folder / "out"});
  CHECK(done.err.empty());
  CHECK(done.code == 0);
  CHECK(cli::slurp(folder / "out/stats.csv").find("twice") != std::string::npos);
}

}  // namespace lockstep::cuda
