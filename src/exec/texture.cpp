#include "exec/texture.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace lockstep::exec {

namespace {

constexpr double kWeightSteps = 256;  // 8 fractional bits
using Texel = std::array<std::uint32_t, 4>;

float half_to_float(std::uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const auto fraction = static_cast<float>(bits & 1023);
  float magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  if (exponent == 31) magnitude = fraction == 0 ? INFINITY : NAN;
  return bits >> 15 & 1 ? -magnitude : magnitude;
}

/// IEC 61966-2-1, 8 bits.
double linear_of_srgb(double value) {
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

bool reads_floats(const Texture& t) {
  return t.normalized_values || t.levels[0].format.kind == TexelKind::kFloat;
}

std::uint32_t decode_channel(const Texture& t, std::uint32_t raw, unsigned channel) {
  const TexelFormat& format = t.levels[0].format;
  const auto as_bits = [](double value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); };
  if (format.kind == TexelKind::kFloat)
    return format.bits == 16 ? std::bit_cast<std::uint32_t>(half_to_float(raw)) : raw;
  const bool sign = format.kind == TexelKind::kSigned;
  const unsigned up = 32u - format.bits;
  const auto value = sign ? static_cast<std::int32_t>(raw << up) >> up : static_cast<std::int32_t>(raw);
  if (!t.normalized_values || format.bits == 32) return static_cast<std::uint32_t>(value);
  if (sign) return as_bits(std::max(-1.0, value / static_cast<double>((1 << (format.bits - 1)) - 1)));
  static const auto unit_of_byte = [] {
    std::array<std::uint32_t, 256> table{};
    for (unsigned i = 0; i < table.size(); ++i)
      table[i] = std::bit_cast<std::uint32_t>(static_cast<float>(i / 255.0));
    return table;
  }();
  if (format.bits == 8 && !t.srgb) return unit_of_byte[raw];
  const double unit = static_cast<double>(raw) / static_cast<double>((1u << format.bits) - 1);
  return as_bits(t.srgb && format.bits == 8 && channel < 3 ? linear_of_srgb(unit) : unit);
}

std::uint32_t one(const Texture& t) { return reads_floats(t) ? std::bit_cast<std::uint32_t>(1.0f) : 1; }

Address address_of(const Image& image, std::int64_t x, std::int64_t y, std::uint64_t slice) {
  return image.data + slice * image.slice_pitch + static_cast<std::uint64_t>(y) * image.row_pitch +
         static_cast<std::uint64_t>(x) * image.format.bytes();
}

/// An index in one dimension: inside, or -1 for the border.
std::int64_t wrap_index(std::int64_t i, std::int64_t size, AddressMode mode, bool normalized) {
  if (i >= 0 && i < size) return i;
  if (mode == AddressMode::kBorder) return -1;
  if (!normalized || mode == AddressMode::kClamp) return std::clamp<std::int64_t>(i, 0, size - 1);
  const std::int64_t period = mode == AddressMode::kMirror ? 2 * size : size;
  const std::int64_t in = ((i % period) + period) % period;
  return in < size ? in : period - 1 - in;
}

class Reader {
 public:
  Reader(const Texture& texture, const Fetch& what, const Image& image, const DeviceView& memory,
         Address& fault, ReadTexels* read)
      : texture_(texture), what_(what), image_(image), memory_(memory), fault_(fault), read_(read) {}

  /// Texel by index before addressing modes; `base` is the slice of a layer or face.
  Texel read(std::array<std::int64_t, 3> index, std::uint64_t base) {
    const std::int64_t size[3] = {image_.width, image_.height, image_.depth};
    const unsigned dimensions = what_.geometry == Geometry::k1D ? 1 : what_.geometry == Geometry::k3D ? 3 : 2;
    for (unsigned d = 0; d < dimensions; ++d) {
      const bool outside = index[d] < 0 || index[d] >= size[d];
      if (what_.integer && dimensions == 1 && !what_.layered && outside) return Texel{};
      const AddressMode mode = what_.geometry == Geometry::kCube ? AddressMode::kClamp : texture_.address[d];
      index[d] = wrap_index(index[d], size[d], mode, texture_.normalized_coordinates);
      if (index[d] < 0) return border();
    }
    const std::uint64_t slice = base + (dimensions == 3 ? static_cast<std::uint64_t>(index[2]) : 0);
    const std::int64_t row = dimensions == 1 ? 0 : index[1];
    if (read_)
      read_->at[read_->count++] = TexelLayout(image_).place(static_cast<std::uint64_t>(index[0]),
                                                            static_cast<std::uint64_t>(row), slice);
    return texel(address_of(image_, index[0], row, slice));
  }

