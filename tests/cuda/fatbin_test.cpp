// Fatbins built here from the measured layout, in every compression; and broken ones.
#include "cuda/fatbin.hpp"

#include <lz4.h>
#include <zstd.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "cuda/image_choice.hpp"
#include "support.hpp"
#include "util/error.hpp"

namespace lockstep::cuda {

namespace {

enum class Packing { kNone, kLz4, kZstd };

std::string pack(const std::string& text, Packing packing) {
  std::string packed(text.size() * 2 + 1000, '\0');
  if (packing == Packing::kNone) return text;
  const std::size_t size =
      packing == Packing::kLz4
          ? static_cast<std::size_t>(LZ4_compress_default(
                text.data(), packed.data(), static_cast<int>(text.size()), static_cast<int>(packed.size())))
          : ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3);
  packed.resize(size);
  return packed;
}

void add_entry(Bytes& fatbin, std::uint16_t kind, std::uint32_t sm, const std::string& text,
               Packing packing) {
  const std::string packed = pack(text, packing);
  const std::size_t at = fatbin.size(), payload = (packed.size() + 7) / 8 * 8;
  fatbin.resize(at + 64 + payload);
  put<std::uint16_t>(fatbin, at, kind);
  put<std::uint16_t>(fatbin, at + 2, 0x0101);
  put<std::uint32_t>(fatbin, at + 4, 64);
  put<std::uint64_t>(fatbin, at + 8, payload);
  put<std::uint16_t>(fatbin, at + 0x1a, 9);
  put<std::uint32_t>(fatbin, at + 0x1c, sm);
  if (packing != Packing::kNone) {
    put<std::uint32_t>(fatbin, at + 0x10, static_cast<std::uint32_t>(packed.size()));
    put<std::uint64_t>(fatbin, at + 0x28, packing == Packing::kLz4 ? 0x2000 : 0x8000);
    put<std::uint64_t>(fatbin, at + 0x38, text.size());
  }
  std::memcpy(fatbin.data() + at + 64, packed.data(), packed.size());
  put<std::uint64_t>(fatbin, 8, fatbin.size() - 16);
}

Bytes new_fatbin() {
  Bytes fatbin(16);
  put<std::uint32_t>(fatbin, 0, 0xBA55ED50);
  put<std::uint16_t>(fatbin, 4, 1);
  put<std::uint16_t>(fatbin, 6, 16);
  return fatbin;
}

const std::string kText =
    ".version 9.0\n.target sm_75\n.address_size 64\n" + std::string(3000, ' ') + "// end";

}  // namespace

TEST_CASE("PTX comes out of every packing as it went in") {
  for (const Packing packing : {Packing::kNone, Packing::kLz4, Packing::kZstd}) {
    Bytes fatbin = new_fatbin();
    add_entry(fatbin, 2, 75, "ELF", Packing::kNone);
    add_entry(fatbin, 1, 75, kText, packing);
    const auto images = read_fatbin(fatbin, "test");
    REQUIRE(images.size() == 2);
    CHECK(images[0].kind == FatbinImage::Kind::kCubin);
    CHECK(images[1].kind == FatbinImage::Kind::kPtx);
    CHECK(images[1].bytes == kText);
    CHECK(images[1].sm == 75);
    CHECK(images[1].major == 9);
  }
}

TEST_CASE("entries of other kinds are passed over") {
  Bytes fatbin = new_fatbin();
  add_entry(fatbin, 16, 75, "options", Packing::kNone);
  add_entry(fatbin, 1, 80, kText, Packing::kNone);
  CHECK(read_fatbin(fatbin, "test").size() == 1);
}

TEST_CASE("a fatbin that ends too early, or whose bytes are wrong, is one clear error") {
  Bytes fatbin = new_fatbin();
  add_entry(fatbin, 1, 75, kText, Packing::kZstd);
  for (std::size_t size = 0; size < fatbin.size(); ++size)
    CHECK_THROWS_AS(read_fatbin(std::span(fatbin).first(size), "test"), UserError);
  std::uint32_t random = 1;
  for (unsigned i = 0; i < 20000; ++i) {  // must not crash; what is read is no matter
    Bytes broken = fatbin;
    for (unsigned n = 0; n < 3; ++n) {
      random = random * 1664525 + 1013904223;
      broken[(random >> 8) % broken.size()] = static_cast<std::byte>(random >> 24);
    }
    try {
      (void)read_fatbin(broken, "test");
    } catch (const UserError&) {
    }
  }
}

TEST_CASE("an image of another size than its bytes can make is an error before it takes memory") {
  for (const Packing packing : {Packing::kLz4, Packing::kZstd}) {
    Bytes fatbin = new_fatbin();
    add_entry(fatbin, 1, 75, kText, packing);
    put<std::uint64_t>(fatbin, 16 + 0x38, 1 << 30);
    CHECK_THROWS_WITH(read_fatbin(fatbin, "test"), Catch::Contains("a compressed image of 1073741824 bytes"));
    put<std::uint64_t>(fatbin, 16 + 0x38, kText.size() + 1);
    CHECK_THROWS_AS(read_fatbin(fatbin, "test"), UserError);
  }
}

TEST_CASE("the PTX for the highest architecture that the GPU has is chosen, else the lowest") {
  Bytes fatbin = new_fatbin();
  for (const std::uint32_t sm : {80u, 75u, 90u}) add_entry(fatbin, 1, sm, kText, Packing::kNone);
  const auto images = read_fatbin(fatbin, "test");
  CHECK(choose_ptx(images, 90)->sm == 90);
  CHECK(choose_ptx(images, 86)->sm == 80);
  CHECK(choose_ptx(images, 75)->sm == 75);
  CHECK(choose_ptx(images, 70)->sm == 75);
  CHECK(choose_ptx({}, 70) == nullptr);
}

// nvcc 13 puts both into a program for -arch=sm_90a. CUDA C++ Programming Guide, Feature Set Compiler
// Targets: code for compute_90a runs on devices of compute capability 9.0 only.
TEST_CASE(
    "PTX for what only this architecture has comes before PTX for all later ones, and is for no other") {
  const std::string generic = ".version 9.0\n.target sm_90\n", specific = ".version 9.0\n.target sm_90a\n";
  for (const bool first : {false, true}) {
    Bytes fatbin = new_fatbin();
    add_entry(fatbin, 1, 90, first ? specific : generic, Packing::kNone);
    add_entry(fatbin, 1, 90, first ? generic : specific, Packing::kNone);
    const auto images = read_fatbin(fatbin, "test");
    CHECK(choose_ptx(images, 90)->bytes == specific);
    CHECK(choose_ptx(images, 100)->bytes == generic);
  }
}

TEST_CASE("PTX for another architecture alone comes after PTX for an earlier one, and before later ones") {
  Bytes fatbin = new_fatbin();
  add_entry(fatbin, 1, 120, ".version 9.0\n.target sm_120\n", Packing::kNone);
  add_entry(fatbin, 1, 90, ".version 9.0\n.target sm_90a\n", Packing::kNone);
  add_entry(fatbin, 1, 80, ".version 9.0\n.target sm_80\n", Packing::kNone);
  const auto images = read_fatbin(fatbin, "test");
  CHECK(choose_ptx(images, 100)->sm == 80);
  CHECK(choose_ptx(images, 90)->sm == 90);
  CHECK(choose_ptx(images, 120)->sm == 120);
  CHECK(choose_ptx(images, 75)->sm == 80);
  CHECK(choose_ptx(std::span(images).first(2), 100)->sm == 90);
}

}  // namespace lockstep::cuda
