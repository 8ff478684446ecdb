#include "exec/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "exec/register_clears.hpp"
#include "exec/row_allocation.hpp"
#include "ptx/control_flow.hpp"
#include "ptx/liveness.hpp"
#include "util/error.hpp"

namespace lockstep::exec {

namespace {

constexpr std::uint32_t kUnplaced = ~0u;
constexpr std::uint32_t kDynamicSharedAlign = 16;  // at least, as nvcc declares it
// Local memory of a thread ("CUDA C++ Programming Guide", technical specifications per compute capability).
constexpr std::uint64_t kMaxLocalBytes = 512 * 1024;
// The launch checks the GPU's own limit; an offset in shared memory has 32 bits.
constexpr std::uint64_t kMaxSharedBytes = 1 << 30;

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

class LayoutPass {
 public:
  LayoutPass(const ptx::Program& program, std::uint32_t entry, Translation& out)
      : program_(program), entry_(entry), out_(out), used_variables_(program.variables.size()) {
    layout_.variables.assign(program.variables.size(), kUnplaced);
  }
  KernelLayout run();

 private:
  void reach_all();
  void reach(std::uint32_t function);
  void reach_targets(const ptx::Function& function, bool& indirect);
  void reach_address_taken();
  void note_symbols(const ptx::Operand& operand);
  void lay_out_shared();
  void lay_out_frame(std::uint32_t code);
  void lay_out_registers(std::uint32_t code);
  void add_rows(std::uint32_t index, std::span<const ptx::RegisterId> registers,
                std::vector<std::uint32_t>& rows) const;
  [[nodiscard]] std::uint32_t extend_frame(FunctionCode& code, std::uint64_t bytes,
                                           std::uint64_t align) const;
  std::uint32_t place_parameter(const ptx::Parameter& parameter, const FunctionLayout& layout,
                                FunctionCode& code, std::vector<ParameterPlace>& places);
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(program_.modules[function_->module].name, function_->place.line,
                     fmt::format("{}: {}", function_->name, message));
  }

