#include "trace/tracez.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <new>
#include <string_view>

#include "trace/byte_source.hpp"
#include "trace/text_scan.hpp"
#include "trace/tracez_file.hpp"
#include "util/error.hpp"

namespace lockstep::trace {
namespace {

constexpr std::uint64_t kLargestSubchunk = 1u << 28;  // bytes of text
constexpr std::size_t kPieceBytes = 4 << 20;

struct FreeDictionary {
  void operator()(ZSTD_DDict* d) const { ZSTD_freeDDict(d); }
};
struct FreeContext {
  void operator()(ZSTD_DCtx* c) const { ZSTD_freeDCtx(c); }
};

KernelFile header_of(const TracezFile& file) {
  TextStream stream(open_memory(file.header()), file.path());
  KernelFile kernel = read_header(stream);
  if (std::string_view line; stream.line(line) && !trim(line).empty())
    stream.fail(fmt::format("found {}; expected the end of the header", shown(trim(line))));
  kernel.layout.processed = true;
  return kernel;
}

/// The text of a processed trace, made CTA by CTA.
class TracezSource final : public CtaSource {
 public:
  TracezSource(const std::string& path, std::uint32_t warps_per_cta)
      : file_(path), index_(file_, warps_per_cta), context_(ZSTD_createDCtx()) {
    if (context_ == nullptr) throw std::bad_alloc();
    const std::vector<char> dictionary = file_.dictionary();
    if (dictionary.empty()) return;
    dictionary_.reset(ZSTD_createDDict(dictionary.data(), dictionary.size()));
    if (dictionary_ == nullptr)
      file_.fail(file_.data_offset() - dictionary.size(), "found a broken Zstandard dictionary");
  }

  void next(TextPiece& piece) override {
    piece.text.clear();
    piece.lines.clear();
    piece.marks.clear();
    piece.first_line = 0;
    lines_ = 0;
    piece.last = piece.end_of_file = false;
    if (!inside_ && !begin_block(piece)) return;
    while (warp_ < block_.warps.size()) {
      if (piece.text.size() >= kPieceBytes) return;
      step(piece);
    }
    piece.marks.push_back({lines_, file_.index_offset()});
    emit(piece, "#END_TB");
    inside_ = false;
    piece.last = true;
  }

  void expect_end(std::uint64_t ctas) override {
    if (TracezBlock block; index_.next(block))
      file_.fail(file_.index_offset(),
                 fmt::format("found {} thread blocks; expected the grid's {}", index_.blocks(), ctas));
  }

 private:
  bool begin_block(TextPiece& piece) {
    if (!index_.next(block_)) {
      piece.last = piece.end_of_file = true;
      return false;
    }
    inside_ = true;
    warp_ = 0;
    subchunk_ = 0;
    piece.marks.push_back({0, file_.index_offset()});
    emit(piece, "#BEGIN_TB");
    emit(piece, fmt::format("thread block = {},{},{}", block_.id.x, block_.id.y, block_.id.z));
    return true;
  }

  /// A warp's beginning, or its next sub-chunk.
  void step(TextPiece& piece) {
    const TracezWarp& warp = block_.warps[warp_];
    if (subchunk_ == 0) begin_warp(piece, warp);
    if (subchunk_ < warp.subchunks) add_subchunk(piece, warp);
    if (subchunk_ < warp.subchunks) return;
    ++warp_;
    subchunk_ = 0;
  }

  void begin_warp(TextPiece& piece, const TracezWarp& warp) {
    piece.marks.push_back({lines_, warp.data});
    emit(piece, fmt::format("warp = {}", warp_));
    emit(piece, fmt::format("insts = {}", warp.instructions));
    const std::uint64_t end = file_.index_offset();
    const std::uint32_t instructions = file_.number(warp.data, end, "a warp's header");
    const std::uint32_t subchunks = file_.number(warp.data + 4, end, "a warp's header");
    if (instructions != warp.instructions || subchunks != warp.subchunks)
      file_.fail(
          warp.data,
          fmt::format("found a warp of {} instructions in {} sub-chunks; expected the index's {} in {}",
                      instructions, subchunks, warp.instructions, warp.subchunks));
    at_ = warp.data + 8;
  }

  void add_subchunk(TextPiece& piece, const TracezWarp& warp) {
    const std::uint64_t end = file_.index_offset();
    const std::uint32_t stored = file_.number(at_, end, "a sub-chunk's size");
    const std::uint64_t start = at_ + 4;
    if (stored > end - start)
      file_.fail(at_, fmt::format("found a sub-chunk of {} bytes; expected at most {}", stored, end - start));
    stored_.resize(stored);
    file_.read(start, stored_.data(), stored, end, "a sub-chunk");
    const std::uint32_t expected = file_.number(warp.counts + 4ull * subchunk_, file_.index_end(), "a count");
    decompress(start, expected);
    piece.marks.push_back({lines_, start});
    piece.text.append(text_.data(), text_.size());
    if (text_.empty() || text_.back() != '\n') piece.text.append("\n", 1);
    const auto ends = static_cast<std::uint64_t>(std::count(text_.begin(), text_.end(), '\n'));
    const std::uint64_t lines = ends + (text_.empty() || text_.back() != '\n');
    if (lines != expected)
      file_.fail(start,
                 fmt::format("found a sub-chunk of {} lines; expected the index's {}", lines, expected));
    lines_ += lines;
    at_ = start + stored;
    ++subchunk_;
  }

