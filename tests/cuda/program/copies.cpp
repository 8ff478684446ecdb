// Random copies and fills of lines, rectangles and boxes between host memory, device memory and CUDA arrays,
// by the runtime and the driver API, against byte vectors on the host. Prints PASS, or the first copy that
// differs.
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "driver_types.hpp"
#include "runtime_types.hpp"

extern "C" {
int cudaMalloc(void**, std::size_t);
int cudaMalloc3DArray(void**, const Format*, Extent, unsigned);
int cudaMemcpy(void*, const void*, std::size_t, int);
int cudaMemcpy2D(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, int);
int cudaMemcpy3D(const Copy3D*);
int cudaMemset2D(void*, std::size_t, int, std::size_t, std::size_t);
int cudaMemset3D(Pitched, int, Extent);
int cuMemcpy2D_v2(const DriverCopy2D*);
int cuMemcpy3D_v2(const DriverCopy*);
int cuMemsetD2D16_v2(Word, std::size_t, unsigned short, std::size_t, std::size_t);
int cuMemsetD2D32_v2(Word, std::size_t, unsigned, std::size_t, std::size_t);
}

namespace {

constexpr std::size_t kTexel = 4;
enum Kind { kHost = 1, kDevice, kArray };  // as the driver API numbers them

/// Rows of `pitch` bytes, slices of `rows` rows; what it holds, as the host keeps it.
struct Place {
  Kind kind;
  std::size_t pitch, rows, slices;
  std::vector<unsigned char> bytes;  // expected; of kHost: what is there
  std::vector<unsigned char> host;
  void* at = nullptr;  // device memory or the array's handle

