// PTX forms that depend on more than mnemonic and type: moves, memory, matrices, barriers.
#include <fmt/format.h>

#include <algorithm>

#include "lower/builder.hpp"
#include "lower/constants.hpp"
#include "ptx/barrier.hpp"

namespace lockstep::lower {

namespace {

using ptx::Mod;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::Space;

bool is_clock(ptx::Special special) {
  return special == ptx::Special::kClock || special == ptx::Special::kClock64 ||
         special == ptx::Special::kClockHi || special == ptx::Special::kGlobaltimer ||
         special == ptx::Special::kGlobaltimerLo || special == ptx::Special::kGlobaltimerHi;
}

const char* width_suffix(unsigned bytes) {
  switch (bytes) {
    case 1:
      return ".U8";
    case 2:
      return ".U16";
    case 8:
      return ".64";
    case 16:
      return ".128";
    default:
      return "";
  }
}

/// Loads and stores that must see what other SMs wrote, and cache operators (PTX ISA, "Cache Operators"): .cg
/// is not cached in the L1, .cs is the first to be evicted.
const char* cache_suffix(const ptx::Form& form) {
  const bool ordered = form.has(Mod::kAcquire) || form.has(Mod::kRelease) || form.has(Mod::kRelaxed);
  if (form.has(Mod::kVolatile) || form.has(Mod::kCv) || (ordered && form.has(Mod::kSys)))
    return ".STRONG.SYS";
  if ((ordered && !form.has(Mod::kCta)) || form.has(Mod::kCg)) return ".STRONG.GPU";
  return form.has(Mod::kCs) ? ".EF" : "";
}

unsigned access_bytes(const ptx::Form& form) {
  return std::min(16u, ptx::bytes(form.last_type()) * std::max<unsigned>(form.vector, 1));
}

/// Behind the opcode: what an atomic operation does.
std::string operation_suffix(const ptx::Form& form) {
  static constexpr std::pair<Mod, const char*> kNames[] = {
      {Mod::kAdd, "ADD"}, {Mod::kMin, "MIN"}, {Mod::kMax, "MAX"}, {Mod::kInc, "INC"},   {Mod::kDec, "DEC"},
      {Mod::kAnd, "AND"}, {Mod::kOr, "OR"},   {Mod::kXor, "XOR"}, {Mod::kExch, "EXCH"}, {Mod::kCas, "CAS"}};
  std::string all;
  for (const auto& [mod, text] : kNames)
    if (form.has(mod)) all += std::string(".") + text;
  return all;
}

std::string first_word(std::string_view text) {
  std::string word(text.substr(0, text.find('.')));
  std::ranges::transform(word, word.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return word;
}

}  // namespace

bool Builder::special_form(const Instruction& i) {
  switch (i.op()) {
    case Opcode::kMov:
      return move(i), true;
    case Opcode::kLd:
    case Opcode::kLdu:
    case Opcode::kSt:
      return memory(i), true;
    case Opcode::kAtom:
    case Opcode::kRed:
      return atomic(i), true;
    case Opcode::kMultimem:
      return multimem(i), true;
    case Opcode::kBar:
    case Opcode::kBarrier:
      return barrier(i), true;
    case Opcode::kMembar:
    case Opcode::kFence:
      return fence(i), true;
    case Opcode::kMma:
      return matrix(i), true;
    case Opcode::kWmma:
      return i.has(Mod::kMma) ? matrix(i) : matrix_move(i), true;
    case Opcode::kLdmatrix:
    case Opcode::kStmatrix:
      return matrix_move(i), true;
    case Opcode::kTex:
    case Opcode::kTld4:
    case Opcode::kSuld:
    case Opcode::kSust:
    case Opcode::kSured:
    case Opcode::kTxq:
      return texture(i), true;
    case Opcode::kRet:
      return emit(function_->entry ? "EXIT" : "RET.REL.NODEC", {}, {}), true;
    case Opcode::kPrefetch:
    case Opcode::kPrefetchu:
      return prefetch(i), true;
    default:
      return asynchronous_form(i);
  }
}

void Builder::move(const Instruction& i) {
  const ptx::Operand &to = i.operands[0], &from = i.operands[1];
  if (to.kind == OperandKind::kRegister && registers_->constant(to.reg)) return;
  if (from.kind == OperandKind::kSpecial) {
    if (in_constant_bank(from.special)) return load_constant(places(to));
    return emit(is_clock(from.special) ? "CS2R.32" : "S2R", places(to), {});
  }
  if (to.kind == OperandKind::kVector || from.kind == OperandKind::kVector) {
    const auto sources = places(from);
    std::size_t n = 0;
    for (const std::uint8_t d : places(to)) {
      emit("MOV", {d}, sources.empty() ? sources : std::vector{sources[std::min(n, sources.size() - 1)]});
      ++n;
    }
    return;
  }
  sequence(i);
}

/// A parameter that is needed in registers.
void Builder::parameter(const ptx::Operand& data) {
  for (const ptx::Operand& element : data.kind == OperandKind::kVector ? data.elements : std::vector{data}) {
    if (element.kind != OperandKind::kRegister) continue;
    std::vector<std::uint8_t> to = places(element);
    if (!to.empty() && ptx::pressure_of(function_->registers[element.reg].type).words > 1)
      to.push_back(high_half(to.front()));
    load_constant(to);
  }
}

/// The suffix that marks the current store or atomic as one that signals.
const char* Builder::signal_suffix() const {
  if (!passes_.signals) return "";
  return kernel_.memory()[kernel_.operations()[operation_].detail].signals ? ".SIGNALS" : "";
}

/// .L2Pxx: the policy of the L2 (trace/opcode_table.cpp). Machine code has it in registers.
std::string Builder::policy_suffix(const Instruction& i) {
  const auto policy = l2_policies_.of(i);
  if (!policy) remark("L2::cache_hint: a policy that is no constant of the program has no effect on timing");
  return policy.value_or(trace::kNoL2Policy) == trace::kNoL2Policy ? "" : fmt::format(".L2P{:02X}", *policy);
}

void Builder::memory(const Instruction& i) {
  const bool store = i.op() == Opcode::kSt;
  const ptx::Operand& address = i.operands[store ? 0 : 1];
  const ptx::Operand& data = i.operands[store ? 1 : 0];
  const Space space = i.form.space();
  // Parameters: a kernel's lie in the constant bank, a function's are passed in registers.
  if (space == Space::kParam || space == Space::kParamEntry || space == Space::kParamFunc) {
    if (!store && function_->entry &&
        !(data.kind == OperandKind::kRegister && registers_->constant(data.reg)))
      parameter(data);
    return;
  }
  const unsigned bytes = access_bytes(i.form);
  std::string opcode = i.has(Mod::kAsync) ? "STA" : store ? "ST" : "LD";
  if (space == Space::kConst) {
    return emit(fmt::format("LDC{}", width_suffix(bytes)), places(data), places(address), bytes,
                Carries::kFirst);
  }
  if (is_shared(space)) {
    opcode += "S";
  } else if (space == Space::kLocal) {
    opcode += "L";
  } else {
    opcode += space == Space::kGlobal ? "G.E" : ".E";
    window();
  }
  opcode += width_suffix(bytes);
  if (i.has(Mod::kNc)) opcode += ".CONSTANT";
  opcode += cache_suffix(i.form);
  if (!is_shared(space) && space != Space::kLocal) opcode += policy_suffix(i);
  auto registers = places(data);
  auto sources = places(address);
  if (store) {
    opcode += signal_suffix();
    if (!registers.empty()) sources.push_back(registers.front());
    emit(opcode, {}, sources, bytes, Carries::kFirst);
  } else {
    registers.resize(std::min<std::size_t>(registers.size(), 1));
    emit(opcode, registers, sources, bytes, Carries::kFirst);
  }
}

void Builder::atomic(const Instruction& i) {
  const bool returns = i.op() == Opcode::kAtom && i.operands[0].kind != OperandKind::kSink;
  const std::size_t at = i.op() == Opcode::kAtom ? 1 : 0;
  const bool shared = is_shared(i.form.space());
  std::string opcode = i.has(Mod::kAsync) ? "REDAS"
                       : shared           ? "ATOMS"
                       : returns          ? i.form.space() == Space::kGlobal ? "ATOMG.E" : "ATOM.E"
                                          : "RED.E";
  opcode += operation_suffix(i.form);
  const unsigned bytes = access_bytes(i.form);
  if (bytes == 8) opcode += ".64";
  if (!shared) {
    opcode += i.has(Mod::kSys) ? ".STRONG.SYS" : ".STRONG.GPU";
    opcode += signal_suffix() + policy_suffix(i);
    window();
  }
  auto sources = places(i.operands[at]);
  for (std::size_t o = at + 1; o < i.operands.size(); ++o)
    for (const std::uint8_t p : places(i.operands[o])) sources.push_back(p);
  emit(opcode, returns ? places(i.operands[0]) : std::vector<std::uint8_t>{}, sources, bytes,
       Carries::kFirst);
}

/// ptxas makes an ordinary store and reduction of multimem.st and multimem.red: the address says it all.
void Builder::multimem(const Instruction& i) {
  if (i.has(Mod::kCp)) return bulk_copy(i);
  const bool loads = i.has(Mod::kLdReduce);
  const unsigned bytes = access_bytes(i.form);
  std::string opcode = fmt::format("{}{}{}.STRONG.SYS",
                                   loads              ? "LDGMC.E"
                                   : i.has(Mod::kRed) ? "REDG.E"
                                                      : "STG.E",
                                   operation_suffix(i.form), width_suffix(bytes));
  if (!loads) opcode += signal_suffix();
  window();
  auto data = places(i.operands[loads ? 0 : 1]), sources = places(i.operands[loads ? 1 : 0]);
  data.resize(std::min<std::size_t>(data.size(), 1));
  if (!loads) sources.insert(sources.end(), data.begin(), data.end());
  emit(opcode, loads ? data : std::vector<std::uint8_t>{}, sources, bytes, Carries::kFirst);
}

/// As ptxas 13.0 for sm_90 has them.
void Builder::prefetch(const Instruction& i) {
  if (i.has(Mod::kTensormap)) return emit("CCTL.E.PF2", {}, places(i.operands[0]));  // moves no data here
  emit(
      i.has(Mod::kL2) || i.has(Mod::kL2EvictLast) || i.has(Mod::kL2EvictNormal) ? "CCTL.E.PF2" : "CCTL.E.PF1",
      {}, places(i.operands[0]), sizeof(std::uint32_t), Carries::kFirst);
}

/// ptxas 13.0 for sm_90 puts a fence before an arrival, unless that is relaxed.
void Builder::cluster_barrier(const Instruction& i) {
  if (i.has(Mod::kWait)) return emit("UCGABAR_WAIT", {}, {});
  if (!i.has(Mod::kRelaxed)) emit("MEMBAR.ALL.GPU", {}, {});
  emit("UCGABAR_ARV", {}, {});
}

void Builder::barrier(const Instruction& i) {
  if (i.has(Mod::kWarp)) return emit("WARPSYNC", {}, {});
  if (i.has(Mod::kCluster)) return cluster_barrier(i);
  const bool arrive = i.has(Mod::kArrive), reduce = i.has(Mod::kRed);
  const std::size_t at = reduce ? 1 : 0;
  std::int64_t number = 0;
  if (i.operands.size() > at && i.operands[at].kind == OperandKind::kImmediate)
    number = static_cast<std::int64_t>(i.operands[at].bits);
  const std::string opcode = arrive   ? "BAR.ARV"
                             : reduce ? "BAR.RED.POPC.DEFER_BLOCKING"
                                      : "BAR.SYNC.DEFER_BLOCKING";
  if (ptx::is_counted_barrier(i))
    emit(opcode + ".EVENTS", {}, {}, sizeof(std::uint64_t), Carries::kFirst);
  else
    emit(opcode, {}, {}, 0, Carries::kNothing, number);
  if (reduce && !places(i.operands[0]).empty()) emit("B2R.RESULT", places(i.operands[0]), {});
}

/// ptxas 13.0 for sm_90 makes nothing of the fence behind mbarrier.init. That between the proxies waits for
/// the CTA's accesses, not for stores to be seen by other SMs.
void Builder::fence(const Instruction& i) {
  if (i.has(Mod::kMbarrierInit)) return;
  if (i.has(Mod::kProxy) && i.has(Mod::kAsync)) {
    if (i.form.space() != ptx::Space::kGlobal) emit("MEMBAR.ALL.CTA", {}, {});
    return emit("FENCE.VIEW.ASYNC", {}, {});
  }
  const bool cta = i.has(Mod::kCta), system = i.has(Mod::kSys);
  emit(cta ? "MEMBAR.SC.CTA" : system ? "MEMBAR.SC.SYS" : "MEMBAR.SC.GPU", {}, {});
}

/// mma and wmma.mma: as many machine instructions as the work of one of them goes into the whole.
void Builder::matrix(const Instruction& i) {
  const auto& shape = i.form.shape;
  const std::uint64_t work = std::uint64_t{shape.m} * shape.n * std::max<unsigned>(shape.k, 1);
  const ptx::Type type = i.form.types.size() > 1 ? i.form.types[1] : ptx::Type::kF16;
  struct Machine {
    const char* opcode;
    std::uint64_t work;
  };
  const auto choose = [&]() -> Machine {
    const bool sparse = i.has(Mod::kSp) || i.has(Mod::kSpOrderedMetadata);
    if (type == ptx::Type::kF64) return {"DMMA.884", 8 * 8 * 4};
    if (type == ptx::Type::kB1) return {"BMMA.168256.AND.POPC", 16 * 8 * 256};
    if (type == ptx::Type::kS4 || type == ptx::Type::kU4)
      return sparse ? Machine{"IMMA.SP.168128.S4.S4", 16 * 8 * 128}
                    : Machine{"IMMA.16864.S4.S4", 16 * 8 * 64};
    if (type == ptx::Type::kE4m3 || type == ptx::Type::kE5m2)
      return sparse ? Machine{"QMMA.SP.16864.F32.E4M3.E4M3", 16 * 8 * 64}
                    : Machine{"QMMA.16832.F32.E4M3.E4M3", 16 * 8 * 32};
    if (sparse && (type == ptx::Type::kS8 || type == ptx::Type::kU8))
      return {"IMMA.SP.16864.S8.S8", 16 * 8 * 64};
    if (sparse && type == ptx::Type::kTf32) return {"HMMA.SP.16816.F32.TF32", 16 * 8 * 16};
    if (sparse && type == ptx::Type::kBf16) return {"HMMA.SP.16832.F32.BF16", 16 * 8 * 32};
    if (sparse) return {"HMMA.SP.16832.F32", 16 * 8 * 32};
    if (type == ptx::Type::kS8 || type == ptx::Type::kU8)
      return arch_ >= 80 ? Machine{"IMMA.16832.S8.S8", 16 * 8 * 32} : Machine{"IMMA.8816.S8.S8", 8 * 8 * 16};
    if (type == ptx::Type::kTf32) return {"HMMA.1688.F32.TF32", 16 * 8 * 8};
    if (type == ptx::Type::kBf16) return {"HMMA.16816.F32.BF16", 16 * 8 * 16};
    if (arch_ >= 80) return {"HMMA.16816.F32", 16 * 8 * 16};
    return arch_ >= 75 ? Machine{"HMMA.1688.F32", 16 * 8 * 8} : Machine{"HMMA.884.F32.F32.STEP0", 8 * 8 * 4};
  };
  Machine machine = choose();
  const std::uint64_t count = std::max<std::uint64_t>(1, work / machine.work);
  std::vector<std::vector<std::uint8_t>> operands;
  for (const auto& operand : i.operands) operands.push_back(places(operand));
  operands.resize(std::max<std::size_t>(operands.size(), 4));
  for (std::uint64_t n = 0; n < count; ++n) {
    // Parts of the result are made one after another; each reads its part of the fragments.
    const auto part = [&](const std::vector<std::uint8_t>& fragment) {
      return fragment.empty() ? fragment : std::vector{fragment[n * fragment.size() / count]};
    };
    std::vector<std::uint8_t> sources = part(operands[1]);
    for (const std::size_t o : {2u, 3u})
      for (const std::uint8_t p : part(operands[o])) sources.push_back(p);
    emit(machine.opcode, part(operands[0]), sources);
  }
}

/// One machine instruction for each 16 bytes of a lane's fragment; all carry the address that was recorded.
void Builder::matrix_move(const Instruction& i) {
  const bool store = i.op() == Opcode::kStmatrix || i.has(Mod::kStore);
  const bool shared = is_shared(i.form.space());
  const auto data = places(i.operands[store ? 1 : 0]);
  const auto address = places(i.operands[store ? 0 : 1]);
  if (i.op() == Opcode::kLdmatrix || i.op() == Opcode::kStmatrix) {
    auto sources = address;
    if (store && !data.empty()) sources.push_back(data.front());
    const unsigned bytes = 16;
    const std::string count = i.has(Mod::kX4) ? ".4" : i.has(Mod::kX2) ? ".2" : "";
    return emit((store ? "STSM.16.M88" : "LDSM.16.M88") + count,
                store || data.empty() ? std::vector<std::uint8_t>{} : std::vector{data.front()}, sources,
                bytes, Carries::kFirst);
  }
  const std::string opcode = std::string(store ? "ST" : "LD") + (shared ? "S" : "G.E");
  for (std::size_t n = 0; n < std::max<std::size_t>(data.size(), 1); n += 4) {
    const std::size_t left = std::min<std::size_t>(4, std::max<std::size_t>(data.size(), 1) - n);
    const unsigned bytes = left >= 4 ? 16 : left >= 2 ? 8 : 4;
    auto sources = address;
    std::vector<std::uint8_t> destinations;
    if (n < data.size()) (store ? sources : destinations).push_back(data[n]);
    emit(opcode + width_suffix(bytes), destinations, sources, bytes, Carries::kFirst);
  }
}

void Builder::texture(const Instruction& i) {
  constexpr unsigned kTexelBytes = 4;  // no texel straddles a sector: its first bytes stand for it
  const bool store = i.op() == Opcode::kSust;
  auto data = places(i.operands[0]);
  std::vector<std::uint8_t> sources;
  for (std::size_t o = store ? 0 : 1; o < i.operands.size(); ++o)
    for (const std::uint8_t p : places(i.operands[o])) sources.push_back(p);
  std::string opcode = first_word(ptx::name(i.op()));
  const bool fetches = i.op() == Opcode::kTex || i.op() == Opcode::kTld4;
  if (!fetches) return emit(opcode, store ? std::vector<std::uint8_t>{} : data, sources);
  emit(opcode, data, sources, kTexelBytes, Carries::kFirst);
}

}  // namespace lockstep::lower
