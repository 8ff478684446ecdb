// Every timing rule of every DRAM that ships: not at clock N-1, yes at N, N from the configuration's own
// text.
#include <catch2/catch.hpp>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/gpu_models.hpp"
#include "mem/dram_channel.hpp"

namespace lockstep::mem {
namespace {

/// The numbers of group dram, read from the resolved text and not through the structure that the model uses.
std::map<std::string, Cycle> dram_text(const config::GpuConfig& config) {
  std::map<std::string, Cycle> values;
  std::istringstream text(config::to_ini(config));
  bool inside = false;
  for (std::string line; std::getline(text, line);) {
    if (!line.empty() && line[0] == '[') inside = line == "[dram]";
    const std::size_t equals = line.find(" = ");
    if (!inside || equals == std::string::npos || line.find_first_of("0123456789") != equals + 3) continue;
    values[line.substr(0, equals)] = std::stoull(line.substr(equals + 3));
  }
  return values;
}

struct Issued {
  DramCommand command;
  std::uint32_t bank;
  Cycle at;
};

/// Whether `then` may go to `bank` at edge `at`, after what was issued.
bool allowed(const config::DramGroup& dram, const std::vector<Issued>& issued, DramCommand then,
             std::uint32_t bank, Cycle at) {
  DramTiming timing(dram);
  for (const Issued& i : issued) timing.issue(i.command, i.bank, i.at);
  return timing.earliest(then, bank) <= at;
}

}  // namespace

TEST_CASE("every rule of every GPU's DRAM: not at clock N-1, yes at N") {
  using enum DramCommand;
  for (const config::BundledConfig& model : config::gpu_models()) {
    const config::GpuConfig config = config::resolve(std::string(model.name));
    const config::DramGroup& dram = config.dram;
    std::map<std::string, Cycle> t = dram_text(config);
    const std::uint32_t group =
        static_cast<std::uint32_t>(t.at("banks_per_group"));  // first bank of the second
    const Cycle write_data = t.at("tCWL") + t.at("burst_cycles");
    // Data of a write that follows a read must not meet the read's: whatever tRTW says.
    const Cycle no_overlap = t.at("tCL") + t.at("burst_cycles") - t.at("tCWL");
    struct Rule {
      const char* name;
      DramCommand first, then;
      std::uint32_t bank;
      Cycle cycles;
    };
    const Rule rules[] = {
        {"tRCD read", kActivate, kRead, 0, t.at("tRCD")},
        {"tRCD write", kActivate, kWrite, 0, t.at("tRCD")},
        {"tRAS", kActivate, kPrecharge, 0, t.at("tRAS")},
        {"tRP", kPrecharge, kActivate, 0, t.at("tRP")},
        {"tRTP", kRead, kPrecharge, 0, t.at("tRTP")},
        {"tWR", kWrite, kPrecharge, 0, write_data + t.at("tWR")},
        {"tCCD_L read", kRead, kRead, 1, t.at("tCCD_L")},
        {"tCCD_S read", kRead, kRead, group, t.at("tCCD_S")},
        {"tCCD_L write", kWrite, kWrite, 1, t.at("tCCD_L")},
        {"tCCD_S write", kWrite, kWrite, group, t.at("tCCD_S")},
        {"tRRD_L", kActivate, kActivate, 1, t.at("tRRD_L")},
        {"tRRD_S", kActivate, kActivate, group, t.at("tRRD_S")},
        {"tWTR_L", kWrite, kRead, 1, write_data + t.at("tWTR_L")},
        {"tWTR_S", kWrite, kRead, group, write_data + t.at("tWTR_S")},
        {"tRTW", kRead, kWrite, group, std::max(t.at("tRTW"), no_overlap)},
    };
    for (const Rule& rule : rules) {
      CAPTURE(std::string(model.name), rule.name, rule.cycles);
      const std::vector<Issued> before = {{rule.first, 0, 1000}};
      CHECK_FALSE(allowed(dram, before, rule.then, rule.bank, 1000 + rule.cycles - 1));
      CHECK(allowed(dram, before, rule.then, rule.bank, 1000 + rule.cycles));
    }
    // Four activates at tRRD_S in turn through the groups, the fifth not before tFAW and tRRD.
    CAPTURE(std::string(model.name));
    std::vector<Issued> four;
    for (std::uint32_t i = 0; i < 4; ++i)
      four.push_back({kActivate, i % 4 * group, 1000 + i * t.at("tRRD_S")});
    const Cycle same_group = 1000 + t.at("tRRD_L"), other = 1000 + 4 * t.at("tRRD_S");
    const Cycle fifth = std::max({1000 + t.at("tFAW"), other, same_group});
    CHECK_FALSE(allowed(dram, four, kActivate, 1, fifth - 1));
    CHECK(allowed(dram, four, kActivate, 1, fifth));
  }
}

TEST_CASE("every GPU's DRAM refreshes each tREFI for tRFC, and reads after tRCD, tCL and the burst") {
  for (const config::BundledConfig& model : config::gpu_models()) {
    const config::GpuConfig config = config::resolve(std::string(model.name));
    CAPTURE(std::string(model.name));
    std::map<std::string, Cycle> t = dram_text(config);
    const Cycle refresh = t.at("tREFI"), read = t.at("tRCD") + t.at("tCL") + t.at("burst_cycles");
    // A read so early that its activate precedes the refresh, and one that comes with the refresh, of the
    // bank that is refreshed first.
    for (const bool late : {false, true}) {
      std::vector<stats::PartitionCounters> counters(4);
      DramChannel channel(config.dram, counters.data(), config.dram.tREFI);
      const Cycle at = late ? refresh : refresh - read - t.at("tRAS") - t.at("tRTP") - t.at("tRP");
      Cycle done = 0;
      for (Cycle now = 0; now < refresh + t.at("tRFC") + 2 * read && done == 0; ++now) {
        if (now == at) channel.push_read(now, {.row = 1, .bank = 0, .bursts = 1, .fill = {0, 0, 1}});
        channel.mark_stale();
        channel.tick(
            now, now + 1, [&](const FillTarget&, Cycle end) { done = end; }, [](Cycle) {});
      }
      CHECK(done == (late ? refresh + t.at("tRFC") : at) + read);
    }
  }
}

}  // namespace lockstep::mem
