// Entries of both APIs that few programs call: arrays, textures, managed memory, libraries, streams, devices.
// `entries PTX` loads the kernels of tests/cuda/data/driver.ptx and prints PASS, or which check failed;
// with a further argument a stream waits for ever.
#include "entries.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace {

constexpr int kInvalid = 1, kNotFound = 500, kNotSupported = 801, kNotReady = 600, kToDevice = 1, kToHost = 2;

Word words(std::size_t count) {
  Word at = 0;
  check(cuMemAlloc_v2(&at, count * 4) == 0 && cuMemsetD32_v2(at, 0, count) == 0, "memory");
  return at;
}
unsigned value(Word at) {
  unsigned read = ~0U;
  check(cuMemcpyDtoHAsync_v2_ptsz(&read, at, 4, nullptr) == 0, "read");
  return read;
}
const int kFloats[] = {32, 0, 0, 0, 2};

void arrays() {
  unsigned host[24], back[24] = {};
  for (unsigned i = 0; i < 24; ++i) host[i] = i;
  void *cube = nullptr, *plane = nullptr;
  const Array3D shape{4, 3, 2, 3, 1, 0};
  Array3D told{};
  check(cuArray3DCreate_v2(&cube, &shape) == 0 && cuArray3DGetDescriptor_v2(&told, cube) == 0 &&
            told.width == 4 && told.height == 3 && told.depth == 2 && told.format == 3 && told.channels == 1,
        "an array of three dimensions");
  check(cuArrayGetPlane(&plane, cube, 0) == kInvalid, "an array without planes");
  DriverCopy copy;
  copy.from.type = 1, copy.from.host = host, copy.from.pitch = 16, copy.from.height = 3;
  copy.to.type = 3, copy.to.array = cube;
  copy.width = 16, copy.height = 3, copy.depth = 2;
  check(cuMemcpy3D_v2(&copy) == 0, "a copy of three dimensions");
  DriverCopy out;
  out.from.type = 3, out.from.array = cube, out.from.x = 4, out.from.y = 1, out.from.z = 1;
  out.to.type = 1, out.to.host = back;
  out.width = 8, out.height = 2;
  check(cuMemcpy3D_v2(&out) == 0 && back[0] == 17 && back[1] == 18 && back[2] == 21 && back[3] == 22,
        "a rectangle of its second slice");
  out.width = 16;
  check(cuMemcpy3D_v2(&out) == kInvalid, "more than a row");
  const Word data = words(4);
  const unsigned pair[] = {71, 72};
  check(cuMemcpyHtoA_v2(cube, 4, pair, 8) == 0 && cuMemcpyAtoA_v2(cube, 0, cube, 8, 4) == 0 &&
            cuMemcpyAtoD_v2(data, cube, 0, 12) == 0 && value(data) == 72 && value(data + 4) == 71 &&
            value(data + 8) == 72,
        "rows between arrays and memory");
  check(cuMemsetD2D16Async(data, 8, 0x1234, 2, 2, nullptr) == 0 && value(data) == 0x12341234 &&
            value(data + 4) == 71 && value(data + 8) == 0x12341234,
        "a fill of rows");
  std::memset(back, 0, sizeof back);
  BatchCopy batch{{1, host, 4, 0, {}}, {1, back, 2, 0, {}}, {8, 2, 1}, 1, 0};
  batch.from.row = 16, batch.to.row = 8;
  check(cudaMemcpy3DBatchAsync(1, &batch, 0, nullptr) == 0 && back[1] == 1 && back[2] == 4 && back[3] == 5,
        "a batch of copies");
}

void mipmaps() {
  void *all = nullptr, *level = nullptr, *plain = nullptr;
  Extent extent{};
  check(cudaMallocMipmappedArray(&all, kFloats, {8, 4, 0}, 9, 0) == 0, "a mipmapped array");
  check(cudaGetMipmappedArrayLevel(&level, all, 3) == 0 &&
            cudaArrayGetInfo(nullptr, &extent, nullptr, level) == 0 && extent.width == 1 &&
            extent.height == 1 && cudaGetMipmappedArrayLevel(&level, all, 4) == kInvalid,
        "its last level");
  check(cudaGetMipmappedArrayLevel(&level, all, 1) == 0 &&
            cudaArrayGetInfo(nullptr, &extent, nullptr, level) == 0 && extent.width == 4 &&
            extent.height == 2,
        "its second level");
  const float host[] = {1, 2, 3, 4, 5, 6, 7, 8};
  float back[8] = {};
  check(cudaMallocArray(&plain, kFloats, 4, 2, 0) == 0 &&
            cudaMemcpy2DToArray(level, 0, 0, host, 16, 16, 2, kToDevice) == 0 &&
            cudaMemcpy2DArrayToArray(plain, 0, 0, level, 4, 0, 12, 2, 3) == 0 &&
            cudaMemcpy2DFromArray(back, 16, plain, 0, 0, 16, 2, kToHost) == 0 && back[0] == 2 &&
            back[2] == 4 && back[4] == 6 && back[3] == 0,
        "from array to array");
  Resource resource{}, told{};
  resource.type = 1, resource.array = all;
  Texture texture{}, same{};
  texture.normalised = 1, texture.most = 2, texture.mipmap_filter = 1;
  Word object = 0;
  check(cudaCreateTextureObject(&object, &resource, &texture, nullptr) == 0 &&
            cudaGetTextureObjectResourceDesc(&told, object) == 0 && told.array == all && told.type == 1 &&
            cudaGetTextureObjectTextureDesc(&same, object) == 0 &&
            std::memcmp(&same, &texture, sizeof same) == 0,
        "what a texture is of");
  DriverTexture driver{};
  check(cuTexObjectGetTextureDesc(&driver, object) == 0 && driver.flags == 2 && driver.most == 2, "and how");
  check(cudaDestroyTextureObject(object) == 0 &&
            cudaGetTextureObjectResourceDesc(&told, object) == kInvalid && cudaFreeMipmappedArray(all) == 0 &&
            cudaGetMipmappedArrayLevel(&level, all, 0) != 0,
        "its end");
}

