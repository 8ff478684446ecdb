// Images in the memory of a process: what their headers say is not believed further than that memory goes.
#include "cuda/loaded_fatbin.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>

#include "util/error.hpp"

namespace lockstep::cuda {

namespace {

constexpr std::size_t kPage = 4096;

/// Two pages that can be read, and one behind them that cannot.
class Pages {
 public:
  Pages() : begin_(mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    REQUIRE(begin_ != MAP_FAILED);
    REQUIRE(mprotect(at(2 * kPage), kPage, PROT_NONE) == 0);
    REQUIRE(mprotect(at(0), kPage, PROT_READ) ==
            0);  // a mapping of its own: the two are readable without a gap
    REQUIRE(mprotect(at(0), kPage, PROT_READ | PROT_WRITE) == 0);
  }
  ~Pages() { munmap(begin_, 3 * kPage); }
  [[nodiscard]] char* at(std::size_t offset) const { return static_cast<char*>(begin_) + offset; }

  /// A header this many bytes before the end.
  char* put_header(std::size_t before_end, std::uint64_t entry_bytes) const {
    const struct {
      std::uint32_t magic = 0xBA55ED50;
      std::uint16_t version = 1, header_bytes = 16;
      std::uint64_t entries;
    } header{.entries = entry_bytes};
    char* const to = at(2 * kPage - before_end);
    std::memcpy(to, &header, std::min(before_end, sizeof header));
    return to;
  }

 private:
  void* begin_;
};

}  // namespace

TEST_CASE("how far memory can be read") {
  const Pages pages;
  CHECK(readable_bytes(pages.at(0)) == 2 * kPage);
  CHECK(readable_bytes(pages.at(kPage + 5)) == kPage - 5);
  CHECK(readable_bytes(pages.at(2 * kPage)) == 0);
  CHECK(readable_bytes(nullptr) == 0);
}

TEST_CASE("a fatbin is as long as its header says, as long as that is memory of the program") {
  const Pages pages;
  CHECK(loaded_fatbin(pages.put_header(5000, 4984)).size() == 5000);
  CHECK_THROWS_WITH(loaded_fatbin(pages.put_header(5000, 4985)),
                    Catch::Contains("says 5001 bytes, of which only 5000"));
  CHECK_THROWS_AS(loaded_fatbin(pages.put_header(5000, std::uint64_t{1} << 39)), UserError);
  CHECK_THROWS_AS(loaded_fatbin(pages.put_header(5000, ~std::uint64_t{0})), UserError);
  CHECK_THROWS_WITH(loaded_fatbin(pages.put_header(15, 0)), Catch::Contains("header lies outside"));
  CHECK_THROWS_AS(loaded_fatbin(nullptr), UserError);
}

}  // namespace lockstep::cuda
