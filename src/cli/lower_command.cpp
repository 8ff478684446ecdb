// `lockstep lower`: prints the machine code that represents PTX kernels in the timing model.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "exec/executable.hpp"
#include "lower/code.hpp"
#include "lower/passes.hpp"
#include "ptx/linker.hpp"
#include "ptx/parser.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cli {
namespace po = boost::program_options;
namespace {

constexpr std::uint64_t kMemory = std::uint64_t{1} << 32;  // bytes; for the module's variables

/// CUDA C++ Programming Guide 13.0, compute capabilities, and Maxwell to Volta as in 12.9.
constexpr std::array kArchitectures{50u, 52u, 53u, 60u, 61u,  62u,  70u,  72u,  75u,  80u, 86u,
                                    87u, 88u, 89u, 90u, 100u, 101u, 103u, 110u, 120u, 121u};

unsigned parse_arch(const std::string& text) {
  std::string known;
  for (const unsigned arch : kArchitectures) {
    if (text == std::to_string(arch)) return arch;
    known.append(known.empty() ? "" : ", ").append(std::to_string(arch));
  }
  throw UserError(fmt::format("--arch: found '{}', expected a compute capability * 10: {}", text, known));
}

using Json = nlohmann::ordered_json;

void print_kernel(const std::string& name, const lower::Code& code, bool instructions) {
  print_out("{}\t{}\t{}\n", name, code.registers(), code.size());
  if (!instructions) return;
  for (const auto& i : code.instructions()) print_out("    {:05x}  {}\n", i.pc, i.text);
}

Json kernel_json(const std::string& name, const lower::Code& code, bool instructions) {
  Json kernel = {{"name", name}, {"registers", code.registers()}, {"instructions", code.size()}};
  if (!instructions) return kernel;
  Json& list = kernel["code"] = Json::array();
  for (const auto& i : code.instructions()) list.push_back({{"address", i.pc}, {"text", i.text}});
  return kernel;
}

}  // namespace

int run_lower(int argc, char** argv) {
  Syntax syntax;
  syntax.usage = "lower FILE.ptx [options]";
  syntax.summary =
      "Prints what the timing model runs for each kernel of a PTX file, one line per kernel:\n"
      "name, registers per thread, machine instructions, separated by tabs.";
  syntax.positionals = {"FILE"};
  syntax.options.add_options()("arch", po::value<std::string>()->default_value("75"),
                               "compute capability * 10, of a GPU that exists: 70, 75, 80, 90, ...")(
      "code", "the instructions too")("json", "as JSON")(
      "without", po::value<std::vector<std::string>>()->composing(),
      ("leave out a step: " + lower::step_names() + "; repeatable").c_str());
  syntax.notes =
      "An instruction: byte address, destinations (their number and names), opcode, sources, bytes accessed.";
  const auto values = parse(argc, argv, syntax);
  if (!values) return kDone;
  const unsigned arch = parse_arch((*values)["arch"].as<std::string>());
  std::vector<std::string> without;
  if (values->count("without")) without = (*values)["without"].as<std::vector<std::string>>();
  const lower::Passes passes = lower::all_but(without);
  std::vector<ptx::Module> modules;
  modules.push_back(ptx::parse_file((*values)["FILE"].as<std::string>()));
  const ptx::Program program = ptx::link(std::move(modules));
  exec::DeviceMemory memory(kMemory);
  const exec::ProgramImage image(program, memory);
  const bool json = values->count("json") > 0, instructions = values->count("code") > 0;
  Json kernels = Json::array();
  for (std::uint32_t f = 0; f < program.functions.size(); ++f) {
    if (!program.functions[f].entry || !program.functions[f].has_body) continue;
    const exec::Executable kernel(image, f);
    const lower::Code code(kernel, arch, passes);
    if (json) {
      kernels.push_back(kernel_json(std::string(kernel.name()), code, instructions));
    } else {
      print_kernel(std::string(kernel.name()), code, instructions);
    }
  }
  if (json)
    print_out("{}\n", Json{{"schema", 1}, {"kernels", std::move(kernels)}}.dump(
                          1, ' ', false, Json::error_handler_t::replace));
  return kDone;
}

}  // namespace lockstep::cli