void managed(void* stream) {
  constexpr std::size_t kHalf = 1 << 16;
  Word data = 0;
  check(cuMemAllocManaged(&data, 2 * kHalf, 1) == 0, "managed memory");
  const auto attribute = [&](int which, std::size_t bytes) {
    int is = -9;
    check(cuMemRangeGetAttribute(&is, sizeof is, which, data, bytes) == 0, "an attribute of a range");
    return is;
  };
  check(attribute(1, kHalf) == 0 && attribute(2, kHalf) == -2 && attribute(4, kHalf) == -2,
        "nothing is said");
  check(cuMemAdvise(data, kHalf, 1, 0) == 0 && attribute(1, kHalf) == 1 && attribute(1, 2 * kHalf) == 0,
        "mostly read, a half");
  check(cuMemAdvise_v2(data, 2 * kHalf, 3, {2, 0}) == 0 && attribute(2, 2 * kHalf) == -1 &&
            attribute(5, 2 * kHalf) == 2,
        "preferred on the host");
  check(cuMemPrefetchAsync_v2(data, kHalf, {1, 0}, 0, stream) == 0 && attribute(4, kHalf) == 0 &&
            attribute(7, kHalf) == 1 && attribute(4, 2 * kHalf) == -2,
        "prefetched, a half");
  int by[2] = {};
  check(cuMemAdvise_v2(data, kHalf, 5, {1, 0}) == 0 &&
            cuMemRangeGetAttribute(by, sizeof by, 3, data, kHalf) == 0 && by[0] == 0 && by[1] == -2,
        "accessed by");
  check(cuMemRangeGetAttribute(by, 3, 1, data, kHalf) == kInvalid, "a place of another size");
}

void libraries(const std::string& text) {
  void *library = nullptr, *module = nullptr, *kernels[3] = {};
  unsigned count = 0;
  std::size_t bytes = 0, offset = 0;
  void* variable = nullptr;
  check(cuLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0) == 0 &&
            cudaLibraryGetKernelCount(&count, library) == 0 && count == 2,
        "the kernels of a library");
  const char* name = nullptr;
  check(cudaLibraryEnumerateKernels(kernels, 3, library) == 0 && kernels[1] != nullptr &&
            kernels[2] == nullptr && cuFuncGetName(&name, kernels[1]) == 0 && std::string(name) == "round",
        "their names");
  check(cuFuncGetParamInfo(kernels[0], 1, &offset, &bytes) == 0 && offset == 8 && bytes == 4 &&
            cuFuncGetParamInfo(kernels[0], 2, &offset, &bytes) == kInvalid,
        "their parameters");
  unsigned forty = 0;
  check(cudaLibraryGetGlobal(&variable, &bytes, library, "total") == 0 && bytes == 4 &&
            cudaMemcpy(&forty, variable, 4, kToHost) == 0 && forty == 40 &&
            cudaLibraryGetManaged(&variable, &bytes, library, "total") == kNotFound,
        "a variable, which is not managed");
  int mode = 0;
  check(cuModuleLoadData(&module, text.c_str()) == 0 && cuModuleGetFunctionCount(&count, module) == 0 &&
            count == 2 && cuModuleGetLoadingMode(&mode) == 0 && mode == 2 &&
            cuModuleGetTexRef(&variable, module, "texture") == kNotFound,
        "a module");
  std::size_t most = 0;
  int ctas = 0;
  check(cudaOccupancyAvailableDynamicSMemPerBlock(&most, kernels[0], 2, 64) == 0 && most > 0 &&
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, kernels[0], 64, most) == 0 && ctas >= 2 &&
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, kernels[0], 64, most + 1) == 0 && ctas < 2,
        "shared memory for two CTAs of an SM");
}

