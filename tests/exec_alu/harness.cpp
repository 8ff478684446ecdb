#include "tests/exec_alu/harness.hpp"

#include <bit>
#include <cstdlib>
#include <stdexcept>

namespace lockstep::test {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '{') ++depth;
    if (i < text.size() && text[i] == '}') --depth;
    if (i == text.size() || (text[i] == separator && depth == 0)) {
      std::string_view part = text.substr(begin, i - begin);
      while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
      while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
      if (!part.empty()) out.push_back(part);
      begin = i + 1;
    }
  }
  return out;
}

ptx::Selector selector(std::string_view word) {
  ptx::Selector out;
  out.unit = word[0] == 'h' ? ptx::Selector::Unit::kHalf : ptx::Selector::Unit::kByte;
  for (const char digit : word.substr(1)) out.parts[out.count++] = static_cast<std::uint8_t>(digit - '0');
  return out;
}

ptx::Operand operand(std::string_view text) {
  ptx::Operand out;
  const auto group = [&](ptx::OperandKind kind, std::string_view inner, char separator) {
    out.kind = kind;
    for (const std::string_view part : split(inner, separator)) out.elements.push_back(operand(part));
    return out;
  };
  if (text.front() == '{') return group(ptx::OperandKind::kVector, text.substr(1, text.size() - 2), ',');
  if (text.find('|') != std::string_view::npos) return group(ptx::OperandKind::kPair, text, '|');
  if (text == "_") return out;
  if (text.front() == '#') {
    out.kind = ptx::OperandKind::kImmediate;
    out.bits = std::strtoull(std::string(text.substr(1)).c_str(), nullptr, 0);
    return out;
  }
  out.kind = ptx::OperandKind::kRegister;
  out.negated = text.front() == '!' || text.front() == '-';
  const std::size_t dot = text.find('.');
  if (dot != std::string_view::npos) out.selector = selector(text.substr(dot + 1));
  return out;
}

int flattened(const ptx::Operand& operand) {
  const bool group = operand.kind == ptx::OperandKind::kVector || operand.kind == ptx::OperandKind::kPair;
  return group ? static_cast<int>(operand.elements.size()) : 1;
}

}  // namespace

ptx::Instruction instruction(std::string_view form, std::string_view operands) {
  using Word = ptx::Form::Word;
  ptx::Instruction out;
  const std::vector<std::string_view> words = split(form, '.');
  const auto op = ptx::find_opcode(words[0]);
  if (!op) throw std::invalid_argument("no opcode: " + std::string(form));
  out.form.op = *op;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (const auto type = ptx::find_type(words[i])) {
      out.form.types.push_back(*type);
      out.form.order.push_back(Word::kType);
    } else if (const auto mod = ptx::find_mod(words[i])) {
      out.form.mods.push_back(*mod);
      out.form.order.push_back(Word::kMod);
    } else if (const auto shape = ptx::find_shape(words[i])) {
      out.form.shape = *shape;
      out.form.order.push_back(Word::kShape);
    } else if (const auto space = ptx::find_space(words[i])) {
      out.form.spaces.push_back(*space);
      out.form.order.push_back(Word::kSpace);
    } else {
      throw std::invalid_argument("no such word: " + std::string(words[i]));
    }
  }
  for (const std::string_view text : split(operands, ',')) out.operands.push_back(operand(text));
  out.place.line = 1;
  return out;
}

