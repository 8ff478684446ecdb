// Branches, calls, barriers and warp-level instructions.
#include <fmt/format.h>

#include <algorithm>

#include "exec/decode.hpp"
#include "ptx/barrier.hpp"

namespace lockstep::exec {

using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;

namespace {

/// The device runtime's functions of dynamic parallelism, without "__cudaCDP2" and "_ptsz".
struct DeviceRuntime {
  std::string_view name;
  Runtime runtime;
  std::size_t arguments;
};
constexpr DeviceRuntime kDeviceRuntime[] = {
    {"GetParameterBufferV2", Runtime::kParameterBuffer, 4},
    {"LaunchDeviceV2", Runtime::kLaunchDevice, 2},
    {"MemcpyAsync", Runtime::kMemcpyAsync, 5},
    {"MemsetAsync", Runtime::kMemsetAsync, 4},
    {"GetLastError", Runtime::kTakeError, 0},
    {"PeekAtLastError", Runtime::kPeekError, 0},
    {"GetErrorString", Runtime::kErrorText, 1},
    {"GetErrorName", Runtime::kErrorName, 1},
    {"Malloc", Runtime::kDeviceMalloc, 2},
    {"Free", Runtime::kDeviceFree, 1},
    {"StreamCreateWithFlags", Runtime::kCreateHandle, 2},
    {"EventCreateWithFlags", Runtime::kCreateHandle, 2},
    {"GetDevice", Runtime::kGetDevice, 1},
    {"GetDeviceCount", Runtime::kDeviceCount, 1},
    {"RuntimeGetVersion", Runtime::kVersion, 1},
    {"StreamDestroy", Runtime::kOrders, 1},
    {"StreamWaitEvent", Runtime::kOrders, 3},
    {"EventRecord", Runtime::kOrders, 2},
    {"EventRecordWithFlags", Runtime::kOrders, 3},
    {"EventDestroy", Runtime::kOrders, 1},
};

const DeviceRuntime* device_runtime(std::string_view name) {
  constexpr std::string_view kPrefix = "__cudaCDP2", kSuffix = "_ptsz";
  if (!name.starts_with(kPrefix)) return nullptr;
  name.remove_prefix(kPrefix.size());
  if (name.ends_with(kSuffix)) name.remove_suffix(kSuffix.size());
  const auto* const found = std::ranges::find(kDeviceRuntime, name, &DeviceRuntime::name);
  return found == std::end(kDeviceRuntime) ? nullptr : found;
}

Runtime runtime_of(std::string_view name) {
  if (const DeviceRuntime* const device = device_runtime(name)) return device->runtime;
  if (name == "vprintf") return Runtime::kVprintf;
  if (name == "__assertfail") return Runtime::kAssertfail;
  if (name == "malloc") return Runtime::kMalloc;
  if (name == "free") return Runtime::kFree;
  if (name == "cudaGraphSetConditional") return Runtime::kSetConditional;
  return Runtime::kNone;
}

/// Warp-level kernels: which lanes take part is their last source, or all of the warp.
bool names_members(const ptx::Form& form) {
  switch (form.op) {
    case Opcode::kShfl:
    case Opcode::kVote:
    case Opcode::kMatch:
    case Opcode::kRedux:
    case Opcode::kElect:
      return form.has(Mod::kSync);
    default:
      return false;
  }
}

bool takes_whole_warp(const ptx::Form& form) {
  return form.op == Opcode::kMma || form.op == Opcode::kMovmatrix || form.op == Opcode::kWmma;
}

}  // namespace

bool Decoder::decode_control_group(const Inst& inst, Operation& op) {
  switch (inst.op()) {
    case Opcode::kBra:
    case Opcode::kBrx:
      return decode_branch(inst, op), true;
    case Opcode::kCall:
      return decode_call(inst, op), true;
    case Opcode::kRet:
      op.handler = function_->entry ? Handler::kExit : Handler::kReturn;
      return true;
    case Opcode::kExit:
      op.handler = Handler::kExit;
      return true;
    case Opcode::kTrap:
    case Opcode::kBrkpt:
      op.handler = Handler::kTrap;
      return true;
    case Opcode::kBar:
    case Opcode::kBarrier:
      return decode_barrier(inst, op), true;
    case Opcode::kNanosleep:
      return decode_sources(inst, op, Handler::kNanosleep), true;
    case Opcode::kPmevent:
    case Opcode::kSetmaxnreg:
    case Opcode::kGriddepcontrol:
      op.handler = Handler::kNothing;
      return true;
    default:
      break;
  }
  if (!names_members(inst.form) &&
      !(takes_whole_warp(inst.form) && !inst.has(Mod::kLoad) && !inst.has(Mod::kStore)))
    return false;
  decode_lane(inst, op);
  op.handler = Handler::kLaneSync;
  op.detail = names_members(inst.form);
  return true;
}

void Decoder::decode_sources(const Inst& inst, Operation& op, Handler handler) {
  std::vector<OperandRef> sources;
  for (const Op& operand : inst.operands) flatten(operand, inst.form.type(), op, sources);
  op.handler = handler;
  set_operands(op, {}, sources);
}

void Decoder::decode_branch(const Inst& inst, Operation& op) {
  const auto at = static_cast<std::uint32_t>(&inst - function_->instructions.data());
  const std::uint32_t meet = flow_->reconvergence(at);
  op.meet = meet != ptx::ControlFlow::kAtExit ? code_->first + meet : function_->entry ? kNowhere : kAtReturn;
  if (inst.op() == Opcode::kBra) {
    op.handler = Handler::kBranch;
    op.target = code_->first + function_->labels[inst.operands.at(0).index].instruction;
    return;
  }
  op.handler = Handler::kBranchTable;
  op.detail = static_cast<std::uint32_t>(out_.branches.size());
  BranchTargets& table = out_.branches.emplace_back();
  for (const std::uint32_t label : function_->branch_tables[inst.operands.at(1).index].labels)
    table.targets.push_back(code_->first + function_->labels[label].instruction);
  set_operands(op, {}, {operand_of(inst.operands[0], ptx::Type::kU32, op)});
}

/// A register or constant that is given, or a register that takes a result.
CallValue Decoder::call_register(const Op& operand, const ptx::Parameter* formal, bool result,
                                 Operation& op) {
  const bool is_register = operand.kind == OperandKind::kRegister;
  if (result && !is_register && operand.kind != OperandKind::kSink)
    fail("a result is expected to go to a register or a .param variable");
  if (!result && operand.kind == OperandKind::kSink) fail("the sink `_` is not a value to give");
  CallValue value;
  const ptx::Type given = formal ? formal->type : ptx::Type::kB64;
  const ptx::Type type = is_register ? function_->registers[operand.reg].type : given;
  if (ptx::bits(type) > 64) fail("registers of more than 64 bits are not supported here");
  value.operand = operand_of(operand, is_register ? type : given, op);
  value.bytes = ptx::bytes(type);
  return value;
}

CallValue Decoder::call_value(const Op& operand, const ptx::Parameter* formal, bool result, Operation& op) {
  if (operand.kind != OperandKind::kSymbol) return call_register(operand, formal, result, op);
  CallValue value;
  const SymbolPlace place = place_of(operand.symbol);
  if (place.state_space != StateSpace::kFrame) {
    if (result) fail("a result is expected to go to a register or a .param variable");
    value.operand = symbol_operand(operand);
    value.bytes = 8;
    return value;
  }
  if (operand.offset != 0) fail("a variable is given as a whole, without an offset");
  value.in_frame = true;
  value.offset = static_cast<std::uint32_t>(place.at);
  value.bytes = static_cast<std::uint32_t>(
      operand.symbol.kind == ptx::SymbolKind::kLocal       ? function_->variables[operand.symbol.id].size
      : operand.symbol.kind == ptx::SymbolKind::kParameter ? function_->parameters[operand.symbol.id].size
                                                           : function_->results[operand.symbol.id].size);
  return value;
}

void Decoder::decode_call(const Inst& inst, Operation& op) {
  if (inst.operands.size() < 3) fail("an operand is missing");
  const Op& target = inst.operands[0];
  CallSite site;
  const std::vector<ptx::Parameter>* formals = nullptr;
  const std::vector<ptx::Parameter>* formal_results = nullptr;
  if (target.kind == OperandKind::kSymbol && target.symbol.kind == ptx::SymbolKind::kFunction) {
    const ptx::Function& callee = program_.functions[target.symbol.id];
    site.function = out_.by_id[target.symbol.id];
    formals = &callee.parameters;
    formal_results = &callee.results;
    if (!callee.has_body) site.runtime = runtime_of(callee.name);
    if (!callee.has_body && site.runtime == Runtime::kNone)
      fail(fmt::format("function {} has no body and is not provided", callee.name));
  } else {
    site.target = operand_of(target, ptx::Type::kU64, op);
    if (inst.operands.size() > 3 && inst.operands[3].kind == OperandKind::kPrototype) {
      formals = &function_->prototypes[inst.operands[3].index].parameters;
      formal_results = &function_->prototypes[inst.operands[3].index].results;
    }
  }
  const auto collect = [&](const Op& list, const std::vector<ptx::Parameter>* of,
                           std::vector<CallValue>& to) {
    for (std::size_t i = 0; i < list.elements.size(); ++i)
      to.push_back(
          call_value(list.elements[i], of && i < of->size() ? &(*of)[i] : nullptr, &to == &site.results, op));
    if (of && of->size() != list.elements.size())
      fail(fmt::format("{} values are given, {} expected", list.elements.size(), of->size()));
  };
  collect(inst.operands[1], formal_results, site.results);
  collect(inst.operands[2], formals, site.arguments);
  const DeviceRuntime* const device =
      site.runtime == Runtime::kNone ? nullptr : device_runtime(program_.functions[target.symbol.id].name);
  if (device && site.arguments.size() != device->arguments)
    fail(fmt::format("{} takes {} values", program_.functions[target.symbol.id].name, device->arguments));
  op.handler = Handler::kCall;
  op.detail = static_cast<std::uint32_t>(out_.calls.size());
  op.meet = code_->first + static_cast<std::uint32_t>(&inst - function_->instructions.data()) + 1;
  out_.calls.push_back(std::move(site));
}

void Decoder::decode_barrier(const Inst& inst, Operation& op) {
  if (inst.has(Mod::kWarp)) return decode_sources(inst, op, Handler::kWarpBarrier);
  if (inst.has(Mod::kCluster)) {
    op.handler = inst.has(Mod::kWait) ? Handler::kClusterWait : Handler::kClusterArrive;
    return;
  }
  BarrierForm form;
  std::vector<OperandRef> destinations;
  std::size_t next = 0, end = inst.operands.size();
  if (inst.has(Mod::kRed)) {
    using Kind = BarrierForm::Kind;
    form.kind = inst.has(Mod::kAnd) ? Kind::kAnd : inst.has(Mod::kOr) ? Kind::kOr : Kind::kPopc;
    if (end < 3) fail("an operand is missing");
    destinations.push_back(operand_of(inst.operands[next++], ptx::Type::kU32, op));
    form.negated = inst.operands[--end].negated;
    form.predicate = operand_of(inst.operands[end], ptx::Type::kPred, op);
  } else if (inst.has(Mod::kArrive)) {
    form.kind = BarrierForm::Kind::kArrive;
  }
  if (next >= end) fail("an operand is missing");
  form.barrier = operand_of(inst.operands[next++], ptx::Type::kU32, op);
  if (next < end) form.threads = operand_of(inst.operands[next], ptx::Type::kU32, op);
  if (form.kind == BarrierForm::Kind::kArrive && !form.threads.exists())
    fail("the number of threads is missing");
  form.counted = ptx::is_counted_barrier(inst);
  op.handler = Handler::kBarrier;
  op.detail = static_cast<std::uint32_t>(out_.barriers.size());
  out_.barriers.push_back(form);
  set_operands(op, destinations, {});
}

}  // namespace lockstep::exec
