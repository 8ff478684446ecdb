#include "cuda/execution_page.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <system_error>

namespace lockstep::cuda {
namespace {
constexpr const char* kFile = "lockstep-execution";
}  // namespace

void ExecutionPage::begin(std::string_view kernel, std::uint64_t launch, std::uint64_t ctas,
                          std::uint64_t ctas_done) {
  ++changes_;
  const std::size_t length = std::min(kernel.size(), kName - 1);
  for (std::size_t i = 0; i < length; ++i) name_[i] = kernel[i];
  name_[length] = '\0';
  launch_ = launch;
  ctas_ = ctas;
  ctas_done_ = ctas_done;
  running_ = true;
  ++changes_;
}

void ExecutionPage::add(std::uint64_t warp_instructions, std::uint64_t thread_instructions,
                        std::uint64_t ctas) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  warp_instructions_.fetch_add(warp_instructions, kRelaxed);
  thread_instructions_.fetch_add(thread_instructions, kRelaxed);
  if (ctas != 0) ctas_done_.fetch_add(ctas, kRelaxed);
}

Execution ExecutionPage::read() const {
  Execution now;
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    const std::uint32_t before = changes_;
    now.kernel.clear();
    for (std::size_t c = 0; c < kName && name_[c] != '\0'; ++c) now.kernel += name_[c];
    now.launch = launch_;
    now.ctas = ctas_;
    now.ctas_done = ctas_done_;
    now.running = running_;
    if (before % 2 == 0 && before == changes_) break;
  }
  now.warp_instructions = warp_instructions_;
  now.thread_instructions = thread_instructions_;
  now.ranges = ranges_;
  return now;
}

SharedPage::SharedPage() : descriptor_(::memfd_create(kFile, 0)) {
  if (descriptor_ < 0) return;
  void* const memory =
      ::ftruncate(descriptor_, sizeof(ExecutionPage)) == 0
          ? ::mmap(nullptr, sizeof(ExecutionPage), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0)
          : MAP_FAILED;
  if (memory == MAP_FAILED) {
    ::close(descriptor_);
    descriptor_ = -1;
    return;
  }
  mapped_ = memory;
  page_ = new (memory) ExecutionPage;
}

/// A program may have closed what it inherited, and opened something else by the same number.
SharedPage::SharedPage(int descriptor) {
  std::error_code error;
  const auto file =
      std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", descriptor), error).string();
  if (error || file.find(kFile) == std::string::npos) return;
  void* const memory =
      ::mmap(nullptr, sizeof(ExecutionPage), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return;
  descriptor_ = descriptor;
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  mapped_ = memory;
  page_ = static_cast<ExecutionPage*>(memory);
}

SharedPage::~SharedPage() {
  if (mapped_ != nullptr) ::munmap(mapped_, sizeof(ExecutionPage));
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace lockstep::cuda
