#include "trace/tracez_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "util/error.hpp"

namespace lockstep::trace {
namespace {

constexpr std::size_t kLongestHeader = 1 << 20, kBuffer = 1 << 16;
constexpr std::uint32_t kLargestDictionary = 16 << 20;  // Accel-Sim trains dictionaries of at most 64 KiB

std::uint64_t little_endian(const std::uint8_t* bytes, unsigned count) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < count; ++i) value |= std::uint64_t{bytes[i]} << (8 * i);
  return value;
}

}  // namespace

TracezFile::TracezFile(std::string path) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);  // never waits for a pipe
  if (fd_ < 0) throw InputError(path_, 0, fmt::format("cannot open the file: {}", std::strerror(errno)));
  try {
    struct stat info {};
    if (::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode))
      throw InputError(path_, 0, "is not a regular file");
    size_ = static_cast<std::uint64_t>(info.st_size);
    find_header();
    find_parts();
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

TracezFile::~TracezFile() { ::close(fd_); }

void TracezFile::fail(std::uint64_t offset, const std::string& message) const {
  throw InputError(path_, 0, fmt::format("byte {}: {}", offset, message));
}

void TracezFile::read(std::uint64_t offset, void* out, std::size_t size, std::uint64_t end,
                      const char* what) const {
  if (offset > end || size > end - offset)
    fail(offset,
         fmt::format("expected {} of {} bytes before byte {}; is the file cut short?", what, size, end));
  auto* p = static_cast<char*>(out);
  while (size > 0) {
    const ssize_t got = ::pread(fd_, p, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail(offset, got < 0 ? std::strerror(errno) : "the file ends here; it was longer before");
    p += got;
    size -= static_cast<std::size_t>(got);
    offset += static_cast<std::uint64_t>(got);
  }
}

std::uint32_t TracezFile::number(std::uint64_t offset, std::uint64_t end, const char* what) const {
  std::uint8_t bytes[4];
  read(offset, bytes, sizeof bytes, end, what);
  return static_cast<std::uint32_t>(little_endian(bytes, 4));
}

void TracezFile::find_header() {
  const std::uint64_t most = std::min<std::uint64_t>(size_, kLongestHeader);
  while (header_.size() < most) {
    const std::size_t before = header_.size();
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(kBuffer, most - before));
    header_.resize(before + step);
    read(before, header_.data() + before, step, size_, "the header");
    const std::size_t end = header_.find('\0', before);
    if (end == std::string::npos) continue;
    header_.resize(end);
    return;
  }
  fail(header_.size(), "no NUL so far; expected one to end the header of a .tracez file");
}

void TracezFile::find_parts() {
  const std::uint64_t sizes = header_.size() + 1;
  dictionary_offset_ = sizes + 8;  // after it: how many instructions the writer meant a sub-chunk to have
  if (size_ < dictionary_offset_ + 12)
    fail(size_, "the file ends here; expected sizes, dictionary, index and the index's offset");
  dictionary_size_ = number(sizes, size_, "the dictionary's size");
  std::uint8_t bytes[8];
  read(size_ - 8, bytes, sizeof bytes, size_, "the index's offset");
  index_offset_ = little_endian(bytes, 8);
  const std::uint64_t room = size_ - 12 - dictionary_offset_;
  if (dictionary_size_ > std::min<std::uint64_t>(room, kLargestDictionary))
    fail(sizes, fmt::format("found a dictionary of {} bytes; expected at most {}", dictionary_size_,
                            std::min<std::uint64_t>(room, kLargestDictionary)));
  if (index_offset_ < data_offset() || index_offset_ > size_ - 12)
    fail(size_ - 8, fmt::format("found {} as the index's offset; expected {} to {} (is the file cut short?)",
                                index_offset_, data_offset(), size_ - 12));
}

std::vector<char> TracezFile::dictionary() const {
  std::vector<char> bytes(dictionary_size_);
  if (!bytes.empty()) read(dictionary_offset_, bytes.data(), bytes.size(), size_, "the dictionary");
  return bytes;
}

TracezIndex::TracezIndex(const TracezFile& file, std::uint32_t warps_per_cta)
    : file_(file), warps_per_cta_(warps_per_cta), at_(file.index_offset()) {
  blocks_ = take();
}

std::uint32_t TracezIndex::take() {
  if (at_ < buffer_start_ || at_ + 4 > buffer_start_ + buffer_.size()) {
    const std::uint64_t left = file_.index_end() - std::min(at_, file_.index_end());
    buffer_.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(std::max<std::uint64_t>(left, 4), kBuffer)));
    buffer_start_ = at_;
    file_.read(at_, buffer_.data(), buffer_.size(), file_.index_end(), "the index's next number");
  }
  const std::uint32_t value =
      static_cast<std::uint32_t>(little_endian(buffer_.data() + (at_ - buffer_start_), 4));
  at_ += 4;
  return value;
}

void TracezIndex::warp(TracezWarp& out) {
  const std::uint64_t start = at_;
  out.instructions = take();
  out.subchunks = take();
  out.data = take();
  out.data |= std::uint64_t{take()} << 32;
  out.counts = at_;
  const std::uint64_t end = file_.index_offset();
  if (out.subchunks > out.instructions || (out.subchunks == 0) != (out.instructions == 0))
    file_.fail(start, fmt::format("found {} sub-chunks of {} instructions; expected at least one in each",
                                  out.subchunks, out.instructions));
  if (out.data < file_.data_offset() || out.data > end || end - out.data < 8)
    file_.fail(start + 8, fmt::format("found the offset {} of a warp; expected {} to {}", out.data,
                                      file_.data_offset(), end < 8 ? 0 : end - 8));
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < out.subchunks; ++i) sum += take();
  if (sum != out.instructions)
    file_.fail(out.counts,
               fmt::format("the warp's sub-chunks have {} instructions; expected the {} of the warp", sum,
                           out.instructions));
}

bool TracezIndex::next(TracezBlock& block) {
  if (done_ == blocks_) {
    if (at_ != file_.index_end())
      file_.fail(at_, fmt::format("the index ends here; expected that of byte {}", file_.index_end()));
    return false;
  }
  const auto three = [&] {
    const std::uint32_t x = take(), y = take(), z = take();
    return Dim3{x, y, z};
  };
  block.id = three();
  three();  // which cluster
  block.cta_in_cluster = three();
  take();  // its rank: linear
  if (const std::uint32_t warps = take(); warps != warps_per_cta_)
    file_.fail(at_ - 4, fmt::format("found {} warps in thread block {},{},{}; expected {}", warps, block.id.x,
                                    block.id.y, block.id.z, warps_per_cta_));
  block.warps.resize(warps_per_cta_);
  for (TracezWarp& w : block.warps) warp(w);
  ++done_;
  return true;
}

}  // namespace lockstep::trace
