#include "cuda/processes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "cuda/api.hpp"
#include "util/error.hpp"

namespace lockstep::cuda {

namespace {

constexpr std::uint64_t kMemoryMark = 0x314d454d43504943, kEventMark = 0x3145564543504943;
constexpr std::uint64_t kPage = exec::DeviceMemory::kPageBytes;
constexpr const char* kFileName = "lockstep-device-memory";

/// The other process's file, where it is one of ours.
int open_file(const IpcHandle& handle) {
  const std::string path = fmt::format("/proc/{}/fd/{}", handle.process, handle.file);
  std::error_code error;
  const std::string target = std::filesystem::read_symlink(path, error).string();
  require(!error && target.starts_with(std::string("/memfd:") + kFileName),
          Status::kErrorInvalidResourceHandle);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  require(file >= 0, Status::kErrorInvalidResourceHandle);
  return file;
}

/// What the page holds, to its place in the process's file.
void write_page(int file, Address page) {
  for (std::uint64_t done = 0; done < kPage;) {
    const ssize_t some = ::pwrite(file, reinterpret_cast<const void*>(page + done), kPage - done,
                                  static_cast<off_t>(page - exec::kArenaBase + done));
    if (some < 0 && errno == EINTR) continue;
    require(some > 0, Status::kErrorOperatingSystem);
    done += static_cast<std::uint64_t>(some);
  }
}

}  // namespace

void require_functional(const Runtime& rt) {
  if (rt.settings.functional) return;
  throw ApiError(
      Status::kErrorNotSupported,
      "memory and events of other processes are there with `lockstep exec --functional` only: of a "
      "program's processes one is simulated");
}

Processes::~Processes() {
  if (file_ >= 0) ::close(file_);
}

int Processes::file() {
  if (file_ >= 0) return file_;
  file_ = ::memfd_create(kFileName, MFD_CLOEXEC);
  if (file_ < 0 || ::ftruncate(file_, static_cast<off_t>(memory_.arena_bytes())) != 0)
    throw ApiError(Status::kErrorOperatingSystem);
  return file_;
}

exec::Allocation Processes::to_give(Address begin) const {
  const auto found = memory_.find(begin);
  require(found && found->begin == begin && found->kind == exec::MemoryKind::kDevice &&
          !memory_.find_reserved(begin));
  return *found;
}

IpcHandle Processes::name(Address begin) const {
  (void)to_give(begin);
  IpcHandle handle;
  handle.mark = kMemoryMark;
  handle.process = ::getpid();
  return handle;
}

IpcHandle Processes::give(Address begin) {
  const exec::Allocation found = to_give(begin);
  const Address first = begin / kPage * kPage, end = (begin + found.bytes + kPage - 1) / kPage * kPage;
  for (Address page = first; page < end; page += kPage) {
    if (memory_.is_backed(page)) continue;
    write_page(file(), page);
    memory_.back(page, kPage, file(), page - exec::kArenaBase);
  }
  shares_ = true;
  IpcHandle handle;
  handle.mark = kMemoryMark;
  handle.process = ::getpid();
  handle.file = file();
  handle.offset = first - exec::kArenaBase;
  handle.bytes = end - first;
  handle.lead = begin - first;
  handle.device = found.device;
  return handle;
}

Address Processes::open(const IpcHandle& handle, unsigned device) {
  require(handle.mark == kMemoryMark && handle.offset % kPage == 0 && handle.bytes % kPage == 0 &&
              handle.bytes > 0 && handle.lead < handle.bytes && handle.offset < memory_.arena_bytes() &&
              handle.bytes <= memory_.arena_bytes() - handle.offset,
          Status::kErrorInvalidResourceHandle);
  require(handle.process != ::getpid(), Status::kErrorDeviceUninitialized);  // CUDA: not the same process
  require(handle.device < memory_.devices(), Status::kErrorInvalidDevice);
  Opened& opened = opened_[{{handle.process, handle.offset}, handle.bytes}];
  if (opened.users == 0) {
    const int other = open_file(handle);
    const auto at = memory_.reserve(handle.bytes, 0);
    if (at) {
      memory_.map(*at, handle.bytes, handle.device);
      memory_.back(*at, handle.bytes, other, handle.offset);
      memory_.wrote(*at, handle.bytes);  // by whom is not known
    }
    ::close(other);
    require(at.has_value(), Status::kErrorMapBufferObjectFailed);
    opened.begin = *at;
    shares_ = true;
  }
  ++opened.users;
  for (const unsigned who : {device, static_cast<unsigned>(handle.device)})
    memory_.open(opened.begin, handle.bytes, true, who);
  return opened.begin + handle.lead;
}

void Processes::close(Address address) {
  const auto found = std::ranges::find_if(opened_, [address](const auto& entry) {
    return entry.second.users > 0 && address - entry.second.begin < entry.first.second;
  });
  require(found != opened_.end());
  if (--found->second.users > 0) return;
  memory_.unmap(found->second.begin);
  memory_.release_reserved(found->second.begin);
  opened_.erase(found);
}

IpcHandle Processes::give_event() {
  IpcHandle handle;
  handle.mark = kEventMark;
  handle.process = ::getpid();
  handle.number = events_++;
  return handle;
}

bool Processes::is_event(const IpcHandle& handle) { return handle.mark == kEventMark; }

}  // namespace lockstep::cuda
