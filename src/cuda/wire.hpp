// What a program under our runtime and the simulation beside it say to each other, over a socket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "trace/compact_bytes.hpp"

namespace lockstep::cuda {

enum class Word : std::uint8_t {
  // the program
  kFile = 1,  // text: path that the compact trace will have; text: its name; comes with the open file
  kKernel,    // varint: its clocks will be asked for; 8 bytes hash of the trace so far; trace::encode_kernel:
              // the
              // next kernel of that file; its blocks are there
  kCommand,   // trace::encode_command
  kRelease,   // varint trace::Until: how far the commands so far may be followed
  kAskEvent,  // varint number of an event: when was it complete?
  kAskClocks,  // varint index of a kernel that is complete: when were its clocks read?
  kAskHost,    // empty: what time is it for the thread that has called last?
  kFailed,     // a kernel that has ended with an error and is not in the trace: varint id, 3 varints grid, 3
               // varints
  // CTA, varint CTAs and varint warp instructions executed, text name, text error, text option: the
  // limit that has stopped it, "max-cycles" or "max-instructions"; empty: none
  kListing,  // varint number of a listing, from 0, that the next kKernel has; where it is new,
             // cuda::encode_listing
  kEnd,      // text name, 8 bytes hash: the program ended well, and so did its trace
  // the simulation
  kTime,    // varint 0: not complete at the host's time; else 1 and varint core cycles
  kClocks,  // for each CTA and warp in order: varint number of reads, then differences of their core cycles
};

/// One end of the connection. The other end may be gone at any time.
class Wire {
 public:
  /// Takes the file descriptor over.
  explicit Wire(int fd) : fd_(fd) {}
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// Waits while the other end is slow. `descriptor`: an open file to hand over with it; -1: none. False: the
  /// other end is gone; nothing is sent any more, but what it has said can still be received.
  bool send(Word word, const trace::Bytes& content, int descriptor = -1);
  /// The next word. False: the other end is gone, or nothing comes for a tenth of a second and `give_up` says
  /// true.
  [[nodiscard]] bool receive(Word& word, trace::Bytes& content, const std::function<bool()>& give_up = {});
  /// The open file that came with the latest word that had one, which is the caller's now; -1: none.
  [[nodiscard]] int take_descriptor() { return std::exchange(received_, -1); }
  /// The other end finds us gone.
  void close();
  /// Whether it is open, as far as is known.
  [[nodiscard]] bool is_open() const { return fd_ >= 0 && !gone_; }

 private:
  bool read_all(std::uint8_t* to, std::size_t size, const std::function<bool()>& give_up);
  std::ptrdiff_t read_some(std::uint8_t* to, std::size_t size);

  int fd_;
  int received_ = -1;
  bool gone_ = false;  // the other end
};

}  // namespace lockstep::cuda
