// The connection between a program and its simulation: words of any size, open files, and a peer that is gone
// or speaks nonsense.
#include "cuda/wire.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "tests/temporary_folder.hpp"

namespace lockstep::cuda {
namespace {

struct Ends {
  Ends() {
    int both[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) == 0);
    one = std::make_unique<Wire>(both[0]);
    raw = both[1];
  }
  ~Ends() {
    if (raw >= 0) ::close(raw);
  }
  /// The second end as a Wire.
  Wire& other() {
    if (!two) two = std::make_unique<Wire>(std::exchange(raw, -1));
    return *two;
  }
  std::unique_ptr<Wire> one, two;
  int raw = -1;
};

TEST_CASE("wire: words come in order with their content, of any size") {
  Ends ends;
  std::vector<trace::Bytes> contents;
  for (const std::size_t size : {0u, 1u, 5u, 1000u, 3'000'000u}) {
    trace::Bytes content(size);
    for (std::size_t i = 0; i < size; ++i) content[i] = static_cast<std::uint8_t>(i * 31 + size);
    contents.push_back(std::move(content));
  }
  std::thread sender([&] {  // the largest is more than a socket holds
    for (const trace::Bytes& content : contents) CHECK(ends.one->send(Word::kCommand, content));
    CHECK(ends.one->send(Word::kEnd, {}));
  });
  Word word{};
  trace::Bytes content;
  for (const trace::Bytes& expected : contents) {
    REQUIRE(ends.other().receive(word, content));
    CHECK(word == Word::kCommand);
    CHECK(content == expected);
  }
  REQUIRE(ends.other().receive(word, content));
  CHECK((word == Word::kEnd && content.empty()));
  sender.join();
}

TEST_CASE("wire: an open file goes with its word, and is the receiver's then") {
  const lockstep::test::TemporaryFolder folder;
  std::ofstream(folder / "f") << "content";
  Ends ends;
  const int file = ::open((folder / "f").c_str(), O_RDONLY | O_CLOEXEC);
  CHECK(ends.one->send(Word::kFile, {1, 2, 3}, file));
  ::close(file);
  CHECK(ends.one->send(Word::kKernel, {4}));
  Word word{};
  trace::Bytes content;
  REQUIRE(ends.other().receive(word, content));
  CHECK(content == trace::Bytes{1, 2, 3});
  const int received = ends.other().take_descriptor();
  REQUIRE(received >= 0);
  CHECK(ends.other().take_descriptor() == -1);
  char text[8] = {};
  CHECK(::pread(received, text, 7, 0) == 7);
  CHECK(std::string(text) == "content");
  ::close(received);
  REQUIRE(ends.other().receive(word, content));
  CHECK(word == Word::kKernel);
  CHECK(ends.other().take_descriptor() == -1);
}

TEST_CASE("wire: when the peer is gone, what it has said can still be received, and nothing is sent") {
  Ends ends;
  CHECK(ends.other().send(Word::kTime, {9}));
  ends.other().close();
  CHECK_FALSE(ends.other().is_open());
  CHECK(ends.one->is_open());
  CHECK_FALSE(ends.one->send(Word::kAskHost, trace::Bytes(100)));
  CHECK_FALSE(ends.one->is_open());
  CHECK_FALSE(ends.one->send(Word::kAskHost, {}));
  Word word{};
  trace::Bytes content;
  REQUIRE(ends.one->receive(word, content));
  CHECK((word == Word::kTime && content == trace::Bytes{9}));
  CHECK_FALSE(ends.one->receive(word, content));
  CHECK_FALSE(ends.two->receive(word, content));
}

TEST_CASE("wire: a word that is cut short, or claims more than a gigabyte, ends the connection") {
  Word word{};
  trace::Bytes content;
  {
    Ends ends;
    const std::uint8_t part[] = {10, 0, 0, 0, 3, 1, 2};
    CHECK(::write(ends.raw, part, sizeof part) == sizeof part);
    ::close(std::exchange(ends.raw, -1));
    CHECK_FALSE(ends.one->receive(word, content));
  }
  {
    Ends ends;
    const std::uint8_t huge[] = {1, 0, 0, 0x40, 3};
    CHECK(::write(ends.raw, huge, sizeof huge) == sizeof huge);
    content.clear();
    CHECK_FALSE(ends.one->receive(word, content));
    CHECK(content.empty());
  }
}

TEST_CASE("wire: who waits may give up, and goes on where something comes in time") {
  Ends ends;
  Word word{};
  trace::Bytes content;
  unsigned asked = 0;
  CHECK_FALSE(ends.one->receive(word, content, [&] { return ++asked == 2; }));
  CHECK(asked == 2);
  CHECK(ends.other().send(Word::kTime, {1}));
  CHECK(ends.one->receive(word, content, [] { return true; }));
}

}  // namespace
}  // namespace lockstep::cuda
