#include "cuda/wire.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace lockstep::cuda {

namespace {
constexpr std::size_t kHead = 5;                    // size of the content, word
constexpr std::size_t kMaxContentBytes = 1u << 30;  // of a content
constexpr int kPatienceMs = 100;

/// Room for one descriptor beside the data of a message.
union Beside {
  cmsghdr head;
  char bytes[CMSG_SPACE(sizeof(int))];
};

/// sendmsg() of `data` and `descriptor`.
ssize_t send_with(int socket, const std::uint8_t* data, std::size_t size, int descriptor) {
  iovec part{const_cast<std::uint8_t*>(data), size};
  Beside beside{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = beside.bytes;
  message.msg_controllen = sizeof beside.bytes;
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL);
}

}  // namespace

Wire::~Wire() {
  close();
  if (received_ >= 0) ::close(received_);
}

void Wire::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

bool Wire::send(Word word, const trace::Bytes& content, int descriptor) {
  if (!is_open()) return false;
  trace::Bytes all;
  trace::put_fixed(all, content.size(), 4);
  trace::put_fixed(all, static_cast<std::uint64_t>(word), 1);
  all.insert(all.end(), content.begin(), content.end());
  for (std::size_t done = 0; done < all.size();) {
    const bool with = done == 0 && descriptor >= 0;
    const ssize_t put = with ? send_with(fd_, all.data(), all.size(), descriptor)
                             : ::send(fd_, all.data() + done, all.size() - done, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      gone_ = true;
      return false;
    }
    done += static_cast<std::size_t>(put);
  }
  return true;
}

/// recvmsg(), and keeps a descriptor that comes with it.
std::ptrdiff_t Wire::read_some(std::uint8_t* to, std::size_t size) {
  iovec part{to, size};
  Beside beside{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = beside.bytes;
  message.msg_controllen = sizeof beside.bytes;
  const ssize_t got = ::recvmsg(fd_, &message, MSG_CMSG_CLOEXEC);
  const cmsghdr* const head = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (head == nullptr || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) return got;
  if (received_ >= 0) ::close(received_);
  std::memcpy(&received_, CMSG_DATA(head), sizeof received_);
  return got;
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
    const ssize_t got = read_some(to, size);
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
  if (size > kMaxContentBytes) return false;
  word = static_cast<Word>(head[4]);
  content.resize(size);
  return read_all(content.data(), size, give_up);
}

}  // namespace lockstep::cuda
