#include "cuda/loaded_fatbin.hpp"

#include <fmt/format.h>

#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>

#include "cuda/fatbin.hpp"
#include "util/error.hpp"

namespace lockstep::cuda {

std::uint64_t readable_bytes(const void* begin) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"),
                                                             &std::fclose);
  if (!maps) return ~std::uint64_t{0};  // a system that does not tell: nothing can be checked
  const auto at = reinterpret_cast<std::uint64_t>(begin);
  std::uint64_t end = at;
  char line[512];
  bool starts_line = true;
  while (std::fgets(line, sizeof line, maps.get()) != nullptr) {
    const bool whole = starts_line;
    starts_line = std::char_traits<char>::find(line, std::char_traits<char>::length(line), '\n') != nullptr;
    std::uint64_t from = 0, to = 0;
    char readable = '-';
    if (!whole || std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %c", &from, &to, &readable) != 3) continue;
    if (readable == 'r' && from <= end && end < to) end = to;
  }
  return end - at;
}

std::span<const std::byte> loaded_fatbin(const void* begin) {
  const std::uint64_t readable = readable_bytes(begin);
  if (readable < kFatbinHeaderBytes)
    throw UserError("program: fatbin: its header lies outside the program's memory");
  const auto* const data = static_cast<const std::byte*>(begin);
  const std::uint64_t bytes =
      fatbin_bytes(std::span<const std::byte, kFatbinHeaderBytes>(data, kFatbinHeaderBytes));
  if (bytes > readable)
    throw UserError(
        fmt::format("program: fatbin: its header says {} bytes, of which only {} are in the program's memory",
                    bytes, readable));
  return {data, bytes};
}

}  // namespace lockstep::cuda
