// cudaMemcpy3D's boxes as copies of rows and slices, performed on the host's memory: against a loop over
// single bytes, and what is refused.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "cuda/array.hpp"
#include "cuda/error.hpp"
#include "support.hpp"

namespace lockstep::cuda {
namespace {

/// Linear memory or an array, in the host's memory, of random bytes.
class BoxSide {
 public:
  BoxSide(std::mt19937& random, Arrays& arrays, bool is_array, std::size_t texel) : texel_(texel) {
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    width_ = 1 + below(6);
    height_ = is_array && below(4) == 0 ? 0 : 1 + below(4);
    depth_ = is_array && (height_ == 0 || below(3) == 0) ? 0 : 1 + below(3);
    pitch_ = width_ * texel + below(5) * texel;
    bytes.resize(pitch_ * rows() * slices());
    for (std::byte& b : bytes) b = static_cast<std::byte>(random() % 256);
    if (!is_array) return;
    auto array = std::make_unique<Array>();
    array->width = width_;
    array->height = height_;
    array->depth = depth_;
    array->texel_bytes = texel;
    array->pitch = pitch_;
    array->address = reinterpret_cast<Address>(bytes.data());
    array_ = &arrays.add(std::move(array));
  }

  Bytes bytes;
  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::size_t rows() const { return std::max<std::size_t>(height_, 1); }
  [[nodiscard]] std::size_t slices() const { return std::max<std::size_t>(depth_, 1); }
  /// `at`: in texels; the runtime counts those of linear memory in bytes.
  void put(abi::Pos at, void*& array, abi::Pos& position, abi::PitchedPtr& pointer) {
    array = array_;
    position = at;
    if (array_ != nullptr) return;
    position.x *= texel_;
    pointer = {bytes.data(), pitch_, width_ * texel_, rows()};
  }
  [[nodiscard]] std::size_t offset(const abi::Pos& at) const {
    return (at.z * rows() + at.y) * pitch_ + at.x * texel_;
  }

 private:
  std::size_t texel_, width_ = 0, height_ = 0, depth_ = 0, pitch_ = 0;
  Array* array_ = nullptr;
};

void perform(const Copy& copy) {
  for (std::size_t z = 0; z < copy.depth; ++z)
    for (std::size_t y = 0; y < copy.height; ++y)
      std::memcpy(copy.to.address + z * copy.to.slice + y * copy.to.pitch,
                  copy.from.address + z * copy.from.slice + y * copy.from.pitch, copy.width);
}

int refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const ApiError& error) {
    return static_cast<int>(error.status());
  }
  return 0;
}

constexpr int kInvalidValue = 1, kInvalidPitch = 12, kInvalidHandle = 400;  // cudaError_t

TEST_CASE(
    "array copies: a box of an array or of linear memory arrives byte by byte, and back as parameters") {
  std::mt19937 random(41);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (int round = 0; round < 3000; ++round) {
    CAPTURE(round);
    Arrays arrays;
    const bool from_array = below(2) == 0, to_array = below(2) == 0;
    // Where neither side is an array, the box is of bytes.
    const std::size_t texel = from_array || to_array ? std::size_t{1} << below(5) : 1;
    BoxSide from(random, arrays, from_array, texel), to(random, arrays, to_array, texel);
    const abi::Extent box{1 + below(std::min(from.width(), to.width())),
                          1 + below(std::min(from.rows(), to.rows())),
                          1 + below(std::min(from.slices(), to.slices()))};
    const auto place = [&](const BoxSide& side) {
      return abi::Pos{below(side.width() - box.width + 1), below(side.rows() - box.height + 1),
                      below(side.slices() - box.depth + 1)};
    };
    const abi::Pos source = place(from), target = place(to);
    abi::Memcpy3DParms p{};
    from.put(source, p.srcArray, p.srcPos, p.srcPtr);
    to.put(target, p.dstArray, p.dstPos, p.dstPtr);
    p.extent = box;
    p.kind = abi::kDefault;

    Bytes expected = to.bytes;
    for (std::size_t z = 0; z < box.depth; ++z)
      for (std::size_t y = 0; y < box.height; ++y)
        for (std::size_t b = 0; b < box.width * texel; ++b)
          expected[to.offset({target.x, target.y + y, target.z + z}) + b] =
              from.bytes[from.offset({source.x, source.y + y, source.z + z}) + b];
    const Bytes before = to.bytes;
    const Copy copy = arrays.copy_3d(p);
    perform(copy);
    REQUIRE(to.bytes == expected);
    to.bytes = before;
    perform(arrays.copy_3d(arrays.parameters_of(copy)));
    REQUIRE(to.bytes == expected);
  }
}

