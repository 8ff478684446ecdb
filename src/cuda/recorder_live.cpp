// The recorder's side of the connection to a simulation that reads along.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "cuda/recorder.hpp"
#include "trace/follow.hpp"
#include "util/error.hpp"

namespace lockstep::cuda {

namespace {

using Until = trace::Until;
constexpr int kTwinWaits = 3;  // exit code of a rehearsal

void write_all(int fd, const trace::Bytes& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t put = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return;
    done += static_cast<std::size_t>(put);
  }
}

trace::Bytes read_all(int fd) {
  trace::Bytes all;
  std::uint8_t part[4096];
  for (;;) {
    const ssize_t got = ::read(fd, part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return all;
    all.insert(all.end(), part, part + got);
  }
}

trace::Bytes number(std::uint64_t value) {
  trace::Bytes bytes;
  trace::put_varint(bytes, value);
  return bytes;
}

}  // namespace

Recorder::Rehearsal Recorder::rehearse(const std::function<exec::Grid()>& make, const KernelLaunch& launch,
                                       const trace::KernelHeader& header, const KernelRecording& recording) {
  (void)code_of(*launch.kernel, header.binary_version);  // kept for the next launch
  int pipe[2];
  if (::pipe(pipe) != 0) throw UserError("cannot make a pipe");
  const pid_t twin = ::fork();
  if (twin < 0) throw UserError("cannot fork a process");
  if (twin == 0) {  // its memory is a copy, which goes with it
    bool waits = false;
    try {
      exec::Grid grid = make();
      KernelRecording rehearsed;
      if (write_kernel(grid, launch, header, rehearsed)) write_all(pipe[1], file_.last_kernel());
      waits = grid.waits();
    } catch (...) {  // happens again here, where it can be reported
    }
    ::_exit(waits ? kTwinWaits : 0);
  }
  ::close(pipe[1]);
  const trace::Bytes last = read_all(pipe[0]);
  ::close(pipe[0]);
  int status = 0;
  while (::waitpid(twin, &status, 0) < 0 && errno == EINTR) {
  }
  if (last.empty()) {
    file_.forget_kernel();
    const bool waits = WIFEXITED(status) && WEXITSTATUS(status) == kTwinWaits;
    return waits ? Rehearsal::kWaits : Rehearsal::kFailed;
  }
  file_.adopt_kernel(last);
  clocked_.insert(kernels_);
  note_said(*launch.kernel);
  note_listing(launch, header);
  add_kernel(header, recording.issue);
  return Rehearsal::kDone;
}

void Recorder::open_wire() {
  if (std::exchange(opened_, true)) return;
  trace::Bytes content;
  trace::put_text(content, path_);
  trace::put_text(content, name_);
  wire_->send(Word::kFile, content, file_.descriptor());
}

/// The listing of the kernel that is added next.
void Recorder::note_listing(const KernelLaunch& launch, const trace::KernelHeader& header) {
  if (!sends_listings_ || !live()) return;
  const lower::Code& code = code_of(*launch.kernel, header.binary_version);
  const auto [known, is_new] = listing_numbers_.emplace(&code, listings_.size());
  if (is_new) encode_listing(list_ptx(launch.kernel->executable(), code), listings_.emplace_back());
  listing_of_.resize(kernels_ + std::size_t{1});
  listing_of_[kernels_] = known->second;
}

void Recorder::send_listing(std::uint32_t kernel) {
  if (kernel >= listing_of_.size()) return;
  trace::Bytes content = number(listing_of_[kernel]);
  trace::Bytes& listing = listings_[listing_of_[kernel]];
  content.insert(content.end(), listing.begin(), listing.end());
  listing.clear();
  wire_->send(Word::kListing, content);
}

void Recorder::send_news(bool ordered) {
  const auto& commands = log_.commands();
  if (!wire_ || sent_ == commands.size()) return;
  open_wire();
  for (; sent_ < commands.size(); ++sent_) {
    const trace::Command& c = commands[sent_];
    trace::Bytes content;
    if (c.kind == trace::Command::Kind::kKernel) {
      send_listing(c.kernel);
      trace::put_varint(content, clocked_.count(c.kernel));
      trace::put_fixed(content, file_.hash(), 8);
      trace::encode_kernel(file_.kernel(c.kernel), content);
      wire_->send(Word::kKernel, content);
      content.clear();
    }
    trace::encode_command(c, content);
    wire_->send(Word::kCommand, content);
  }
  const trace::Command& last = commands.back();
  if (StreamLog::is_host_wait(last)) {
    wire_->send(Word::kRelease, number(static_cast<std::uint64_t>(Until::kTaken)));
  } else if (ordered && last.stream == 0 &&
             last.kind != trace::Command::Kind::kHostCall) {  // it comes after all before it, and all that
                                                              // follows after it
    wire_->send(Word::kRelease, number(static_cast<std::uint64_t>(Until::kComplete)));
  }
}

void Recorder::send_failed(FailedKernel kernel) {
  if (!wire_) return;
  open_wire();
  kernel.id = kernels_ + std::uint64_t{1};
  trace::Bytes content;
  encode_failed(kernel, content);
  wire_->send(Word::kFailed, content);
}

void encode_failed(const FailedKernel& kernel, trace::Bytes& to) {
  trace::put_varint(to, kernel.id);
  for (const Dim3& d : {kernel.grid, kernel.block})
    for (const std::uint32_t size : {d.x, d.y, d.z}) trace::put_varint(to, size);
  trace::put_varint(to, kernel.ctas);
  trace::put_varint(to, kernel.instructions);
  for (const std::string& text : {kernel.name, kernel.error, kernel.limit}) trace::put_text(to, text);
}

FailedKernel decode_failed(trace::ByteReader& in) {
  FailedKernel kernel;
  kernel.id = in.varint();
  for (Dim3* const d : {&kernel.grid, &kernel.block})
    for (std::uint32_t* const size : {&d->x, &d->y, &d->z}) *size = static_cast<std::uint32_t>(in.varint());
  kernel.ctas = in.varint();
  kernel.instructions = in.varint();
  for (std::string* const text : {&kernel.name, &kernel.error, &kernel.limit}) *text = in.text();
  return kernel;
}

Recorder::EventTime Recorder::query(std::uint32_t event) {
  Word word{};
  trace::Bytes content;
  if (!wire_->send(Word::kAskEvent, number(event)) || !wire_->receive(word, content)) return {};
  trace::ByteReader in(content);
  if (in.varint() == 0) return {true, std::nullopt};
  return {true, in.varint()};
}

std::optional<std::uint64_t> Recorder::query_host() {
  if (host_ && host_sent_ == sent_) return host_;
  Word word{};
  trace::Bytes content;
  if (!wire_->send(Word::kAskHost, {}) || !wire_->receive(word, content)) return std::nullopt;
  trace::ByteReader in(content);
  (void)in.varint();
  host_sent_ = sent_;
  return host_ = in.varint();
}

std::vector<std::vector<std::uint64_t>> Recorder::query_clocks() {
  Word word{};
  trace::Bytes content;
  if (!wire_->send(Word::kAskClocks, number(kernels_ - 1)) || !wire_->receive(word, content)) return {};
  trace::ByteReader in(content);
  std::vector<std::vector<std::uint64_t>> reads;
  while (in.left() > 0) {
    auto& of_warp = reads.emplace_back(in.varint());
    std::uint64_t at = 0;
    for (std::uint64_t& read : of_warp) read = at += in.varint();
  }
  return reads;
}

}  // namespace lockstep::cuda