Warp::Warp(std::string_view form, std::string_view operands, unsigned destination_bits) {
  const ptx::Instruction in = instruction(form, operands);
  const auto selected = exec::select_lane_op(in, destination_bits);
  if (!selected) throw std::invalid_argument("no lane kernel: " + std::string(form));
  op = *selected;
  // Twice as many rows: room for .b128.
  sources_.resize(static_cast<std::size_t>(op.sources) * 2 + 16);
  destinations_.resize(static_cast<std::size_t>(op.destinations) * 2 + 2);
  const std::size_t written = ptx::destination_count(in.form);
  int next = 0;
  for (std::size_t i = written; i < in.operands.size(); ++i) {
    const ptx::Operand& o = in.operands[i];
    const bool group = flattened(o) > 1;
    for (int k = 0; k < flattened(o); ++k, ++next) {
      const ptx::Operand& element = group ? o.elements[static_cast<std::size_t>(k)] : o;
      if (element.kind == ptx::OperandKind::kImmediate) set_all(next, element.bits);
    }
  }
}

Warp& Warp::set(int source, const std::vector<std::uint64_t>& lanes) {
  for (std::size_t i = 0; i < exec::kLanes; ++i)
    sources_.at(static_cast<std::size_t>(source)).lane[i] = lanes[i % lanes.size()];
  return *this;
}

void Warp::run(std::uint32_t mask) {
  exec::LaneArgs args{};
  for (exec::LaneValues& values : destinations_)
    for (std::uint64_t& lane : values.lane) lane = kUntouched;
  for (int i = 0; i < op.destinations; ++i) args.dst[i] = &destinations_[static_cast<std::size_t>(i) * 2];
  for (int i = 0; i < op.sources; ++i) args.src[i] = &sources_[static_cast<std::size_t>(i)];
  args.mask = mask;
  args.present = mask;
  args.flags = &flags;
  op.fn(args, op.immediate);
}

std::uint64_t eval(std::string_view form, std::string_view operands,
                   std::initializer_list<std::uint64_t> sources) {
  Warp warp(form, operands);
  int index = 0;
  for (const std::uint64_t value : sources) warp.set_all(index++, value);
  warp.run();
  return warp.result(0);
}

std::uint64_t any_bits(std::mt19937_64& random) {
  static constexpr std::uint64_t kSpecial[] = {0,
                                               1,
                                               2,
                                               3,
                                               5,
                                               31,
                                               32,
                                               33,
                                               63,
                                               64,
                                               65,
                                               127,
                                               128,
                                               255,
                                               256,
                                               0x7fff,
                                               0x8000,
                                               0xffff,
                                               0x10000,
                                               0x7fffffff,
                                               0x80000000,
                                               0xffffffff,
                                               0x100000000,
                                               0x7fffffffffffffff,
                                               0x8000000000000000,
                                               ~std::uint64_t{0}};
  const std::uint64_t choice = random();
  const std::uint64_t value = random();
  switch (choice % 5) {
    case 0:
      return kSpecial[choice / 5 % std::size(kSpecial)];
    case 1:
      return std::uint64_t{1} << (value % 64);
    case 2:
      return value >> (choice / 5 % 64);
    case 3:
      return ~(value >> (choice / 5 % 64));
    default:
      return value;
  }
}

std::uint64_t any_float(std::mt19937_64& random, int exponent_bits, int mantissa_bits) {
  const std::uint64_t choice = random(), value = random();
  const std::uint64_t mantissa_mask = (std::uint64_t{1} << mantissa_bits) - 1;
  const std::uint64_t top = (std::uint64_t{1} << exponent_bits) - 1, bias = top / 2;
  const std::uint64_t sign = choice >> 63 << (exponent_bits + mantissa_bits);
  const std::uint64_t mantissas[] = {
      0, 1, mantissa_mask, mantissa_mask >> 1, (mantissa_mask >> 1) + 1, value, value, value};
  const std::uint64_t exponents[] = {
      0, 1, top, top - 1, bias, bias + 1, bias - 1, bias + value % 40, bias - value % 40, value, value};
  const std::uint64_t mantissa = mantissas[choice % std::size(mantissas)] & mantissa_mask;
  const std::uint64_t exponent = exponents[choice / 16 % std::size(exponents)] & top;
  return sign | exponent << mantissa_bits | mantissa;
}

}  // namespace lockstep::test
