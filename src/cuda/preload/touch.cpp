// Preloaded into programs: the kernel does not raise SIGSEGV for a buffer of a system call whose pages have
// lost their rights (cuda/host_pages.hpp), it makes the call fail. So these functions touch managed buffers
// before they call the C library's function of the same name.
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>
#include <cstdio>

#include "cuda/preload/replaced.hpp"
#include "exec/address_space.hpp"

namespace {

using lockstep::Address;
constexpr Address kBegin = lockstep::exec::kArenaBase + lockstep::exec::kRegionBytes;
constexpr Address kEnd = kBegin + lockstep::exec::kRegionBytes;
constexpr std::size_t kPage = 4096;

void touch(const void* buffer, std::size_t bytes, bool write) {
  const auto begin = reinterpret_cast<Address>(buffer);
  if (begin < kBegin || begin >= kEnd || bytes == 0 || bytes > kEnd - begin) return;
  for (Address at = begin; at < begin + bytes; at = (at & ~(kPage - 1)) + kPage) {
    auto* byte = reinterpret_cast<unsigned char*>(at);
    if (write) {
      (void)__atomic_fetch_or(byte, 0, __ATOMIC_RELAXED);
    } else {
      (void)__atomic_load_n(byte, __ATOMIC_RELAXED);
    }
  }
}

void touch(const iovec* parts, int count, bool write) {
  for (int i = 0; i < count; ++i) touch(parts[i].iov_base, parts[i].iov_len, write);
}

}  // namespace

LOCKSTEP_HOOK ssize_t read(int fd, void* buffer, std::size_t bytes) {
  LOCKSTEP_NEXT(read);
  touch(buffer, bytes, true);
  return original(fd, buffer, bytes);
}
LOCKSTEP_HOOK ssize_t write(int fd, const void* buffer, std::size_t bytes) {
  LOCKSTEP_NEXT(write);
  touch(buffer, bytes, false);
  return original(fd, buffer, bytes);
}
LOCKSTEP_HOOK ssize_t pread(int fd, void* buffer, std::size_t bytes, off_t offset) {
  LOCKSTEP_NEXT(pread);
  touch(buffer, bytes, true);
  return original(fd, buffer, bytes, offset);
}
LOCKSTEP_HOOK ssize_t pwrite(int fd, const void* buffer, std::size_t bytes, off_t offset) {
  LOCKSTEP_NEXT(pwrite);
  touch(buffer, bytes, false);
  return original(fd, buffer, bytes, offset);
}
LOCKSTEP_HOOK ssize_t pread64(int fd, void* buffer, std::size_t bytes, off64_t offset) {
  LOCKSTEP_NEXT(pread64);
  touch(buffer, bytes, true);
  return original(fd, buffer, bytes, offset);
}
LOCKSTEP_HOOK ssize_t pwrite64(int fd, const void* buffer, std::size_t bytes, off64_t offset) {
  LOCKSTEP_NEXT(pwrite64);
  touch(buffer, bytes, false);
  return original(fd, buffer, bytes, offset);
}
LOCKSTEP_HOOK ssize_t readv(int fd, const iovec* parts, int count) {
  LOCKSTEP_NEXT(readv);
  touch(parts, count, true);
  return original(fd, parts, count);
}
LOCKSTEP_HOOK ssize_t writev(int fd, const iovec* parts, int count) {
  LOCKSTEP_NEXT(writev);
  touch(parts, count, false);
  return original(fd, parts, count);
}
LOCKSTEP_HOOK ssize_t recv(int fd, void* buffer, std::size_t bytes, int flags) {
  LOCKSTEP_NEXT(recv);
  touch(buffer, bytes, true);
  return original(fd, buffer, bytes, flags);
}
LOCKSTEP_HOOK ssize_t send(int fd, const void* buffer, std::size_t bytes, int flags) {
  LOCKSTEP_NEXT(send);
  touch(buffer, bytes, false);
  return original(fd, buffer, bytes, flags);
}
LOCKSTEP_HOOK std::size_t fread(void* buffer, std::size_t size, std::size_t count, FILE* file) {
  LOCKSTEP_NEXT(fread);
  touch(buffer, size * count, true);
  return original(buffer, size, count, file);
}
LOCKSTEP_HOOK std::size_t fwrite(const void* buffer, std::size_t size, std::size_t count, FILE* file) {
  LOCKSTEP_NEXT(fwrite);
  touch(buffer, size * count, false);
  return original(buffer, size, count, file);
}
LOCKSTEP_HOOK std::size_t fread_unlocked(void* buffer, std::size_t size, std::size_t count, FILE* file) {
  LOCKSTEP_NEXT(fread_unlocked);
  touch(buffer, size * count, true);
  return original(buffer, size, count, file);
}
LOCKSTEP_HOOK std::size_t fwrite_unlocked(const void* buffer, std::size_t size, std::size_t count,
                                          FILE* file) {
  LOCKSTEP_NEXT(fwrite_unlocked);
  touch(buffer, size * count, false);
  return original(buffer, size, count, file);
}
