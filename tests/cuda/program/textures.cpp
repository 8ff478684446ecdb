// Reads texels x + 1000 y of 256 x 256 in one kernel: argv[1] is textures.ptx; argv[2] says how, and argv[3]
// how often. Prints the sum of what was read.
#include "registration.hpp"

namespace {

struct Channels {
  int x, y, z, w, kind;
};
struct Resource {
  int type;  // 0: an array, 2: linear memory
  union {
    void* array;
    struct {
      void* pointer;
      Channels channels;
      std::size_t bytes;
    } linear;
    int reserved[32];
  };
  unsigned flags;
};
struct Sampler {
  int address[3], filter, mode, srgb;  // address 1: clamp; filter 1: linear
  float border[4];
  int normalized;
  unsigned anisotropy;
  int mipmap_filter;
  float bias, least, most;
  int trilinear, seamless;
};

}  // namespace

extern "C" {
int cudaMallocArray(void** array, const Channels*, std::size_t width, std::size_t height, unsigned flags);
int cudaMemcpy2DToArray(void* array, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
                        std::size_t width, std::size_t height, int kind);
int cudaCreateTextureObject(unsigned long long* texture, const Resource*, const Sampler*, const void* view);
}

namespace {

// Stand for the kernels on the host; they must not be one and the same function.
int called = 0;
void line() { called = 1; }
void image() { called = 2; }

constexpr unsigned kSide = 256, kTexels = kSide * kSide;
constexpr Channels kFloats{32, 0, 0, 0, 2};

std::vector<float> texels() {
  std::vector<float> all(kTexels);
  for (unsigned i = 0; i < kTexels; ++i) all[i] = static_cast<float>(i % kSide + 1000 * (i / kSide));
  return all;
}

int in_line(void* out, int times) {
  const std::vector<float> all = texels();
  Resource resource{};
  resource.type = 2;
  resource.linear = {nullptr, kFloats, kTexels * sizeof(float)};
  if (cudaMalloc(&resource.linear.pointer, resource.linear.bytes) != 0) return 4;
  cudaMemcpy(resource.linear.pointer, all.data(), resource.linear.bytes, 1);
  const Sampler sampler{};
  unsigned long long texture = 0;
  if (cudaCreateTextureObject(&texture, &resource, &sampler, nullptr) != 0) return 4;
  void* args[] = {&out, &texture, &times};
  return times == 2 ? launch(&line, kTexels / 256, 256, args) : launch(&line, 1, 1024, args);
}

int in_tiles(void* out, bool filtered) {
  const std::vector<float> all = texels();
  Resource resource{};
  if (cudaMallocArray(&resource.array, &kFloats, kSide, kSide, 0) != 0) return 4;
  constexpr std::size_t kRow = kSide * sizeof(float);
  if (cudaMemcpy2DToArray(resource.array, 0, 0, all.data(), kRow, kRow, kSide, 1) != 0) return 4;
  Sampler sampler{};
  for (int& mode : sampler.address) mode = 1;
  sampler.filter = filtered;
  unsigned long long texture = 0;
  if (cudaCreateTextureObject(&texture, &resource, &sampler, nullptr) != 0) return 4;
  unsigned width = kSide;
  float shift = filtered ? 1.0f : 0.5f;  // between four texels, or at a texel's centre
  void* args[] = {&out, &texture, &width, &shift};
  return launch_grid(&image, {kSide / 32, kSide / 8}, {32, 8}, args);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 3;
  void** const handle = register_ptx(argv[1]);
  if (handle == nullptr) return 3;
  register_kernel(handle, &line, "line");
  register_kernel(handle, &image, "image");
  __cudaRegisterFatBinaryEnd(handle);
  void* out = nullptr;
  if (cudaMalloc(&out, kTexels * sizeof(float)) != 0) return 4;
  cudaMemset(out, 0, kTexels * sizeof(float));
  const std::string which = argv[2];
  const int failed =
      which == "line" ? in_line(out, argc > 3 ? std::stoi(argv[3]) : 2) : in_tiles(out, which == "filter");
  if (failed != 0) return failed;
  std::vector<float> read(kTexels);
  cudaMemcpy(read.data(), out, kTexels * sizeof(float), 2);
  double sum = 0;
  for (const float value : read) sum += static_cast<double>(value);
  std::printf("%.1f\n", sum);
  return 0;
}