/// What waits for a value goes on when another stream, or the host, has written it.
void values(void* stream) {
  void *other = nullptr, *host = nullptr;
  const Word data = words(4);
  check(cuStreamCreate(&other, 1) == 0 && cuStreamWaitValue32(stream, data, 5, 1) == 0 &&
            cuStreamWriteValue32_v2(stream, data + 4, 77, 0) == 0,
        "a stream that waits");
  check(cuStreamQuery(stream) == kNotReady, "is not complete");
  check(cuStreamWriteValue32_v2(other, data, 5, 0) == 0 && cuStreamSynchronize(stream) == 0 &&
            value(data + 4) == 77,
        "and goes on");
  check(cuStreamWaitValue32_v2(stream, data, 3, 0) == 0 && cuStreamWaitValue32_v2(stream, data, 4, 2) == 0 &&
            cuStreamWaitValue32_v2(stream, data, 0xfffffff0, 0) == 0 && cuStreamSynchronize(stream) == 0,
        "at least, bits, and a difference that wraps around");
  check(cuStreamWriteValue64_v2(stream, data + 8, Word{9} << 32, 0) == 0 &&
            cuStreamWaitValue64_v2(stream, data + 8, Word{9} << 32, 1) == 0 &&
            cuStreamSynchronize(stream) == 0 && value(data + 12) == 9,
        "64 bits");
  check(cuStreamWaitValue32_v2(stream, data + 2, 0, 0) == kInvalid, "an address that is not aligned");
  check(cudaHostAlloc(&host, 4, 2) == 0, "memory of the host");
  auto* const word = static_cast<volatile unsigned*>(host);
  *word = 0;
  check(cuStreamWaitValue32_v2(stream, reinterpret_cast<Word>(host), 1, 0) == 0, "a wait for the host");
  std::thread writer([&] { *word = 1; });
  check(cuStreamSynchronize(stream) == 0, "which writes");
  writer.join();
}

void streams(void* stream) {
  Attribute set{}, got{};
  void* other = nullptr;
  set.number = 3;
  check(cuStreamCreate(&other, 0) == 0 && cudaStreamSetAttribute(stream, 3, &set) == 0 &&
            cudaStreamCopyAttributes(other, stream) == 0 && cudaStreamGetAttribute(other, 3, &got) == 0 &&
            got.number == 3 && cudaStreamGetAttribute(other, 2, &got) == kInvalid,
        "attributes of streams");
}

void devices(void* context) {
  char bus[32] = {};
  int device = -1, banks = 0;
  unsigned version = 0;
  Word first = 0, second = 0;
  void* made = nullptr;
  check(
      cuDeviceGetPCIBusId(bus, sizeof bus, 0) == 0 && cuDeviceGetByPCIBusId(&device, bus) == 0 && device == 0,
      "a device by its bus");
  check(cuCtxGetApiVersion(context, &version) == 0 && version == 3020, "the version of contexts");
  check(cuCtxCreate_v3(&made, nullptr, 0, 0, 0) == 0 && cuCtxGetId(context, &first) == 0 &&
            cuCtxGetId(made, &second) == 0 && first != second && cuCtxSynchronize_v2(made) == 0 &&
            cuCtxDestroy_v2(made) == 0,
        "contexts");
  check(cudaDeviceGetSharedMemConfig(&banks) == 0 && banks == 1, "banks of four bytes");
  check(cuDevicePrimaryCtxRetain(&made, 0) == 0 && cuDevicePrimaryCtxRelease(0) == 0, "a first form");
}

void refused() {
  void* found = nullptr;
  unsigned narrow = 0;
  const void* table = nullptr;
  check(cuMemAlloc(&narrow, 4) == kNotSupported && cuGreenCtxCreate(&found, nullptr, 0, 0) == kNotSupported &&
            cuGetExportTable(&table, &table) == kNotSupported && cudaGLSetGLDevice(0) == kNotSupported,
        "what is refused");
  check(cuGetProcAddress_v2("cuMemAdvise", &found, 12010, 0, nullptr) == 0 &&
            found == reinterpret_cast<void*>(&cuMemAdvise) &&
            cuGetProcAddress_v2("cuMemAdvise", &found, 12020, 0, nullptr) == 0 &&
            found == reinterpret_cast<void*>(&cuMemAdvise_v2),
        "forms by version");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 3;
  std::ifstream file(argv[1]);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  void *context = nullptr, *stream = nullptr;
  check(cuInit(0) == 0 && cuDevicePrimaryCtxRetain(&context, 0) == 0 && cuCtxSetCurrent(context) == 0 &&
            cuStreamCreate(&stream, 1) == 0,
        "begin");
  if (argc > 2) {
    check(cuStreamWaitValue32_v2(stream, words(1), 1, 0) == 0, "a wait");
    std::printf("result %d\n", cuStreamSynchronize(stream));
    return 0;
  }
  arrays();
  mipmaps();
  managed(stream);
  libraries(text);
  values(stream);
  streams(stream);
  devices(context);
  refused();
  if (failures == 0) std::puts("PASS");
  return failures == 0 ? 0 : 1;
}
