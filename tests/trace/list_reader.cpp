// Kernel lists, folders and single files through open_trace.
#include <sys/stat.h>

#include "compact_support.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;
using Kind = Command::Kind;

namespace {

const std::string kKernel = small_trace({"0000 ffffffff 1 R1 MOV 0 0 0"});

std::string named(const std::string& name) {
  std::string text = kKernel;
  return text.replace(text.find("= k\n"), 3, "= " + name);
}

}  // namespace

TEST_CASE("A list gives copies and kernels in order") {
  const TemporaryFolder dir;
  dir.write("kernel-1-ctx_0x55e3a796e730.traceg", named("one"));
  dir.write("kernel-2.traceg", named("two"));
  const std::string list =
      dir.write("kernelslist.g",
                "# made by hand\r\n\r\nMemcpyHtoD,0x00007fc841500000,32768\r\n"
                "kernel-1-ctx_0x55e3a796e730.traceg\r\n  MemcpyHtoD , 7fff00000000 , 4294967297 \n"
                "MemcpyDtoH,0x10,8\ncudaMemcpyAsyncHtoD,0x1,2\nkernel-2.traceg\n"
                "kernel-1-ctx_0x55e3a796e730.traceg");
  const auto set = open_trace(dir.path().string());
  const auto& c = set->commands();
  REQUIRE(c.size() == 6);
  CHECK((c[0].kind == Kind::kCopyToDevice && c[0].address == 0x7fc841500000 && c[0].bytes == 32768));
  CHECK((c[1].kind == Kind::kKernel && c[1].kernel == 0));
  CHECK((c[2].kind == Kind::kCopyToDevice && c[2].address == 0x7fff00000000 && c[2].bytes == 4294967297));
  CHECK((c[3].kind == Kind::kCopyToHost && c[3].address == 0x10 && c[3].bytes == 8));
  CHECK((c[4].kind == Kind::kKernel && c[4].kernel == 1));
  CHECK((c[5].kind == Kind::kKernel && c[5].kernel == 2));
  REQUIRE(set->kernels().size() == 3);
  CHECK(set->kernels()[0].name == "one");
  CHECK(set->kernels()[1].name == "two");
  CHECK(set->kernels()[2].name == "one");
  CHECK(set->name() == dir.path().filename().string());
  CHECK(set->open(0)->notes().remarks ==
        std::vector<std::string>{"list command 'cudaMemcpyAsyncHtoD' is not modelled"});
  CHECK(set->open(1)->notes().remarks.empty());
  // Two feeds of one kernel are independent.
  const auto a = set->open(0), b = set->open(0);
  CHECK(read_all(*a) == read_all(*b));
  CHECK(open_trace(list)->name() == "kernelslist.g");
}

TEST_CASE("A list with streams, events and waits; what is wrong in it is said with its line") {
  const TemporaryFolder dir;
  dir.write("kernel-1.traceg", named("one"));
  const auto open = [&](const std::string& text) { return open_trace(dir.write("kernelslist.g", text)); };
  const auto set = open(
      "MemcpyHtoD,0x10,8,3\nkernel-1.traceg\nEventRecord,3\nStreamWait,18446744073709551615,0\n"
      "MemcpyDtoH,0x20,9,0\nEventRecord,0\nEventWait,1\nWait\n");
  const auto& c = set->commands();
  REQUIRE(c.size() == 8);
  CHECK((c[0].kind == Kind::kStreamCopyToDevice && c[0].address == 0x10 && c[0].bytes == 8 &&
         c[0].stream == 3));
  CHECK((c[2].kind == Kind::kEventRecord && c[2].stream == 3));
  CHECK((c[3].kind == Kind::kStreamWait && c[3].stream == ~std::uint64_t{0} && c[3].event == 0));
  CHECK((c[4].kind == Kind::kStreamCopyToHost && c[4].stream == 0));
  CHECK((c[6].kind == Kind::kEventWait && c[6].event == 1));
  CHECK(c[7].kind == Kind::kWait);
  CHECK_THROWS_WITH(
      open("kernel-1.traceg\nEventWait,0\n"),
      Catch::Matchers::Contains("kernelslist.g:2: event 0; expected one of the 0 recorded before"));
  CHECK_THROWS_WITH(open("EventRecord\n"), Catch::Matchers::Contains("expected 'EventRecord,STREAM'"));
  CHECK_THROWS_WITH(open("EventRecord,0\nStreamWait,0,0,1\n"),
                    Catch::Matchers::Contains("expected 'StreamWait,"));
  CHECK_THROWS_WITH(open("MemcpyHtoD,0x10,8,x\n"), Catch::Matchers::Contains("',STREAM', the"));
}

