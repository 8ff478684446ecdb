// A folder for each device, as one trace.
#include "trace/device_folders.hpp"

#include <algorithm>

#include "compact_support.hpp"
#include "trace/moved_addresses.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;
using Catch::Matchers::Contains;
using Kind = Command::Kind;

namespace {

constexpr Address kRegion0 = Address{1} << 48, kRegion1 = kRegion0 + (Address{1} << 44);

/// Two folders with a kernel each; the lists are the test's.
class Folders {
 public:
  Folders() {
    for (const char* d : {"a", "b"}) {
      std::filesystem::create_directory(dir_.path() / d);
      dir_.write(std::string(d) + "/k.traceg",
                 small_trace({"0000 00000003 1 R1 LDG.E 1 R2 4 1 0x7f1234560000 4"}));
    }
  }
  std::unique_ptr<TraceSet> open(const std::string& a, const std::string& b) const {
    dir_.write("a/kernelslist.g", a);
    dir_.write("b/kernelslist.g", b);
    return open_device_folders({{0, dir_ / "a"}, {1, dir_ / "b"}});
  }
  [[nodiscard]] std::string path(const char* name) const { return dir_ / name; }
  std::string write(const std::string& name, const std::string& text) const { return dir_.write(name, text); }

 private:
  TemporaryFolder dir_;
};

/// The commands of one device, without the places; each as a letter and its stream: h is that of the host.
std::string shape(const TraceSet& set, std::uint16_t device) {
  std::string text;
  for (const Command& c : set.commands()) {
    if (c.device != device || c.kind == Kind::kPlace) continue;
    const char* letter = c.kind == Kind::kKernel               ? "K"
                         : c.kind == Kind::kStreamCopyToDevice ? "D"
                         : c.kind == Kind::kStreamCopyToHost   ? "H"
                         : c.kind == Kind::kEventRecord        ? "R"
                         : c.kind == Kind::kStreamWait         ? "W"
                         : c.kind == Kind::kPeerCopy           ? "P"
                                                               : "?";
    text += letter + (c.stream == ~std::uint64_t{0} ? "h" : std::to_string(c.stream));
    if (c.kind == Kind::kStreamWait) text += "<" + std::to_string(c.event);
    text += " ";
  }
  return text;
}

}  // namespace

TEST_CASE("Each folder's addresses are those of its device's region, in lists and in kernels") {
  const Folders folders;
  const auto set = folders.open("MemcpyHtoD,0x7fc841500000,32768\nk.traceg\n",
                                "k.traceg\nMemcpyPeer,0:0x7fc841500000,0x7f0000000010,64,0\n");
  const auto& c = set->commands();
  REQUIRE(c.size() >= 2);
  CHECK((c[0].kind == Kind::kPlace && c[0].device == 0 && c[0].address == kRegion0));
  CHECK((c[1].kind == Kind::kPlace && c[1].device == 1 && c[1].address == kRegion1));
  CHECK((c[0].bytes == Address{1} << 44 && c[1].bytes == c[0].bytes));
  // The low 44 bits: 0x7fc8... is 0xfc8... in the region.
  CHECK((c[2].kind == Kind::kStreamCopyToDevice && c[2].address == kRegion0 + 0xfc841500000 &&
         c[2].bytes == 32768));
  const Command& peer = c.back();
  CHECK((peer.kind == Kind::kPeerCopy && peer.device == 1 && peer.bytes == 64));
  CHECK((peer.address == kRegion0 + 0xfc841500000 && peer.source == kRegion1 + 0xf0000000010));
  CHECK(set->name() == "a+b");
  REQUIRE(set->kernels().size() == 2);
  for (const std::uint32_t k : {0u, 1u}) {
    const auto feed = set->open(k);
    feed->decode_now(1);
    CtaTrace* cta = feed->take(0);
    const Record& record = cta->records.at(0);
    Address lanes[kWarpSize] = {};
    expand_addresses(record.form(), record.mask, cta->words.data() + cta->warps[0].first_word, lanes);
    const Address region = k == 0 ? kRegion0 : kRegion1;
    CHECK((lanes[0] == region + 0xf1234560000 && lanes[1] == region + 0xf1234560004));
    feed->release(cta);
  }
}

