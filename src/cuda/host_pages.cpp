#include "cuda/host_pages.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "exec/address_space.hpp"
#include "util/error.hpp"

namespace lockstep::cuda {
namespace {

constexpr Address kBegin = exec::kArenaBase + std::uint64_t{1} * exec::kRegionBytes;
constexpr std::uint64_t kBlockBytes = exec::DeviceMemory::kPageBytes;
constexpr std::uint64_t kWrite = 1, kBlock = 2;  // beside the address in an entry of the log
constexpr std::size_t kEntries = 2 * HostPages::kFine + exec::kRegionBytes / kBlockBytes + 1024;

// What the handler may use: nothing that allocates or locks.
std::uint64_t* log_entries = nullptr;
std::atomic<std::size_t> logged{0};
struct sigaction previous_action;

bool managed(Address a) { return a >= kBegin && a - kBegin < exec::kRegionBytes; }

bool is_write([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  return true;  // a page that is only read counts as written
#endif
}

void pass_on(int number, siginfo_t* info, void* context) {
  if ((previous_action.sa_flags & SA_SIGINFO) != 0 && previous_action.sa_sigaction != nullptr)
    return previous_action.sa_sigaction(number, info, context);
  if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN)
    return previous_action.sa_handler(number);
  signal(number, SIG_DFL);  // the access is repeated and ends the program
}

void on_fault(int number, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<Address>(info->si_addr);
  if (!managed(address) || info->si_code != SEGV_ACCERR) return pass_on(number, info, context);
  const int error = errno;
  const std::size_t entry = logged.fetch_add(1);
  const bool fine = entry < HostPages::kFine;
  const bool write = is_write(context) || !fine;
  const std::uint64_t unit = fine ? HostPages::kPageBytes : kBlockBytes;
  const Address begin = address & ~(unit - 1);
  if (entry < kEntries) log_entries[entry] = begin | (write ? kWrite : 0) | (fine ? 0 : kBlock);
  (void)mprotect(reinterpret_cast<void*>(begin), unit, PROT_READ | (write ? PROT_WRITE : 0));
  errno = error;
}

}  // namespace

HostPages::HostPages(const exec::DeviceMemory& memory) : memory_(&memory) {
  void* const space = mmap(nullptr, kEntries * sizeof *log_entries, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED)
    throw UserError(std::string("no memory for the accesses to managed pages: ") + std::strerror(errno));
  log_entries = static_cast<std::uint64_t*>(space);
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &previous_action);
}

HostPages::~HostPages() {
  if (watching_) (void)set_rights(PROT_READ | PROT_WRITE);
  sigaction(SIGSEGV, &previous_action, nullptr);
  munmap(log_entries, kEntries * sizeof *log_entries);
}

void HostPages::protect(int rights) const {
  if (!set_rights(rights))
    throw UserError(std::string("rights of managed memory cannot be changed: ") + std::strerror(errno));
}

/// False: errno says why.
bool HostPages::set_rights(int rights) const {
  for (const exec::Allocation& a : memory_->allocations(exec::MemoryKind::kManaged)) {
    const Address begin = a.begin & ~(kPageBytes - 1);
    const Address end = (a.begin + a.bytes + kPageBytes - 1) & ~(kPageBytes - 1);
    if (mprotect(reinterpret_cast<void*>(begin), end - begin, rights) != 0) return false;
  }
  return true;
}

void HostPages::watch() {
  logged = 0;
  watching_ = true;
  protect(PROT_NONE);
}

std::vector<HostAccess> HostPages::give() {
  if (!watching_) return {};
  watching_ = false;
  protect(PROT_READ | PROT_WRITE);
  const std::size_t count = std::min(logged.load(), kEntries);
  std::sort(log_entries, log_entries + count);
  std::vector<HostAccess> accesses;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bytes = (log_entries[i] & kBlock) != 0 ? kBlockBytes : kPageBytes;
    const bool write = (log_entries[i] & kWrite) != 0;
    const Address address = log_entries[i] & ~(kWrite | kBlock);
    if (!accesses.empty() && accesses.back().address + accesses.back().bytes > address) {
      HostAccess& last = accesses.back();  // the same page again, or a page of the block before
      if (last.write || !write) continue;
      last.bytes = address - last.address;
      if (last.bytes == 0) accesses.pop_back();
    }
    if (!accesses.empty() && accesses.back().address + accesses.back().bytes == address &&
        accesses.back().write == write) {
      accesses.back().bytes += bytes;
    } else {
      accesses.push_back({address, bytes, write});
    }
  }
  return accesses;
}

}  // namespace lockstep::cuda