TEST_CASE("A copy that names the file of its data is one without a stream") {
  const TemporaryFolder dir;
  dir.write("kernel-1.traceg", named("one"));
  const auto open = [&](const std::string& text) { return open_trace(dir.write("kernelslist", text)); };
  const auto set = open(
      "MemcpyHtoD,0x7f0000000000,800000,memcpy_htod_0_0x7f0000000000_800000.bin\nkernel-1.traceg\n"
      "MemcpyDtoH,0x20,9,memcpy_dtoh_1\n");
  const auto& c = set->commands();
  REQUIRE(c.size() == 3);
  CHECK((c[0].kind == Kind::kCopyToDevice && c[0].address == 0x7f0000000000 && c[0].bytes == 800000));
  CHECK((c[2].kind == Kind::kCopyToHost && c[2].address == 0x20 && c[2].bytes == 9));
  CHECK_THROWS_WITH(open("MemcpyHtoD,0x10,8,data.bin\n"), Contains("kernelslist:1: found"));
  CHECK_THROWS_WITH(open("MemcpyHtoD,0x10,8,memcpy_a,1\n"), Contains("kernelslist:1: found"));
}

TEST_CASE("A list names devices, and a compact trace keeps them; what is wrong in it is said with its line") {
  const TemporaryFolder dir;
  dir.write("kernel-1.traceg", named("one"));
  const auto open = [&](const std::string& text) { return open_trace(dir.write("kernelslist.g", text)); };
  const std::string list =
      "Place,0x10,8\nkernel-1.traceg\nDevice,3\nPlace,0x200,4096\nkernel-1.traceg\n"
      "MemcpyPeer,0x200,0x10,64,7\nEventRecord,7\nDevice,0\nMemcpyHtoD,0x10,8,3\nWait\n"
      "Device,2\nMulticast,0x4000,0x200,4096\n";
  const auto check = [](const TraceSet& set) {
    const auto& c = set.commands();
    REQUIRE(c.size() == 9);
    CHECK((c[8].kind == Kind::kMulticast && c[8].address == 0x4000 && c[8].source == 0x200));
    CHECK((c[8].bytes == 4096 && c[8].device == 2));
    CHECK((c[0].kind == Kind::kPlace && c[0].address == 0x10 && c[0].bytes == 8 && c[0].device == 0));
    CHECK((c[1].kind == Kind::kKernel && c[1].device == 0));
    CHECK((c[2].kind == Kind::kPlace && c[2].address == 0x200 && c[2].bytes == 4096 && c[2].device == 3));
    CHECK((c[3].kind == Kind::kKernel && c[3].kernel == 1 && c[3].device == 3));
    CHECK((c[4].kind == Kind::kPeerCopy && c[4].address == 0x200 && c[4].source == 0x10 && c[4].bytes == 64));
    CHECK((c[4].stream == 7 && c[4].device == 3));
    CHECK((c[5].kind == Kind::kEventRecord && c[5].device == 3));
    CHECK((c[6].kind == Kind::kStreamCopyToDevice && c[6].device == 0));
    CHECK(devices_of(c) == 4);
  };
  const auto set = open(list);
  check(*set);
  const std::string compact = dir / "t.lst";
  write_compact(*set, compact, {});
  check(*open_trace(compact));
  CHECK(slurp(compact)[8] == 4);
  CHECK_THROWS_WITH(open("kernel-1.traceg\nDevice,64\n"),
                    Catch::Matchers::Contains(
                        "kernelslist.g:2: found 'Device,64'; expected 'Device,N' with N from 0 to 63"));
  CHECK_THROWS_WITH(open("MemcpyPeer,0x10,0x20,8\n"),
                    Catch::Matchers::Contains("expected 'MemcpyPeer,TO,FROM,BYTES,STREAM'"));
  CHECK_THROWS_WITH(open("Multicast,0x10,0x20\n"),
                    Catch::Matchers::Contains("expected 'Multicast,ADDRESS,MEMORY,BYTES'"));
  CHECK_THROWS_WITH(open("Place,16\n"), Catch::Matchers::Contains("expected 'Place,ADDRESS,BYTES'"));
}

TEST_CASE("Paths: trailing slash, no slash, the list itself, one kernel, dots") {
  const TemporaryFolder dir;
  const std::string kernel = dir.write("kernel-1.traceg", kKernel);
  dir.write("kernelslist.g", "kernel-1.traceg\n");
  const std::string own = dir.path().filename().string();
  const fs::path before = fs::current_path();
  CHECK(open_trace(dir.path().string() + "/")->name() == own);
  CHECK(open_trace(kernel)->kernels().size() == 1);
  CHECK(open_trace(kernel)->commands().size() == 1);
  fs::current_path(dir.path());
  CHECK(open_trace(".")->name() == own);
  CHECK(open_trace("kernelslist.g")->kernels().size() == 1);
  CHECK(open_trace("kernel-1.traceg")->name() == "kernel-1.traceg");
  fs::current_path(before);
}

TEST_CASE("kernelslist.g goes before kernelslist; compressed twins are found") {
  const TemporaryFolder dir;
  dir.write("kernel-1.traceg.xz", kKernel);  // the name may lie about the content
  dir.write("kernel-2.traceg", kKernel);
  dir.write("kernelslist", "kernel-1.traceg\n");
  CHECK(open_trace(dir.path().string())->kernels().size() == 1);
  dir.write("kernelslist.g", "kernel-1.traceg\nkernel-2.traceg.gz\n");
  CHECK(open_trace(dir.path().string())->kernels().size() == 2);
  CHECK(open_trace(dir / "kernel-1.traceg")->kernels().size() == 1);
}

