// What the tracer of Accel-Sim 2.0 (version 6) prints beside what older ones do. None of it is used in timing
// yet, but all of it is read.
#include <algorithm>

#include "trace/cta_decoder.hpp"
#include "trace/text_scan.hpp"

namespace lockstep::trace {
namespace {

enum BulkForm : std::uint64_t { kBulkList = 3, kBulkDeltas = 4 };
constexpr std::uint64_t kMaxTransfers = 1 << 16;  // of one copy: a box of at most 2^16 rows

}  // namespace

/// mbarrier, multicast, [mask of CTAs,] bytes, bytes out of bounds, then the addresses of its transfers.
const char* CtaDecoder::bulk_copy(const char* p) {
  std::uint64_t value = 0;
  const auto next = [&](const char* (*scan)(const char*, std::uint64_t&), const char* what) {
    p = skip_blanks(p);
    const char* const end = scan(p, value);
    if (end == nullptr || !ends_token(*end)) expected(what, p);
    p = end;
    return value;
  };
  next(scan_hex, "an mbarrier's address in hexadecimal");
  if (next(scan_decimal, "whether the copy is multicast, 0 or 1") != 0)
    next(scan_hex, "the mask of the thread blocks that a copy goes to, in hexadecimal");
  next(scan_decimal, "the bytes of a bulk copy");
  next(scan_decimal, "the bytes of a bulk copy that are out of bounds");
  const char* const form = skip_blanks(p);
  const std::uint64_t mode = next(scan_decimal, "the encoding of a bulk copy's addresses, 3 or 4");
  if (mode != kBulkList && mode != kBulkDeltas)
    expected("the encoding of a bulk copy's addresses, 3 or 4", form);
  if (mode == kBulkDeltas) next(scan_hex, "a base address of 64 bits in hexadecimal");
  const char* const number = skip_blanks(p);
  const std::uint64_t count = next(scan_decimal, "how many transfers a bulk copy makes");
  if (count > kMaxTransfers) expected("at most 65536 transfers of a bulk copy", number);
  for (std::uint64_t i = 0; mode == kBulkList && i < count; ++i)
    next(scan_hex, "an address of each transfer");
  for (std::uint64_t i = 1; mode == kBulkDeltas && i < count; ++i) {
    std::int64_t delta = 0;
    p = skip_blanks(p);
    const char* const end = scan_signed(p, delta);
    if (end == nullptr || !ends_token(*end)) expected("a delta for each transfer but the first", p);
    p = end;
  }
  return p;
}

/// A second immediate, and "NoVal", or "Val" and what the registers hold.
const char* CtaDecoder::tracer6_end(const char* p) {
  constexpr std::string_view kNone = "NoVal", kValues = "Val";
  std::int64_t second = 0;
  if (const char* const end = scan_signed(p, second); end != nullptr && ends_token(*end))
    p = skip_blanks(end);
  if (starts_with(p, kNone) && ends_token(p[kNone.size()])) return skip_blanks(p + kNone.size());
  if (!starts_with(p, kValues) || !ends_token(p[kValues.size()])) return p;
  for (p = skip_blanks(p + kValues.size()); *p != '\n';) {
    std::uint64_t value = 0;
    const char* const end = scan_hex(p, value);
    if (end == nullptr || !ends_token(*end)) expected("a register's value in hexadecimal", p);
    p = skip_blanks(end);
  }
  return p;
}

}  // namespace lockstep::trace
