#include "cli/live_program.hpp"

#include <utility>

#include "trace/compact_directory.hpp"
#include "util/error.hpp"

namespace lockstep::cli {

using cuda::Word;
using Until = trace::Until;

LiveProgram::LiveProgram(int fd, bool strict, std::function<bool()> give_up)
    : wire_(fd), give_up_(std::move(give_up)), trace_(strict) {}

gpu::Program::News LiveProgram::listen(const gpu::HostClock& clock) {
  for (;;) {
    if (!std::exchange(asked_, false) && !wire_.receive(word_, content_, give_up_))
      return news(Until::kTaken, true);
    try {
      if (auto news_item = next_news(clock)) return std::move(*news_item);
    } catch (const trace::BrokenBlock& error) {
      throw UserError(std::string("the connection to the program is broken: ") + error.what());
    }
  }
}

/// Processes one word. nullopt: more words follow.
std::optional<gpu::Program::News> LiveProgram::next_news(const gpu::HostClock& clock) {
  switch (word_) {
    case Word::kFile:
      file();
      return std::nullopt;
    case Word::kKernel:
      kernel();
      return std::nullopt;
    case Word::kListing:
      listing();
      return std::nullopt;
    case Word::kCommand:
      command();
      return std::nullopt;
    case Word::kRelease: {
      trace::ByteReader in(content_);
      return news(static_cast<Until>(in.number(1, "a release")), false);
    }
    case Word::kAskEvent:
    case Word::kAskClocks:
    case Word::kAskHost:
      if (commands_.empty()) {
        reply(clock);
        return std::nullopt;
      }
      asked_ = true;  // earlier work is simulated first
      return news(Until::kTaken, false);
    case Word::kFailed: {
      trace::ByteReader in(content_);
      failed_ = cuda::decode_failed(in);
      return std::nullopt;
    }
    case Word::kEnd:
      end();
      return news(Until::kTaken, true);  // words of another program of the same script are ignored
    case Word::kTime:
    case Word::kClocks:
      break;
  }
  throw trace::BrokenBlock("an unknown word");
}

gpu::Program::News LiveProgram::news(Until until, bool ended) {
  return {std::exchange(commands_, {}), until, ended};
}

void LiveProgram::file() {
  const int descriptor = wire_.take_descriptor();
  if (descriptor < 0) throw trace::BrokenBlock("no file comes with its name");
  trace::ByteReader in(content_);
  trace_.open_file(in.text(), descriptor);
  trace_.finish(in.text(), 0);
}

void LiveProgram::kernel() {
  trace::ByteReader in(content_);
  const bool clocked = in.number(1, "a kernel's clocks") == 1;
  if (clocked) clocked_.insert(static_cast<std::uint32_t>(trace_.kernels().size()));
  trace_.finish(trace_.name(), in.fixed(8));
  trace_.add(trace::decode_kernel(in));
}

/// Reads the listing of the next kernel.
void LiveProgram::listing() {
  trace::ByteReader in(content_);
  const std::uint64_t number = in.number(listings_.size(), "a listing");
  if (number == listings_.size()) listings_.push_back(cuda::decode_listing(in));
  listing_of_.resize(trace_.kernels().size() + 1);
  listing_of_.back() = number;
}

const cuda::Listing* LiveProgram::listing(std::uint32_t kernel) const {
  return kernel < listing_of_.size() && listing_of_[kernel] ? &listings_[*listing_of_[kernel]] : nullptr;
}

void LiveProgram::command() {
  trace::ByteReader in(content_);
  commands_.push_back(trace::decode_command(in, trace_.kernels().size(), events_));
  if (commands_.back().kind == trace::Command::Kind::kEventRecord) ++events_;
}

void LiveProgram::end() {
  trace::ByteReader in(content_);
  const std::string name = in.text();
  trace_.finish(name, in.fixed(8));
  ended_well_ = true;
}

void LiveProgram::reply(const gpu::HostClock& clock) {
  trace::Bytes reply;
  if (word_ == Word::kAskHost) {
    trace::put_varint(reply, 1);
    trace::put_varint(reply, clock.now());
    wire_.send(Word::kTime, reply);
    return;
  }
  trace::ByteReader in(content_);
  const auto number = static_cast<std::uint32_t>(in.varint());
  if (word_ == Word::kAskEvent) {
    const auto time = clock.event(number);
    trace::put_varint(reply, time ? 1 : 0);
    if (time) trace::put_varint(reply, *time);
    wire_.send(Word::kTime, reply);
    return;
  }
  if (const auto log = clock.clocks(number)) {
    for (const std::vector<Cycle>& reads : log->reads()) {
      trace::put_varint(reply, reads.size());
      Cycle before = 0;
      for (const Cycle at : reads) trace::put_varint(reply, at - std::exchange(before, at));
    }
  }
  wire_.send(Word::kClocks, reply);
}

}  // namespace lockstep::cli
