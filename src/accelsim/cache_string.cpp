#include "accelsim/cache_string.hpp"

#include <charconv>
#include <string>
#include <vector>

#include "config/value.hpp"

namespace lockstep::accelsim {
namespace {

constexpr std::string_view kCacheForm =
    "S:SETS:LINE:WAYS,L:B:m:N:L,A:ENTRIES:MERGES,QUEUE:FIFO,PORT (sector mark, hash, QUEUE and PORT may be "
    "missing)";
constexpr std::uint64_t kMaxCacheField = 1u << 20;  // so that no product below can overflow

class Fields {
 public:
  Fields(const Context& context, std::string_view option, std::string_view text)
      : context_(context), option_(option) {
    for (std::size_t at = 0;;) {
      const std::size_t end = text.find(':', at);
      parts_.emplace_back(config::trimmed(text.substr(at, end - at)));
      if (end == std::string_view::npos) break;
      at = end + 1;
    }
  }

  [[nodiscard]] std::size_t size() const { return parts_.size(); }
  [[nodiscard]] char letter(std::size_t i) const {
    if (i >= parts_.size() || parts_[i].size() != 1) wrong();
    return parts_[i][0];
  }
  [[nodiscard]] std::uint64_t number(std::size_t i) const {
    std::uint64_t value = 0;
    if (i >= parts_.size()) wrong();
    const std::string& text = parts_[i];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value > kMaxCacheField) wrong();
    return value;
  }
  [[noreturn]] void wrong() const { context_.fail(option_, "expected " + std::string(kCacheForm)); }

 private:
  const Context& context_;
  std::string_view option_;
  std::vector<std::string> parts_;
};

}  // namespace

std::optional<CacheString> cache_string(const Context& context, std::string_view option) {
  if (context.text(option) == "none") return std::nullopt;
  constexpr std::size_t kGroups = 5;
  const std::vector<std::string> groups = context.parts(option, ',', 3, kGroups, kCacheForm);
  const auto fields = [&](std::size_t i) { return Fields(context, option, groups[i]); };
  CacheString cache;
  const Fields shape = fields(0);
  if (shape.size() != 3 && shape.size() != 4) shape.wrong();
  const std::size_t first = shape.size() - 3;
  cache.sectored = first == 1 && shape.letter(0) == 'S';
  cache.sets = shape.number(first);
  cache.line_bytes = shape.number(first + 1);
  cache.ways = shape.number(first + 2);
  if (cache.bytes() == 0) shape.wrong();
  const Fields policy = fields(1);
  if (policy.size() != 4 && policy.size() != 5) policy.wrong();
  cache.fifo = policy.letter(0) == 'F';
  cache.on_miss = policy.letter(2) == 'm';
  cache.write_allocate = policy.letter(3);
  const Fields mshr = fields(2);
  if (mshr.size() != 3) mshr.wrong();
  cache.mshrs = mshr.number(1);
  cache.merges = mshr.number(2);
  if (groups.size() == kGroups) cache.port_bytes = fields(4).number(0);
  return cache;
}

}  // namespace lockstep::accelsim
