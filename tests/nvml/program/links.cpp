// A program that loads NVML as others do, and prints for each GPU its links' other ends and whom it reaches.
#include <dlfcn.h>

#include <cstdio>

namespace {

template <class Function>
Function* find(void* library, const char* name) {
  auto* const found = reinterpret_cast<Function*>(dlsym(library, name));
  if (found == nullptr) std::printf("no %s\n", name);
  return found;
}

struct PciInfo {
  char legacy[16];
  unsigned numbers[5];
  char bus[32];
};

}  // namespace

int main() {
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (library == nullptr) return std::printf("%s\n", dlerror()), 1;
  unsigned count = 0;
  std::printf("%d ", find<int()>(library, "nvmlInit_v2")());
  std::printf("%d ", find<int(unsigned*)>(library, "nvmlDeviceGetCount_v2")(&count));
  std::printf("%u\n", count);
  void* gpus[8] = {};
  auto* const by_index = find<int(unsigned, void**)>(library, "nvmlDeviceGetHandleByIndex_v2");
  for (unsigned d = 0; d < count; ++d) by_index(d, &gpus[d]);
  auto* const other_end =
      find<int(void*, unsigned, PciInfo*)>(library, "nvmlDeviceGetNvLinkRemotePciInfo_v2");
  auto* const peers = find<int(void*, void*, int, int*)>(library, "nvmlDeviceGetP2PStatus");
  for (unsigned d = 0; d < count; ++d) {
    PciInfo info{};
    unsigned links = 0;
    for (; other_end(gpus[d], links, &info) == 0; ++links)
      if (links % 4 == 0) std::printf("%s ", info.bus);
    std::printf("%u links;", links);
    for (unsigned other = 0; other < count; ++other) {
      int status = -1;
      peers(gpus[d], gpus[other], 0, &status);
      std::printf(" %d", status);
    }
    std::printf("\n");
  }
  std::printf("%d\n", find<int()>(library, "nvmlShutdown")());
}
