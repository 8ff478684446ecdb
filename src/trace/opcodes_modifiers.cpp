#include "trace/opcodes_modifiers.hpp"

#include <algorithm>
#include <charconv>

namespace lockstep::trace {
namespace {

std::optional<std::uint32_t> whole_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Width {
  std::string_view modifier;
  unsigned bytes;
};
constexpr Width kWidths[] = {{"U8", 1},   {"S8", 1},    {"B8", 1},  {"U16", 2}, {"S16", 2}, {"B16", 2},
                             {"F16", 2},  {"BF16", 2},  {"32", 4},  {"U32", 4}, {"S32", 4}, {"B32", 4},
                             {"F32", 4},  {"64", 8},    {"U64", 8}, {"S64", 8}, {"B64", 8}, {"F64", 8},
                             {"128", 16}, {"B128", 16}, {"256", 32}};

}  // namespace

Opcode::Opcode(std::string_view text) {
  std::size_t dot = text.find('.');
  base_ = text.substr(0, dot);
  while (dot != std::string_view::npos && size_ < kMax) {
    text.remove_prefix(dot + 1);
    dot = text.find('.');
    modifiers_[size_++] = text.substr(0, dot);
  }
}

bool Opcode::has(std::string_view modifier) const { return std::find(begin(), end(), modifier) != end(); }

unsigned modifier_bytes(std::string_view modifier) {
  // The trailing lane count of a packed format: F16x2, BF16x4, F32x4.
  unsigned lanes = 1;
  if (modifier.size() > 3 && modifier[modifier.size() - 2] == 'x' &&
      (modifier.back() == '2' || modifier.back() == '4' || modifier.back() == '8')) {
    lanes = static_cast<unsigned>(modifier.back() - '0');
    modifier.remove_suffix(2);
  }
  for (const Width& width : kWidths)
    if (width.modifier == modifier) return width.bytes * lanes;
  return 0;
}

unsigned access_bytes(const Opcode& opcode) {
  for (const std::string_view modifier : opcode)
    if (const unsigned bytes = modifier_bytes(modifier)) return bytes;
  return 4;
}

unsigned matrix_registers(const Opcode& opcode) {
  for (std::string_view modifier : opcode) {
    if (modifier.starts_with('x')) modifier.remove_prefix(1);
    const auto number = whole_number(modifier);
    // LDSM.16.M88.4: the 16 is the element's width, the 4 counts matrices.
    if (number && modifier != "16" && *number >= 1 && *number <= 128) return *number;
    if (number && modifier == "16" && opcode.base().ends_with("TM")) return 16;
  }
  return 1;
}

}  // namespace lockstep::trace
