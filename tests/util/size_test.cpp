#include "util/size.hpp"

#include <catch2/catch.hpp>

namespace lockstep {

TEST_CASE("sizes as people read them, in binary units") {
  CHECK(size_text(0) == "0 B");
  CHECK(size_text(1023) == "1023 B");
  CHECK(size_text(1024) == "1.0 KiB");
  CHECK(size_text(98304) == "96.0 KiB");
  CHECK(size_text(1536 * 1024) == "1.5 MiB");
  CHECK(size_text(std::uint64_t{80} << 30) == "80.0 GiB");
  CHECK(size_text(~std::uint64_t{0}) == "16777216.0 TiB");
}

}  // namespace lockstep
