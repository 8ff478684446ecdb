// The parts of a CTA's text around its instructions.
#include "trace/cta_decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "trace/text_scan.hpp"
#include "util/error.hpp"

namespace lockstep::trace {
namespace {

std::string_view rest_of_line(const char* p) {
  const char* end = p;
  while (*end != '\n') ++end;
  while (end > p && is_blank(end[-1])) --end;
  return {p, static_cast<std::size_t>(end - p)};
}

}  // namespace

void DecodedCta::reset(std::uint64_t cta_index, std::uint32_t warp_count, std::uint32_t known_insts) {
  index = cta_index;
  id = {0, 0, 0};
  warps.assign(warp_count, WarpSpan{});
  records.clear();
  words.clear();
  known = known_insts;
  fresh.clear();
  fresh_insts.clear();
  unknown.clear();
  error = nullptr;
  next = nullptr;
}

CtaDecoder::CtaDecoder(const DecodeContext& context, DecodeHints& hints, DecodedCta& out)
    : context_(context), hints_(hints), out_(out) {
  if (hints_.successor.empty()) hints_.successor.push_back(InternTable::kNone);
}

void CtaDecoder::fail(const std::string& message) const {
  if (!piece_->marks.empty()) {
    const auto after =
        std::upper_bound(piece_->marks.begin() + 1, piece_->marks.end(), line_,
                         [](std::uint64_t line, const TextPiece::Mark& m) { return line < m.line; });
    const TextPiece::Mark& mark = *std::prev(after);
    throw InputError(context_.file, 0,
                     fmt::format("byte {}, line {} of what stands there: {}", mark.offset,
                                 line_ - mark.line + 1, message));
  }
  const std::uint64_t offset =
      piece_->lines.empty() ? line_ : std::min<std::uint64_t>(line_, piece_->lines.size() - 1);
  throw InputError(context_.file, piece_->line(offset), message);
}

void CtaDecoder::expected(const char* what, const char* found) const {
  const std::string_view token(found, static_cast<std::size_t>(skip_token(found) - found));
  fail(token.empty() ? fmt::format("the line ends here; expected {}", what)
                     : fmt::format("found {}; expected {}", shown(token), what));
}

void CtaDecoder::piece(const TextPiece& piece) {
  piece_ = &piece;
  line_ = 0;
  const char* p = piece.text.begin();
  const char* const end = piece.text.end();
  while (p < end) {
    const char* const start = p;
    p = skip_blanks(p);
    if (*p != '\n') {
      if (remaining_ > 0 && *p != '#' && *p != 'w') {
        p = instruction(p);
      } else {
        p = structure_line(p);
      }
    }
    if (static_cast<std::size_t>(p - start) > kLongestLine) {
      fail(fmt::format("line longer than {} characters", kLongestLine));
    }
    ++p;
    ++line_;
  }
  if (line_ > 0) --line_;  // finish() speaks of the last line
}

void CtaDecoder::finish() {
  if (place_ == Place::kBefore) fail("the file ends; expected '#BEGIN_TB'");
  if (place_ != Place::kAfter)
    fail("the file ends inside a thread block; expected '#END_TB' (is it cut short?)");
}

const char* CtaDecoder::structure_line(const char* p) {
  const std::string_view line = rest_of_line(p);
  if (line.starts_with("#BEGIN_TB")) {
    begin_block();
  } else if (line.starts_with("#END_TB")) {
    end_block();
  } else if (line[0] != '#') {
    if (place_ == Place::kBefore || place_ == Place::kAfter)
      fail(fmt::format("found {}; expected '#BEGIN_TB'", shown(line)));
    if (const char* id = scan_key(p, "thread block")) {
      block_id(id);
    } else if (const char* warp = scan_key(p, "warp")) {
      begin_warp(warp);
    } else if (const char* count = scan_key(p, "insts")) {
      begin_count(count);
    } else if (!line.starts_with("cluster ")) {  // tracers that know clusters print three such lines
      if (place_ == Place::kCount) require_no_instructions_left();
      if (warps_seen_ != 0 && detail::kHexDigit[static_cast<unsigned char>(*p)] < 16) {
        fail(fmt::format("warp {} has more than the {} instructions of its 'insts =' line", warp_,
                         announced_));
      }
      fail(fmt::format("found {}; expected 'thread block =', 'warp =', 'insts =' or '#END_TB'", shown(line)));
    }
  }
  while (*p != '\n') ++p;
  return p;
}

void CtaDecoder::begin_block() {
  if (place_ != Place::kBefore) fail("found '#BEGIN_TB' inside a thread block; expected '#END_TB' before it");
  place_ = Place::kBlock;
}

void CtaDecoder::block_id(const char* p) {
  if (place_ != Place::kBlock) fail("found a second 'thread block ='; expected one for each '#BEGIN_TB'");
  const Dim3& grid = context_.header.grid;
  const std::uint64_t limit[3] = {grid.x, grid.y, grid.z};
  std::uint64_t v[3] = {};
  const char* q = p;
  for (unsigned i = 0; i < 3; ++i) {
    if (i > 0 && *q++ != ',') expected("thread block = x,y,z", p);
    q = scan_decimal(skip_blanks(q), v[i]);
    if (q == nullptr) expected("thread block = x,y,z", p);
    q = skip_blanks(q);
    if (v[i] >= limit[i]) {
      fail(fmt::format("found thread block {}; expected one inside the grid ({},{},{})",
                       shown(rest_of_line(p)), grid.x, grid.y, grid.z));
    }
  }
  if (*q != '\n') expected("the end of the line after thread block = x,y,z", q);
  out_.id = {static_cast<std::uint32_t>(v[0]), static_cast<std::uint32_t>(v[1]),
             static_cast<std::uint32_t>(v[2])};
  place_ = Place::kWarp;
  announced_ = 0;
}

void CtaDecoder::require_no_instructions_left() const {
  if (place_ == Place::kBlock) fail("expected 'thread block = x,y,z' after '#BEGIN_TB'");
  if (place_ == Place::kCount) fail(fmt::format("expected 'insts = N' for warp {}", warp_));
  if (remaining_ > 0) {
    fail(fmt::format("warp {} has {} instructions; expected the {} of its 'insts =' line", warp_,
                     announced_ - remaining_, announced_));
  }
}

/// A warp with the same records as the one decoded before it shares them.
void CtaDecoder::share_records() {
  if (warps_seen_ == 0) return;
  WarpSpan& latest = out_.warps[warp_];
  const auto first = out_.records.begin() + latest.first_record;
  if (before_ && before_->record_count == latest.record_count &&
      std::equal(first, out_.records.end(), out_.records.begin() + before_->first_record)) {
    out_.records.erase(first, out_.records.end());
    latest.first_record = before_->first_record;
  }
  before_ = &latest;
}

void CtaDecoder::begin_warp(const char* p) {
  require_no_instructions_left();
  share_records();
  const std::uint32_t warps = context_.header.warps_per_cta();
  std::uint64_t warp = 0;
  const char* end = scan_decimal(p, warp);
  if (end == nullptr || *skip_blanks(end) != '\n' || warp >= warps) {
    fail(fmt::format("found warp {}; expected 0 to {}, as the block has {} threads", shown(rest_of_line(p)),
                     warps - 1, context_.header.threads_per_cta()));
  }
  if ((warps_seen_ >> warp & 1) != 0) fail(fmt::format("warp {} occurs twice in the thread block", warp));
  warps_seen_ |= 1u << warp;
  warp_ = warp;
  const std::uint64_t threads = context_.header.threads_per_cta() - warp * kWarpSize;
  live_ = threads >= kWarpSize ? ~LaneMask{0} : (LaneMask{1} << threads) - 1;
  place_ = Place::kCount;
}

void CtaDecoder::begin_count(const char* p) {
  if (place_ != Place::kCount) fail("found 'insts ='; expected 'warp = N' before it");
  const char* end = scan_decimal(p, announced_);
  if (end == nullptr || *skip_blanks(end) != '\n' || announced_ > std::uint64_t{1} << 32) {
    fail(fmt::format("found instruction count {}; expected 0 to 2^32", shown(rest_of_line(p))));
  }
  remaining_ = announced_;
  out_.warps[warp_] = {static_cast<std::uint32_t>(out_.records.size()), 0,
                       static_cast<std::uint32_t>(out_.words.size())};
  previous_ = 0;
  calls_.start_warp();
  place_ = Place::kWarp;
}

void CtaDecoder::end_block() {
  if (place_ == Place::kBefore) fail("found '#END_TB'; expected '#BEGIN_TB' before it");
  require_no_instructions_left();
  share_records();
  const std::uint32_t missing = ~warps_seen_;
  const std::uint32_t warps = context_.header.warps_per_cta();
  if (const auto first = static_cast<std::uint32_t>(std::countr_zero(missing)); first < warps) {
    fail(fmt::format("thread block {},{},{} has no 'warp = {}'; expected warps 0 to {}", out_.id.x, out_.id.y,
                     out_.id.z, first, warps - 1));
  }
  place_ = Place::kAfter;
}

}  // namespace lockstep::trace