  Place(Kind k, std::size_t p, std::size_t r, std::size_t s)
      : kind(k), pitch(p), rows(r), slices(s), bytes(p * r * s), host(p * r * s) {
    const Format word{32, 0, 0, 0, 1};
    if (kind == kHost) at = host.data();
    if (kind == kDevice) check(cudaMalloc(&at, bytes.size()) == 0, "memory");
    if (kind == kArray) check(cudaMalloc3DArray(&at, &word, {pitch / kTexel, rows, slices}, 0) == 0, "array");
  }
  [[nodiscard]] unsigned char* byte(std::size_t x, std::size_t y, std::size_t z) {
    return bytes.data() + (z * rows + y) * pitch + x;
  }
  [[nodiscard]] Pitched pitched() const { return {at, pitch, pitch, rows}; }
};

struct Box {
  Position from, to;
  Extent size;  // width in bytes
};

std::mt19937 numbers(7);
std::size_t below(std::size_t n) { return numbers() % n; }

/// A box that fits both places, on texels where one of them is an array.
Box random_box(const Place& from, const Place& to, bool flat) {
  const std::size_t unit = from.kind == kArray || to.kind == kArray ? kTexel : 1;
  Box box{};
  box.size.width = unit * (1 + below(std::min(from.pitch, to.pitch) / unit));
  box.size.height = 1 + below(std::min(from.rows, to.rows));
  box.size.depth = flat ? 1 : 1 + below(std::min(from.slices, to.slices));
  const auto place = [&](const Place& p) {
    return Position{unit * below((p.pitch - box.size.width) / unit + 1), below(p.rows - box.size.height + 1),
                    flat ? 0 : below(p.slices - box.size.depth + 1)};
  };
  box.from = place(from), box.to = place(to);
  return box;
}

void expect_copy(Place& from, Place& to, const Box& b) {
  std::vector<unsigned char> moved;
  for (std::size_t z = 0; z < b.size.depth; ++z)
    for (std::size_t y = 0; y < b.size.height; ++y)
      moved.insert(moved.end(), from.byte(b.from.x, b.from.y + y, b.from.z + z),
                   from.byte(b.from.x, b.from.y + y, b.from.z + z) + b.size.width);
  for (std::size_t z = 0, i = 0; z < b.size.depth; ++z)
    for (std::size_t y = 0; y < b.size.height; ++y, i += b.size.width)
      std::memcpy(to.byte(b.to.x, b.to.y + y, b.to.z + z), moved.data() + i, b.size.width);
}

char* inside(const Place& p, const Position& at) {
  return static_cast<char*>(p.at) + (at.z * p.rows + at.y) * p.pitch + at.x;
}

int copy_flat(const Place& from, const Place& to, const Box& b) {
  if (from.kind != kArray && to.kind != kArray && below(2))
    return cudaMemcpy2D(inside(to, b.to), to.pitch, inside(from, b.from), from.pitch, b.size.width,
                        b.size.height, 4);
  const auto side = [](const Place& p, const Position& at) {
    Side2D s;
    s.x = at.x, s.y = at.y, s.type = p.kind, s.pitch = p.pitch;
    s.host = s.array = p.at;
    s.device = reinterpret_cast<Word>(p.at);
    return s;
  };
  const DriverCopy2D copy{side(from, b.from), side(to, b.to), b.size.width, b.size.height};
  return cuMemcpy2D_v2(&copy);
}

int copy_box(const Place& from, const Place& to, const Box& b) {
  if (below(2)) {
    const auto side = [](const Place& p, const Position& at) {
      Side s;
      s.x = at.x, s.y = at.y, s.z = at.z, s.type = p.kind, s.pitch = p.pitch, s.height = p.rows;
      s.host = s.array = p.at;
      s.device = reinterpret_cast<Word>(p.at);
      return s;
    };
    const DriverCopy copy{side(from, b.from), side(to, b.to), b.size.width, b.size.height, b.size.depth};
    return cuMemcpy3D_v2(&copy);
  }
  // With an array extents count texels; so do positions in arrays, while those in other memory count bytes.
  const bool texels = from.kind == kArray || to.kind == kArray;
  const auto position = [](const Place& p, Position at) {
    if (p.kind == kArray) at.x /= kTexel;
    return at;
  };
  Copy3D copy{};
  (from.kind == kArray ? copy.from_array : copy.from.pointer) = from.at;
  (to.kind == kArray ? copy.to_array : copy.to.pointer) = to.at;
  if (from.kind != kArray) copy.from = from.pitched();
  if (to.kind != kArray) copy.to = to.pitched();
  copy.from_at = position(from, b.from), copy.to_at = position(to, b.to);
  copy.extent = {b.size.width / (texels ? kTexel : 1), b.size.height, b.size.depth};
  copy.kind = 4;
  return cudaMemcpy3D(&copy);
}

/// Elements of one, two or four bytes.
int fill(Place& to) {
  const std::size_t element = std::size_t{1} << below(3);
  Box b = random_box(to, to, element > 1);
  b.size.width = b.size.width / element * element;
  b.to.x = b.to.x / element * element;
  const auto value = static_cast<std::uint32_t>(numbers());
  for (std::size_t z = 0; z < b.size.depth; ++z)
    for (std::size_t y = 0; y < b.size.height; ++y)
      for (std::size_t x = 0; x < b.size.width; ++x)
        *to.byte(b.to.x + x, b.to.y + y, b.to.z + z) = static_cast<unsigned char>(value >> 8 * (x % element));
  const auto begin = reinterpret_cast<Word>(inside(to, b.to));
  if (element == 4) return cuMemsetD2D32_v2(begin, to.pitch, value, b.size.width / 4, b.size.height);
  if (element == 2)
    return cuMemsetD2D16_v2(begin, to.pitch, static_cast<unsigned short>(value), b.size.width / 2,
                            b.size.height);
  if (b.size.depth == 1 && below(2))
    return cudaMemset2D(inside(to, b.to), to.pitch, static_cast<int>(value), b.size.width, b.size.height);
  return cudaMemset3D({inside(to, b.to), to.pitch, to.pitch, to.rows}, static_cast<int>(value), b.size);
}

/// What is there now, fetched whole.
bool is_as_expected(Place& p) {
  std::vector<unsigned char> found(p.bytes.size());
  if (p.kind == kHost) found = p.host;
  if (p.kind == kDevice) check(cudaMemcpy(found.data(), p.at, found.size(), 2) == 0, "fetch");
  if (p.kind == kArray) {
    Copy3D copy{};
    copy.from_array = p.at;
    copy.to = {found.data(), p.pitch, p.pitch, p.rows};
    copy.extent = {p.pitch / kTexel, p.rows, p.slices};
    copy.kind = 2;
    check(cudaMemcpy3D(&copy) == 0, "fetch");
  }
  return found == p.bytes;
}

}  // namespace

int main() {
  std::vector<std::unique_ptr<Place>> places;
  for (const Kind kind : {kHost, kHost, kDevice, kDevice, kArray, kArray})
    places.push_back(std::make_unique<Place>(kind, 4 * (4 + below(20)), 1 + below(9), 1 + below(5)));
  for (auto& place : places) {  // begin with known contents
    Place noise(kHost, place->pitch, place->rows, place->slices);
    for (std::size_t i = 0; i < noise.bytes.size(); ++i)
      noise.bytes[i] = noise.host[i] = static_cast<unsigned char>(numbers());
    const Box all{{}, {}, {place->pitch, place->rows, place->slices}};
    expect_copy(noise, *place, all);
    check(copy_box(noise, *place, all) == 0 && is_as_expected(*place), "the first contents");
  }
  for (int step = 0; step < 2000 && failures == 0; ++step) {
    Place &from = *places[below(places.size())], &to = *places[below(places.size())];
    if (&from == &to) {  // memory areas may not overlap
      if (to.kind == kDevice) check(fill(to) == 0, "a fill");
    } else {
      const bool flat = below(2) != 0;
      const Box box = random_box(from, to, flat);
      expect_copy(from, to, box);
      check((flat ? copy_flat : copy_box)(from, to, box) == 0, "a copy");
    }
    if (!is_as_expected(to)) {
      std::printf("step %d: from %d to %d\n", step, from.kind, to.kind);
      check(false, "contents");
    }
  }
  std::puts(failures == 0 ? "PASS" : "FAILED");
  return failures == 0 ? 0 : 1;
}
