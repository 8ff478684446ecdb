// Chains of one instruction: dependent chains show its latency, independent ones its rate.
#include <fmt/format.h>

#include "synth/kinds.hpp"
#include "util/error.hpp"

namespace lockstep::synth {
namespace {

constexpr std::string_view kOps =
    "FADD|FMUL|FFMA|IADD3|LOP3.LUT|SHF.L.U32|IMAD|IMAD.WIDE|HADD2|HFMA2|DADD|DMUL|DFMA|MUFU.EX2|MUFU.RCP|I2F|"
    "POPC|SHFL.BFLY|HMMA.884.F32.F32.STEP0|HMMA.1688.F16|HMMA.1688.F32|HMMA.16816.F16|HMMA.16816.F32|"
    "HMMA.16816.F32.BF16|HMMA.1688.F32.TF32|IMMA.8816.S8.S8|IMMA.16832.S8.S8|IMMA.16864.S4.S4|DMMA.884|"
    "QMMA.16832.F32.E4M3.E4M3|HGMMA.64x64x16.F32|HGMMA.64x128x16.F32|HGMMA.64x128x16.F32.BF16|"
    "HGMMA.64x64x8.F32.TF32|QGMMA.64x64x32.F32.E4M3.E4M3|IGMMA.64x64x32.S8.S8";

constexpr OptionSpec kOptions[] = {
    {"op", "FFMA", "the instruction", 0, 0, kOps},
    {"chains", "1", "independent chains a warp, taken in turn", 1, 12},
    {"instructions", "256", "of a pass, without its branch", 1, 1u << 16},
    {"passes", "2", "through the same code", 1, 1u << 16},
    {"ctas", "1", "CTAs of the kernel", 1, 1u << 20},
    {"threads", "32", "threads a CTA", 1, 1024},
};

// Results lie in even registers from here on, operands that do not change below. The second operand of the
// simple forms is odd: an instruction reads each of the two register banks once.
constexpr int kResults = 16, kEven = 4, kOdd = 9;

bool is_warpgroup(std::string_view op) { return op.substr(1).starts_with("GMMA"); }

/// First register of a chain's result: a chain has as many registers as the result is wide.
int result_of(std::string_view op, std::uint32_t chain) {
  const bool wide = op.starts_with("HGMMA.64x128");
  const int step = wide ? 64 : is_warpgroup(op) ? 32 : 4;
  return kResults + static_cast<int>(chain) * step;
}

Line line_of(std::string_view op, int result) {
  if (is_warpgroup(op)) return {.opcode = op, .to = result, .from = {result}};
  if (op.find("MMA") != std::string_view::npos)
    return {.opcode = op, .to = result, .from = {kEven, kEven + 4, result}};
  if (op.starts_with("MUFU") || op == "I2F" || op == "POPC")
    return {.opcode = op, .to = result, .from = {result}};
  const bool pairs = op.starts_with('D');
  return {.opcode = op, .to = result, .from = {result, pairs ? kEven : kOdd}};
}

/// Products of a warpgroup add to the same registers without waiting for each other: what depends on one
/// waits for its group.
void emit_one(WarpText& w, std::string_view op, std::uint32_t chain, std::uint32_t chains) {
  const int result = result_of(op, chain);
  if (!is_warpgroup(op) || chains > 1) return w.emit(line_of(op, result));
  const std::string last = std::string(op) + ".GSB";
  w.emit(line_of(last, result));
  w.emit({.opcode = "WARPGROUP.DEPBAR.LE"});
}

void check(const SynthOptions& options) {
  const std::string& op = options.word("op");
  if (result_of(op, options.number32("chains")) > kRz)
    throw UserError(
        fmt::format("synth pipe: chains: found {} of {}, expected that their results fit 255 registers",
                    options.number("chains"), op));
}

void generate(const SynthOptions& options, TraceFolder& folder) {
  const std::string& op = options.word("op");
  const std::uint32_t chains = options.number32("chains"), instructions = options.number32("instructions");
  const std::uint32_t passes = options.number32("passes");
  trace::KernelHeader header;
  header.name = "_Z4pipePf";
  header.registers = is_warpgroup(op) ? 255 : 64;
  write_kernel(folder, header, options.number32("ctas"), options.number32("threads"),
               [&](WarpText& w, std::uint32_t, std::uint32_t) {
                 emit_loop(w, passes, [&](std::uint32_t) {
                   for (std::uint32_t i = 0; i < instructions; ++i) emit_one(w, op, i % chains, chains);
                 });
                 w.emit({.opcode = "EXIT"});
               });
}

}  // namespace

const Kind kPipe = {"pipe", "chains of one instruction: latency and rate of its pipe", kOptions, generate,
                    check};

}  // namespace lockstep::synth
