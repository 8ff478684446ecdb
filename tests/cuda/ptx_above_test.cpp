// PTX for a later architecture than the configured GPU's: taken with one remark, or refused as hardware does.
// Error numbers: cuda.h (209 CUDA_ERROR_NO_BINARY_FOR_GPU, 218 CUDA_ERROR_INVALID_PTX).
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cuda/image_choice.hpp"
#include "paths.hpp"
#include "support.hpp"
#include "tests/cli/program.hpp"

namespace lockstep::cuda {

namespace {

using cli::Finished, cli::Folder;

/// The program of tests/cuda/program/vector_add.cpp, whose PTX is for sm_75.
Finished add_on(std::vector<std::string> options) {
  options.insert(options.begin(), "exec");
  options.insert(options.end(), {"--", LOCKSTEP_CUDA_PROGRAM, kVectorAddPtx});
  return cli::run(std::move(options));
}

std::vector<std::string> ptx_remarks(const std::string& folder) {
  std::vector<std::string> found;
  const auto stats = nlohmann::json::parse(cli::slurp(folder + "/stats.json"));
  for (const auto& remark : stats["remarks"])
    if (const auto text = remark.get<std::string>(); text.find("PTX for") != std::string::npos)
      found.push_back(text);
  return found;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

// PTX ISA 9.0, ".target": PTX for sm_X runs on X and later; with "a" on X alone; with "f" on X and later ones
// of its family.
TEST_CASE("a GPU accepts PTX for its own and earlier architectures, and for its family") {
  const auto runs = [](const char* target, std::uint32_t arch) {
    return accepts(arch, *parse_target(target));
  };
  CHECK((runs("sm_75", 75) && runs("sm_75", 90) && !runs("sm_75", 70)));
  CHECK((runs("sm_90a", 90) && !runs("sm_90a", 100) && !runs("sm_90a", 89)));
  CHECK((runs("sm_100f", 100) && runs("sm_100f", 103) && !runs("sm_103f", 100) && !runs("sm_100f", 120)));
  for (const char* wrong : {"", "sm_", "compute_75", "sm_75x", "sm_90ab", "75"})
    CHECK_FALSE(parse_target(wrong).has_value());
}

TEST_CASE("PTX for a later architecture runs with one remark, which names kernel, target and GPU") {
  const Folder folder;
  const Finished v100 = add_on({"-c", "v100", "-o", folder / "v100"});
  CHECK(v100.code == 0);
  CHECK(has(v100.out,
            "remark: _Z3addPKfS0_Pfi: PTX for sm_75 runs on v100, a GPU of compute capability 7.0: "
            "hardware would refuse it, as --ptx-above refuse does\n"));
  CHECK(ptx_remarks(folder / "v100").size() == 1);
  CHECK(v100.err.empty());
  CHECK(add_on({"-q", "--ptx-above", "take", "-c", "rtx2080ti", "-o", folder / "rtx2080ti"}).code == 0);
  CHECK(ptx_remarks(folder / "rtx2080ti").empty());
}

TEST_CASE("of several kernels of such PTX the remark names the first that is launched") {
  const Folder folder;
  const std::string ptx = cli::slurp(kVectorAddPtx);
  const std::size_t entry = ptx.find(".visible .entry");
  REQUIRE(entry != std::string::npos);
  std::string second = ptx.substr(entry);
  const std::string name = "_Z3addPKfS0_Pfi";
  for (std::size_t at = 0; (at = second.find(name, at)) != std::string::npos; at += name.size())
    second.replace(at, name.size(), "_Z3sumPKfS0_Pfi");
  std::ofstream(folder / "two.ptx") << ptx << second;
  std::ofstream(folder / "two.launch")
      << "buffer a 256 sequence f32 1 0\nbuffer b 256 sequence f32 2 0\nbuffer c 256\n"
         "launch _Z3sumPKfS0_Pfi grid 1 block 64 args a b c 64\n"
         "launch _Z3addPKfS0_Pfi grid 1 block 64 args a b c 64\n";
  CHECK(cli::run({"run", folder / "two.ptx", "--launch", folder / "two.launch", "-q", "-o", folder / "out"})
            .code == 0);
  const auto remarks = ptx_remarks(folder / "out");
  REQUIRE(remarks.size() == 1);
  CHECK(has(remarks.front(), "_Z3sumPKfS0_Pfi: PTX for sm_75"));
}

TEST_CASE("a kept trace and its run have the remark as the run beside the program has it") {
  const Folder folder;
  CHECK(add_on({"-q", "--record", folder / "kept.lst", "-o", folder / "beside"}).code == 0);
  CHECK(cli::run({"run", folder / "kept.lst", "-q", "-o", folder / "after"}).code == 0);
  CHECK(ptx_remarks(folder / "beside").size() == 1);
  CHECK(ptx_remarks(folder / "after") == ptx_remarks(folder / "beside"));
}

TEST_CASE("with --ptx-above refuse such PTX is the driver's error, in a fatbin and as text") {
  const Finished fatbin = add_on({"--functional", "--ptx-above", "refuse"});
  CHECK(fatbin.code == 5);
  CHECK(fatbin.out == "cudaErrorNoKernelImageForDevice\n");
  for (const char* part :
       {"kernel _Z3addPKfS0_Pfi of program (cuda_program)", "PTX for sm_75", "v100", "7.0"})
    CHECK(has(fatbin.err, part));
  CHECK(add_on({"--functional", "--ptx-above", "refuse", "-c", "rtx2080ti"}).out == "PASS\n");

  const Finished text = cli::run(
      {"exec", "--functional", "--ptx-above", "refuse", "--", LOCKSTEP_DRIVER_EXAMPLE, kVectorAddPtx});
  CHECK(text.code != 0);
  CHECK(has(text.out + text.err, "CUDA_ERROR_INVALID_PTX"));
  CHECK(has(text.err, "kernel _Z3addPKfS0_Pfi of module (vector_add): PTX for sm_75"));
}

TEST_CASE("--ptx-above holds for launch scripts and recordings; other words are an error") {
  const Folder folder;
  const std::string script = std::string(LOCKSTEP_SOURCE_DIR) + "/examples/vector_add.launch";
  const auto play = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"run", kVectorAddPtx, "--launch", script, "-q"});
    return cli::run(std::move(options));
  };
  CHECK(play({"--ptx-above", "take"}).code == 0);
  const Finished refused = play({"--ptx-above", "refuse"});
  CHECK(refused.code != 0);
  CHECK(has(refused.err, "PTX for sm_75, which v100"));
  const Finished recorded = cli::run(
      {"record", folder / "t.lst", "--ptx-above", "refuse", "--", LOCKSTEP_CUDA_PROGRAM, kVectorAddPtx});
  CHECK(has(recorded.err, "PTX for sm_75, which v100"));
  CHECK(has(add_on({"--ptx-above", "always"}).err, "--ptx-above: found 'always', expected take or refuse"));
  const Finished trace = cli::run({"run", folder / "t.lst", "--ptx-above", "take"});
  CHECK(trace.code == 2);
  CHECK(has(trace.err, "--ptx-above has no effect"));
}

TEST_CASE(
    "where the GPU could load machine code, the remark does not say that hardware refuses the program") {
  const PtxLimit limit{70, "v100", false};
  const std::string machine_code = remark_on({"sm_75", true}, "add", limit);
  CHECK(has(machine_code, "add: PTX for sm_75 runs on v100"));
  CHECK(has(machine_code, "hardware would run the program's machine code instead"));
  CHECK_FALSE(has(machine_code, "refuse"));
  CHECK(has(remark_on({"sm_75", false}, "add", limit), "hardware would refuse it"));
}

}  // namespace lockstep::cuda
