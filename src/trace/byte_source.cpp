#include "trace/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_streambuf.hpp>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "trace/zstd_frames.hpp"
#include "util/error.hpp"

namespace lockstep::trace {
namespace {

namespace io = boost::iostreams;

constexpr std::streamsize kBlock = 256 * 1024;

enum class Compression { kNone, kGzip, kXz, kZstd };

class StoredFile final : public ByteSource {
 public:
  explicit StoredFile(std::string path) : path_(std::move(path)) {
    // Non-blocking, so that a named pipe without a writer is refused below instead of waited for.
    fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd_ < 0) fail("cannot open", errno);
    struct stat info {};
    if (::fstat(fd_, &info) != 0) refuse("cannot be examined");
    if (S_ISDIR(info.st_mode)) refuse("is a directory; expected a file");
    if (!S_ISREG(info.st_mode)) refuse("is not a regular file");
  }
  ~StoredFile() override { ::close(fd_); }
  StoredFile(const StoredFile&) = delete;
  StoredFile& operator=(const StoredFile&) = delete;

  std::size_t read(char* out, std::size_t size) override {
    for (;;) {
      const ssize_t got = ::read(fd_, out, size);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) fail("cannot read", errno);
    }
  }

  [[nodiscard]] Compression compression() const {
    char head[6] = {};
    const ssize_t got = ::pread(fd_, head, sizeof head, 0);
    const std::string_view magic(head, got > 0 ? static_cast<std::size_t>(got) : 0);
    if (magic.starts_with("\x1f\x8b")) return Compression::kGzip;
    if (magic == std::string_view("\xfd"
                                  "7zXZ\0",
                                  6)) {
      return Compression::kXz;
    }
    if (magic.starts_with("\x28\xb5\x2f\xfd")) return Compression::kZstd;
    const bool skippable =
        magic.size() >= 4 && (magic[0] & 0xf0) == 0x50 && magic.substr(1, 3) == "\x2a\x4d\x18";
    return skippable ? Compression::kZstd : Compression::kNone;
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(const char* what, int error) const {
    throw InputError(path_, 0, std::string(what) + " the file: " + std::strerror(error));
  }
  [[noreturn]] void refuse(const char* what) {
    ::close(std::exchange(fd_, -1));
    throw InputError(path_, 0, what);
  }

  std::string path_;
  int fd_ = -1;
};

/// Compressed bytes on their way into Boost's filter; copied by it, hence the pointers.
struct CompressedInput {
  using char_type = char;
  using category = io::source_tag;
  StoredFile* file;
  ZstdFrames* frames;  // null unless Zstandard
  std::streamsize read(char* out, std::streamsize size) {
    const std::size_t got = file->read(out, static_cast<std::size_t>(size));
    if (frames) frames->feed(out, got);
    return got == 0 ? -1 : static_cast<std::streamsize>(got);
  }
};

class CompressedFile final : public ByteSource {
 public:
  CompressedFile(std::unique_ptr<StoredFile> file, Compression kind) : file_(std::move(file)), kind_(kind) {
    if (kind == Compression::kGzip) {
      stream_.push(io::gzip_decompressor(io::gzip::default_window_bits, kBlock));
    } else if (kind == Compression::kXz) {
      stream_.push(io::lzma_decompressor(kBlock));
    } else {
      stream_.push(io::zstd_decompressor(kBlock));
    }
    stream_.push(CompressedInput{file_.get(), kind == Compression::kZstd ? &frames_ : nullptr}, kBlock);
  }

  std::size_t read(char* out, std::size_t size) override {
    try {
      const std::streamsize got = stream_.sgetn(out, static_cast<std::streamsize>(size));
      if (got > 0) return static_cast<std::size_t>(got);
    } catch (const InputError&) {
      throw;
    } catch (const std::exception& error) {
      broken(error.what());
    }
    if (kind_ == Compression::kZstd && !frames_.at_boundary()) broken("it stops inside a frame");
    return 0;
  }

 private:
  [[noreturn]] void broken(const std::string& why) const {
    const char* name = kind_ == Compression::kGzip ? "gzip" : kind_ == Compression::kXz ? "xz" : "Zstandard";
    throw InputError(file_->path(), 0,
                     std::string("the ") + name + " data is broken or cut short (" + why + ")");
  }

  std::unique_ptr<StoredFile> file_;
  Compression kind_;
  ZstdFrames frames_;
  io::filtering_streambuf<io::input> stream_;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string bytes) : bytes_(std::move(bytes)) {}
  std::size_t read(char* out, std::size_t size) override {
    const std::size_t count = std::min(size, bytes_.size() - position_);
    std::memcpy(out, bytes_.data() + position_, count);
    position_ += count;
    return count;
  }

 private:
  std::string bytes_;
  std::size_t position_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> open_stored(const std::string& path) {
  return std::make_unique<StoredFile>(path);
}

std::unique_ptr<ByteSource> open_text(const std::string& path) {
  auto file = std::make_unique<StoredFile>(path);
  const Compression kind = file->compression();
  if (kind == Compression::kNone) return file;
  return std::make_unique<CompressedFile>(std::move(file), kind);
}

std::unique_ptr<ByteSource> open_memory(std::string bytes) {
  return std::make_unique<MemorySource>(std::move(bytes));
}

void require_readable_file(const std::string& path) { StoredFile{path}; }

}  // namespace lockstep::trace
