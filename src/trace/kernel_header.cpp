#include "trace/kernel_header.hpp"

#include <fmt/format.h>

#include <limits>
#include <string_view>

#include "trace/text_scan.hpp"

namespace lockstep::trace {
namespace {

constexpr std::uint64_t kNewestTracer = 6;

/// Parses the lines of one header; errors name the line that `stream` gave last.
class HeaderParser {
 public:
  explicit HeaderParser(TextStream& stream) : stream_(stream) {}

  void line(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) return;  // an unknown option without a value
    const std::string_view key = trim(text.substr(1, equals - 1));
    value_ = trim(text.substr(equals + 1));
    KernelHeader& h = file.header;
    if (key == "kernel name") h.name = value_;
    if (key == "kernel id") h.id = number(0, ~std::uint64_t{0});
    if (key == "grid dim")
      h.grid =
          dimensions(KernelHeader::kMaxGridX, KernelHeader::kMaxGridYz, KernelHeader::kMaxGridYz, has_grid_);
    if (key == "block dim")
      h.block = dimensions(KernelHeader::kMaxThreads, KernelHeader::kMaxThreads, KernelHeader::kMaxThreadsZ,
                           has_block_);
    if (key == "shmem") h.shared_bytes = static_cast<std::uint32_t>(number(0, KernelHeader::kMaxShared));
    if (key == "nregs") h.registers = static_cast<std::uint32_t>(number(0, KernelHeader::kMaxRegisters));
    if (key == "binary version")
      h.binary_version =
          static_cast<std::uint32_t>(number(KernelHeader::kOldestBinary, KernelHeader::kNewestBinary));
    if (key == "cuda stream id") h.stream = number(0, ~std::uint64_t{0});
    if (key == "shmem base_addr") h.shared_base = address();
    if (key == "local mem base_addr") h.local_base = address();
    if (key == "nvbit version") h.nvbit_version = value_;
    if (key == "accelsim tracer version") h.tracer_version = tracer_version();
    if (key == "enable lineinfo") file.layout.line_info = h.line_info = number(0, 1) == 1;
  }

  void finish() {
    const KernelHeader& h = file.header;
    if (!has_grid_) missing("-grid dim");
    if (!has_block_) missing("-block dim");
    if (h.binary_version == 0) missing("-binary version");
    if (h.block.count() > KernelHeader::kMaxThreads) {
      stream_.fail(fmt::format("block dim ({},{},{}) has {} threads; expected at most {}", h.block.x,
                               h.block.y, h.block.z, h.block.count(), KernelHeader::kMaxThreads));
    }
    if (h.tracer_version > kNewestTracer) {
      file.remarks.push_back(fmt::format("tracer version {} is newer than {} and is read as that",
                                         h.tracer_version, kNewestTracer));
    }
  }

  KernelFile file;

 private:
  [[noreturn]] void bad(const std::string& expected) const {
    stream_.fail(fmt::format("header value {}; expected {}", shown(value_), expected));
  }
  [[noreturn]] void missing(const char* key) const {
    stream_.fail(fmt::format("the header ends without '{} = ...'; is this a kernel trace?", key));
  }
  [[nodiscard]] std::uint64_t number(std::uint64_t low, std::uint64_t high) const {
    std::uint64_t v = 0;
    const char* end = scan_decimal(value_.data(), v);
    if (end != value_.data() + value_.size() || v < low || v > high) {
      bad(fmt::format("a whole number from {} to {}", low, high));
    }
    return v;
  }
  [[nodiscard]] Address address() const {
    std::uint64_t v = 0;
    if (scan_hex(value_.data(), v) != value_.data() + value_.size()) bad("a hexadecimal address of 64 bits");
    return v;
  }
  /// "1.2" (the tracer of 2020) counts as 1.
  [[nodiscard]] std::uint32_t tracer_version() const {
    std::uint64_t v = 0;
    const char* end = scan_decimal(value_.data(), v);
    if (end == nullptr || (*end != '.' && end != value_.data() + value_.size()) || v > 99) {
      bad("a tracer version such as 5");
    }
    return static_cast<std::uint32_t>(v);
  }
  Dim3 dimensions(std::uint64_t max_x, std::uint64_t max_y, std::uint64_t max_z, bool& seen) const {
    const std::string expected = fmt::format("(x,y,z) of 1 to {}, 1 to {} and 1 to {}", max_x, max_y, max_z);
    const std::uint64_t limit[3] = {max_x, max_y, max_z};
    std::uint64_t v[3] = {};
    const char* p = value_.data();
    for (unsigned i = 0; i < 3; ++i) {
      if (*p != (i == 0 ? '(' : ',')) bad(expected);
      p = scan_decimal(skip_blanks(p + 1), v[i]);
      if (p == nullptr || v[i] == 0 || v[i] > limit[i]) bad(expected);
      p = skip_blanks(p);
    }
    if (*p != ')' || p + 1 != value_.data() + value_.size()) bad(expected);
    seen = true;
    return {static_cast<std::uint32_t>(v[0]), static_cast<std::uint32_t>(v[1]),
            static_cast<std::uint32_t>(v[2])};
  }

  TextStream& stream_;
  std::string_view value_;
  bool has_grid_ = false, has_block_ = false;
};

/// CTA x y z and warp; tracers that know clusters print seven numbers more. The mask is the only field of
/// exactly eight hexadecimal digits, so its position shows which it is.
unsigned count_leading_ids(const char* p, bool line_info) {
  unsigned field = 0;
  for (p = skip_blanks(p); *p != '\n'; p = skip_blanks(p), ++field) {
    const char* const start = p;
    p = skip_token(p);
    if (p - start == 8 && field == 11u + line_info + 1) return 11;
    if (p - start == 8 && field == 4u + line_info + 1) return 4;
  }
  return 4;
}

}  // namespace

KernelFile read_header(TextStream& stream) {
  HeaderParser parser(stream);
  LineLayout& layout = parser.file.layout;
  bool has_address_mode = true;
  std::string_view line;
  bool body = false;
  while (!body && stream.line(line)) {
    const std::string_view text = trim(line);
    if (text.empty()) continue;
    if (text[0] == '-') {
      parser.line(text);
    } else if (text.starts_with("#BEGIN_TB") || text.starts_with("#END_TB")) {
      body = true;
    } else if (text[0] == '#') {
      if (text.starts_with("#traces format"))
        has_address_mode = text.find("compress") != std::string_view::npos;
    } else {
      body = true;
      layout.processed = text[0] < '0' || text[0] > '9';
    }
  }
  parser.finish();
  if (!layout.processed) {
    layout.leading_ids = count_leading_ids(line.data(), layout.line_info);
  } else if (parser.file.header.tracer_version < 3) {
    layout.leading_ids = 4;
  }
  layout.address_mode = has_address_mode || parser.file.header.tracer_version >= 3;
  if (body) stream.unread();
  return std::move(parser.file);
}

}  // namespace lockstep::trace
