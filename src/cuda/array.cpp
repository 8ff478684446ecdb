#include "cuda/array.hpp"

#include "cuda/error.hpp"

namespace lockstep::cuda {

namespace {
enum FormatKind { kSigned, kUnsigned, kFloat };
}

exec::TexelFormat texel_format(const abi::ChannelFormatDesc& d) {
  exec::TexelFormat format;
  format.bits = static_cast<std::uint8_t>(d.x);
  format.channels = static_cast<std::uint8_t>(1 + (d.y > 0) + (d.z > 0) + (d.w > 0));
  const bool even = (d.y == 0 || d.y == d.x) && (d.z == 0 || d.z == d.x) && (d.w == 0 || d.w == d.x);
  const bool width = d.x == 8 || d.x == 16 || d.x == 32;
  if (!even || !width || format.channels == 3 || d.f < kSigned || d.f > kFloat || (d.f == kFloat && d.x == 8))
    throw ApiError(Status::kErrorInvalidChannelDescriptor);
  format.kind = d.f == kFloat    ? exec::TexelKind::kFloat
                : d.f == kSigned ? exec::TexelKind::kSigned
                                 : exec::TexelKind::kUnsigned;
  return format;
}

exec::Image Array::image() const {
  exec::Image image;
  image.data = address;
  image.format = texel_format(format);
  image.width = static_cast<std::uint32_t>(width);
  image.height = static_cast<std::uint32_t>(rows());
  const auto third = static_cast<std::uint32_t>(slices());
  if ((flags & (kArrayLayered | kArrayCubemap)) != 0)
    image.layers = third;
  else
    image.depth = third;
  image.row_pitch = pitch;
  image.slice_pitch = pitch * rows();
  return image;
}

}  // namespace lockstep::cuda
