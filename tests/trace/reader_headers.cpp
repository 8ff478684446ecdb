// Kernel headers: every key, free order, and the error for each bad value.
#include "reader_support.hpp"
#include "trace/kernel_header.hpp"

using namespace lockstep;
using namespace lockstep::trace;
using namespace lockstep::trace::test;
using Catch::Matchers::Contains;

namespace {

KernelFile parse(const std::string& text) {
  TextStream stream(open_memory(text), "k.traceg");
  return read_header(stream);
}
std::string header_error(const std::string& text) {
  try {
    parse(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}
std::string with(const std::string& line) {
  return "-grid dim = (2,3,4)\n-block dim = (32,2,1)\n-binary version = 80\n" + line +
         "\n#traces format = \n";
}

}  // namespace

TEST_CASE("All header keys, in any order, unknown ones ignored") {
  const KernelFile file = parse(
      "\n-accelsim tracer version = 4\n-shmem base_addr = 0x00007fc867000000\n-local mem base_addr = "
      "7fc865000000\n"
      "-made up = 7\n-novalue\n-cuda stream id = 18446744073709551615\n-binary version = 90\n-nregs = 21\n"
      "-shmem = 49152\n-block dim = (8,4,2)\n-grid dim = (2147483647, 65535 ,3)\n-kernel id = 17\n"
      "-kernel name = void f<int>(a = b, \"c\")\n-nvbit version = 1.5.3\n-enable lineinfo = 1\n"
      "#traces format = x\n\n#BEGIN_TB\n");
  const KernelHeader& h = file.header;
  CHECK(h.name == "void f<int>(a = b, \"c\")");
  CHECK(h.id == 17);
  CHECK(h.grid == Dim3{2147483647, 65535, 3});
  CHECK(h.block == Dim3{8, 4, 2});
  CHECK(h.threads_per_cta() == 64);
  CHECK(h.warps_per_cta() == 2);
  CHECK(h.shared_bytes == 49152);
  CHECK(h.registers == 21);
  CHECK(h.binary_version == 90);
  CHECK(h.stream == 18446744073709551615u);
  CHECK(h.shared_base == 0x7fc867000000);
  CHECK(h.local_base == 0x7fc865000000);
  CHECK(h.nvbit_version == "1.5.3");
  CHECK(h.tracer_version == 4);
  CHECK(h.line_info);
  CHECK(file.layout.processed);
  CHECK(file.layout.leading_ids == 0);
}

TEST_CASE("Binary versions from Kepler on, tracer 1.2 and missing optional keys") {
  for (const char* version :
       {"35", "50", "61", "70", "72", "75", "80", "86", "87", "89", "90", "100", "120"}) {
    CHECK(header_error("-grid dim = (1,1,1)\n-block dim = (1,1,1)\n-binary version = " +
                       std::string(version)) == "");
  }
  CHECK(parse(with("")).header.tracer_version == 0);
  CHECK(parse(with("")).layout.leading_ids == 4);
  CHECK(parse(with("-accelsim tracer version = 1.2")).header.tracer_version == 1);
  CHECK(parse(with("-accelsim tracer version = 5")).layout.leading_ids == 0);
  CHECK(parse(with("-accelsim tracer version = 5")).remarks.empty());
  CHECK(parse(with("-accelsim tracer version = 6")).remarks.empty());
  CHECK(parse(with("-accelsim tracer version = 7")).remarks.size() == 1);
}

TEST_CASE("Bad header values are named with their line") {
  CHECK_THAT(header_error(with("-grid dim = (0,1,1)")), Contains("k.traceg:4: header value '(0,1,1)'"));
  for (const char* line : {"-grid dim = (1,1)",
                           "-grid dim = 1,1,1",
                           "-grid dim = (1,1,1,1)",
                           "-grid dim = (-1,1,1)",
                           "-grid dim = (2147483648,1,1)",
                           "-grid dim = (1,65536,1)",
                           "-grid dim = (99999999999999999999,1,1)",
                           "-grid dim =",
                           "-grid dim = (1,1,1",
                           "-block dim = (1025,1,1)",
                           "-block dim = (1,1,65)",
                           "-block dim = (a,1,1)",
                           "-shmem = -1",
                           "-shmem = 99999999999",
                           "-nregs = x",
                           "-nregs = 70000",
                           "-binary version = 0",
                           "-binary version = 34",
                           "-binary version = 131",
                           "-cuda stream id = 18446744073709551616",
                           "-kernel id = 1 2",
                           "-shmem base_addr = 0xg",
                           "-local mem base_addr = 0x11112222333344445",
                           "-accelsim tracer version = new",
                           "-enable lineinfo = 2"}) {
    INFO(line);
    CHECK_THAT(header_error(with(line)), Contains("k.traceg:4: header value"));
  }
  CHECK_THAT(header_error(with("-block dim = (64,32,1)")), Contains("2048 threads; expected at most 1024"));
  CHECK_THAT(header_error(""), Contains("without '-grid dim"));
  CHECK_THAT(header_error("-grid dim = (1,1,1)\n"), Contains("without '-block dim"));
  CHECK_THAT(header_error("-grid dim = (1,1,1)\n-block dim = (1,1,1)\n"),
             Contains("without '-binary version"));
  CHECK_THAT(header_error("-kernel name = " + std::string(70000, 'x')), Contains("longer than 65536"));
}
