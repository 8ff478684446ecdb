// Modules and libraries, what they contain, and linking PTX at run time.
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include "cuda/cubin.hpp"
#include "cuda/driver.hpp"
#include "cuda/fatbin.hpp"
#include "cuda/jit_log.hpp"
#include "cuda/loaded_fatbin.hpp"
#include "util/error.hpp"

namespace lockstep::cuda {

namespace {

/// A linker in progress. Its result is an image that only this library understands: its own address.
struct Linker {
  std::uint32_t magic = 0x4C4E4B52;
  std::vector<std::string> texts;
};
std::map<const void*, Linker*> linkers;

/// Reads no further than what differs: a text may be shorter than the number.
bool begins_with(const void* image, std::uint32_t magic) {
  const auto* bytes = static_cast<const unsigned char*>(image);
  for (unsigned i = 0; i < sizeof magic; ++i)
    if (bytes[i] != (magic >> 8 * i & 0xff)) return false;
  return true;
}

std::span<const std::byte> whole_fatbin(const void* image) {
  if (begins_with(image, kWrapperMagic)) {
    const std::byte* data = nullptr;
    std::memcpy(&data, static_cast<const std::byte*>(image) + 8, sizeof data);
    image = data;
  }
  return loaded_fatbin(image);
}

/// An image that holds machine code alone, as compilers at run time make it unless they are told not to.
[[noreturn]] void refuse_machine_code(const void* image) {
  std::string what = "a cubin";
  try {
    what = describe_cubin({static_cast<const std::byte*>(image), readable_bytes(image)}, "module");
  } catch (const UserError&) {  // it is refused anyway
  }
  throw ApiError(Status::kErrorNoKernelImageForDevice,
                 what +
                     ": machine code alone, and PTX is needed. Have the compiler hand over PTX: "
                     "CUPY_COMPILE_WITH_PTX=1 (CuPy), NUMBA_CUDA_ENABLE_PYNVJITLINK=0 (numba), "
                     "TRITON_PTXAS_PATH=PROGRAM (Triton); see docs/packaging.md, \"Compilers at run time\"");
}

std::unique_ptr<Module> module_from(Runtime& rt, const void* image) {
  require(image != nullptr);
  if (const auto linker = linkers.find(image); linker != linkers.end())
    return std::make_unique<Module>("linked", linker->second->texts, rt.settings.ptx_limit(), rt.memory);
  if (begins_with(image, kElfMagic)) refuse_machine_code(image);
  if (begins_with(image, kFatbinMagic) || begins_with(image, kWrapperMagic))
    return std::make_unique<Module>("module", std::vector{whole_fatbin(image)}, rt.settings.ptx_limit(),
                                    rt.memory);
  const auto* const text = static_cast<const char*>(image);
  return std::make_unique<Module>(
      "module", std::vector<std::string>{std::string(text, strnlen(text, readable_bytes(text)))},
      rt.settings.ptx_limit(), rt.memory);
}

/// The image need not live on: it is read at once.
int load(void** handle, const void* image, const JitLog& log = {0, nullptr, nullptr}) {
  return driver_api([&](Runtime& rt) {
    require(handle != nullptr);
    auto module = module_from(rt, image);
    try {
      (void)module->image();
      (void)module->machine_code();
    } catch (const UserError& e) {
      log.write(e.what());
      throw ApiError(Status::kErrorInvalidPtx, e.what());
    } catch (const ApiError& e) {
      log.write(e.what());
      throw;
    }
    log.write({});
    *handle = &rt.modules.add(std::move(module));
  });
}

int load_file(void** handle, const char* path, const JitLog& log = {0, nullptr, nullptr}) {
  if (path == nullptr) return static_cast<int>(Status::kErrorInvalidValue);
  std::ifstream file(path, std::ios::binary);
  if (!file) return static_cast<int>(Status::kErrorFileNotFound);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  bytes.push_back('\0');
  if (bytes.size() < sizeof(std::uint32_t)) return static_cast<int>(Status::kErrorInvalidKernelImage);
  return load(handle, bytes.data(), log);
}

int unload(void* handle) {
  return driver_api([&](Runtime& rt) {
    Module& module = module_of(rt, handle);
    rt.held.wait_all();
    rt.modules.remove(&module);
  });
}

int function(void** handle, void* module, const char* name) {
  return driver_api([&](Runtime& rt) {
    require(handle != nullptr && name != nullptr);
    Module& owner = module_of(rt, module);
    const auto found = owner.program().find_function(name);
    require(found && owner.program().functions.at(*found).entry, Status::kErrorSymbolNotFound);
    *handle = &rt.modules.kernel(owner, name);
  });
}

int global(DevicePointer* address, std::size_t* bytes, void* module, const char* name) {
  return driver_api([&](Runtime& rt) {
    require(name != nullptr);
    const auto found = module_of(rt, module).variable(name);
    require(found.has_value(), Status::kErrorSymbolNotFound);
    if (address != nullptr) *address = found->address;
    if (bytes != nullptr) *bytes = found->bytes;
  });
}

Linker& linker_of(void* state) {
  const auto found = linkers.find(state);
  require(found != linkers.end(), Status::kErrorInvalidResourceHandle);
  return *found->second;
}

void add_text(void* state, int type, std::string text) {
  constexpr int kPtx = 1;
  if (type != kPtx) throw ApiError(Status::kErrorNotSupported, "only PTX can be linked at run time");
  if (const std::size_t end = text.find('\0'); end != std::string::npos) text.resize(end);
  linker_of(state).texts.push_back(std::move(text));
}

int attribute_of(int* value, int attribute, void* f) {
  abi::FuncAttributes all;
  if (const int result = driver([&] { return cudaFuncGetAttributes(&all, f); }); result != 0) return result;
  const int values[] = {all.maxThreadsPerBlock,
                        static_cast<int>(all.sharedSizeBytes),
                        static_cast<int>(all.constSizeBytes),
                        static_cast<int>(all.localSizeBytes),
                        all.numRegs,
                        all.ptxVersion,
                        all.binaryVersion,
                        all.cacheModeCA,
                        all.maxDynamicSharedSizeBytes,
                        all.preferredShmemCarveout,
                        all.clusterDimMustBeSet,
                        all.requiredClusterWidth,
                        all.requiredClusterHeight,
                        all.requiredClusterDepth,
                        all.nonPortableClusterSizeAllowed,
                        all.clusterSchedulingPolicyPreference};
  if (value == nullptr || attribute < 0 || static_cast<std::size_t>(attribute) >= std::size(values))
    return static_cast<int>(Status::kErrorInvalidValue);
  *value = values[attribute];
  return 0;
}
int name_of(const char** name, void* f) {
  return driver_api([&](Runtime& rt) {
    require(name != nullptr);
    *name = rt.modules.kernel(f).name.c_str();
  });
}

}  // namespace

LOCKSTEP_CUDA_API cuModuleLoad(void** module, const char* path) { return load_file(module, path); }
LOCKSTEP_CUDA_API cuModuleLoadData(void** module, const void* image) { return load(module, image); }
LOCKSTEP_CUDA_API cuModuleLoadDataEx(void** module, const void* image, unsigned count, const int* options,
                                     void** values) {
  return load(module, image, {count, options, values});
}
LOCKSTEP_CUDA_API cuModuleLoadFatBinary(void** module, const void* image) { return load(module, image); }
LOCKSTEP_CUDA_API cuModuleUnload(void* module) { return unload(module); }
LOCKSTEP_CUDA_API cuModuleGetFunction(void** f, void* module, const char* name) {
  return function(f, module, name);
}
LOCKSTEP_CUDA_API cuModuleGetGlobal_v2(DevicePointer* address, std::size_t* bytes, void* module,
                                       const char* name) {
  return global(address, bytes, module, name);
}

// A library is a module, a kernel a function: there is one context's worth of state.
LOCKSTEP_CUDA_API cuLibraryLoadData(void** library, const void* image, const int* options, void** values,
                                    unsigned count, const int*, void**, unsigned) {
  return load(library, image, {count, options, values});
}
LOCKSTEP_CUDA_API cuLibraryLoadFromFile(void** library, const char* path, const int* options, void** values,
                                        unsigned count, const int*, void**, unsigned) {
  return load_file(library, path, {count, options, values});
}
LOCKSTEP_CUDA_API cuLibraryUnload(void* library) { return unload(library); }
LOCKSTEP_CUDA_API cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  return function(kernel, library, name);
}
LOCKSTEP_CUDA_API cuLibraryGetGlobal(DevicePointer* address, std::size_t* bytes, void* library,
                                     const char* name) {
  return global(address, bytes, library, name);
}
LOCKSTEP_CUDA_API cuLibraryGetModule(void** module, void* library) {
  return driver_api([&](Runtime& rt) {
    require(module != nullptr);
    *module = &module_of(rt, library);
  });
}
LOCKSTEP_CUDA_API cuKernelGetFunction(void** f, void* kernel) {
  return driver_api([&](Runtime& rt) {
    require(f != nullptr);
    *f = &rt.modules.kernel(kernel);
  });
}

