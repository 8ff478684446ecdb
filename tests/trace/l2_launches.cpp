// What launches and instructions ask of the L2, in recordings.
#include <catch2/catch.hpp>

#include "trace/compact_directory.hpp"
#include "trace/traced_instruction.hpp"

namespace lockstep::trace {
namespace {

CompactDirectory directory_with(const L2Launch& l2) {
  CompactDirectory directory;
  directory.name = "t";
  KernelEntry kernel;
  kernel.header.name = "k";
  kernel.header.l2 = l2;
  kernel.chunks.push_back({0, 1});
  kernel.size = KernelSize{5, 6};
  directory.kernels.push_back(kernel);
  return directory;
}

TEST_CASE("a launch's window, set-aside and resets are read as they were written") {
  L2Launch l2;
  l2.base = 0x7f0000000100;
  l2.bytes = 20 << 20;
  l2.ratio = 39321;
  l2.hit = L2Priority::kLast;
  l2.miss = L2Priority::kFirst;
  l2.set_aside = 30 << 20;
  l2.resets = 3;
  L2Launch only_aside;
  only_aside.set_aside = 1 << 20;
  for (const L2Launch& one : {l2, only_aside}) {
    const CompactDirectory directory = directory_with(one);
    CHECK(version_of(directory) == kPersistVersion);
    Bytes bytes;
    encode_directory(directory, bytes);
    const CompactDirectory read = decode_directory(bytes, kPersistVersion);
    REQUIRE(read.kernels.size() == 1);
    CHECK(read.kernels[0].header.l2 == one);
    CHECK(read.kernels[0].size->instructions == 5);
  }
}

TEST_CASE("a recording that asks nothing of the L2 has the version that it had before") {
  const CompactDirectory directory = directory_with({});
  CHECK(version_of(directory) == kSizeVersion);
  Bytes bytes;
  encode_directory(directory, bytes);
  CHECK(decode_directory(bytes, kSizeVersion).kernels[0].header.l2 == L2Launch{});
}

TEST_CASE("a window with a ratio above 1 or an unknown property is refused") {
  L2Launch l2;
  l2.bytes = 128;
  l2.ratio = L2Launch::kWhole + 1;
  const auto read = [](const L2Launch& one) {
    Bytes bytes;
    encode_directory(directory_with(one), bytes);
    (void)decode_directory(bytes, kPersistVersion);
  };
  CHECK_THROWS_WITH(read(l2), Catch::Matchers::Contains("the ratio of an L2 window is 65537"));
  l2.ratio = 1;
  l2.hit = static_cast<L2Priority>(4);
  CHECK_THROWS_WITH(read(l2), Catch::Matchers::Contains("a priority of an L2 window is 4"));
}

TEST_CASE("descriptors are libcu++'s, and the opcode of a recorded access says its policy") {
  // cuda/std/detail/__access_property: streaming, persisting, normal that demotes, of all lines.
  CHECK(l2_descriptor(make_l2_policy(L2Priority::kFirst)) == 0x12F0000000000000);
  CHECK(l2_descriptor(make_l2_policy(L2Priority::kLast)) == 0x14F0000000000000);
  CHECK(l2_descriptor(make_l2_policy(L2Priority::kNormal)) == 0x16F0000000000000);
  CHECK(l2_descriptor(make_l2_policy(L2Priority::kPlain)) == 0x10F0000000000000);
  for (const unsigned policy : {0x80u, 0xA7u, 0xFFu})
    CHECK(l2_policy_of(l2_descriptor(static_cast<L2Policy>(policy))) == policy);
  CHECK_FALSE(l2_policy_of(0xF318102000000001 | std::uint64_t{3} << 59).has_value());  // a block's
  CHECK(l2_policy_of(0) == kNoL2Policy);
  const auto policy_of = [](std::string_view text) { return decode_traced({0, text, 0}, 80).l2_policy; };
  CHECK(policy_of("1 R4 LDG.E.L2PC7 1 R8 4") == make_l2_policy(L2Priority::kLast, L2Priority::kPlain, 8));
  CHECK(policy_of("1 R4 LDG.E.EF 1 R8 4") == kEvictFirstPolicy);
  CHECK(policy_of("1 R4 LDG.E 1 R8 4") == kNoL2Policy);
}

}  // namespace
}  // namespace lockstep::trace
