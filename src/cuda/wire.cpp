#include "cuda/wire.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace lockstep::cuda {

namespace {
constexpr std::size_t kHead = 5;              // size of the content, word
constexpr std::size_t kMostBytes = 1u << 30;  // of a content
constexpr int kPatienceMs = 100;
}  // namespace

Wire::~Wire() { close(); }

void Wire::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

bool Wire::send(Word word, const trace::Bytes& content) {
  if (!is_open()) return false;
  trace::Bytes all;
  trace::put_fixed(all, content.size(), 4);
  trace::put_fixed(all, static_cast<std::uint64_t>(word), 1);
  all.insert(all.end(), content.begin(), content.end());
  for (std::size_t done = 0; done < all.size();) {
    const ssize_t put = ::send(fd_, all.data() + done, all.size() - done, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      gone_ = true;
      return false;
    }
    done += static_cast<std::size_t>(put);
  }
  return true;
}

bool Wire::read_all(std::uint8_t* to, std::size_t size, const std::function<bool()>& give_up) {
  while (size > 0) {
    if (give_up) {
      pollfd wait{fd_, POLLIN, 0};
      if (::poll(&wait, 1, kPatienceMs) <= 0) {
        if (give_up()) return false;
        continue;
      }
    }
    const ssize_t got = ::recv(fd_, to, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool Wire::receive(Word& word, trace::Bytes& content, const std::function<bool()>& give_up) {
  std::uint8_t head[kHead];
  if (fd_ < 0 || !read_all(head, kHead, give_up)) return false;
  const std::uint64_t size = trace::get_fixed(head, 4);
  if (size > kMostBytes) return false;
  word = static_cast<Word>(head[4]);
  content.resize(size);
  return read_all(content.data(), size, give_up);
}

}  // namespace lockstep::cuda
