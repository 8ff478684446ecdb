// `info --json` of random text traces, against what was counted while they were written.
#include "cli/info_json.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/info_scan.hpp"
#include "tests/random.hpp"
#include "tests/trace/reader_support.hpp"
#include "trace/compact_feed.hpp"

namespace lockstep::cli {
namespace {

using test::Random32;
using Json = nlohmann::json;

/// An instruction that the traces are made of: its text is "PC mask TEXT [addresses] 0".
struct Opcode {
  const char *text, *base, *class_name;
  const char* space = nullptr;  // of memory, where the trace has addresses
  const char* use = nullptr;    // "loads", "stores" or "atomics"
  unsigned bytes = 0;           // of a lane
  std::uint64_t macs = 0;       // of the whole warp (PTX ISA, shapes of mma)
};
constexpr Opcode kOpcodes[] = {
    {"1 R1 FFMA 2 R2 R3 0", "FFMA", "fp32"},
    {"1 R1 IMAD.WIDE 2 R2 R3 0", "IMAD", "imad_wide"},
    {"1 R4 HMMA.16816.F32 3 R4 R8 R12 0", "HMMA", "tensor", nullptr, nullptr, 0, 16 * 8 * 16},
    {"1 R4 DMMA.884 3 R4 R8 R12 0", "DMMA", "tensor", nullptr, nullptr, 0, 8 * 8 * 4},
    {"0 BAR.SYNC 0 0", "BAR", "barrier"},
    {"1 R1 MUFU.RCP 1 R2 0", "MUFU", "sfu"},
    {"1 R1 FROBNICATE 1 R2 0", "FROBNICATE", nullptr},
    {"1 R2 LDG.E 1 R4 4", "LDG", "load", "global", "loads", 4},
    {"1 R2 LDG.E.U8 1 R4 1", "LDG", "load", "global", "loads", 1},
    {"0 STG.E.128 2 R4 R8 16", "STG", "store", "global", "stores", 16},
    {"0 RED.E.ADD.STRONG.GPU 2 R4 R8 4", "RED", "reduction", "global", "atomics", 4},
    {"1 R2 ATOMG.E.ADD.64.STRONG.GPU 2 R4 R8 8", "ATOMG", "atomic", "global", "atomics", 8},
    {"1 R2 LDS.64 1 R4 8", "LDS", "load", "shared", "loads", 8},
    {"0 STS 2 R4 R8 4", "STS", "store", "shared", "stores", 4},
    {"1 R2 ATOMS.ADD 2 R4 R8 4", "ATOMS", "atomic", "shared", "atomics", 4},
    {"1 R2 LDL 1 R1 4", "LDL", "load", "local", "loads", 4},
    {"0 STL.64 2 R1 R8 8", "STL", "store", "local", "stores", 8},
    {"1 R2 LD.E.64 1 R4 8", "LD", "load", "generic", "loads", 8},
    {"0 ST.E 2 R4 R8 4", "ST", "store", "generic", "stores", 4},
};
constexpr Address kShared = 0x7f0000000000, kLocal = 0x7e0000000000, kGlobal = 0x700000000000;

struct Count {
  std::uint64_t warp = 0, thread = 0;
  void add(std::uint64_t lanes) {
    ++warp;
    thread += lanes;
  }
  [[nodiscard]] Json json() const { return {{"warp", warp}, {"thread", thread}}; }
};

/// What a kernel, or a whole trace, has.
struct Facts {
  Count total;
  std::map<std::string, Count> classes, opcodes;
  std::map<std::string, std::map<std::string, Count>> uses;  // by space
  std::map<std::string, std::uint64_t> moved;
  std::map<std::string, std::set<Address>> sectors, lines;
  std::set<std::size_t> instructions;
  std::uint64_t macs = 0, unknown = 0;
};

class TraceMaker {
 public:
  explicit TraceMaker(std::uint32_t seed) : random_(seed) {}

