// Units of sizes in bytes, as people write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep {

/// 2^shift bytes.
struct SizeUnit {
  std::string_view name;  // as messages show it
  unsigned shift = 0;
};
inline constexpr SizeUnit kSizeUnits[] = {{"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};

/// nullptr where `text` is no such unit. K, KB and KiB are the same 1024 bytes, as data sheets count memories
/// and caches, and so are M, G and T with their powers, in whichever case; but Kb, Kib, Mb ... would be
/// bits and are none.
[[nodiscard]] constexpr const SizeUnit* find_size_unit(std::string_view text) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  if (text.empty()) return nullptr;
  const bool bits = text.size() > 1 && text[0] != lower(text[0]) && text.back() == 'b';
  if (bits) return nullptr;
  for (const SizeUnit& unit : kSizeUnits) {
    if (lower(text[0]) != lower(unit.name[0])) continue;
    std::string_view rest = text.substr(1);
    if (!rest.empty() && lower(rest[0]) == 'i' && rest.size() == 2) rest.remove_prefix(1);
    const bool bytes = rest.size() == 1 && lower(rest[0]) == 'b' && unit.shift > 0;
    return rest.empty() || bytes ? &unit : nullptr;
  }
  return nullptr;
}

/// "832.0 KiB", "12 B": with one decimal, in the largest unit of which there is one.
[[nodiscard]] std::string size_text(std::uint64_t bytes);

}  // namespace lockstep
