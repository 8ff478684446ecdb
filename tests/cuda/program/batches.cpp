// Random runs of bytes between host memory, device memory, a variable of the device and arrays, in a stream:
// by every call that can move them, and in batches. The host keeps what each place holds. Prints PASS, or
// which check failed.
#include "batches.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "registration.hpp"

namespace {

constexpr int kInvalidValue = 1, kInvalidDirection = 21, kInvalidSymbol = 13;
constexpr std::size_t kTexel = 4, kVariable = 900;
constexpr int kToDevice = 1, kToHost = 2, kWithin = 3, kDefault = 4;

enum Kind { kHost, kDevice, kArray, kSymbol };

std::mt19937 numbers(11);
std::size_t below(std::size_t n) { return numbers() % n; }
void* stream = nullptr;
char variable;  // stands for the device's on the host

struct Place {
  Kind kind;
  std::size_t pitch, rows;
  std::vector<unsigned char> expected, host;
  void* at = nullptr;  // its address, or the array

  Place(Kind k, std::size_t p, std::size_t r) : kind(k), pitch(p), rows(r), expected(p * r), host(p * r) {
    const Format word{32, 0, 0, 0, 1};
    if (kind == kHost) at = host.data();
    if (kind == kDevice) check(cudaMalloc(&at, expected.size()) == 0, "memory");
    if (kind == kArray) check(cudaMallocArray(&at, &word, pitch / kTexel, rows, 0) == 0, "an array");
    if (kind == kSymbol) check(cudaGetSymbolAddress(&at, &variable) == 0, "a variable's address");
  }
  [[nodiscard]] char* byte(std::size_t offset) const { return static_cast<char*>(at) + offset; }
  [[nodiscard]] Word word(std::size_t offset) const { return reinterpret_cast<Word>(byte(offset)); }
};

struct Run {
  Place *from, *to;
  std::size_t from_at, to_at, bytes;
};

int direction(const Run& r) {
  if (below(3) == 0) return kDefault;
  if (r.from->kind == kHost) return kToDevice;
  return r.to->kind == kHost ? kToHost : kWithin;
}

int linear(const Run& r) {
  void* const to = r.to->byte(r.to_at);
  const void* const from = r.from->byte(r.from_at);
  const Word to_word = r.to->word(r.to_at), from_word = r.from->word(r.from_at);
  switch (below(6)) {
    case 0:
      if (r.from->kind == kHost) return cuMemcpyHtoDAsync_v2(to_word, from, r.bytes, stream);
      return r.to->kind == kHost ? cuMemcpyDtoHAsync_v2(to, from_word, r.bytes, stream)
                                 : cuMemcpyDtoDAsync_v2(to_word, from_word, r.bytes, stream);
    case 1:
      return cuMemcpyAsync(to_word, from_word, r.bytes, stream);
    case 2:
      return cudaMemcpy2DAsync(to, r.bytes, from, r.bytes + 7, r.bytes, 1, direction(r), stream);
    case 3:
      if (r.to->kind == kSymbol && r.from->kind != kSymbol)
        return cudaMemcpyToSymbolAsync(&variable, from, r.bytes, r.to_at, direction(r), stream);
      if (r.from->kind == kSymbol)
        return cudaMemcpyFromSymbolAsync(to, &variable, r.bytes, r.from_at, direction(r), stream);
      break;
    case 4:
      if (r.from->kind != kHost && r.to->kind != kHost)
        return cudaMemcpyPeerAsync(to, 0, from, 0, r.bytes, stream);
      break;
    default:
      break;
  }
  return cudaMemcpyAsync(to, from, r.bytes, direction(r), stream);
}

/// With an array on one side: by rows' ends where the driver's calls know one row only.
int with_array(const Run& r) {
  const Place& array = r.to->kind == kArray ? *r.to : *r.from;
  const std::size_t at = r.to->kind == kArray ? r.to_at : r.from_at, x = at % array.pitch,
                    y = at / array.pitch;
  const bool row = y == 0 && x + r.bytes <= array.pitch && below(2) != 0;
  if (r.to->kind == kArray && r.from->kind == kArray) {
    if (row && r.from_at + r.bytes <= r.from->pitch)
      return cuMemcpyAtoA_v2(r.to->at, x, r.from->at, r.from_at, r.bytes);
    return cudaMemcpyArrayToArray(r.to->at, x, y, r.from->at, r.from_at % r.from->pitch,
                                  r.from_at / r.from->pitch, r.bytes, kWithin);
  }
  if (r.to->kind == kArray) {
    const void* const from = r.from->byte(r.from_at);
    if (row && r.from->kind == kHost) return cuMemcpyHtoAAsync_v2(r.to->at, x, from, r.bytes, stream);
    if (row) return cuMemcpyDtoA_v2(r.to->at, x, r.from->word(r.from_at), r.bytes);
    return below(2) ? cudaMemcpyToArray(r.to->at, x, y, from, r.bytes, direction(r))
                    : cudaMemcpyToArrayAsync(r.to->at, x, y, from, r.bytes, direction(r), stream);
  }
  void* const to = r.to->byte(r.to_at);
  if (row && r.to->kind == kHost)
    return below(2) ? cuMemcpyAtoH_v2(to, r.from->at, x, r.bytes)
                    : cuMemcpyAtoHAsync_v2(to, r.from->at, x, r.bytes, stream);
  if (row) return cuMemcpyAtoD_v2(r.to->word(r.to_at), r.from->at, x, r.bytes);
  return below(2) ? cudaMemcpyFromArray(to, r.from->at, x, y, r.bytes, direction(r))
                  : cudaMemcpyFromArrayAsync(to, r.from->at, x, y, r.bytes, direction(r), stream);
}

Run random_run(std::vector<std::unique_ptr<Place>>& places, bool arrays) {
  Run r{};
  do {
    r.from = places[below(places.size())].get(), r.to = places[below(places.size())].get();
  } while (r.from == r.to || (!arrays && (r.from->kind == kArray || r.to->kind == kArray)) ||
           (r.from->kind == kHost && r.to->kind == kHost));
  const std::size_t unit = r.from->kind == kArray || r.to->kind == kArray ? kTexel : 1;
  const std::size_t most = std::min(r.from->expected.size(), r.to->expected.size()) / unit;
  r.bytes = unit * (1 + below(below(2) ? most : std::min<std::size_t>(most, 20)));
  r.from_at = unit * below((r.from->expected.size() - r.bytes) / unit + 1);
  r.to_at = unit * below((r.to->expected.size() - r.bytes) / unit + 1);
  return r;
}

void expect(const Run& r) {
  std::memcpy(r.to->expected.data() + r.to_at, r.from->expected.data() + r.from_at, r.bytes);
}

bool is_as_expected(Place& p) {
  check(cudaStreamSynchronize(stream) == 0, "the stream");
  std::vector<unsigned char> found = p.host;
  if (p.kind == kDevice || p.kind == kSymbol)
    check(cudaMemcpy(found.data(), p.at, found.size(), kToHost) == 0, "fetch");
  if (p.kind == kArray)
    check(cudaMemcpy2DFromArrayAsync(found.data(), p.pitch, p.at, 0, 0, p.pitch, p.rows, kToHost, stream) ==
                  0 &&
              cudaStreamSynchronize(stream) == 0,
          "fetch");
  return found == p.expected;
}

/// Copies of disjoint places: their order is not said.
void batch(std::vector<std::unique_ptr<Place>>& places) {
  std::vector<Run> runs;
  for (int tries = 0; tries < 6; ++tries) {
    const Run r = random_run(places, false);
    bool apart = true;
    for (const Run& o : runs) apart = apart && r.to != o.to && r.from != o.to && r.to != o.from;
    if (apart) runs.push_back(r);
  }
  std::vector<void*> to;
  std::vector<const void*> from;
  std::vector<std::size_t> bytes;
  for (const Run& r : runs) {
    to.push_back(r.to->byte(r.to_at)), from.push_back(r.from->byte(r.from_at)), bytes.push_back(r.bytes);
    expect(r);
  }
  const CopyAttributes attributes[] = {{1, {}, {}, 0}, {3, {}, {}, 0}};
  const std::size_t begins[] = {0, runs.size() - 1}, kinds = runs.size() > 1 ? 2 : 1;
  const int result = below(2)
                         ? cudaMemcpyBatchAsync(to.data(), from.data(), bytes.data(), runs.size(), attributes,
                                                begins, kinds, stream)
                         : cuMemcpyBatchAsync_v2(to.data(), const_cast<void**>(from.data()), bytes.data(),
                                                 runs.size(), attributes, begins, kinds, stream);
  check(result == 0, "a batch");
  for (const Run& r : runs) check(is_as_expected(*r.to), "a batch's bytes");
}

/// Rectangles of an array and of memory, as operands of a batch in three dimensions.
void box_batch(Place& array, Place& memory, bool to_array) {
  const std::size_t texels = array.pitch / kTexel, width = 1 + below(texels), height = 1 + below(array.rows);
  const std::size_t row = width + below(5), x = below(texels - width + 1), y = below(array.rows - height + 1);
  if (row * kTexel * height > memory.expected.size()) return;
  BatchCopy copy{};
  Operand &inside = to_array ? copy.to : copy.from, &outside = to_array ? copy.from : copy.to;
  inside.type = 2, inside.array.array = array.at, inside.array.at = {x, y, 0};
  outside.type = 1, outside.pointer.address = memory.at, outside.pointer.row = row;
  copy.extent = {width, height, 1}, copy.access_order = 1;
  for (std::size_t j = 0; j < height; ++j) {
    unsigned char* const a = array.expected.data() + (y + j) * array.pitch + x * kTexel;
    unsigned char* const m = memory.expected.data() + j * row * kTexel;
    std::memcpy(to_array ? a : m, to_array ? m : a, width * kTexel);
  }
  check((below(2) ? cudaMemcpy3DBatchAsync(1, &copy, 0, stream)
                  : cuMemcpy3DBatchAsync_v2(1, &copy, 0, stream)) == 0,
        "a batch of rectangles");
  check(is_as_expected(to_array ? array : memory), "a rectangle's bytes");
  copy.extent.width = texels + 1;
  check(cudaMemcpy3DBatchAsync(1, &copy, 0, stream) == kInvalidValue, "a row longer than the array's");
  copy.extent = {width, array.rows + 1, 1};
  check(cuMemcpy3DBatchAsync_v2(1, &copy, 0, stream) == kInvalidValue, "more rows than the array has");
  check(is_as_expected(array) && is_as_expected(memory), "what is refused changes nothing");
}

void wrong(Place& a, Place& b) {
  void* to[] = {a.at, a.byte(8)};
  const void* from[] = {b.at, b.byte(8)};
  const std::size_t bytes[] = {4, 4}, begins[] = {0, 1}, late[] = {1, 1}, behind[] = {0, 2};
  const CopyAttributes fine[] = {{1, {}, {}, 0}, {2, {}, {}, 0}};
  const auto call = [&](std::size_t count, const CopyAttributes* attributes, const std::size_t* starts,
                        std::size_t kinds, void* in) {
    return cudaMemcpyBatchAsync(to, from, bytes, count, attributes, starts, kinds, in);
  };
  check(call(2, fine, begins, 2, stream) == 0, "a batch");
  check(call(0, fine, begins, 1, stream) == kInvalidValue, "no copy");
  check(call(2, fine, begins, 0, stream) == kInvalidValue, "no attributes");
  check(call(2, fine, late, 1, stream) == kInvalidValue, "attributes that begin late");
  check(call(1, fine, begins, 2, stream) == kInvalidValue, "more attributes than copies");
  check(call(2, fine, behind, 2, stream) == kInvalidValue, "attributes behind the copies");
  check(call(2, nullptr, begins, 1, stream) == kInvalidValue, "nowhere attributes");
  check(call(2, fine, begins, 2, nullptr) == kInvalidValue, "the legacy default stream");
  for (const int order : {0, 4, -1}) {
    const CopyAttributes unknown[] = {{order, {}, {}, 0}};
    check(call(2, unknown, begins, 1, stream) == kInvalidValue, "an order of accesses that there is not");
  }
  check(cudaMemcpyBatchAsync(nullptr, from, bytes, 2, fine, begins, 1, stream) == kInvalidValue,
        "no targets");
  BatchCopy box{};
  check(cudaMemcpy3DBatchAsync(0, &box, 0, stream) == kInvalidValue &&
            cudaMemcpy3DBatchAsync(1, nullptr, 0, stream) == kInvalidValue &&
            cudaMemcpy3DBatchAsync(1, &box, 0, stream) == kInvalidValue,
        "boxes without operands");
  std::size_t size = 0;
  check(cudaGetSymbolSize(&size, &variable) == 0 && size == kVariable &&
            cudaGetSymbolSize(nullptr, &variable) == kInvalidValue &&
            cudaGetSymbolSize(&size, &size) == kInvalidSymbol,
        "the size of a variable");
  check(cudaMemcpyToSymbolAsync(&variable, b.at, 8, kVariable - 7, kDefault, stream) == kInvalidValue &&
            cudaMemcpyFromSymbolAsync(a.at, &variable, kVariable, 1, kDefault, stream) == kInvalidValue &&
            cudaMemcpyToSymbolAsync(&variable, b.at, ~std::size_t{0}, 2, kDefault, stream) == kInvalidValue,
        "bytes behind a variable");
  check(cudaMemcpyToSymbolAsync(&variable, b.at, 8, 0, kToHost, stream) == kInvalidDirection &&
            cudaMemcpyFromSymbolAsync(a.at, &variable, 8, 0, kToDevice, stream) == kInvalidDirection,
        "the other direction");
}

}  // namespace

