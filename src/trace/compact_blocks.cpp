#include "trace/compact_blocks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "trace/host_task.hpp"
#include "util/error.hpp"

namespace lockstep::trace {
namespace {

// As in PNG: a byte that is no text, line ends that a transfer in text mode would change, an end of file.
constexpr std::uint8_t kMagic[8] = {0x89, 'L', 'S', 'T', '\r', '\n', 0x1a, '\n'};
constexpr std::uint8_t kEndMagic[4] = {'L', 'S', 'T', 'e'};
constexpr std::size_t kFileHeader = 12, kTrailer = 16, kBlockHeader = 13, kSummed = 9;

std::uint32_t checksum(const std::uint8_t* head, std::size_t head_size, std::span<const std::uint8_t> bytes) {
  const uLong sum = ::crc32(0, head, static_cast<uInt>(head_size));
  if (bytes.empty()) return static_cast<std::uint32_t>(sum);  // zlib begins anew when there is no buffer
  return static_cast<std::uint32_t>(::crc32_z(sum, bytes.data(), bytes.size()));
}

int open_to_read(const char* path) {
  return ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);  // as StoredFile: never waits for a pipe
}

}  // namespace

bool is_compact(const std::string& path) {
  const int fd = open_to_read(path.c_str());
  if (fd < 0) return false;
  struct stat info {};
  std::uint8_t head[sizeof kMagic] = {};
  const bool read = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                    ::pread(fd, head, sizeof head, 0) == static_cast<ssize_t>(sizeof head);
  ::close(fd);
  return read && std::equal(std::begin(head), std::end(head), kMagic);
}

BlockScratch::BlockScratch() : context_(ZSTD_createDCtx()) {
  if (context_ == nullptr) throw std::bad_alloc();
}
BlockScratch::~BlockScratch() { ZSTD_freeDCtx(static_cast<ZSTD_DCtx*>(context_)); }

BlockReader::BlockReader(std::string path, int descriptor) : path_(std::move(path)), fd_(descriptor) {
  constexpr std::uint64_t kUnknownSize = std::uint64_t{1} << 62;
  size_ = kUnknownSize;
}