  void decompress(std::uint64_t offset, std::uint32_t instructions) {
    const unsigned long long size = ZSTD_getFrameContentSize(stored_.data(), stored_.size());
    const std::uint64_t most = std::min(kLargestSubchunk, std::uint64_t{instructions} * (kLongestLine + 1));
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > most)
      file_.fail(offset,
                 fmt::format("expected a Zstandard frame that states its size, at most {} bytes", most));
    text_.resize(static_cast<std::size_t>(size));
    const std::size_t got = ZSTD_decompress_usingDDict(context_.get(), text_.data(), text_.size(),
                                                       stored_.data(), stored_.size(), dictionary_.get());
    if (ZSTD_isError(got)) file_.fail(offset, fmt::format("Zstandard data: {}", ZSTD_getErrorName(got)));
    text_.resize(got);
  }

  void emit(TextPiece& piece, std::string_view line) {
    piece.text.append(line);
    piece.text.append("\n", 1);
    ++lines_;
  }

  TracezFile file_;
  TracezIndex index_;
  std::unique_ptr<ZSTD_DCtx, FreeContext> context_;
  std::unique_ptr<ZSTD_DDict, FreeDictionary> dictionary_;
  TracezBlock block_;
  bool inside_ = false;         // block_ is not yet at its end
  std::size_t warp_ = 0;        // of block_: what comes next
  std::uint32_t subchunk_ = 0;  // of that warp
  std::uint64_t at_ = 0;        // its offset
  std::uint64_t lines_ = 0;     // of the piece
  std::vector<char> stored_, text_;
};

/// What the index says of clusters.
struct Clusters {
  Dim3 size;             // CTAs of the largest in each direction
  bool in_order = true;  // CTAs lie in the file in the order of their numbers, x fastest
};

/// Checks the whole index.
Clusters clusters_of(const TracezFile& file, const KernelHeader& header) {
  TracezIndex index(file, header.warps_per_cta());
  Clusters found;
  Dim3 most{0, 0, 0};
  std::uint64_t number = 0;
  for (TracezBlock block; index.next(block); ++number) {
    most.x = std::max(most.x, block.cta_in_cluster.x);
    most.y = std::max(most.y, block.cta_in_cluster.y);
    most.z = std::max(most.z, block.cta_in_cluster.z);
    const std::uint64_t rows = block.id.y + std::uint64_t{header.grid.y} * block.id.z;
    found.in_order &= block.id.x + header.grid.x * rows == number;
  }
  if (std::max({most.x, most.y, most.z}) >= kMaxClusterCtas)
    file.fail(file.index_offset(),
              fmt::format("a thread block is {},{},{} in its cluster; expected at most {}", most.x, most.y,
                          most.z, kMaxClusterCtas - 1));
  found.size = {most.x + 1, most.y + 1, most.z + 1};
  return found;
}

/// Clusters can be placed as such: their thread blocks are known by their numbers.
bool are_placed(const Clusters& clusters, const Dim3& grid) {
  const Dim3& c = clusters.size;
  return clusters.in_order && c.count() <= kMaxClusterCtas && grid.x % c.x == 0 && grid.y % c.y == 0 &&
         grid.z % c.z == 0;
}

}  // namespace

bool is_tracez(const std::string& path) {
  if (path.ends_with(".tracez")) return true;
  for (const char* ending : {".tracez.xz", ".tracez.gz", ".tracez.zst"})
    if (path.ends_with(ending))
      throw InputError(path, 0,
                       "a .tracez file is compressed inside; expected it without a second compression");
  try {
    std::string head(1 << 16, ' ');
    head.resize(open_stored(path)->read(head.data(), head.size()));
    const std::size_t first = head.find_first_not_of(" \t\r\n");
    return first != std::string::npos && (head[first] == '-' || head[first] == '#') &&
           head.find('\0') < head.find("#BEGIN_TB");
  } catch (const InputError&) {
    return false;
  }
}

KernelFile read_tracez_header(const std::string& path) {
  const TracezFile file(path);
  KernelFile kernel = header_of(file);
  const Clusters clusters = clusters_of(file, kernel.header);
  if (clusters.size.count() == 1) return kernel;
  const Dim3& c = clusters.size;
  if (are_placed(clusters, kernel.header.grid)) {
    kernel.header.cluster = c;
    kernel.remarks.push_back(
        fmt::format("not faithful here because the trace does not say which thread block of a cluster "
                    "({},{},{}) an access to shared memory goes to: it takes the time of the SM's own",
                    c.x, c.y, c.z));
  } else {
    kernel.remarks.push_back(
        fmt::format("not faithful here because thread blocks of clusters ({},{},{}) are placed one by one: "
                    "expected them in the order of their numbers and whole clusters of at most {}",
                    c.x, c.y, c.z, kMaxClusterCtas));
  }
  return kernel;
}

std::unique_ptr<CtaFeed> open_tracez(const std::string& path, const FeedOptions& options,
                                     const std::vector<std::string>& remarks) {
  KernelFile kernel = read_tracez_header(path);
  const std::uint32_t warps = kernel.header.warps_per_cta();
  kernel.remarks.insert(kernel.remarks.begin(), remarks.begin(), remarks.end());
  return make_text_feed(std::move(kernel), std::make_unique<TracezSource>(path, warps), path, options);
}

}  // namespace lockstep::trace
