// The instruction lines of a CTA: this is where decoding spends its time.
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <stdexcept>

#include "trace/cta_decoder.hpp"
#include "trace/text_scan.hpp"
#include "trace/traced_instruction.hpp"

namespace lockstep::trace {
namespace {

CallKind call_kind(std::string_view opcode) {
  const std::string_view base = opcode.substr(0, opcode.find('.'));
  if (base == "CALL" || base == "CAL" || base == "JCAL") return CallKind::kCall;
  return base == "RET" ? CallKind::kReturn : CallKind::kNone;
}

/// Fields that the tracer of Accel-Sim 2.0 prints.
bool has_bulk_fields(std::string_view opcode, const KernelHeader& header) {
  return header.tracer_version >= 6 && (opcode.starts_with("UTMA") || opcode.starts_with("UBLK")) &&
         !opcode.starts_with("UTMACMDFLUSH") && !opcode.starts_with("UTMACCTL");
}
bool has_group_field(std::string_view opcode, const KernelHeader& header) {
  return header.tracer_version >= 6 && opcode.find("GMMA") != std::string_view::npos;
}

}  // namespace

const InternedInstruction& CtaDecoder::entry(std::uint32_t i) const {
  return i < out_.known ? context_.table[i] : out_.fresh[i - out_.known];
}

const char* CtaDecoder::entry_text(std::uint32_t i) const {
  return i < out_.known ? context_.table.text(context_.table[i])
                        : out_.fresh.text(out_.fresh[i - out_.known]);
}

const char* CtaDecoder::instruction(const char* p) {
  p = pc_and_mask(leading_fields(p));
  function_ = calls_.function(pc_, mask_);
  const char* const text = p;
  std::uint32_t inst = guess(p);
  bool with_addresses, bulk;
  if (inst != InternTable::kNone) {
    p += entry(inst).text_length;
    with_addresses = entry(inst).has_addresses;
    bulk = entry(inst).bulk_fields;
  } else {
    const Operands operands = measure_operands(p);
    p = operands.end;
    with_addresses = operands.width != 0;
    bulk = operands.bulk;
  }
  const std::string_view words(text, static_cast<std::size_t>(p - text));
  form_ = AddressForm::kNone;
  if (bulk) [[unlikely]] {
    p = bulk_copy(p);
  } else if (with_addresses) {
    p = addresses(skip_blanks(p));
  }
  p = trailing_immediate(p);
  if (*p != '\n') [[unlikely]]
    p = behind_immediate(p, with_addresses);
  if (inst == InternTable::kNone || (entry(inst).uses_immediate && entry(inst).immediate != immediate_)) {
    inst = intern(words);
  }
  hints_.successor[previous_] = inst;
  previous_ = inst + 1;
  out_.records.push_back(Record::make(inst, form_, mask_));
  ++out_.warps[warp_].record_count;
  --remaining_;
  const InternedInstruction& e = entry(inst);
  if (!e.known) [[unlikely]]
    ++out_.unknown[inst];
  if (e.call != CallKind::kNone) [[unlikely]]
    note_call(e);
  return p;
}

const char* CtaDecoder::leading_fields(const char* p) {
  std::uint64_t ignored = 0;
  for (unsigned i = 0; i < context_.layout.leading_ids; ++i) {
    const char* const end = scan_decimal(p, ignored);
    if (end == nullptr || !ends_token(*end))
      expected("the thread block and warp numbers of tracer 1 and 2", p);
    p = skip_blanks(end);
  }
  if (context_.layout.line_info) {
    std::uint64_t line = 0;
    const char* const end = scan_decimal(p, line);
    if (end == nullptr || !ends_token(*end)) expected("a source line number", p);
    source_line_ = line >> 32 == 0 ? static_cast<std::uint32_t>(line) : 0;
    p = skip_blanks(end);
  }
  return p;
}

const char* CtaDecoder::pc_and_mask(const char* p) {
  std::uint64_t pc = 0, mask = 0;
  const char* end = scan_hex(p, pc);
  if (end == nullptr || !ends_token(*end) || pc >> 32 != 0)
    expected("a PC of at most 32 bits in hexadecimal", p);
  p = skip_blanks(end);
  end = scan_hex(p, mask);
  if (end == nullptr || !ends_token(*end) || mask >> 32 != 0)
    expected("an active mask of 32 bits in hexadecimal", p);
  pc_ = static_cast<std::uint32_t>(pc);
  mask_ = static_cast<LaneMask>(mask);
  if ((mask_ & ~live_) != 0) {
    fail(fmt::format(
        "active mask {:08x} of warp {}; expected lanes within {:08x}, as the block has {} threads", mask_,
        warp_, live_, context_.header.threads_per_cta()));
  }
  return skip_blanks(end);
}

/// The instruction that followed last time, if its text is what stands at `p`.
std::uint32_t CtaDecoder::guess(const char* p) const {
  if (previous_ >= hints_.successor.size()) return InternTable::kNone;
  const std::uint32_t candidate = hints_.successor[previous_];
  if (candidate >= out_.known + out_.fresh.size()) return InternTable::kNone;
  const InternedInstruction& e = entry(candidate);
  if (e.pc != pc_ || e.function != function_) return InternTable::kNone;
  if (piece_->text.end() - p < std::ptrdiff_t{e.text_length}) return InternTable::kNone;
  if (std::memcmp(p, entry_text(candidate), e.text_length) != 0) return InternTable::kNone;
  return ends_token(p[e.text_length]) ? candidate : InternTable::kNone;
}

CtaDecoder::Operands CtaDecoder::measure_operands(const char* p) const {
  const auto skip_registers = [&](const char* what) {
    std::uint64_t count = 0;
    const char* const end = scan_decimal(p, count);
    if (end == nullptr || !ends_token(*end) || count > kMaxRegisterFields) expected(what, p);
    p = skip_blanks(end);
    for (; count > 0; --count) {
      if (*p == '\n') expected("a register", p);
      p = skip_blanks(skip_token(p));
    }
  };
  skip_registers("the number of destination registers");
  if (*p == '\n') expected("an opcode", p);
  const std::string_view opcode(p, static_cast<std::size_t>(skip_token(p) - p));
  p = skip_blanks(skip_token(p));
  skip_registers("the number of source registers");
  Operands operands;
  operands.bulk = has_bulk_fields(opcode, context_.header);
  if (has_group_field(opcode, context_.header)) {
    const char* const end = scan_decimal(p, operands.width);
    if (end == nullptr || !ends_token(*end)) expected("whether a group of products ends, 0 or 1", p);
    p = skip_blanks(end);
  }
  operands.end = scan_decimal(p, operands.width);
  if (operands.end == nullptr || !ends_token(*operands.end) || operands.width > kMaxMemoryWidth) {
    expected("the memory width", p);
  }
  return operands;
}

std::uint32_t CtaDecoder::intern(std::string_view text) {
  const InstructionKey key{key_hash(function_, pc_, text), function_, pc_, text, immediate_};
  std::uint32_t inst = context_.table.find(key);
  if (inst == InternTable::kNone) {
    inst = out_.fresh.find(key);
    inst = inst != InternTable::kNone ? out_.known + inst : add_instruction(key);
  }
  if (inst + 2 > hints_.successor.size())
    hints_.successor.resize(2 * (std::size_t{inst} + 2), InternTable::kNone);
  return inst;
}

std::uint32_t CtaDecoder::add_instruction(InstructionKey key) {
  StaticInst inst;
  try {
    inst = decode_traced({pc_, key.text, immediate_}, context_.header.binary_version);
  } catch (const std::invalid_argument& error) {
    fail(error.what());
  }
  const std::string_view opcode = opcode_of(key.text);
  if (!inst.known && context_.strict) fail(fmt::format("opcode {} is not known (--strict)", shown(opcode)));
  InternedInstruction entry;
  entry.uses_immediate = uses_immediate(inst.op_class);
  entry.has_addresses = inst.has_addresses;
  entry.bulk_fields = has_bulk_fields(opcode, context_.header);
  entry.known = inst.known;
  entry.call = call_kind(opcode);
  entry.source_line = source_line_;
  out_.fresh_insts.push_back(inst);
  return out_.known + out_.fresh.add(key, entry);
}

const char* CtaDecoder::addresses(const char* p) {
  if (!context_.layout.address_mode) return address_list(p);
  const char mode = *p;
  if (!ends_token(p[0]) && !ends_token(p[1])) expected("address encoding 0, 1 or 2", p);
  const char* const rest = mode == '\n' ? p : skip_blanks(p + 1);
  if (mode == '0') return address_list(rest);
  if (mode == '1') return address_stride(rest);
  if (mode == '2') return address_deltas(rest);
  expected("address encoding 0 (list), 1 (stride) or 2 (deltas)", p);
}

const char* CtaDecoder::address_list(const char* p) {
  Address lanes[kWarpSize];
  for (LaneMask rest = mask_; rest != 0; rest &= rest - 1) {
    const char* const end = scan_hex(p, lanes[std::countr_zero(rest)]);
    if (end == nullptr || !ends_token(*end)) expected("an address of 64 bits for each active lane", p);
    p = skip_blanks(end);
  }
  form_ = pack_addresses(mask_, lanes, out_.words);
  return p;
}

const char* CtaDecoder::address_stride(const char* p) {
  std::uint64_t base = 0;
  std::int64_t stride = 0;
  const char* end = scan_hex(p, base);
  if (end == nullptr || !ends_token(*end)) expected("a base address of 64 bits in hexadecimal", p);
  p = skip_blanks(end);
  end = scan_signed(p, stride);
  if (end == nullptr || !ends_token(*end)) expected("a stride in decimal", p);
  if (mask_ == 0) return skip_blanks(end);
  out_.words.push_back(base);
  if ((mask_ & (mask_ - 1)) == 0) {
    form_ = AddressForm::kDelta;
  } else {
    out_.words.push_back(static_cast<std::uint64_t>(stride));
    form_ = AddressForm::kAffine;
  }
  return skip_blanks(end);
}

const char* CtaDecoder::address_deltas(const char* p) {
  Address lanes[kWarpSize];
  Address address = 0;
  const char* end = scan_hex(p, address);
  if (end == nullptr || !ends_token(*end)) expected("a base address of 64 bits in hexadecimal", p);
  p = skip_blanks(end);
  for (LaneMask rest = mask_; rest != 0; rest &= rest - 1) {
    if (rest != mask_) {
      std::int64_t delta = 0;
      end = scan_signed(p, delta);
      if (end == nullptr || !ends_token(*end)) expected("a delta for each active lane but the first", p);
      address += static_cast<std::uint64_t>(delta);
      p = skip_blanks(end);
    }
    lanes[std::countr_zero(rest)] = address;
  }
  form_ = pack_addresses(mask_, lanes, out_.words);
  return p;
}

const char* CtaDecoder::trailing_immediate(const char* p) {
  p = skip_blanks(p);
  immediate_ = 0;
  if (*p == '\n') return p;
  const char* const end = scan_signed(p, immediate_);
  if (end == nullptr || !ends_token(*end)) expected("an immediate in decimal or the end of the line", p);
  return skip_blanks(end);
}

/// What some tracers print there: the values that a store writes. Only their addresses matter in timing.
const char* CtaDecoder::behind_immediate(const char* p, bool with_addresses) {
  constexpr std::string_view kStoreData = "STORE_DATA";
  if (context_.header.tracer_version >= 6) p = tracer6_end(p);
  if (*p == '\n') return p;
  if (!with_addresses || !starts_with(p, kStoreData) || !ends_token(p[kStoreData.size()]))
    expected("the end of the line after the immediate", p);
  while (*p != '\n') ++p;
  return p;
}

void CtaDecoder::note_call(const InternedInstruction& e) {
  if (e.call == CallKind::kReturn) return calls_.ret(mask_);
  calls_.call(pc_, context_.header.binary_version < 70 ? 8 : 16, mask_);
}

}  // namespace lockstep::trace
