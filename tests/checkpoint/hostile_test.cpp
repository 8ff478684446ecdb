// Checkpoints whose hash is right and whose content is not: what a broken writer, or another program, may
// leave.
#include <zstd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "checkpoint/file.hpp"
#include "trace/content_hash.hpp"
#include "util/error.hpp"

namespace lockstep::checkpoint {
namespace {

constexpr std::uint64_t kHuge = std::uint64_t{1} << 62;

/// The parts of a file, in the order of its description; a hash over all of them stands at its end.
class Bytes {
 public:
  Bytes() { text_ = "lockstep checkpoint\n"; }
  Bytes& number(std::uint64_t n) {
    for (unsigned i = 0; i < 8; ++i) text_ += static_cast<char>(n >> 8 * i & 0xff);
    return *this;
  }
  Bytes& text(std::string_view t) {
    number(t.size());
    text_ += t;
    return *this;
  }
  Bytes& raw(std::string_view t) {
    text_ += t;
    return *this;
  }
  [[nodiscard]] std::string hashed() const {
    trace::ContentHash hash;
    hash.update(text_.data(), text_.size());
    return Bytes(*this).number(hash.value()).text_;
  }

 private:
  std::string text_;
};

std::string packed(std::string_view state) {
  std::string bytes(ZSTD_compressBound(state.size()), '\0');
  bytes.resize(ZSTD_compress(bytes.data(), bytes.size(), state.data(), state.size(), 1));
  return bytes;
}

/// Up to the state: version, 7 kernels, made from one thing.
Bytes begun() { return Bytes().number(1).number(7).number(1).text("trace").text("abc"); }

std::string error_of(const std::string& bytes) {
  try {
    (void)decode(bytes, "f");
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

constexpr const char* kEndsEarly = "f: ends too early; expected a whole checkpoint";
constexpr const char* kDoNotFit = "f: is damaged: its parts do not fit; expected a whole checkpoint";
constexpr const char* kNotUnpacked = "f: is damaged: its state cannot be unpacked";

}  // namespace

TEST_CASE("a file that is put together by hand after the description is read") {
  const Checkpoint read = decode(begun().number(5).text(packed("state")).hashed(), "f");
  CHECK(read.made_from == MadeFrom{{"trace", "abc"}});
  CHECK(read.kernels == 7);
  CHECK(read.state == "state");
}

TEST_CASE("checkpoints with a right hash and wrong parts are one error each, before memory is asked for") {
  const std::string five = packed("state");
  CHECK(error_of(Bytes().number(1).hashed()) == kEndsEarly);
  CHECK(error_of(Bytes().number(1).number(7).hashed()) == kEndsEarly);
  CHECK(error_of(Bytes().number(1).number(7).number(kHuge).hashed()) == kEndsEarly);
  CHECK(error_of(Bytes().number(1).number(7).number(1).number(kHuge).raw("trace").hashed()) == kEndsEarly);
  CHECK(error_of(begun().number(5).hashed()) == kEndsEarly);
  CHECK(error_of(begun().number(5).number(kHuge).raw(five).hashed()) == kEndsEarly);
  CHECK(error_of(begun().number(5).number(~std::uint64_t{0}).raw(five).hashed()) == kEndsEarly);
  CHECK(error_of(begun().number(6).text(five).hashed()) == kDoNotFit);
  CHECK(error_of(begun().number(4).text(five).hashed()) == kDoNotFit);
  CHECK(error_of(begun().number(kHuge).text(five).hashed()) == kDoNotFit);
  CHECK(error_of(begun().number(5).text(five).raw("x").hashed()) == kDoNotFit);
  CHECK(error_of(begun().number(5).text("state").hashed()) == kDoNotFit);
  CHECK(error_of(begun().number(5).text("").hashed()) == kDoNotFit);
}

TEST_CASE("a state that Zstandard cannot unpack is an error") {
  std::string state(1000, '\0');
  std::mt19937 random(4);
  for (char& c : state) c = static_cast<char>(random());
  std::string cut = packed(state);
  cut.resize(cut.size() / 2);
  CHECK(error_of(begun().number(1000).text(cut).hashed()) == kNotUnpacked);
}

TEST_CASE("random bytes behind a right beginning are an error or a checkpoint, never otherwise") {
  std::mt19937 random(5);
  unsigned errors = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string noise(random() % 80, '\0');
    for (char& c : noise) c = static_cast<char>(random() % 3 ? random() % 4 : random());
    errors += error_of(Bytes().number(1).raw(noise).hashed()) != "no error";
  }
  CHECK(errors == 2000);
}

TEST_CASE("an empty state and an empty list of what it is made from are kept, and any bytes in them") {
  std::mt19937 random(6);
  for (int round = 0; round < 50; ++round) {
    Checkpoint c;
    c.kernels = random();
    for (unsigned i = random() % 4; i > 0; --i) {
      std::string name(random() % 9, 'n'), value(random() % 300, '\0');
      for (char& byte : value) byte = static_cast<char>(random());
      c.made_from.emplace_back(name, value);
    }
    c.state.resize(random() % 3 ? random() % 70000 : 0);
    for (char& byte : c.state) byte = static_cast<char>(random() % 5 ? 0 : random());
    const Checkpoint read = decode(encode(c), "f");
    REQUIRE(read.made_from == c.made_from);
    REQUIRE(read.kernels == c.kernels);
    REQUIRE(read.state == c.state);
  }
}

}  // namespace lockstep::checkpoint
