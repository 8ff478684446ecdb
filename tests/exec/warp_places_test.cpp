#include "exec/warp_places.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>

namespace lockstep::exec {

TEST_CASE("warps at one place share a line, in the order in which places are first seen") {
  WarpPlaces places;
  CHECK(places.text().empty());
  places.add({2, 0, 0}, 1, "a.ptx:7 [bar.sync]");
  places.add({2, 0, 0}, 3, "a.ptx:5 [ld.global.u32]");
  places.add({4, 1, 0}, 0, "a.ptx:7 [bar.sync]");
  CHECK(places.text() ==
        "  CTA (2,0,0) warp 1 and 1 more: a.ptx:7 [bar.sync]\n"
        "  CTA (2,0,0) warp 3: a.ptx:5 [ld.global.u32]\n");
  for (unsigned i = 0; i < 1000; ++i) places.add({5, 0, 0}, i, "a.ptx:7 [bar.sync]");
  CHECK(places.text().starts_with("  CTA (2,0,0) warp 1 and 1001 more: a.ptx:7"));
}

TEST_CASE("warps beyond the sixteenth place are only counted") {
  WarpPlaces places;
  for (unsigned i = 0; i < 18; ++i) places.add({0, 0, 0}, i, fmt::format("a.ptx:{} [bra]", i));
  places.add({1, 0, 0}, 0, "a.ptx:16 [bra]");
  places.add({1, 0, 0}, 1, "a.ptx:0 [bra]");
  const std::string text = places.text();
  CHECK(text.starts_with("  CTA (0,0,0) warp 0 and 1 more: a.ptx:0 [bra]\n  CTA (0,0,0) warp 1: "));
  CHECK(text.ends_with("  CTA (0,0,0) warp 15: a.ptx:15 [bra]\n  and 3 warps in 2 other places\n"));
}

}  // namespace lockstep::exec