  std::string kernel(Facts& kernel, Facts& all) {
    const std::uint32_t ctas = 1 + random_() % 4, warps = 1 + random_() % 3;
    trace::test::HeaderText header;
    header.grid = fmt::format("({},1,1)", ctas);
    header.block = fmt::format("({},1,1)", 32 * warps);
    header.binary = "80";
    header.more = "-local mem base_addr = 0x7e0000000000\n";
    std::string text = header.text();
    for (std::uint32_t c = 0; c < ctas; ++c) {
      std::string body;
      for (std::uint32_t w = 0; w < warps; ++w) {
        std::vector<std::string> lines;
        for (auto n = random_() % 20; n > 0; --n) lines.push_back(line(kernel, all));
        body += trace::test::warp_text(w, lines);
      }
      text += trace::test::block_text(fmt::format("{},0,0", c), body);
    }
    return text;
  }

 private:
  std::string line(Facts& kernel, Facts& all) {
    const std::size_t i = random_() % std::size(kOpcodes);
    const Opcode& op = kOpcodes[i];
    const LaneMask mask = random_() % 4 == 0 ? 0xffffffff : random_();
    std::string text = fmt::format("{:04x} {:08x} {}", 16 * i, mask, op.text), space;
    std::vector<Address> addresses;
    if (op.space != nullptr) {
      space = op.space;
      const Address base = base_of(space);
      text += " 0";
      for (int n = std::popcount(mask); n > 0; --n) {
        addresses.push_back(base + random_() % 4096 * op.bytes);
        text += fmt::format(" 0x{:x}", addresses.back());
      }
    }
    for (Facts* facts : {&kernel, &all}) count(*facts, i, mask, space, addresses);
    return text + " 0";
  }

  /// Of generic addresses `space` becomes the one whose window they are in.
  Address base_of(std::string& space) {
    if (space == "global") return kGlobal;
    if (space != "generic") return 0;
    constexpr std::pair<const char*, Address> kWindows[] = {
        {"shared", kShared}, {"local", kLocal}, {"global", kGlobal}};
    const auto& [name, base] = kWindows[random_() % 3];
    space = name;
    return base;
  }

  static void count(Facts& facts, std::size_t i, LaneMask mask, const std::string& space,
                    const std::vector<Address>& addresses) {
    const Opcode& op = kOpcodes[i];
    const auto lanes = static_cast<std::uint64_t>(std::popcount(mask));
    facts.instructions.insert(i);
    facts.total.add(lanes);
    facts.opcodes[op.base].add(lanes);
    if (op.class_name != nullptr) facts.classes[op.class_name].add(lanes);
    facts.unknown += op.class_name == nullptr;
    facts.macs += op.macs;
    if (addresses.empty()) return;
    facts.uses[space][op.use].add(lanes);
    facts.moved[space] += lanes * op.bytes;
    for (const Address a : addresses)
      for (Address b = a; b < a + op.bytes; ++b) {
        facts.sectors[space].insert(b / 32);
        facts.lines[space].insert(b / 128);
      }
  }

