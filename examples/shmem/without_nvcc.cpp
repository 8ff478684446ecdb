// One of the examples for a host compiler: LOCKSTEP_EXAMPLE is its source, LOCKSTEP_EXAMPLE_PTX the file that
// make_ptx.sh has made of it. Does what nvcc's code does before main(): registers the kernels.
#include "without_nvcc.hpp"

#include LOCKSTEP_EXAMPLE

#include <fstream>
#include <iterator>

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
int __cudaRegisterFatBinaryEnd(void** handle);
int __cudaRegisterFunction(void** handle, const void* host, char* name, const char* kernel, int threads,
                           void*, void*, void*, void*, int*);
}

namespace {

/// PTX as cudaMalloc's library finds it in a program (the layout of a fatbin with one entry).
std::vector<char> fatbin_of(const std::string& ptx) {
  constexpr std::size_t kHead = 16, kEntry = 64;
  const std::size_t payload = (ptx.size() + 8) / 8 * 8;
  std::vector<char> bytes(kHead + kEntry + payload);
  const auto put = [&](std::size_t at, auto value) { std::memcpy(bytes.data() + at, &value, sizeof value); };
  put(0, std::uint32_t{0xBA55ED50});
  put(4, std::uint16_t{1});
  put(6, static_cast<std::uint16_t>(kHead));
  put(8, std::uint64_t{kEntry + payload});
  put(kHead, std::uint16_t{1});  // PTX
  put(kHead + 2, std::uint16_t{0x0101});
  put(kHead + 4, static_cast<std::uint32_t>(kEntry));
  put(kHead + 8, std::uint64_t{payload});
  put(kHead + 28, std::uint32_t{75});
  std::memcpy(bytes.data() + kHead + kEntry, ptx.data(), ptx.size());
  return bytes;
}

/// Each kernel of the PTX has the name of the function that stands for it here.
bool register_kernels() {
  std::ifstream file(LOCKSTEP_EXAMPLE_PTX);
  static const std::string ptx{std::istreambuf_iterator<char>(file), {}};
  static std::vector<char> fatbin = fatbin_of(ptx);
  static struct {
    std::uint32_t magic = 0x466243B1, version = 1;
    const void* data = fatbin.data();
    const void* prelinked = nullptr;
  } wrapper;
  void** const handle = __cudaRegisterFatBinary(&wrapper);
  const std::string mark = ".entry ";
  for (std::size_t at = ptx.find(mark); at != std::string::npos; at = ptx.find(mark, at)) {
    at += mark.size();
    const std::string name = ptx.substr(at, ptx.find('(', at) - at);
    if (const void* const host = dlsym(RTLD_DEFAULT, name.c_str()))
      __cudaRegisterFunction(handle, host, nullptr, name.c_str(), -1, nullptr, nullptr, nullptr, nullptr,
                             nullptr);
  }
  __cudaRegisterFatBinaryEnd(handle);
  return true;
}
const bool registered = register_kernels();

}  // namespace
