// The packed description of a cache: "S:4:128:64,L:T:m:L:L,A:512:8,16:0,32".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "accelsim/context.hpp"

namespace lockstep::accelsim {

/// SECTORED:SETS:LINE:WAYS,REPLACEMENT:WRITE:ALLOCATE:WRITE_ALLOCATE:HASH,MSHR:ENTRIES:MERGES,QUEUE:FIFO,PORT
struct CacheString {
  bool sectored = false;
  std::uint64_t sets = 0, line_bytes = 0, ways = 0;
  bool fifo = false;          // else LRU
  bool on_miss = true;        // allocation m; else when data arrive (f, s)
  char write_allocate = 'N';  // N never; W, F, L allocate in different ways
  std::uint64_t mshrs = 0, merges = 0;
  std::uint64_t port_bytes = 0;  // 0 = not given
  [[nodiscard]] std::uint64_t bytes() const { return sets * line_bytes * ways; }
};

/// nullopt for "none". Throws InputError with the option's place.
[[nodiscard]] std::optional<CacheString> cache_string(const Context& context, std::string_view option);

}  // namespace lockstep::accelsim