BlockReader::BlockReader(std::string path) : path_(std::move(path)), fd_(open_to_read(path_.c_str())) {
  if (fd_ < 0) throw InputError(path_, 0, fmt::format("cannot open the file: {}", std::strerror(errno)));
  try {
    open_and_check();
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

BlockReader::~BlockReader() { ::close(fd_); }

void BlockReader::fail(std::uint64_t offset, const std::string& message) const {
  throw InputError(path_, 0, fmt::format("compact trace, byte {}: {}", offset, message));
}

void BlockReader::open_and_check() {
  struct stat info {};
  if (::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) throw InputError(path_, 0, "is not a regular file");
  size_ = static_cast<std::uint64_t>(info.st_size);
  if (size_ < kFileHeader + kBlockHeader + kTrailer) {
    fail(size_, "the file ends here; expected header, directory and trailer (is it cut short?)");
  }
  std::uint8_t head[kFileHeader], tail[kTrailer];
  read_at(0, head, sizeof head);
  if (!std::equal(std::begin(kMagic), std::end(kMagic), head)) fail(0, "this is not a compact trace");
  version_ = static_cast<std::uint32_t>(get_fixed(head + 8, 4));
  if (version_ < kPlainVersion || version_ > kLastVersion)
    fail(8, fmt::format("format version {}; expected {} to {}", version_, kPlainVersion, kLastVersion));
  read_at(size_ - kTrailer, tail, sizeof tail);
  if (!std::equal(std::begin(kEndMagic), std::end(kEndMagic), tail + 12)) {
    fail(size_ - kTrailer, "no trailer; expected one at the file's end (is it cut short?)");
  }
  if (checksum(tail, 8, {}) != get_fixed(tail + 8, 4)) fail(size_ - kTrailer, "the trailer is damaged");
  directory_ = get_fixed(tail, 8);
}

void BlockReader::read_at(std::uint64_t offset, std::uint8_t* out, std::size_t size) const {
  while (size > 0) {
    const ssize_t got = ::pread(fd_, out, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(offset, fmt::format("cannot be read: {}", std::strerror(errno)));
    if (got == 0) fail(offset, "the file ends here; it has become shorter while it was read");
    offset += static_cast<std::uint64_t>(got);
    out += got;
    size -= static_cast<std::size_t>(got);
  }
}

std::span<const std::uint8_t> BlockReader::read(std::uint64_t offset, BlockKind kind,
                                                BlockScratch& scratch) const {
  const std::uint64_t end = size_ - kTrailer;
  if (offset < kFileHeader || offset > end || end - offset < kBlockHeader) {
    fail(offset,
         fmt::format("a block is said to be here; expected it within bytes {} to {}", kFileHeader, end));
  }
  std::uint8_t head[kBlockHeader];
  read_at(offset, head, sizeof head);
  const std::uint64_t stored = get_fixed(head + 1, 4), raw = get_fixed(head + 5, 4);
  if (head[0] != static_cast<std::uint8_t>(kind)) {
    fail(offset, fmt::format("block of kind {}; expected {}", head[0], static_cast<unsigned>(kind)));
  }
  if (stored > end - offset - kBlockHeader) {
    fail(offset, fmt::format("block of {} bytes; expected at most {}", stored, end - offset - kBlockHeader));
  }
  if (raw > kMaxBlockBytes) {
    fail(offset, fmt::format("block of {} bytes decompressed; expected at most {}", raw, kMaxBlockBytes));
  }
  scratch.stored_.resize(stored);
  read_at(offset + kBlockHeader, scratch.stored_.data(), stored);
  if (checksum(head, kSummed, scratch.stored_) != get_fixed(head + kSummed, 4)) {
    fail(offset, "the block's checksum does not match its content: the file is damaged");
  }
  if (ZSTD_getFrameContentSize(scratch.stored_.data(), stored) != raw) {
    fail(offset, "the block's Zstandard frame is not of the size that its header says");
  }
  scratch.raw_.resize(raw);
  const std::size_t got = ZSTD_decompressDCtx(static_cast<ZSTD_DCtx*>(scratch.context_), scratch.raw_.data(),
                                              raw, scratch.stored_.data(), stored);
  if (ZSTD_isError(got)) fail(offset, fmt::format("Zstandard data: {}", ZSTD_getErrorName(got)));
  if (got != raw) fail(offset, fmt::format("{} bytes decompressed; expected {}", got, raw));
  return scratch.raw_;
}

BlockPacker::BlockPacker(int level) : level_(level), context_(ZSTD_createCCtx()) {
  if (context_ == nullptr) throw std::bad_alloc();
}
BlockPacker::~BlockPacker() { ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(context_)); }

void BlockPacker::pack(BlockKind kind, const Bytes& raw, Bytes& stored) {
  if (raw.size() > kMaxBlockBytes) {
    throw UserError(
        fmt::format("a thread block or an instruction table needs {} bytes; a compact trace allows {}",
                    raw.size(), kMaxBlockBytes));
  }
  stored.resize(kBlockHeader + ZSTD_compressBound(raw.size()));
  const std::size_t size = ZSTD_compressCCtx(static_cast<ZSTD_CCtx*>(context_), stored.data() + kBlockHeader,
                                             stored.size() - kBlockHeader, raw.data(), raw.size(), level_);
  if (ZSTD_isError(size)) throw UserError(fmt::format("cannot compress: {}", ZSTD_getErrorName(size)));
  stored.resize(kBlockHeader + size);
  Bytes head;
  put_fixed(head, static_cast<std::uint64_t>(kind), 1);
  put_fixed(head, size, 4);
  put_fixed(head, raw.size(), 4);
  put_fixed(head, checksum(head.data(), kSummed, {stored.data() + kBlockHeader, size}), 4);
  std::copy(head.begin(), head.end(), stored.begin());
}

BlockWriter::BlockWriter(std::string path, int level)
    : file_(std::move(path), OutputFile::Target::kRegular), packer_(level) {
  Bytes head(std::begin(kMagic), std::end(kMagic));
  put_fixed(head, kPlainVersion, 4);
  append(head);
}

void BlockWriter::resize(std::uint64_t size) {
  file_.resize(size);
  size_ = size;
}

void BlockWriter::append(const Bytes& bytes) {
  file_.append(bytes.data(), bytes.size());
  size_ += bytes.size();
}

std::uint64_t BlockWriter::write(BlockKind kind, const Bytes& raw) {
  try {
    packer_.pack(kind, raw, stored_);
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}", file_.path(), error.what()));
  }
  return write_packed(stored_);
}

std::uint64_t BlockWriter::write_packed(const Bytes& stored) {
  const std::uint64_t offset = size_;
  append(stored);
  return offset;
}

void BlockWriter::finish(std::uint64_t directory, std::uint32_t version) {
  Bytes field;
  put_fixed(field, version, 4);
  file_.overwrite(sizeof kMagic, field.data(), field.size());
  Bytes tail;
  put_fixed(tail, directory, 8);
  put_fixed(tail, checksum(tail.data(), 8, {}), 4);
  tail.insert(tail.end(), std::begin(kEndMagic), std::end(kEndMagic));
  append(tail);
  file_.commit();
}

}  // namespace lockstep::trace