TEST_CASE("Hostile file names are only names") {
  const TemporaryFolder dir;
  for (const std::string name :
       {"kernel-1; touch pwned.traceg", "kernel $(touch pwned)", "kernel`touch pwned`.traceg",
        "kernel-'\"|&<>.traceg", "kernel-%s%n.traceg", "kernel-\xff\x01.traceg"}) {
    dir.write(name, kKernel);
    dir.write("kernelslist.g", name + "\n");
    CHECK(open_trace(dir.path().string())->kernels().size() == 1);
  }
  CHECK_FALSE(fs::exists(dir.path() / "pwned"));
  CHECK_FALSE(fs::exists("pwned"));
}

TEST_CASE("Every file of a list is checked before anything is read") {
  const TemporaryFolder dir;
  dir.write("kernel-1.traceg", "this is not a trace");
  dir.write("kernelslist.g", "kernel-1.traceg\n\nkernel-2.traceg\n");
  const auto error = [&] {
    try {
      (void)open_trace(dir.path().string());
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK_THAT(error(), Contains("kernelslist.g:3: kernel 'kernel-2.traceg'") && Contains("No such file"));
  fs::create_directory(dir.path() / "kernel-2.traceg");
  CHECK_THAT(error(), Contains("kernelslist.g:3") && Contains("is a directory"));
  fs::remove(dir.path() / "kernel-2.traceg");
  REQUIRE(::mkfifo((dir.path() / "kernel-2.traceg").c_str(), 0600) == 0);
  CHECK_THAT(error(), Contains("kernelslist.g:3") && Contains("not a regular file"));
  fs::remove(dir.path() / "kernel-2.traceg");
  dir.write("kernel-2.traceg", kKernel);
  CHECK_THAT(error(), Contains("kernel-1.traceg:1") && Contains("is this a kernel trace?"));
}

TEST_CASE("A byte order mark before a list is skipped, and only there") {
  const TemporaryFolder dir;
  dir.write("kernel-1.traceg", kKernel);
  const std::string mark = "\xef\xbb\xbf";
  for (const std::string first : {"kernel-1.traceg\r\n", "MemcpyHtoD,0x10,8\n", "# kernels\n"}) {
    const auto set = open_trace(dir.write("kernelslist.g", mark + first + "kernel-1.traceg\n"));
    CHECK(set->kernels().size() + (first[0] == 'k' ? 0 : 1) == 2);
  }
  CHECK_THROWS_WITH(open_trace(dir.write("kernelslist.g", "kernel-1.traceg\n" + mark + "kernel-1.traceg\n")),
                    Contains("kernelslist.g:2"));
}

TEST_CASE("Broken lists and folders") {
  const TemporaryFolder dir;
  dir.write("kernel-1.traceg", kKernel);
  CHECK_THROWS_WITH(open_trace(dir.path().string()), Contains("no kernelslist.g and no kernelslist"));
  CHECK_THROWS_WITH(open_trace(dir / "none"), Contains("No such file"));
  CHECK_THROWS_WITH(open_trace(""), Contains("cannot open"));
  for (const std::string line :
       {"MemcpyHtoD,0x10", "MemcpyHtoD,0x10,8,9,1", "MemcpyHtoD,zz,8", "MemcpyHtoD,0x10,-8",
        "MemcpyHtoD,0x10,99999999999999999999", "MemcpyDtoH,,", "MemcpyHtoD"}) {
    dir.write("kernelslist.g", "\n" + line + "\nkernel-1.traceg\n");
    CHECK_THROWS_WITH(open_trace(dir.path().string()), Contains("kernelslist.g:2: found '" + line));
  }
  dir.write("kernelslist.g", "MemcpyHtoD,0x10,8\n");
  CHECK_THROWS_WITH(open_trace(dir.path().string()), Contains("names no kernel"));
  dir.write("kernelslist.g", "\n\n");
  CHECK_THROWS_WITH(open_trace(dir.path().string()), Contains("the file is empty"));
  dir.write("kernelslist.g", "kernel" + std::string(70000, 'x'));
  CHECK_THROWS_WITH(open_trace(dir.path().string()), Contains("longer than 65536"));
}

TEST_CASE("The content hash follows bytes, not paths") {
  const TemporaryFolder a, b;
  for (const TemporaryFolder* dir : {&a, &b}) {
    dir->write("kernel-1.traceg", kKernel);
    dir->write("kernel-2.traceg", named("two"));
    dir->write("kernelslist.g", "kernel-1.traceg\nkernel-2.traceg\n");
  }
  const auto hash = [](const TemporaryFolder& dir) {
    return open_trace(dir.path().string())->content_hash();
  };
  const std::uint64_t first = hash(a);
  CHECK(hash(b) == first);
  b.write("kernel-2.traceg", named("twO"));
  CHECK(hash(b) != first);
  b.write("kernel-2.traceg", named("two"));
  CHECK(hash(b) == first);
  b.write("kernelslist.g", "kernel-2.traceg\nkernel-1.traceg\n");
  CHECK(hash(b) != first);
}
