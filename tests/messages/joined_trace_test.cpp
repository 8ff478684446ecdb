// Traces of processes joined to one: their kernels, addresses, streams and events, and what is refused.
#include "messages/joined_trace.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "exec/address_space.hpp"
#include "support.hpp"

namespace lockstep::test {
namespace {

using JoinedKind = trace::Command::Kind;

constexpr Address kFirst = exec::kArenaBase;

std::string hex_of(Address at) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(at));
  return text;
}

/// A folder with a recording of two processes and their CUDA traces, each of a list of commands with kernels.
class TwoTraces {
 public:
  TwoTraces() {
    files_ = Calls(2).write(folder_.path());
    for (std::size_t p = 0; p < 2; ++p) {
      std::filesystem::create_directory(path(p));
      for (const char* stream : {"0", "7"})
        std::ofstream(path(p) / (std::string("kernel-") + stream + ".traceg"))
            << "-kernel name = k" << stream
            << "\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n"
            << "-shmem = 0\n-nregs = 16\n-binary version = 80\n-cuda stream id = " << stream
            << "\n-shmem base_addr = 0x00007f7e00000000\n-local mem base_addr = 0x00007f7dfe000000\n"
               "-nvbit version = 1.7.1\n-accelsim tracer version = 5\n-enable lineinfo = 0\n\n#traces format "
               "= [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width "
               "[adrrescompress?] [mem_addresses] immediate\n\n#BEGIN_TB\n\nthread block = 0,0,0\n\nwarp = "
               "0\ninsts = 2\n0000 00000001 0 ST.E 2 R2 R4 4 0 "
            << hex_of(kFirst + 0x1000) << "\n0010 ffffffff 0 EXIT 0 0\n\n#END_TB\n";
    }
  }
  void list(std::size_t process, const std::string& text) {
    std::ofstream(path(process) / "kernelslist.g") << text;
    files_[process].trace = path(process).string();
  }
  /// Its recording, after the header.
  void calls(std::size_t process, const std::string& text) {
    std::ofstream(files_[process].calls) << "lockstep-mpi 1 " << process << " 2\nC 0 0 2 0 1\n" << text;
  }
  [[nodiscard]] messages::JoinedTrace join() const { return messages::JoinedTrace(files_, {}, "both"); }

 private:
  [[nodiscard]] std::filesystem::path path(std::size_t process) const {
    return folder_.path() / ("trace" + std::to_string(process));
  }
  TemporaryFolder folder_;
  std::vector<messages::ProcessFiles> files_;
};

std::vector<trace::Command> of_kind(const messages::JoinedTrace& joined, JoinedKind kind) {
  std::vector<trace::Command> all;
  for (const trace::Command& c : joined.commands())
    if (c.kind == kind) all.push_back(c);
  return all;
}

/// The address that the kernel's only store has.
Address stored_at(const messages::JoinedTrace& joined, std::uint32_t kernel) {
  const auto feed = joined.open(kernel);
  feed->decode_now(1);
  trace::CtaTrace* const cta = feed->take(0);
  std::array<Address, kWarpSize> lanes{};
  trace::expand_addresses(cta->records[0].form(), cta->records[0].mask, cta->words.data(), lanes.data());
  feed->release(cta);
  return lanes[0];
}

}  // namespace

TEST_CASE("Joined traces: each process's kernels and memory are those of its device") {
  TwoTraces both;
  both.list(0, "kernel-0.traceg\nkernel-7.traceg\nWait\nkernel-0.traceg\n");
  both.list(1, "MemcpyHtoD," + hex_of(kFirst + 64) + ",256,7\nkernel-7.traceg\n");
  const messages::JoinedTrace joined = both.join();
  CHECK(joined.name() == "both");
  REQUIRE(joined.kernels().size() == 4);
  for (const std::uint32_t kernel : {0u, 1u, 2u}) CHECK(stored_at(joined, kernel) == kFirst + 0x1000);
  const Address second = kFirst + 3 * exec::kRegionBytes;  // behind device 0, managed and host memory
  CHECK(stored_at(joined, 3) == second + 0x1000);

  const auto places = of_kind(joined, JoinedKind::kPlace);
  REQUIRE(places.size() == 2);
  CHECK((places[0].device == 0 && places[0].address == kFirst && places[0].bytes == exec::kRegionBytes));
  CHECK((places[1].device == 1 && places[1].address == second));
  const auto kernels = of_kind(joined, JoinedKind::kKernel);
  REQUIRE(kernels.size() == 4);
  for (std::uint32_t k = 0; k < 4; ++k) {
    CHECK(kernels[k].kernel == k);
    CHECK(kernels[k].device == (k == 3 ? 1 : 0));
  }
  CHECK(kernels[1].stream == 7);
  const auto copies = of_kind(joined, JoinedKind::kStreamCopyToDevice);
  REQUIRE(copies.size() == 1);
  CHECK((copies[0].device == 1 && copies[0].address == second + 64 && copies[0].bytes == 256));
  CHECK(of_kind(joined, JoinedKind::kWait).empty());  // the one host waits for none of them
}