 private:
  [[nodiscard]] Texel border() const {
    Texel value{};
    for (unsigned c = 0; c < 4; ++c) value[c] = std::bit_cast<std::uint32_t>(texture_.border[c]);
    return value;
  }
  Texel texel(Address at) {
    const TexelFormat& format = image_.format;
    Texel value{0, 0, 0, one(texture_)};
    if (!memory_.accessible(at, format.bytes())) {
      fault_ = at;
      return Texel{};
    }
    if (format.bits == 32) {  // as it is, whatever the kind
      for (unsigned c = 0; c < format.channels; ++c)
        std::memcpy(&value[c], reinterpret_cast<const std::byte*>(at) + c * sizeof value[c], sizeof value[c]);
      return value;
    }
    for (unsigned c = 0; c < format.channels; ++c) {
      std::uint32_t raw = 0;
      std::memcpy(&raw, reinterpret_cast<const std::byte*>(at) + c * (format.bits / 8u), format.bits / 8u);
      value[c] = decode_channel(texture_, raw, c);
    }
    return value;
  }

  const Texture& texture_;
  const Fetch& what_;
  const Image& image_;
  const DeviceView& memory_;
  Address& fault_;
  ReadTexels* read_;
};

/// Where a fetch lands in one image: coordinates in texels and the slice of its layer or face.
struct Spot {
  std::array<double, 3> at{};
  std::uint64_t slice = 0;
};

/// The face of a direction and the place on it (CUDA C++ Programming Guide, cubemap textures).
Spot cube_spot(const Fetch& f, const Image& image) {
  const double x = f.at[0], y = f.at[1], z = f.at[2];
  const double ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  unsigned face;
  double m, s, t;
  if (ax >= ay && ax >= az)
    face = x >= 0 ? 0 : 1, m = ax, s = x >= 0 ? -z : z, t = -y;
  else if (ay >= az)
    face = y >= 0 ? 2 : 3, m = ay, s = x, t = y >= 0 ? z : -z;
  else
    face = z >= 0 ? 4 : 5, m = az, s = z >= 0 ? x : -x, t = -y;
  Spot spot;
  spot.at[0] = (s / m + 1) / 2 * image.width;
  spot.at[1] = (t / m + 1) / 2 * image.height;
  spot.slice = face;
  return spot;
}

Spot spot_of(const Texture& texture, const Fetch& f, const Image& image) {
  Spot spot;
  if (f.geometry == Geometry::kCube) {
    spot = cube_spot(f, image);
  } else {
    const double size[3] = {static_cast<double>(image.width), static_cast<double>(image.height),
                            static_cast<double>(image.depth)};
    for (unsigned d = 0; d < 3; ++d)
      spot.at[d] = f.integer ? f.texel[d]
                             : static_cast<double>(f.at[d]) * (texture.normalized_coordinates ? size[d] : 1);
  }
  const std::uint32_t faces = f.geometry == Geometry::kCube ? 6 : 1;
  if (f.layered)
    spot.slice += std::uint64_t{std::min(f.layer, std::max(image.layers / faces, 1u) - 1)} * faces;
  return spot;
}

std::int64_t floor_index(double value) {
  constexpr double kFar = 1e15;  // beyond any image, and exact in 64 bits
  if (value >= 0 && value < kFar) return static_cast<std::int64_t>(value);
  return std::isnan(value) ? 0 : static_cast<std::int64_t>(std::floor(std::clamp(value, -kFar, kFar)));
}

struct Tap {
  std::int64_t index[2];
  double weight[2];
};

Tap tap_of(double at) {
  const double from = at - 0.5;
  const std::int64_t i = floor_index(from);
  double weight = std::floor((from - static_cast<double>(i)) * kWeightSteps + 0.5) / kWeightSteps;
  if (!(weight >= 0 && weight <= 1)) weight = 0;
  return {{i, i + 1}, {1 - weight, weight}};
}

/// At the texel's centre in every dimension: it alone counts, and a negative zero becomes a positive one as
/// in a sum.
Texel centre(Reader& reader, const Tap* taps, unsigned dimensions, std::uint64_t slice) {
  std::array<std::int64_t, 3> index{};
  for (unsigned d = 0; d < dimensions; ++d) index[d] = taps[d].index[0];
  Texel texel = reader.read(index, slice);
  for (auto& channel : texel)
    channel = std::bit_cast<std::uint32_t>(
        static_cast<float>(0.0 + static_cast<double>(std::bit_cast<float>(channel))));
  return texel;
}

Texel filter(Reader& reader, const Spot& spot, unsigned dimensions) {
  Tap taps[3] = {};
  bool between = false;
  for (unsigned d = 0; d < dimensions; ++d) {
    taps[d] = tap_of(spot.at[d]);
    between = between || taps[d].weight[1] != 0;
  }
  if (!between) return centre(reader, taps, dimensions, spot.slice);
  double sum[4] = {};
  for (unsigned corner = 0; corner < 1u << dimensions; ++corner) {
    std::array<std::int64_t, 3> index{};
    double weight = 1;
    for (unsigned d = 0; d < dimensions; ++d) {
      index[d] = taps[d].index[corner >> d & 1];
      weight *= taps[d].weight[corner >> d & 1];
    }
    if (weight == 0) continue;
    const Texel texel = reader.read(index, spot.slice);
    for (unsigned c = 0; c < 4; ++c) sum[c] += weight * static_cast<double>(std::bit_cast<float>(texel[c]));
  }
  Texel result{};
  for (unsigned c = 0; c < 4; ++c) result[c] = std::bit_cast<std::uint32_t>(static_cast<float>(sum[c]));
  return result;
}

unsigned dimensions_of(Geometry geometry) {
  return geometry == Geometry::k1D ? 1 : geometry == Geometry::k3D ? 3 : 2;
}

Texel fetch_level(const Texture& t, const Fetch& f, const Image& image, const DeviceView& memory,
                  Address& fault, ReadTexels* read) {
  Reader reader(t, f, image, memory, fault, read);
  const Spot spot = spot_of(t, f, image);
  if (t.linear_filter && !f.integer && reads_floats(t))
    return filter(reader, spot, dimensions_of(f.geometry));
  std::array<std::int64_t, 3> index{};
  for (unsigned d = 0; d < dimensions_of(f.geometry); ++d) index[d] = floor_index(spot.at[d]);
  return reader.read(index, spot.slice);
}

}  // namespace

