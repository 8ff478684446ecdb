#include "synth/trace_folder.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <exception>
#include <filesystem>
#include <ostream>
#include <streambuf>

#include "util/output_file.hpp"

namespace lockstep::synth {
namespace {

constexpr Address kSharedBase = 0x7f7e00000000, kLocalBase = 0x7f7dfe000000;
constexpr std::size_t kFlushBytes = 1 << 20;

void put_hex(std::string& out, std::uint64_t value, unsigned digits) {
  char text[16];
  for (unsigned i = digits; i-- > 0; value >>= 4) text[i] = "0123456789abcdef"[value & 15];
  out.append(text, digits);
}

void put_short_hex(std::string& out, std::uint64_t value) {
  const unsigned bits = static_cast<unsigned>(std::bit_width(value));
  put_hex(out, value, value == 0 ? 1 : (bits + 3) / 4);
}

template <class Number>
void put_decimal(std::string& out, Number value) {
  char text[24];
  const auto result = std::to_chars(text, text + sizeof text, value);
  out.append(text, result.ptr);
}

void put_register(std::string& out, unsigned reg) {
  out += 'R';
  put_decimal(out, reg);
  out += ' ';
}

std::string_view suffix(Compression c) {
  switch (c) {
    case Compression::kGzip:
      return ".gz";
    case Compression::kXz:
      return ".xz";
    case Compression::kZstd:
      return ".zst";
    case Compression::kNone:
      break;
  }
  return "";
}

struct Release {
  std::string_view nvbit, tracer;
};
/// NVBit versions that went with the tracer versions; the first tracer called itself 1.2.
constexpr Release kReleases[] = {
    {"1.0", "1.2"}, {"1.1", "2"}, {"1.5.3", "3"}, {"1.5.5", "4"}, {"1.7.1", "5"}};

std::string header_text(const trace::KernelHeader& h, const Dialect& d) {
  const Release& release = kReleases[d.tracer_version - 1];
  std::string text = fmt::format(
      "-kernel name = {}\n-kernel id = {}\n-grid dim = ({},{},{})\n-block dim = ({},{},{})\n-shmem = {}\n"
      "-nregs = {}\n-binary version = {}\n-cuda stream id = {}\n-shmem base_addr = 0x{:016x}\n"
      "-local mem base_addr = 0x{:016x}\n-nvbit version = {}\n-accelsim tracer version = {}\n",
      h.name, h.id, h.grid.x, h.grid.y, h.grid.z, h.block.x, h.block.y, h.block.z, h.shared_bytes,
      h.registers, h.binary_version, h.stream, h.shared_base, h.local_base, release.nvbit, release.tracer);
  if (d.tracer_version >= 4) text += fmt::format("-enable lineinfo = {}\n", d.line_info ? 1 : 0);
  text += "\n#traces format = ";
  if (d.tracer_version < 3) text += "threadblock_x threadblock_y threadblock_z warpid_tb ";
  if (d.tracer_version >= 4) text += "[line_num] ";
  text +=
      "PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]";
  if (d.tracer_version >= 5) text += " immediate";
  return text + "\n\n\n";
}

}  // namespace

LaneMask live_lanes(std::uint32_t threads, std::uint32_t index) {
  const std::uint32_t first = index * kWarpSize;
  if (first >= threads) return 0;
  return threads - first >= kWarpSize ? kAllLanes : (LaneMask{1} << (threads - first)) - 1;
}

void WarpText::put_access(const Access& access, LaneMask mask) {
  std::string& out = text_;
  put_decimal(out, access.width);
  if (access.form == Access::Form::kNone) return;
  const auto lanes = static_cast<unsigned>(std::popcount(mask));
  const bool list = access.form == Access::Form::kList || dialect_.tracer_version < 3;
  if (list) {
    out += " 0";
    unsigned lane = 0;
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    for (LaneMask rest = mask; rest != 0; rest &= rest - 1, ++lane) {
      const std::int64_t distance = std::countr_zero(rest) - static_cast<int>(first);
      out += " 0x";
      put_hex(out,
              access.form == Access::Form::kStride
                  ? access.base + static_cast<std::uint64_t>(distance * access.stride)
                  : access.addresses[lane],
              16);
    }
  } else if (access.form == Access::Form::kStride) {
    out += " 1 0x";
    put_short_hex(out, access.base);
    out += ' ';
    put_decimal(out, access.stride);
  } else {
    out += " 2 0x";
    put_short_hex(out, lanes == 0 ? 0 : access.addresses[0]);
    for (unsigned i = 1; i < lanes; ++i) {
      out += ' ';
      put_decimal(out, static_cast<std::int64_t>(access.addresses[i] - access.addresses[i - 1]));
    }
    if (lanes == 1) out += ' ';
  }
}

void WarpText::emit(const Line& line) {
  std::string& out = text_;
  const LaneMask mask = line.mask.value_or(live_);
  out += prefix_;
  if (dialect_.line_info) {
    put_decimal(out, 1 + pc_ / 16);
    out += ' ';
  }
  put_hex(out, pc_, pc_ > 0xffff ? 8 : 4);
  out += ' ';
  put_hex(out, mask, 8);
  out += line.to ? " 1 " : " 0 ";
  if (line.to) put_register(out, static_cast<unsigned>(*line.to));
  out += line.opcode;
  out += ' ';
  put_decimal(out, static_cast<unsigned>(line.from.size));
  out += ' ';
  for (unsigned i = 0; i < line.from.size; ++i) put_register(out, line.from.reg[i]);
  put_access(line.access, mask);
  if (dialect_.tracer_version >= 5) {
    out += ' ';
    put_decimal(out, line.immediate);
  }
  out += " \n";
  pc_ += dialect_.binary_version < 70 ? 8 : 16;
  ++lines_;
}

namespace {

/// To an output file, without a buffer of its own. Streams lose exceptions: check() throws the first one.
class FileBuffer final : public std::streambuf {
 public:
  explicit FileBuffer(const std::string& path) : file_(path) {}
  void check() const {
    if (error_) std::rethrow_exception(error_);
  }
  void commit() {
    check();
    file_.commit();
  }

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    if (error_) return 0;
    try {
      file_.append(text, static_cast<std::size_t>(size));
      return size;
    } catch (const std::exception&) {
      error_ = std::current_exception();
      return 0;
    }
  }
  int_type overflow(int_type c) override {
    const char one = traits_type::to_char_type(c);
    return xsputn(&one, 1) == 1 ? c : traits_type::eof();
  }