TEST_CASE("array copies: each side is one of array and pointer, and the box lies inside arrays") {
  Arrays arrays;
  std::mt19937 random(1);
  Bytes memory(1 << 12);
  const auto make = [&](std::size_t texel) {
    auto array = std::make_unique<Array>();
    array->width = 8;
    array->height = 4;
    array->depth = 2;
    array->texel_bytes = texel;
    array->pitch = 8 * texel;
    array->address = reinterpret_cast<Address>(memory.data());
    return &arrays.add(std::move(array));
  };
  Array *const words = make(4), *const bytes = make(1);
  abi::Memcpy3DParms good{};
  good.srcArray = words;
  good.dstPtr = {memory.data(), 64, 64, 8};
  good.extent = {8, 4, 2};
  const auto status = [&](const std::function<void(abi::Memcpy3DParms&)>& change) {
    abi::Memcpy3DParms p = good;
    change(p);
    return refusal([&] { (void)arrays.copy_3d(p); });
  };
  CHECK(status([](auto&) {}) == 0);
  CHECK(status([](auto& p) { p.srcArray = nullptr; }) == kInvalidValue);
  CHECK(status([&](auto& p) { p.srcPtr.ptr = memory.data(); }) == kInvalidValue);
  CHECK(status([](auto& p) { p.dstPtr.ptr = nullptr; }) == kInvalidValue);
  CHECK(status([&](auto& p) { p.dstArray = words; }) == kInvalidValue);
  CHECK(status([&](auto& p) { p.srcArray = memory.data(); }) == kInvalidHandle);
  // Arrays of different texels.
  CHECK(status([&](auto& p) { p.dstPtr = {}, p.dstArray = bytes; }) == kInvalidValue);
  // One too many, or one too far, in each dimension.
  for (std::size_t abi::Extent::*size : {&abi::Extent::width, &abi::Extent::height, &abi::Extent::depth})
    CHECK(status([&](auto& p) { ++(p.extent.*size); }) == kInvalidValue);
  for (std::size_t abi::Pos::*at : {&abi::Pos::x, &abi::Pos::y, &abi::Pos::z})
    for (const std::size_t far : {std::size_t{1}, ~std::size_t{0}})
      CHECK(status([&](auto& p) { p.srcPos.*at = far; }) == kInvalidValue);
  CHECK(status([](auto& p) { p.extent.width = std::size_t{1} << 62; }) == kInvalidValue);  // 2^64 bytes
  // Linear memory: rows longer than the pitch, slices of fewer rows than the box has.
  CHECK(status([](auto& p) { p.dstPtr.pitch = 31; }) == kInvalidPitch);
  CHECK(status([](auto& p) { p.dstPtr.ysize = 3; }) == kInvalidValue);
  CHECK(status([](auto& p) { p.dstPtr.ysize = 3, p.extent.depth = 1; }) == 0);
  CHECK(status([](auto& p) { p.dstPtr.pitch = 0, p.extent = {8, 1, 1}; }) == 0);
}

TEST_CASE("array copies: a box without texels is nothing to copy, one whose volume wraps around is refused") {
  Arrays arrays;
  Bytes memory(64);
  abi::Memcpy3DParms p{};
  p.srcPtr = p.dstPtr = {memory.data(), 8, 8, 8};
  constexpr std::size_t kLarge = std::size_t{1} << 32;
  for (const abi::Extent empty : {abi::Extent{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {0, kLarge, kLarge}}) {
    p.extent = empty;
    const Copy copy = arrays.copy_3d(p);
    CHECK(copy.width * copy.height * copy.depth == 0);
    CHECK(copy.to.address == nullptr);
  }
  p.srcPtr.ysize = p.dstPtr.ysize = kLarge;
  for (const abi::Extent large : {abi::Extent{kLarge, kLarge, 1}, {16, kLarge, kLarge}}) {
    p.extent = large;
    CHECK(refusal([&] { (void)arrays.copy_3d(p); }) == kInvalidPitch);
  }
}

TEST_CASE("array copies: an array is found by each of its bytes and by no other") {
  Arrays arrays;
  Bytes memory(256);
  auto array = std::make_unique<Array>();
  array->width = 3;
  array->height = 5;
  array->texel_bytes = 4;
  array->pitch = 16;
  array->address = reinterpret_cast<Address>(memory.data() + 32);
  const Array& added = arrays.add(std::move(array));
  for (std::size_t i = 0; i < memory.size(); ++i)
    CHECK(arrays.find(memory.data() + i) == (i >= 32 && i < 32 + 5 * 16 ? &added : nullptr));
  const abi::Pos at = added.position(memory.data() + 32 + 2 * 16 + 8);
  CHECK((at.x == 2 && at.y == 2 && at.z == 0));
  arrays.remove_if([](const Array& a) { return a.width == 3; });
  CHECK(arrays.find(memory.data() + 32) == nullptr);
  CHECK(refusal([&] { (void)arrays.at(&added); }) == kInvalidHandle);
}

}  // namespace
}  // namespace lockstep::cuda
