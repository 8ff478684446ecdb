#include "trace/spill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <vector>

#include "trace/temporary_file.hpp"
#include "trace/text_scan.hpp"
#include "util/error.hpp"

namespace lockstep::trace {
namespace {

/// One trace line in memory; `line` is its number in the file.
struct Entry {
  std::uint64_t cta, line;
  std::uint32_t warp;
  std::uint32_t offset, length;  // in the text beside it
};

/// On disk: the lines of one CTA in one run. Entries follow, then the text.
struct ExtentHeader {
  std::uint64_t cta;
  std::uint32_t entries;
  std::uint32_t text_bytes;
};

struct Run {
  std::uint64_t position, end;  // of the next extent, of the run
  std::uint64_t next_cta;       // of the next extent
};

class SpillSource final : public CtaSource {
 public:
  SpillSource(TextStream stream, const KernelFile& kernel, std::size_t run_bytes)
      : file_(stream.file()), grid_(kernel.header.grid), warps_(kernel.header.warps_per_cta()) {
    read_all(stream, kernel.layout.leading_ids, run_bytes);
  }
  void next(TextPiece& piece) override;
  void expect_end(std::uint64_t) override {}  // lines outside the grid are refused while reading

 private:
  void read_all(TextStream& stream, unsigned leading_ids, std::size_t run_bytes);
  Entry parse_ids(TextStream& stream, const char*& p, unsigned leading_ids) const;
  void write_run();
  void write_extent(std::size_t begin, std::size_t end);
  void load(Run& run);
  void peek(Run& run);
  void assemble(TextPiece& piece);
  void emit_warp(TextPiece& piece, std::uint32_t warp, std::size_t begin, std::size_t end);
  void emit(TextPiece& piece, std::string_view line, std::uint64_t number);
  [[nodiscard]] Dim3 id_of(std::uint64_t cta) const {
    return {static_cast<std::uint32_t>(cta % grid_.x), static_cast<std::uint32_t>(cta / grid_.x % grid_.y),
            static_cast<std::uint32_t>(cta / grid_.x / grid_.y)};
  }

  std::string file_;
  Dim3 grid_;
  std::uint32_t warps_;
  TemporaryFile spill_;
  std::vector<Run> runs_;
  std::uint64_t next_cta_ = 0, last_line_ = 0;
  // While reading: the run being gathered; afterwards: the CTA being put together.
  std::vector<Entry> entries_;
  std::vector<char> text_;
  std::vector<char> dropped_;  // per entry: the first LDGSTS of a pair
};

Entry SpillSource::parse_ids(TextStream& stream, const char*& p, unsigned leading_ids) const {
  std::uint64_t v[4] = {}, ignored = 0;
  for (unsigned i = 0; i < leading_ids; ++i) {
    p = skip_blanks(p);
    const char* const end = scan_decimal(p, i < 4 ? v[i] : ignored);
    if (end == nullptr || !ends_token(*end)) {
      const std::string_view token(p, static_cast<std::size_t>(skip_token(p) - p));
      stream.fail(
          fmt::format("found {}; expected the numbers of thread block and warp (x y z warp)", shown(token)));
    }
    p = end;
  }
  p = skip_blanks(p);
  if (v[0] >= grid_.x || v[1] >= grid_.y || v[2] >= grid_.z) {
    stream.fail(fmt::format("found thread block {},{},{}; expected one inside the grid ({},{},{})", v[0],
                            v[1], v[2], grid_.x, grid_.y, grid_.z));
  }
  if (v[3] >= warps_) stream.fail(fmt::format("found warp {}; expected 0 to {}", v[3], warps_ - 1));
  Entry entry{};
  entry.cta = v[0] + std::uint64_t{grid_.x} * (v[1] + std::uint64_t{grid_.y} * v[2]);
  entry.warp = static_cast<std::uint32_t>(v[3]);
  entry.line = stream.line_number();
  return entry;
}

void SpillSource::read_all(TextStream& stream, unsigned leading_ids, std::size_t run_bytes) {
  std::string_view line;
  while (stream.line(line)) {
    const char* p = skip_blanks(line.data());
    if (*p == '\n' || *p == '#') continue;
    Entry entry = parse_ids(stream, p, leading_ids);
    const char* const end = line.data() + line.size();
    entry.offset = static_cast<std::uint32_t>(text_.size());
    entry.length = static_cast<std::uint32_t>(end - p);
    text_.insert(text_.end(), p, end);
    entries_.push_back(entry);
    if (text_.size() + entries_.size() * sizeof(Entry) >= run_bytes) write_run();
  }
  last_line_ = stream.line_number();
  if (!entries_.empty()) write_run();
}

void SpillSource::write_run() {
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.cta, a.warp, a.line) < std::tie(b.cta, b.warp, b.line);
  });
  const std::uint64_t start = spill_.size();
  for (std::size_t begin = 0, end = 0; begin < entries_.size(); begin = end) {
    while (end < entries_.size() && entries_[end].cta == entries_[begin].cta) ++end;
    write_extent(begin, end);
  }
  runs_.push_back({start, spill_.size(), entries_.front().cta});
  entries_.clear();
  text_.clear();
}

