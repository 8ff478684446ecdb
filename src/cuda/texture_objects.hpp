// How texture and surface objects were described when they were made: what programs may ask for.
#pragma once

#include <map>

#include "cuda/abi.hpp"

namespace lockstep::cuda {

struct TextureObjects {
  struct Texture {
    abi::ResourceDesc resource;
    abi::TextureDesc description;
  };
  std::map<unsigned long long, Texture> textures;            // by handle
  std::map<unsigned long long, abi::ResourceDesc> surfaces;  // likewise
};

}  // namespace lockstep::cuda