 private:
  OutputFile file_;
  std::exception_ptr error_;
};

}  // namespace

struct KernelFile::Output {
  explicit Output(const std::string& path) : file(path) {}
  std::string buffer;
  FileBuffer file;
  std::ostream sink{&file};
  std::unique_ptr<std::ostream> stream;
};

KernelFile::KernelFile(const std::string& path, const trace::KernelHeader& header, const Dialect& dialect)
    : header_(header), output_(std::make_unique<Output>(path)) {
  warp_.dialect_ = dialect;
  output_->stream = compressed(dialect.compression, output_->sink);
  put(header_text(header_, dialect));
}

KernelFile::KernelFile(KernelFile&&) noexcept = default;
KernelFile::~KernelFile() = default;

void KernelFile::put(std::string_view text) {
  std::string& buffer = output_->buffer;
  buffer += text;
  if (buffer.size() < kFlushBytes) return;
  output_->stream->write(buffer.data(), static_cast<std::streamsize>(buffer.size()));
  output_->file.check();
  buffer.clear();
}

void KernelFile::begin_cta(Dim3 id) {
  cta_ = id;
  put(fmt::format("\n#BEGIN_TB\n\nthread block = {},{},{}\n", id.x, id.y, id.z));
}

WarpText& KernelFile::begin_warp(std::uint32_t index) {
  flush_warp();
  open_warp_ = index;
  warp_.live_ = live_lanes(header_.threads_per_cta(), index);
  warp_.pc_ = 0;
  if (warp_.dialect_.tracer_version < 3)
    warp_.prefix_ = fmt::format("{} {} {} {} ", cta_.x, cta_.y, cta_.z, index);
  return warp_;
}

void KernelFile::flush_warp() {
  if (!open_warp_) return;
  put(fmt::format("\nwarp = {}\ninsts = {}\n", *open_warp_, warp_.lines_));
  put(warp_.text_);
  warp_.text_.clear();
  warp_.lines_ = 0;
  open_warp_.reset();
}

void KernelFile::end_cta() {
  flush_warp();
  put("\n#END_TB\n");
}

void KernelFile::close() {
  Output& out = *output_;
  out.stream->write(out.buffer.data(), static_cast<std::streamsize>(out.buffer.size()));
  out.buffer.clear();
  out.stream.reset();
  out.file.commit();
}

TraceFolder::TraceFolder(std::string directory, const Dialect& dialect)
    : directory_(std::move(directory)), dialect_(dialect) {
  std::error_code error;
  std::filesystem::create_directories(directory_, error);
  if (error) fail_output(directory_, "cannot make the folder", error.value());
}

void TraceFolder::copy_to_device(Address address, std::uint64_t bytes) {
  list_ += fmt::format("MemcpyHtoD,0x{:016x},{}\n", address, bytes);
}

KernelFile TraceFolder::kernel(trace::KernelHeader header) {
  header.binary_version = dialect_.binary_version;
  header.tracer_version = dialect_.tracer_version;
  header.line_info = dialect_.line_info;
  header.shared_base = kSharedBase;
  header.local_base = kLocalBase;
  last_kernel_ = fmt::format("kernel-{}.traceg{}", header.id, suffix(dialect_.compression));
  last_line_ = list_.size();
  list_ += last_kernel_ + "\n";
  return KernelFile((std::filesystem::path(directory_) / last_kernel_).string(), header, dialect_);
}

void TraceFolder::drop_last_kernel() { list_.erase(last_line_, last_kernel_.size() + 1); }

void TraceFolder::close() {
  const std::string path = (std::filesystem::path(directory_) / "kernelslist.g").string();
  OutputFile file(path);
  file.append(list_);
  file.commit();
}

}  // namespace lockstep::synth
