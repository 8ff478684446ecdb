#include "trace/traced_instruction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

#include "trace/opcode_table.hpp"
#include "trace/text_scan.hpp"

namespace lockstep::trace {
namespace {

constexpr std::size_t kMaxDestinations = 4, kMaxSources = 8;  // what StaticInst holds

using Registers = std::array<TracedRegister, kMaxRegisterFields>;

[[noreturn]] void expected(const char* what, std::string_view found) {
  throw std::invalid_argument(found.empty() ? fmt::format("the instruction ends here; expected {}", what)
                                            : fmt::format("found {}; expected {}", shown(found), what));
}

std::string_view next_token(std::string_view& text) {
  text = trim(text);
  const auto end = std::find_if(text.begin(), text.end(), ends_token);
  const auto token = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(token.size());
  return token;
}

std::uint64_t next_number(std::string_view& text, std::uint64_t limit, const char* what) {
  const std::string_view token = next_token(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error != std::errc{} || end != token.data() + token.size() || value > limit) expected(what, token);
  return value;
}

std::size_t next_registers(std::string_view& text, Registers& out, const char* what) {
  const auto count = static_cast<std::size_t>(next_number(text, kMaxRegisterFields, what));
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name = next_token(text);
    const auto parsed = parse_register(name);
    if (!parsed) expected("a register such as R4, UR4, P0 or UP0", name);
    out[i] = *parsed;
  }
  return count;
}

/// A test of an mbarrier: the outcome is a predicate.
bool tests(const StaticInst& inst) {
  return std::any_of(inst.destinations.begin(), inst.destinations.end(),
                     [](const RegisterRange& r) { return r.space == RegSpace::kPredicate; });
}

/// Queries of a texture or surface: TXQ, SUQ.
bool asks(const StaticInst& inst) { return std::string_view(inst.mnemonic.data()).substr(2, 1) == "Q"; }

}  // namespace

bool uses_immediate(OpClass c) {
  return c == OpClass::kDepBar || c == OpClass::kBarrier || c == OpClass::kSleep;
}

const char* remark_for(const StaticInst& inst) {
  switch (inst.op_class) {
    case OpClass::kBulkCopy:
      if (inst.bulk != BulkCopy::kNone) return nullptr;
      return "not faithful here because bulk (TMA) copies of a trace are timed without their addresses";
    case OpClass::kMbarrier:
      if (inst.barrier != BarrierOp::kNone || !tests(inst)) return nullptr;
      return "not faithful here because the trace does not say which mbarrier SYNCS waits for, and its spin "
             "counts are those of the traced run";
    case OpClass::kTexture:
      if (inst.has_addresses || asks(inst)) return nullptr;
      return "not faithful here because the trace has no addresses for texture fetches: they move no data";
    case OpClass::kSurface:
      if (inst.has_addresses || asks(inst)) return nullptr;
      return "not faithful here because surface accesses move no data";
    default:
      return nullptr;
  }
}

std::string_view opcode_of(std::string_view text) {
  Registers ignored;
  next_registers(text, ignored, "the number of destination registers");
  return next_token(text);
}

StaticInst decode_traced(const TracedInstruction& traced, std::uint32_t binary_version) {
  std::string_view text = traced.text;
  Registers destinations, sources;
  const std::size_t results = next_registers(text, destinations, "the number of destination registers");
  InstructionText fields;
  fields.opcode = next_token(text);
  if (fields.opcode.empty()) expected("an opcode", fields.opcode);
  const std::size_t operands = next_registers(text, sources, "the number of source registers");
  if (results > kMaxDestinations) {
    throw std::invalid_argument(fmt::format("{} has {} destination registers; expected at most {}",
                                            shown(fields.opcode), results, kMaxDestinations));
  }
  fields.mem_width = static_cast<std::uint32_t>(next_number(text, kMaxMemoryWidth, "the memory width"));
  // With tracer 6, what was read says whether a group of products ends.
  if (fields.opcode.find("GMMA") != std::string_view::npos && !trim(text).empty())
    fields.mem_width = static_cast<std::uint32_t>(next_number(text, kMaxMemoryWidth, "the memory width"));
  if (!trim(text).empty()) expected("nothing after the memory width", trim(text));
  fields.pc = traced.pc;
  fields.destinations = {destinations.data(), results};
  fields.sources = {sources.data(), std::min(operands, kMaxSources)};
  fields.immediate = traced.immediate;
  fields.has_immediate = traced.immediate != 0;  // an absent one and 0 mean the same
  fields.binary_version = binary_version;
  return decode_instruction(fields);
}

}  // namespace lockstep::trace
