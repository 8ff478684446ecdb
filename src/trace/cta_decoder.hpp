// Text of one CTA -> CtaTrace.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "trace/call_tracker.hpp"
#include "trace/intern_table.hpp"
#include "trace/kernel_header.hpp"
#include "trace/kernel_trace.hpp"
#include "trace/text_stream.hpp"

namespace lockstep::trace {

/// A decoded CTA with what is still to be published about it. Indices of static instructions from `known`
/// on are provisional: `known` + position in `fresh`.
struct DecodedCta : CtaTrace {
  std::uint32_t known = 0;                         // size of the kernel's table when this was decoded
  InternTable fresh;                               // instructions that the table did not have
  std::vector<StaticInst> fresh_insts;             // PCs still relative to their function
  std::map<std::uint32_t, std::uint64_t> unknown;  // static index -> dynamic count
  std::exception_ptr error;
  DecodedCta* next = nullptr;  // free list
  void reset(std::uint64_t cta_index, std::uint32_t warp_count, std::uint32_t known_insts);
};

/// What a decoder keeps from one CTA to the next for speed: hints on which results do not depend.
struct DecodeHints {
  std::vector<std::uint32_t> successor;  // last seen next instruction; [0]: of a warp's start
};

struct DecodeContext {
  const KernelHeader& header;
  const LineLayout& layout;
  const InternTable& table;  // not changed while decoders run
  const std::string& file;
  bool strict = false;
};

class CtaDecoder {
 public:
  CtaDecoder(const DecodeContext& context, DecodeHints& hints, DecodedCta& out);

  /// Takes the next lines of the CTA. Throws InputError.
  void piece(const TextPiece& piece);
  /// After the last piece: throws InputError unless the CTA is complete.
  void finish();

 private:
  enum class Place : std::uint8_t { kBefore, kBlock, kWarp, kCount, kAfter };

  struct Operands {
    const char* end = nullptr;  // behind the width
    std::uint64_t width = 0;
    bool bulk = false;  // the fields of bulk_copy() follow
  };

  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void expected(const char* what, const char* found) const;

  const char* structure_line(const char* p);
  void begin_block();
  void block_id(const char* p);
  void begin_warp(const char* p);
  void begin_count(const char* p);
  void end_block();
  void require_no_instructions_left() const;
  void share_records();

  const char* instruction(const char* p);
  const char* leading_fields(const char* p);
  const char* pc_and_mask(const char* p);
  [[nodiscard]] std::uint32_t guess(const char* p) const;
  [[nodiscard]] const InternedInstruction& entry(std::uint32_t i) const;
  [[nodiscard]] const char* entry_text(std::uint32_t i) const;
  [[nodiscard]] Operands measure_operands(const char* p) const;
  std::uint32_t intern(std::string_view text);
  std::uint32_t add_instruction(InstructionKey key);
  const char* addresses(const char* p);
  const char* address_list(const char* p);
  const char* address_stride(const char* p);
  const char* address_deltas(const char* p);
  const char* trailing_immediate(const char* p);
  const char* bulk_copy(const char* p);
  const char* tracer6_end(const char* p);
  const char* behind_immediate(const char* p, bool with_addresses);
  void note_call(const InternedInstruction& e);

  DecodeContext context_;
  DecodeHints& hints_;
  DecodedCta& out_;
  CallTracker calls_;
  const TextPiece* piece_ = nullptr;

  Place place_ = Place::kBefore;
  std::uint32_t warps_seen_ = 0;  // bit set; a CTA has at most 32 warps
  std::uint64_t warp_ = 0;
  const WarpSpan* before_ = nullptr;             // the warp decoded before
  std::uint64_t remaining_ = 0, announced_ = 0;  // instruction lines of the warp
  std::uint64_t line_ = 0;                       // in the piece, from 0
  std::uint32_t previous_ = 0;                   // index of the last instruction + 1, 0 at a warp's start
  LaneMask live_ = 0;                            // lanes of the warp that have a thread

  // The line being read.
  std::uint32_t pc_ = 0, source_line_ = 0;
  LaneMask mask_ = 0;
  AddressForm form_ = AddressForm::kNone;
  std::uint64_t function_ = 0;
  std::int64_t immediate_ = 0;
};

}  // namespace lockstep::trace
