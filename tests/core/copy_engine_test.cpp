#include <bit>
#include <catch2/catch.hpp>
#include <map>

#include "fakes.hpp"

namespace lockstep::test {
namespace {

constexpr Cycle kCommand = 40, kData = 50;  // small_gpu()

Work one_copy(bool to_device, Address address, std::uint64_t bytes) {
  Work work;
  work.copy(to_device, address, bytes);
  return work;
}

Cycle duration(const Log& log, std::size_t i = 0) {
  return std::get<2>(log.copies.at(i)) - std::get<1>(log.copies.at(i));
}

TEST_CASE("time of a copy is latencies and bytes over bandwidth") {
  auto config = small_gpu();
  const std::uint64_t rate = GENERATE(8'000'000'000u, 12'350'000'000u, 3u * 1'000'000'000u, 64'000'000'000u);
  const std::uint64_t bytes = GENERATE(0u, 1u, 127u, 4096u, 1'000'003u);
  config.host.bytes_per_second = rate;
  FakeMachine machine(config, one_copy(true, 0x40, bytes), always(1));
  const Log log = machine.run();
  const std::uint64_t link = (bytes * 1'000'000'000 + rate - 1) / rate;  // ns
  CHECK(duration(log) == kCommand + link + kData);
  CHECK(std::get<1>(log.copies[0]) == 0);
}

TEST_CASE("latencies in picoseconds are rounded up to edges") {
  auto config = small_gpu();
  config.clock.core_khz = 1'312'000;
  config.host.command_latency_ps = config.host.data_latency_ps = 23'840;  // 31.28 cycles
  FakeMachine machine(config, one_copy(true, 0, 8), always(1));
  CHECK(duration(machine.run()) == 32 + 2 + 32);  // 8 bytes at 8 GB/s are 1 ns
}

TEST_CASE("one transfer a direction at a time, both directions together") {
  auto config = small_gpu();
  config.host.copy_mode = config::CopyMode::kOverlapped;
  Work work;
  work.copy(true, 0, 8000);
  work.copy(true, 0x10000, 16000);
  work.copy(false, 0, 24000);
  FakeMachine machine(config, work, always(1));
  const Log log = machine.run();
  std::map<std::uint32_t, std::pair<Cycle, Cycle>> by_command;
  for (const auto& [command, start, end] : log.copies) by_command[command] = {start, end};
  CHECK(by_command[0] == std::pair<Cycle, Cycle>(0, kCommand + 1000 + kData));
  CHECK(by_command[1] == std::pair<Cycle, Cycle>(kCommand + 1000, kCommand + 3000 + kData));
  CHECK(by_command[2] == std::pair<Cycle, Cycle>(0, kCommand + 3000 + kData));
}

TEST_CASE("fills and copies within the device: launch floor, then bytes over the DRAM's share, in turn") {
  using Kind = host::HostCommand::Kind;
  auto config = small_gpu();
  config.dram.fill_percent = 100;  // of 4 * 2 channels with 32 bytes every 2 ns: 128 bytes per cycle
  config.dram.copy_percent = 50;   // 64 bytes per cycle, each byte read and written
  const std::uint64_t bytes = GENERATE(1u, 128u, 129u, 1'000'000u);
  Work work;
  work.streams = 3;
  work.commands.push_back({Kind::kFill, 0, 0, 0x1000, bytes});
  work.commands.push_back({Kind::kDeviceCopy, 1, 0, 0x2000, bytes});
  work.commands.push_back({Kind::kStreamCopyToDevice, 2, 0, 0x3000, 8});  // the link is free
  const auto run = [&](Cycle window) {
    sim::EngineOptions options;
    options.window = window;
    return FakeMachine(config, work, always(1)).run(options);
  };
  const Log log = run(16);
  std::map<std::uint32_t, std::pair<Cycle, Cycle>> by_command;
  for (const auto& [command, start, end] : log.copies) by_command[command] = {start, end};
  const Cycle filled = kFloor + (bytes + 127) / 128;
  CHECK(by_command[0] == std::pair<Cycle, Cycle>(0, filled + kData));
  CHECK(by_command[1] == std::pair<Cycle, Cycle>(0, filled + (2 * bytes + 63) / 64 + kData));
  CHECK(by_command[2].second == kCommand + 1 + kData);
  CHECK(run(7) == log);
}

TEST_CASE("warming L2: every byte once, by sector and byte masks") {
  auto config = small_gpu();
  config.host.warms_l2 = true;
  const bool to_device = GENERATE(true, false);
  const auto [address, bytes] =
      GENERATE(std::pair<Address, std::uint64_t>(0x1000, 4096), std::pair<Address, std::uint64_t>(0x1fff, 2),
               std::pair<Address, std::uint64_t>(0x1021, 9001), std::pair<Address, std::uint64_t>(0x7f, 1));
  FakeMachine machine(config, one_copy(to_device, address, bytes), always(1));
  (void)machine.run();
  CHECK(machine.quiescent());
  std::map<Address, unsigned> written, sectors;
  for (const auto& [at, r] : machine.seen()) {
    CHECK(r.kind == (to_device ? icnt::AccessKind::kCopy : icnt::AccessKind::kCopyRead));
    CHECK(r.kernel == config.launch.max_kernels);
    for (unsigned s = 0; s < kSectorsPerLine; ++s) {
      if (r.sectors >> s & 1) ++sectors[r.line + s * kSectorBytes];
      for (unsigned b = 0; b < kSectorBytes; ++b)
        if (r.bytes[s] >> b & 1) ++written[r.line + s * kSectorBytes + b];
    }
  }
  std::map<Address, unsigned> want_bytes, want_sectors;
  for (Address a = address; a < address + bytes; ++a) {
    if (to_device) want_bytes[a] = 1;
    want_sectors[a / kSectorBytes * kSectorBytes] = 1;
  }
  CHECK(written == want_bytes);
  CHECK(sectors == want_sectors);
  stats::KernelCounters counters;
  machine.copies().take_counters(static_cast<std::uint8_t>(config.launch.max_kernels), counters);
  CHECK(counters.icnt.requests == machine.seen().size());
  CHECK(counters.icnt.replies == 0);  // whoever sends a message books it
}

TEST_CASE("warming L2: the last line's way through the crossbar is added") {
  auto config = small_gpu();
  config.host.warms_l2 = true;
  constexpr Cycle kMemory = 20;
  const std::uint64_t lines = 100;
  FakeMachine machine(config, one_copy(true, 0, lines * kLineBytes), always(1), kMemory);
  const Cycle link = lines * kLineBytes / 8;
  const Cycle flits = kLineBytes / config.icnt.sm_out_bytes;
  const Cycle crossbar = flits - 1 + config.icnt.request_latency + kMemory + config.icnt.reply_latency;
  CHECK(duration(machine.run()) == kCommand + link + crossbar + kData);
}

TEST_CASE("warming L2: two pages may be open") {
  auto config = small_gpu();
  config.host.warms_l2 = true;
  config.host.bytes_per_second = 64'000'000'000;  // a page of 4 KiB in 64 cycles, less than the answers take
  config.icnt.sm_out_bytes = 128;                 // one line per cycle
  config.icnt.request_credits = 64;
  constexpr Cycle kMemory = 3000;
  FakeMachine machine(config, one_copy(true, 0, 4 * 4096), always(1), kMemory);
  (void)machine.run();
  std::map<Address, std::pair<Cycle, Cycle>> pages;  // first and last arrival in memory
  for (const auto& [at, r] : machine.seen()) {
    auto& [low, high] = pages.try_emplace(r.line / 4096, kNever, 0).first->second;
    low = std::min(low, at);
    high = std::max(high, at);
  }
  REQUIRE(pages.size() == 4);
  CHECK(pages[1].first < pages[0].second + 64);  // the second follows at once
  const Cycle round = kMemory + config.icnt.request_latency + config.icnt.reply_latency;
  CHECK(pages[2].first >= pages[0].second + round);  // the third when the first is answered
  CHECK(pages[2].first <= pages[0].second + round + 64);
  CHECK(pages[3].first >= pages[1].second + round);
}

TEST_CASE("copies give the same for every window and order") {
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    Random random(seed);
    auto config = small_gpu();
    config.host.warms_l2 = true;
    config.host.copy_mode = config::CopyMode::kOverlapped;
    config.host.bytes_per_second = 1'000'000'000 * (1 + random() % 100);
    config.icnt.request_credits = 1 + random() % 4;
    Work work;
    for (int i = 0; i < 5; ++i) work.copy(random() % 2, random() % 100000, random() % 30000);
    const auto at = [&](Cycle window, bool shuffle) {
      auto options = windows_of(window);
      if (shuffle) options.shuffle = seed;
      return FakeMachine(config, work, always(1), 200).run(options);
    };
    const Log expected = at(1, false);
    CHECK(expected.copies.size() == 5);
    CHECK(at(3, true) == expected);
    CHECK(at(32, true) == expected);
  }
}

}  // namespace
}  // namespace lockstep::test
