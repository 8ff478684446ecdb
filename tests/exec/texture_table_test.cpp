// Handles of texture and surface objects.
#include "exec/texture_table.hpp"

#include <catch2/catch.hpp>
#include <set>

namespace lockstep::exec {
namespace {

Texture texture_of(std::uint32_t width) {
  Texture texture;
  texture.levels.emplace_back().width = width;
  return texture;
}

TEST_CASE("handles are numbered by creation, of textures and surfaces together, and never come again") {
  TextureTable table;
  std::set<std::uint64_t> handles;
  for (std::uint32_t i = 1; i <= 100; ++i) {
    Image image;
    image.width = i;
    const std::uint64_t handle = i % 3 == 0 ? table.add_surface(image) : table.add(texture_of(i));
    CHECK(handle != 0);
    CHECK((handles.empty() || handle > *handles.rbegin()));
    CHECK(handles.insert(handle).second);
    if (i % 2 == 0) CHECK(table.remove(handle));
  }
  std::uint32_t i = 0;
  for (const std::uint64_t handle : handles) {
    ++i;
    const Texture* texture = table.texture(handle);
    const Image* surface = table.surface(handle);
    CHECK((texture != nullptr) == (i % 2 != 0 && i % 3 != 0));
    CHECK((surface != nullptr) == (i % 2 != 0 && i % 3 == 0));
    if (texture != nullptr) CHECK(texture->levels[0].width == i);
    if (surface != nullptr) CHECK(surface->width == i);
  }
}

TEST_CASE("a handle that names no object is neither found nor removed") {
  TextureTable table;
  const std::uint64_t handle = table.add(texture_of(4));
  CHECK(table.surface(handle) == nullptr);
  for (const std::uint64_t wrong : {std::uint64_t{0}, handle + 1, ~std::uint64_t{0}}) {
    CHECK(table.texture(wrong) == nullptr);
    CHECK_FALSE(table.remove(wrong));
  }
  CHECK(table.remove(handle));
  CHECK_FALSE(table.remove(handle));
  CHECK(table.texture(handle) == nullptr);
}

TEST_CASE("a texel has its channels' bits") {
  CHECK(TexelFormat{1, 8, TexelKind::kUnsigned}.bytes() == 1);
  CHECK(TexelFormat{4, 8, TexelKind::kSigned}.bytes() == 4);
  CHECK(TexelFormat{2, 16, TexelKind::kFloat}.bytes() == 4);
  CHECK(TexelFormat{4, 32, TexelKind::kFloat}.bytes() == 16);
}

}  // namespace
}  // namespace lockstep::exec
