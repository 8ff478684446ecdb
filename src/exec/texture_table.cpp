#include "exec/texture_table.hpp"

#include <utility>

namespace lockstep::exec {

std::uint64_t TextureTable::add(Texture texture) {
  textures_.emplace(next_, std::move(texture));
  return next_++;
}

std::uint64_t TextureTable::add_surface(Image image) {
  surfaces_.emplace(next_, image);
  return next_++;
}

bool TextureTable::remove(std::uint64_t handle) {
  return textures_.erase(handle) + surfaces_.erase(handle) != 0;
}

const Texture* TextureTable::texture(std::uint64_t handle) const {
  const auto found = textures_.find(handle);
  return found == textures_.end() ? nullptr : &found->second;
}

const Image* TextureTable::surface(std::uint64_t handle) const {
  const auto found = surfaces_.find(handle);
  return found == surfaces_.end() ? nullptr : &found->second;
}

}  // namespace lockstep::exec