LOCKSTEP_CUDA_API cuFuncGetAttribute(int* value, int attribute, void* f) {
  return attribute_of(value, attribute, f);
}
LOCKSTEP_CUDA_API cuKernelGetAttribute(int* value, int attribute, void* kernel, int) {
  return attribute_of(value, attribute, kernel);
}
LOCKSTEP_CUDA_API cuFuncSetAttribute(void* f, int attribute, int value) {
  return driver([&] { return cudaFuncSetAttribute(f, attribute, value); });
}
LOCKSTEP_CUDA_API cuKernelSetAttribute(int attribute, int value, void* kernel, int) {
  return driver([&] { return cudaFuncSetAttribute(kernel, attribute, value); });
}
LOCKSTEP_CUDA_API cuFuncSetCacheConfig(void* f, int preference) {
  return driver([&] { return cudaFuncSetCacheConfig(f, preference); });
}
LOCKSTEP_CUDA_API cuFuncGetModule(void** module, void* f) {
  return driver_api([&](Runtime& rt) {
    require(module != nullptr);
    *module = rt.modules.kernel(f).module;
  });
}

LOCKSTEP_CUDA_API cuKernelGetLibrary(void** library, void* kernel) {
  return cuFuncGetModule(library, kernel);
}
LOCKSTEP_CUDA_API cuFuncGetName(const char** name, void* f) { return name_of(name, f); }
LOCKSTEP_CUDA_API cuKernelGetName(const char** name, void* kernel) { return name_of(name, kernel); }