std::array<std::uint32_t, 4> fetch(const Texture& t, const Fetch& f, const DeviceView& memory, Address& fault,
                                   ReadTexels* read) {
  const float top = static_cast<float>(t.levels.size() - 1);
  if (t.levels.size() == 1) return fetch_level(t, f, t.levels[0], memory, fault, read);
  const float level = std::clamp(
      std::clamp(f.level + t.level_bias, t.min_level, std::max(t.min_level, t.max_level)), 0.0f, top);
  if (!t.linear_mipmap || !reads_floats(t))
    return fetch_level(t, f, t.levels[static_cast<std::size_t>(std::floor(level + 0.5f))], memory, fault,
                       read);
  const auto lower = static_cast<std::size_t>(std::floor(level));
  const double weight =
      std::floor((static_cast<double>(level) - static_cast<double>(lower)) * kWeightSteps + 0.5) /
      kWeightSteps;
  Texel result = fetch_level(t, f, t.levels[lower], memory, fault, read);
  if (weight == 0) return result;
  const Texel upper =
      fetch_level(t, f, t.levels[std::min(lower + 1, t.levels.size() - 1)], memory, fault, read);
  for (unsigned c = 0; c < 4; ++c)
    result[c] = std::bit_cast<std::uint32_t>(
        static_cast<float>((1 - weight) * static_cast<double>(std::bit_cast<float>(result[c])) +
                           weight * static_cast<double>(std::bit_cast<float>(upper[c]))));
  return result;
}

std::array<std::uint32_t, 4> gather(const Texture& t, const Fetch& f, unsigned channel,
                                    const DeviceView& memory, Address& fault, ReadTexels* read) {
  Reader reader(t, f, t.levels[0], memory, fault, read);
  const Spot spot = spot_of(t, f, t.levels[0]);
  const Tap x = tap_of(spot.at[0]), y = tap_of(spot.at[1]);
  constexpr unsigned kOrder[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  Texel result{};
  for (unsigned i = 0; i < 4; ++i)
    result[i] = reader.read({x.index[kOrder[i][0]], y.index[kOrder[i][1]], 0}, spot.slice)[channel];
  return result;
}

float level_of(const Texture& t, unsigned dimensions, const float* dx, const float* dy) {
  const Image& image = t.levels[0];
  const double size[3] = {static_cast<double>(image.width), static_cast<double>(image.height),
                          static_cast<double>(image.depth)};
  double x = 0, y = 0;
  for (unsigned d = 0; d < std::min(dimensions, 3u); ++d) {
    x += std::pow(static_cast<double>(dx[d]) * size[d], 2);
    y += std::pow(static_cast<double>(dy[d]) * size[d], 2);
  }
  const double longest = std::sqrt(std::max(x, y));
  return longest > 0 ? static_cast<float>(std::log2(longest)) : 0.0f;
}

}  // namespace lockstep::exec