int main() {
  register_variable(&variable, kVariable);
  check(cudaStreamCreate(&stream) == 0, "a stream");
  std::vector<std::unique_ptr<Place>> places;
  for (const Kind kind : {kHost, kDevice, kArray, kSymbol, kHost, kDevice, kArray})
    places.push_back(std::make_unique<Place>(kind, kind == kSymbol ? kVariable : 4 * (10 + below(40)),
                                             kind == kSymbol ? 1 : 4 + below(6)));
  for (auto& place : places) {
    Place noise(kHost, place->pitch, place->rows);
    for (unsigned char& byte : noise.expected) byte = static_cast<unsigned char>(numbers());
    noise.host = noise.expected;
    if (place->kind == kHost) {
      place->host = place->expected = noise.host;
      continue;
    }
    const Run all{&noise, place.get(), 0, 0, noise.host.size()};
    check((place->kind == kArray ? with_array : linear)(all) == 0, "the first contents");
    expect(all);
    check(is_as_expected(*place), "the first contents");
  }
  for (int step = 0; step < 1500 && failures == 0; ++step) {
    const Run r = random_run(places, true);
    check((r.from->kind == kArray || r.to->kind == kArray ? with_array : linear)(r) == 0, "a copy");
    expect(r);
    if (!is_as_expected(*r.to)) {
      std::printf("step %d: %zu bytes from %d to %d\n", step, r.bytes, r.from->kind, r.to->kind);
      check(false, "contents");
    }
    if (step % 5 == 0) batch(places);
    if (step % 5 == 1) box_batch(*places[2], *places[step % 2 ? 0 : 1], step % 4 < 2);
  }
  wrong(*places[1], *places[5]);
  check(cudaStreamSynchronize(stream) == 0, "the end");
  if (failures == 0) std::puts("PASS");
  return failures == 0 ? 0 : 1;
}