  const ptx::Program& program_;
  std::uint32_t entry_;
  Translation& out_;
  KernelLayout layout_;
  std::vector<bool> used_variables_;
  const ptx::Function* function_ = nullptr;  // for which errors are reported
};

KernelLayout LayoutPass::run() {
  function_ = &program_.functions[entry_];
  reach_all();
  layout_.functions.resize(layout_.ids.size());
  out_.functions.resize(layout_.ids.size());
  lay_out_shared();
  std::uint32_t first = 0;
  for (std::uint32_t i = 0; i < layout_.ids.size(); ++i) {
    FunctionCode& code = out_.functions[i];
    code.source = &program_.functions[layout_.ids[i]];
    code.first = first;
    code.size = static_cast<std::uint32_t>(code.source->instructions.size());
    first += code.size;
    lay_out_registers(i);
    lay_out_frame(i);
  }
  out_.operations.resize(first);
  for (const FunctionCode& code : out_.functions)
    for (const RowClear& clear : code.clears) out_.operations[clear.operation].clears = true;
  return std::move(layout_);
}

void LayoutPass::reach_all() {
  out_.by_id.assign(program_.functions.size(), kUnplaced);
  reach(entry_);
  bool indirect = false;
  const auto follow_calls = [&] {
    for (std::size_t i = 0; i < layout_.ids.size(); ++i)
      reach_targets(program_.functions[layout_.ids[i]], indirect);
  };
  follow_calls();
  if (!indirect) return;
  reach_address_taken();
  follow_calls();
}

void LayoutPass::reach(std::uint32_t function) {
  if (out_.by_id[function] != kUnplaced || !program_.functions[function].has_body) return;
  out_.by_id[function] = static_cast<std::uint32_t>(layout_.ids.size());
  layout_.ids.push_back(function);
}

void LayoutPass::note_symbols(const ptx::Operand& operand) {
  const bool names =
      operand.kind == ptx::OperandKind::kSymbol ||
      (operand.kind == ptx::OperandKind::kAddress && operand.base == ptx::AddressBase::kSymbol);
  if (names && operand.symbol.kind == ptx::SymbolKind::kVariable) used_variables_[operand.symbol.id] = true;
  for (const ptx::Operand& element : operand.elements) note_symbols(element);
}

void LayoutPass::reach_targets(const ptx::Function& function, bool& indirect) {
  for (const ptx::Instruction& inst : function.instructions) {
    for (const ptx::Operand& operand : inst.operands) note_symbols(operand);
    if (inst.op() != ptx::Opcode::kCall) continue;
    const ptx::Operand& target = inst.operands.front();
    if (target.kind == ptx::OperandKind::kSymbol && target.symbol.kind == ptx::SymbolKind::kFunction)
      reach(target.symbol.id);
    else
      indirect = true;
  }
}

/// An indirect call may reach every function whose address can be known: all that are not kernels.
void LayoutPass::reach_address_taken() {
  for (std::uint32_t id = 0; id < program_.functions.size(); ++id)
    if (!program_.functions[id].entry) reach(id);
}

void LayoutPass::lay_out_shared() {
  std::uint64_t end = 0;
  std::uint64_t dynamic_align = kDynamicSharedAlign;
  const auto place = [&](const ptx::Variable& v) -> std::uint32_t {
    if (v.is_dynamic_shared()) {
      dynamic_align = std::max<std::uint64_t>(dynamic_align, v.align);
      return kUnplaced;
    }
    const std::uint64_t at = round_up(end, v.align);
    end = at + v.size;
    if (end > kMaxSharedBytes) fail(fmt::format("{} bytes of shared memory are too many", end));
    return static_cast<std::uint32_t>(at);
  };
  for (std::size_t i = 0; i < layout_.variables.size(); ++i)
    if (used_variables_[i] && program_.variables[i].space == ptx::Space::kShared)
      layout_.variables[i] = place(program_.variables[i]);
  for (std::size_t f = 0; f < layout_.ids.size(); ++f) {
    const ptx::Function& function = program_.functions[layout_.ids[f]];
    layout_.functions[f].variables.assign(function.variables.size(), kUnplaced);
    for (std::size_t i = 0; i < function.variables.size(); ++i)
      if (function.variables[i].space == ptx::Space::kShared)
        layout_.functions[f].variables[i] = place(function.variables[i]);
  }
  out_.shared_bytes = static_cast<std::uint32_t>(end);
  out_.dynamic_shared = static_cast<std::uint32_t>(round_up(end, dynamic_align));
  for (std::size_t i = 0; i < layout_.variables.size(); ++i)
    if (program_.variables[i].is_dynamic_shared()) layout_.variables[i] = out_.dynamic_shared;
  for (std::size_t f = 0; f < layout_.ids.size(); ++f)
    for (std::size_t i = 0; i < layout_.functions[f].variables.size(); ++i)
      if (program_.functions[layout_.ids[f]].variables[i].is_dynamic_shared())
        layout_.functions[f].variables[i] = out_.dynamic_shared;
}

void LayoutPass::lay_out_registers(std::uint32_t index) {
  FunctionCode& code = out_.functions[index];
  function_ = code.source;
  const ptx::ControlFlow flow(*code.source);
  const ptx::Liveness liveness(*code.source, flow);
  code.rows = allocate_rows(*code.source, flow, liveness, layout_.functions[index].registers);
  if (code.size == 0) return;
  const std::vector<ptx::RegisterId> live = liveness.live_before(0);
  // Arguments of a call are in registers of its frame from the begin.
  if (index > 0) return add_rows(index, live, code.cleared);
  for (const RegisterClear& clear : place_clears(*code.source, flow, live)) {
    if (clear.instruction == 0) {
      add_rows(index, clear.registers, code.cleared);
    } else {
      code.clears.push_back({code.first + clear.instruction, {}});
      add_rows(index, clear.registers, code.clears.back().rows);
    }
  }
}

void LayoutPass::add_rows(std::uint32_t index, std::span<const ptx::RegisterId> registers,
                          std::vector<std::uint32_t>& rows) const {
  for (const ptx::RegisterId reg : registers) {
    rows.push_back(layout_.functions[index].registers[reg]);
    if (ptx::bits(function_->registers[reg].type) > 64) rows.push_back(rows.back() + 1);
  }
}

/// The offset of a new variable in the frame.
std::uint32_t LayoutPass::extend_frame(FunctionCode& code, std::uint64_t bytes, std::uint64_t align) const {
  const std::uint64_t at = round_up(code.frame_bytes, align), end = round_up(at + bytes, 16);
  if (end > kMaxLocalBytes)
    fail(fmt::format("{} bytes of local memory; a thread has {}", end, kMaxLocalBytes));
  code.frame_bytes = static_cast<std::uint32_t>(at + bytes);
  return static_cast<std::uint32_t>(at);
}

std::uint32_t LayoutPass::place_parameter(const ptx::Parameter& parameter, const FunctionLayout& layout,
                                          FunctionCode& code, std::vector<ParameterPlace>& places) {
  ParameterPlace place;
  place.bytes = static_cast<std::uint32_t>(parameter.size);
  if (parameter.in_register) {
    if (ptx::bits(parameter.type) > 64)
      fail("parameters in registers of more than 64 bits are not supported");
    place.in_register = true;
    place.row = layout.registers[parameter.reg];
  } else {
    place.offset = extend_frame(code, parameter.size, std::max<std::uint32_t>(parameter.align, 1));
  }
  places.push_back(place);
  return place.offset;
}

void LayoutPass::lay_out_frame(std::uint32_t index) {
  FunctionCode& code = out_.functions[index];
  FunctionLayout& layout = layout_.functions[index];
  const ptx::Function& source = *code.source;
  if (index == 0) {  // .local variables of the module are the entry's
    for (std::size_t i = 0; i < layout_.variables.size(); ++i) {
      if (program_.variables[i].space != ptx::Space::kLocal || !used_variables_[i]) continue;
      layout_.variables[i] = extend_frame(code, program_.variables[i].size, program_.variables[i].align);
    }
  }
  for (std::size_t i = 0; i < source.variables.size(); ++i) {
    const ptx::Variable& v = source.variables[i];
    if (v.space != ptx::Space::kLocal && v.space != ptx::Space::kParam) continue;
    layout.variables[i] = extend_frame(code, v.size, v.align);
  }
  for (const auto& parameter : source.parameters) {
    if (source.entry) {
      layout.parameters.push_back(static_cast<std::uint32_t>(parameter.offset));
      out_.parameter_bytes = static_cast<std::uint32_t>(parameter.offset + parameter.size);
    } else {
      layout.parameters.push_back(place_parameter(parameter, layout, code, code.parameters));
    }
  }
  for (const auto& result : source.results)
    layout.results.push_back(place_parameter(result, layout, code, code.results));
  code.frame_bytes = static_cast<std::uint32_t>(round_up(code.frame_bytes, 16));
}

}  // namespace

KernelLayout lay_out(const ptx::Program& program, std::uint32_t entry, Translation& out) {
  return LayoutPass(program, entry, out).run();
}

}  // namespace lockstep::exec