void SpillSource::write_extent(std::size_t begin, std::size_t end) {
  std::vector<char> text;
  std::vector<Entry> entries(entries_.begin() + static_cast<std::ptrdiff_t>(begin),
                             entries_.begin() + static_cast<std::ptrdiff_t>(end));
  for (Entry& entry : entries) {
    const auto from = text_.begin() + entry.offset;
    entry.offset = static_cast<std::uint32_t>(text.size());
    text.insert(text.end(), from, from + entry.length);
  }
  const ExtentHeader header{entries.front().cta, static_cast<std::uint32_t>(entries.size()),
                            static_cast<std::uint32_t>(text.size())};
  spill_.append(&header, sizeof header);
  spill_.append(entries.data(), entries.size() * sizeof(Entry));
  spill_.append(text.data(), text.size());
}

void SpillSource::peek(Run& run) {
  if (run.position == run.end) return;
  ExtentHeader header{};
  spill_.read_at(run.position, &header, sizeof header);
  run.next_cta = header.cta;
}

void SpillSource::load(Run& run) {
  ExtentHeader header{};
  spill_.read_at(run.position, &header, sizeof header);
  const std::size_t old_entries = entries_.size(), old_text = text_.size();
  entries_.resize(old_entries + header.entries);
  text_.resize(old_text + header.text_bytes);
  const std::size_t entry_bytes = header.entries * sizeof(Entry);
  spill_.read_at(run.position + sizeof header, entries_.data() + old_entries, entry_bytes);
  spill_.read_at(run.position + sizeof header + entry_bytes, text_.data() + old_text, header.text_bytes);
  for (std::size_t i = old_entries; i < entries_.size(); ++i) {
    entries_[i].offset += static_cast<std::uint32_t>(old_text);
  }
  if (text_.size() > ~std::uint32_t{0})
    throw InputError(file_, 0, "a thread block has more than 4 GiB of text");
  run.position += sizeof header + entry_bytes + header.text_bytes;
  peek(run);
}

void SpillSource::next(TextPiece& piece) {
  piece.text.clear();
  piece.lines.clear();
  piece.last = true;
  piece.first_line = last_line_;
  entries_.clear();
  text_.clear();
  bool any_left = false;
  for (Run& run : runs_) {
    if (run.position == run.end) continue;
    any_left = true;
    if (run.next_cta == next_cta_) load(run);
  }
  piece.end_of_file = !any_left;
  if (!any_left) return;
  if (entries_.empty()) {
    const Dim3 id = id_of(next_cta_);
    throw InputError(file_, 0,
                     fmt::format("no line is of thread block {},{},{}; expected all of grid ({},{},{})", id.x,
                                 id.y, id.z, grid_.x, grid_.y, grid_.z));
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.warp, a.line) < std::tie(b.warp, b.line);
  });
  assemble(piece);
  ++next_cta_;
}

void SpillSource::assemble(TextPiece& piece) {
  const std::uint64_t first = entries_.front().line;
  const Dim3 id = id_of(next_cta_);
  emit(piece, "#BEGIN_TB", first);
  emit(piece, fmt::format("thread block = {},{},{}", id.x, id.y, id.z), first);
  std::size_t begin = 0;
  for (std::uint32_t warp = 0; warp < warps_; ++warp) {
    std::size_t end = begin;
    while (end < entries_.size() && entries_[end].warp == warp) ++end;
    emit_warp(piece, warp, begin, end);
    begin = end;
  }
  emit(piece, "#END_TB", entries_.back().line);
}

void SpillSource::emit_warp(TextPiece& piece, std::uint32_t warp, std::size_t begin, std::size_t end) {
  const auto text_of = [&](std::size_t i) {
    return std::string_view(text_.data() + entries_[i].offset, entries_[i].length);
  };
  dropped_.assign(end - begin, 0);
  bool drop = true;
  std::size_t kept = end - begin;
  for (std::size_t i = begin; i < end; ++i) {
    if (text_of(i).find(" LDGSTS") == std::string_view::npos) continue;
    dropped_[i - begin] = drop;
    kept -= drop;
    drop = !drop;
  }
  const std::uint64_t number = begin < end ? entries_[begin].line : last_line_;
  emit(piece, fmt::format("warp = {}", warp), number);
  emit(piece, fmt::format("insts = {}", kept), number);
  for (std::size_t i = begin; i < end; ++i) {
    if (!dropped_[i - begin]) emit(piece, text_of(i), entries_[i].line);
  }
}

void SpillSource::emit(TextPiece& piece, std::string_view line, std::uint64_t number) {
  piece.text.append(line);
  piece.text.append("\n", 1);
  piece.lines.push_back(number);
}

}  // namespace

std::unique_ptr<CtaSource> spill_interleaved(TextStream stream, const KernelFile& kernel,
                                             std::size_t run_bytes) {
  return std::make_unique<SpillSource>(std::move(stream), kernel, run_bytes);
}

}  // namespace lockstep::trace
