#include "gpu/managed_file.hpp"

#include <fmt/format.h>

#include <charconv>

#include "gpu/managed.hpp"
#include "trace/byte_source.hpp"
#include "trace/text_scan.hpp"

namespace lockstep::gpu {
namespace {

std::uint64_t cut_number(const trace::TextStream& stream, std::string_view& rest, const char* what) {
  rest = trace::trim(rest);
  const std::string_view word = rest.substr(0, rest.find_first_of(" \t"));
  rest.remove_prefix(word.size());
  const bool hex = word.starts_with("0x") || word.starts_with("0X");
  const std::string_view digits = hex ? word.substr(2) : word;
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size())
    stream.fail(
        fmt::format("found {}; expected {}, as in '0x7f8000000000 1048576'", trace::shown(word), what));
  return value;
}

}  // namespace

std::vector<std::pair<Address, std::uint64_t>> read_managed_file(trace::TextStream stream) {
  std::vector<std::pair<Address, std::uint64_t>> ranges;
  std::string_view line;
  while (stream.line(line)) {
    std::string_view rest = trace::trim(line);
    if (rest.empty() || rest[0] == '#') continue;
    const Address address = cut_number(stream, rest, "an address");
    const std::uint64_t bytes = cut_number(stream, rest, "a number of bytes");
    if (bytes == 0) stream.fail("found size 0; expected at least 1 byte");
    if (address >= kAddressEnd || bytes > kAddressEnd - address)
      stream.fail(fmt::format("found 0x{:x} and {} bytes; expected an end below 0x{:x}", address, bytes,
                              kAddressEnd));
    ranges.emplace_back(address, bytes);
  }
  if (ranges.empty())
    stream.fail("the file names no allocation; expected lines such as '0x7f8000000000 1048576'");
  return ranges;
}

std::vector<std::pair<Address, std::uint64_t>> read_managed_file(const std::string& path) {
  return read_managed_file(trace::TextStream(trace::open_text(path), path));
}

}  // namespace lockstep::gpu