TEST_CASE("Only global memory moves") {
  const Folders folders;
  // The windows of the small trace: shared memory from 0x7f0000000000 on, 16 MiB.
  const std::string kernel = small_trace(
      {"0000 00000001 1 R1 LDG.E 1 R2 4 1 0x7f1234560000 4", "0010 00000001 1 R1 LDS 1 R2 4 1 0x40 4",
       "0020 00000001 1 R1 LD.E 1 R2 4 1 0x7f0000000040 4",
       "0030 00000001 1 R1 LD.E 1 R2 4 1 0x7f0001000040 4", "0040 00000001 1 R1 LDL 1 R2 4 1 0x80 4"});
  folders.write("b/k.traceg", kernel);
  const auto set = folders.open("k.traceg\n", "k.traceg\n");
  const auto feed = set->open(1);
  feed->decode_now(1);
  CtaTrace* cta = feed->take(0);
  std::vector<Address> seen;
  const std::uint64_t* words = cta->words.data() + cta->warps[0].first_word;
  for (const Record& record : cta->records) {
    seen.push_back(words[0]);
    words += address_words(record.form(), record.mask);
  }
  CHECK(seen ==
        std::vector<Address>{kRegion1 + 0xf1234560000, 0x40, 0x7f0000000040, kRegion1 + 0xf0001000040, 0x80});
  feed->release(cta);
}

TEST_CASE("What a program's host waits for holds up its own device only") {
  const Folders folders;
  const auto set =
      folders.open("MemcpyHtoD,0x10,4\nk.traceg\nMemcpyDtoH,0x10,4\n", "k.traceg\nWait\nk.traceg\n");
  // A copy begins when all before it is complete, what follows begins after it.
  CHECK(shape(*set, 0) == "Dh Rh W0<0 K0 R0 Wh<1 Hh ");
  CHECK(shape(*set, 1) == "K0 R0 Wh<2 Rh W0<3 K0 ");
}

TEST_CASE("Events keep their meaning, and a list may wait for one of another device") {
  const Folders folders;
  const auto set = folders.open("k.traceg\nStreamWait,0,1:0\nk.traceg\nEventRecord,0\n",
                                "Wait\nk.traceg\nEventRecord,0\nEventWait,0\nStreamWait,7,0:0\n"
                                "MemcpyPeer,0:0x0,0x0,4,7\n");
  CHECK(shape(*set, 0) == "K0 W0<2 K0 R0 ");                       // event 0
  CHECK(shape(*set, 1) == "Rh W0<1 K0 R0 Wh<2 Rh W7<3 W7<0 P7 ");  // events 1, 2, 3
}

TEST_CASE("The content hash distinguishes the devices") {
  const Folders folders;
  folders.write("b/k.traceg", small_trace({"0000 ffffffff 1 R1 MOV 0 0 0"}));
  const auto one = folders.open("k.traceg\n", "k.traceg\n");
  const auto other = open_device_folders({{0, folders.path("b")}, {1, folders.path("a")}});
  CHECK(one->content_hash() != other->content_hash());
}

TEST_CASE("What is wrong in a device's list is said with its line") {
  const Folders folders;
  const auto fails = [&](const std::string& b, const std::string& why) {
    CHECK_THROWS_WITH(folders.open("k.traceg\n", b), Contains("b/kernelslist.g:2: " + why));
  };
  fails("k.traceg\nDevice,1\n", "found 'Device,1'; a device's own list (--device 1=...) has none");
  fails("k.traceg\nPlace,0x0,4\n", "found 'Place,0x0,4'; a device's own list");
  fails("k.traceg\nMemcpyPeer,0;0x0,0x0,4,7\n", "found 'MemcpyPeer,0;0x0,0x0,4,7'; expected");
  fails("k.traceg\nMemcpyPeer,16:0x0,0x0,4,7\n", "found 'MemcpyPeer,16:0x0,0x0,4,7'; expected");
  fails("k.traceg\nMemcpyHtoD,0:0x0,4\n", "found 'MemcpyHtoD,0:0x0,4'; expected");
  fails("k.traceg\nStreamWait,0,0:0\n", "event 0:0; the list of device 0 records 0");
  fails("k.traceg\nStreamWait,0,5:0\n", "event 5:0; there is no --device 5");
  fails("k.traceg\nStreamWait,0,1:0\n", "event 0; expected one of the 0 recorded before");
  // Without --device there are no such prefixes.
  const std::string plain = folders.write("plain.g", "a/k.traceg\nMemcpyPeer,0:0x0,0x0,4,7\n");
  CHECK_THROWS_WITH(open_trace(plain), Contains("plain.g:2: found 'MemcpyPeer,0:0x0,0x0,4,7'; expected"));
}