  Random32 random_;
};

void check_facts(const Json& found, Facts facts) {
  CHECK(found.at("instructions") == facts.total.json());
  Json classes = found.at("classes");
  for (const auto& [name, count] : facts.classes) {
    CAPTURE(name);
    if (facts.unknown == 0) CHECK(classes.at(name) == count.json());
  }
  for (const auto& [name, count] : facts.opcodes) CHECK(found.at("opcodes").at(name) == count.json());
  CHECK(found.at("opcodes").size() == facts.opcodes.size());
  for (const char* space : {"global", "shared", "local"}) {
    CAPTURE(space);
    const Json& memory = found.at("memory").at(space);
    for (const char* use : {"loads", "stores", "atomics"})
      CHECK(memory.at(use) == facts.uses[space][use].json());
    CHECK(memory.at("bytes_moved") == facts.moved[space]);
    CHECK(memory.at("touched_bytes") == 32 * facts.sectors[space].size());
    CHECK(memory.at("lines") == facts.lines[space].size());
  }
  CHECK(found.at("tensor_macs") == facts.macs);
  CHECK(found.at("unknown_opcodes").value("FROBNICATE", std::uint64_t{0}) == facts.unknown);
}

Json json_of(const std::string& path) {
  const auto trace = trace::open_trace(path);
  std::vector<KernelInfo> kernels;
  KernelInfo all;
  for (std::uint32_t i = 0; i < trace->kernels().size(); ++i) {
    kernels.push_back(scan_kernel(*trace, i, 1 + i % 2));
    all.merge(kernels.back());
    kernels.back().seal();
  }
  all.seal();
  return Json::parse(info_json(*trace, kernels, all));
}

}  // namespace

TEST_CASE("info --json: counts of random traces are those of their lines") {
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    const test::TemporaryFolder folder;
    TraceMaker maker(seed);
    std::vector<Facts> kernels(1 + seed % 3);
    Facts all;
    std::string list = "MemcpyHtoD,0x700000000000,1000\n";
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      folder.write(fmt::format("kernel-{}.traceg", k + 1), maker.kernel(kernels[k], all));
      list += fmt::format("kernel-{}.traceg\n", k + 1);
    }
    folder.write("kernelslist.g", list + "MemcpyDtoH,0x700000000000,24\nMemcpyDtoH,0x700000000100,8\n");
    const Json info = json_of(folder.path().string());
    CHECK(info.at("copies") ==
          Json{{"to_device", 1}, {"to_device_bytes", 1000}, {"to_host", 2}, {"to_host_bytes", 32}});
    REQUIRE(info.at("kernels").size() == kernels.size());
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      const Json& kernel = info.at("kernels")[k];
      check_facts(kernel, kernels[k]);
      CHECK(kernel.at("static_instructions") == kernels[k].instructions.size());
      CHECK(kernel.at("ctas") == kernel.at("grid")[0]);
      CHECK(kernel.at("threads_per_cta") == kernel.at("block")[0]);
      CHECK(kernel.at("binary_version") == 80);
    }
    check_facts(info.at("total"), all);
    const std::string compact = folder / "t.lst";
    trace::write_compact(*trace::open_trace(folder.path().string()), compact);
    CHECK(json_of(compact) == info);
  }
}

TEST_CASE("info --json: text that is not UTF-8 is replaced, and parts without content are left out") {
  const test::TemporaryFolder folder;
  std::string text = trace::test::small_trace({"0000 ffffffff 1 R1 MOV 0 0 0"});
  text.replace(text.find("name = k"), 8, "name = \xff\"\\");
  folder.write("kernel-1.traceg", text);
  folder.write("kernelslist.g", "kernel-1.traceg\n");
  const Json info = json_of(folder.path().string());
  CHECK(info.at("kernels")[0].at("name") == "\xef\xbf\xbd\"\\");
  CHECK(info.at("schema") == 1);
  for (const char* key : {"devices", "network"}) CHECK_FALSE(info.contains(key));
  CHECK_FALSE(info.at("total").contains("source_lines"));
  CHECK(info.at("total").at("unknown_opcodes").empty());
}

TEST_CASE("info --json: of several devices, what each does and asks of the network") {
  const test::TemporaryFolder folder;
  folder.write("kernel-1.traceg", trace::test::small_trace({"0000 ffffffff 1 R1 MOV 0 0 0"}));
  folder.write(
      "kernelslist.g",
      "Device,1\nMemcpyHtoD,0x10,100\nNetQueue,0x20000,0x30000,256\n"
      "NetOperation,0,0,0,0,0,0x60000,0x70000,512,0x80000\nNetOperation,1,0,0,0,1,0x60000,0x70000,64,0x0\n"
      "kernel-1.traceg\n");
  const Json info = json_of(folder.path().string());
  REQUIRE(info.at("devices").size() == 2);
  CHECK(info.at("devices")[0].at("kernels") == 0);
  CHECK(info.at("devices")[1].at("kernels") == 1);
  CHECK(info.at("devices")[1].at("to_device_bytes") == 100);
  const Json& network = info.at("network")[1];
  CHECK(network.at("queues") == 1);
  CHECK(network.at("signals") == 1);
  CHECK(network.at("puts") == Json{{"operations", 1}, {"bytes", 512}});
  CHECK(network.at("gets") == Json{{"operations", 1}, {"bytes", 64}});
  CHECK_FALSE(network.contains("tasks"));
}

}  // namespace lockstep::cli