TEST_CASE("Joined traces: every wait is for an event that was recorded before, on the same device") {
  TwoTraces both;
  const std::string list =
      "kernel-0.traceg\nEventRecord,0\nkernel-7.traceg\nStreamWait,7,0\nkernel-7.traceg\nEventRecord,7\n"
      "EventWait,1\nkernel-0.traceg\nWait\nkernel-7.traceg\n";
  both.list(0, list);
  both.list(1, list);
  const messages::JoinedTrace joined = both.join();
  std::vector<std::uint16_t> recorded;  // by event: the device
  std::size_t waits = 0;
  for (const trace::Command& c : joined.commands()) {
    if (c.kind == JoinedKind::kEventRecord) recorded.push_back(c.device);
    if (c.kind != JoinedKind::kStreamWait) continue;
    ++waits;
    REQUIRE(c.event < recorded.size());
    CHECK(recorded[c.event] == c.device);
  }
  CHECK(waits >= 2 * 3);  // the program's own, and for each of the host's waits at least one
  CHECK(of_kind(joined, JoinedKind::kEventWait).empty());
}

TEST_CASE("Joined traces: the hash is that of the content: of lists, kernels and calls, of each process") {
  const auto hash = [](const char* first, const char* second, const char* calls) {
    TwoTraces both;
    both.list(0, first);
    both.list(1, second);
    for (const std::size_t p : {0u, 1u}) both.calls(p, std::string(calls) + "E 0\n");
    return both.join().content_hash();
  };
  const char *const a = "kernel-0.traceg\n", *const b = "kernel-7.traceg\n", *const none = "";
  CHECK(hash(a, b, none) == hash(a, b, none));
  const std::set all{hash(a, b, none),
                     hash(b, a, none),
                     hash(a, a, none),
                     hash(a, b, "K 0 MPI_Barrier 0 0 0 0 0\n"),
                     hash(a, b, "K 0 MPI_Bcast 0 0 0 0 1 8\n"),
                     hash(a, b, "K 0 MPI_Bcast 0 0 0 0 1 16\n"),
                     hash(a, b, "K 0 MPI_Bcast 0 1 0 0 1 8\n")};
  CHECK(all.size() == 7);
  // Where the hosts' buffers lie differs from run to run.
  CHECK(hash(a, b, "K 0 MPI_Bcast 0 0 4096 8192 1 8\n") == hash(a, b, "K 0 MPI_Bcast 0 0 0 0 1 8\n"));
}

TEST_CASE("Joined traces: tasks stand between the commands that their positions name, or at the end") {
  TwoTraces both;
  both.list(0, "kernel-0.traceg\nkernel-7.traceg\n");
  both.list(1, "kernel-0.traceg\n");
  both.calls(0, "S 1 0 0 0 1 5 8 0\nE 2\n");
  both.calls(1, "R 0 0 0 0 0\nW 9 1 0 0 5\nE 9\n");
  const messages::JoinedTrace joined = both.join();
  std::array<std::string, 2> order;
  for (const trace::Command& c : joined.commands()) {
    if (c.kind == JoinedKind::kKernel) order[c.device] += 'k';
    if (c.kind == JoinedKind::kHostTask) order[c.device] += 't';
  }
  CHECK(order[0] == "ktk");
  CHECK(order[1] == "tkt");  // the receive is posted before the kernel, and waited for behind it
}

TEST_CASE("Joined traces: kernels that use the network themselves are refused, with their process") {
  for (const char* line :
       {"NetMemory,0x200000000000,65536\n", "NetQueue,0x200000000000,0x200000001000,4096\n"}) {
    TwoTraces both;
    both.list(0, "kernel-0.traceg\n");
    both.list(1, std::string(line) + "kernel-0.traceg\n");
    CHECK_THROWS_WITH(both.join(),
                      "process 1: networking from within kernels cannot be simulated in an MPI program");
  }
}

}  // namespace lockstep::test
