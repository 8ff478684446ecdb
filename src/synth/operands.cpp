// Register-file reads of two instructions in a row, as in the probes of Huerta et al., "Dissecting and
// Modeling the Architecture of Modern GPU Cores", MICRO 2025, listing 1: what delays the instruction after
// them.
#include "synth/kinds.hpp"

namespace lockstep::synth {
namespace {

constexpr OptionSpec kOptions[] = {
    {"second", "odd-odd", "banks of the second and third operand of the FFMA; its first is even", 0, 0,
     "odd-odd|even-odd|even-even"},
    {"reuse", "0", "operands of the FFMA that are those of the IADD3 before, in the same places", 0, 2},
    {"repeats", "64", "of the five instructions, in straight-line code", 1, 1u << 16},
    {"passes", "2", "through the same code", 1, 1u << 16},
};

constexpr int kFirst = 16, kEvenB = 18, kEvenC = 22, kOddB = 19, kOddC = 21;

void generate(const SynthOptions& options, TraceFolder& folder) {
  const std::string& second = options.word("second");
  const std::uint64_t reuse = options.number("reuse");
  const int b = second.starts_with("even") ? kEvenB : kOddB;
  const int c = second.ends_with("even") ? kEvenC : kOddC;
  const Sources adds{reuse > 0 ? kFirst : 24, reuse > 1 ? b : 26, 28};
  trace::KernelHeader header;
  header.name = "_Z8operandsPf";
  header.registers = 40;
  write_kernel(folder, header, 1, kWarpSize, [&](WarpText& w, std::uint32_t, std::uint32_t) {
    emit_loop(w, options.number32("passes"), [&](std::uint32_t) {
      for (std::uint64_t i = 0; i < options.number("repeats"); ++i) {
        w.emit({.opcode = "CS2R.32", .to = 2});
        w.emit({.opcode = "NOP"});
        w.emit({.opcode = "IADD3", .to = 11, .from = adds});
        w.emit({.opcode = "FFMA", .to = 13, .from = {kFirst, b, c}});
        w.emit({.opcode = "NOP"});
      }
    });
    w.emit({.opcode = "EXIT"});
  });
}

}  // namespace

const Kind kOperands = {"operands", "register banks and the register-file cache: IADD3, then FFMA", kOptions,
                        generate};

}  // namespace lockstep::synth