LOCKSTEP_CUDA_API cuLinkCreate_v2(unsigned count, const int* options, void** values, void** state) {
  return driver_api([&](Runtime&) {
    require(state != nullptr);
    JitLog(count, options, values).write({});  // what is wrong is found when its result is loaded
    auto* made = new Linker;
    linkers[made] = made;
    *state = made;
  });
}
LOCKSTEP_CUDA_API cuLinkAddData_v2(void* state, int type, const void* data, std::size_t bytes, const char*,
                                   unsigned, const int*, void**) {
  return driver_api([&](Runtime&) {
    require(data != nullptr);
    add_text(state, type, std::string(static_cast<const char*>(data), bytes));
  });
}
LOCKSTEP_CUDA_API cuLinkAddFile_v2(void* state, int type, const char* path, unsigned, const int*, void**) {
  return driver_api([&](Runtime&) {
    require(path != nullptr);
    std::ifstream file(path, std::ios::binary);
    require(static_cast<bool>(file), Status::kErrorFileNotFound);
    add_text(state, type, std::string((std::istreambuf_iterator<char>(file)), {}));
  });
}
LOCKSTEP_CUDA_API cuLinkComplete(void* state, void** image, std::size_t* bytes) {
  return driver_api([&](Runtime&) {
    require(image != nullptr);
    *image = &linker_of(state);
    if (bytes != nullptr) *bytes = sizeof(Linker);
  });
}
LOCKSTEP_CUDA_API cuLinkDestroy(void* state) {
  return driver_api([&](Runtime&) {
    delete &linker_of(state);
    linkers.erase(state);
  });
}

}  // namespace lockstep::cuda
