// Rules for the DRAM.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "accelsim/table.hpp"
#include "config/value.hpp"

namespace lockstep::accelsim {
namespace {

constexpr std::string_view kTiming = "-gpgpu_dram_timing_opt", kBurst = "-gpgpu_dram_burst_length",
                           kRatio = "-dram_data_command_freq_ratio", kWidth = "-gpgpu_dram_buswidth",
                           kChips = "-gpgpu_n_mem_per_ctrlr";
constexpr std::uint64_t kMaxDramField = 100'000;

std::uint64_t field(const Context& c, std::string_view option) {
  const std::uint64_t value = c.number(option);
  if (value == 0 || value > kMaxDramField) c.fail(option, fmt::format("expected 1 to {}", kMaxDramField));
  return value;
}

std::uint64_t burst_cycles(const Context& c) { return divided_up(field(c, kBurst), field(c, kRatio)); }

void burst(Context& c) {
  const std::uint64_t bytes = field(c, kChips) * field(c, kWidth) * field(c, kBurst);
  c.set("dram.channels_per_partition", 1, {kChips});
  c.set("dram.burst_bytes", bytes, {kBurst, kWidth, kChips});
  c.set("dram.burst_cycles", burst_cycles(c), {kBurst, kRatio});
}

/// In the order of the form without names.
enum Field : std::size_t {
  kBankCount,
  kCcd,
  kRrd,
  kRcd,
  kRas,
  kRp,
  kRc,
  kCl,
  kWl,
  kCdlr,
  kWr,
  kGroups,
  kCcdl,
  kRtpl,
  kFields
};
constexpr std::array<std::string_view, kFields> kNames = {
    "nbk", "CCD", "RRD", "RCD", "RAS", "RP", "RC", "CL", "WL", "CDLR", "WR", "nbkgrp", "CCDL", "RTPL"};
constexpr std::string_view kTimingForm =
    "nbk:CCD:RRD:RCD:RAS:RP:RC:CL:WL:CDLR:WR:nbkgrp:CCDL:RTPL as numbers, or as NAME=NUMBER";

using Timings = std::array<std::uint64_t, kFields>;

std::uint64_t timing_number(const Context& c, std::string_view text) {
  std::uint64_t value = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9' || value > kMaxDramField)
      c.fail(kTiming, fmt::format("expected {}", kTimingForm));
    value = value * 10 + static_cast<unsigned>(digit - '0');
  }
  if (text.empty()) c.fail(kTiming, fmt::format("expected {}", kTimingForm));
  return value;
}

Timings timings(const Context& c) {
  const auto parts = c.parts(kTiming, ':', kFields, kFields, kTimingForm);
  Timings values{};
  std::array<bool, kFields> given{};
  for (std::size_t i = 0; i < kFields; ++i) {
    const std::size_t equals = parts[i].find('=');
    std::size_t at = i;
    if (equals != std::string::npos) {
      const auto name = std::find(kNames.begin(), kNames.end(), std::string_view(parts[i]).substr(0, equals));
      at = static_cast<std::size_t>(name - kNames.begin());
    }
    if (at == kFields || given[at])
      c.fail(kTiming, fmt::format("'{}' is unknown or given twice; expected {}", config::printable(parts[i]),
                                  kTimingForm));
    given[at] = true;
    values[at] =
        timing_number(c, std::string_view(parts[i]).substr(equals == std::string::npos ? 0 : equals + 1));
  }
  return values;
}

void timing(Context& c) {
  if (!c.has(kTiming)) return;
  const Timings t = timings(c);
  const auto set = [&](const char* key, std::uint64_t cycles) {
    c.set(key, std::max<std::uint64_t>(1, cycles), {kTiming});
  };
  const std::uint64_t groups = std::max<std::uint64_t>(1, t[kGroups]);
  set("dram.bank_groups", groups);
  set("dram.banks_per_group", t[kBankCount] / groups);
  set("dram.tRCD", t[kRcd]);
  set("dram.tRP", t[kRp]);
  set("dram.tRAS", t[kRas]);
  set("dram.tCL", t[kCl]);
  set("dram.tCWL", t[kWl]);
  set("dram.tCCD_S", t[kCcd]);
  set("dram.tCCD_L", std::max(t[kCcd], groups > 1 ? t[kCcdl] : 0));
  set("dram.tRRD_S", t[kRrd]);
  set("dram.tRRD_L", t[kRrd]);
  set("dram.tFAW", 4 * t[kRrd]);
  set("dram.tWTR_S", t[kCdlr]);
  set("dram.tWTR_L", t[kCdlr]);
  set("dram.tRTP", t[kRtpl]);
  set("dram.tWR", t[kWr]);
  const std::uint64_t read = t[kCl] + burst_cycles(c) + 2;
  c.set("dram.tRTW", read > t[kWl] ? read - t[kWl] : 1, {kTiming, kBurst, kRatio});
}

void queue(Context& c) {
  constexpr std::string_view kOption = "-gpgpu_frfcfs_dram_sched_queue_size";
  if (c.number(kOption) == 0) return c.unused(kOption, "0 = without limit; the base's queue stays");
  c.set("dram.read_queue", c.number(kOption), {kOption});
}

void write_queue(Context& c) {
  constexpr std::string_view kEnabled = "-dram_seperate_write_queue_enable", kSize = "-dram_write_queue_size";
  if (!c.flag(kEnabled)) {
    c.unused(kEnabled, "reads and writes have queues of their own in any case; the base's stay");
    return c.unused(kSize, "-dram_seperate_write_queue_enable 0; the base's queue stays");
  }
  const auto values = c.numbers(kSize, ':', 3, 3, "SIZE:HIGH:LOW");
  c.set("dram.write_queue", values[0], {kSize, kEnabled});
  c.set("dram.write_high", values[1], {kSize, kEnabled});
  c.set("dram.write_low", values[2], {kSize, kEnabled});
}

void latency(Context& c) {
  constexpr std::string_view kOption = "-dram_latency";
  constexpr std::uint64_t kPsKhz = 1'000'000'000;
  c.set("dram.latency_ps", scaled(c.number(kOption), kPsKhz, c.config().clock.core_khz), {kOption});
}

/// "dramid@8;0000.RRRR.RBBBCCCB.CCCSSSSS": C and S bits address the bytes of a row.
void address(Context& c) {
  constexpr std::string_view kOption = "-gpgpu_mem_addr_mapping";
  const std::string_view text = c.text(kOption);
  const std::size_t semicolon = text.find(';');
  if (semicolon == std::string_view::npos)
    return c.unused(kOption, "no bits are named; the base's rows stay");
  const std::string_view bits = text.substr(semicolon + 1);
  unsigned column = 0, all = 0;
  for (const char bit : bits) {
    if (bit == '.') continue;
    if (std::string_view("0DRBCSdrbcs").find(bit) == std::string_view::npos)
      c.fail(kOption, "expected dramid@N;BITS, BITS of 0, R, B, C and S");
    const int letter = std::toupper(static_cast<unsigned char>(bit));
    column += letter == 'C' || letter == 'S' ? 1 : 0;
    ++all;
  }
  if (all != 64) c.fail(kOption, fmt::format("found {} bits, expected 64", all));
  constexpr unsigned kMaxBits = 32;
  if (column > kMaxBits) c.fail(kOption, "more than 32 bits address a row");
  c.set("dram.row_bytes", std::uint64_t{1} << column, {kOption});
}

}  // namespace

std::vector<Rule> dram_rules() {
  return {
      {{{kChips, "1"}, {kWidth, "4"}, {kBurst, "4"}, {kRatio, "2"}},
       "dram.channels_per_partition, dram.burst_bytes, dram.burst_cycles",
       "one channel; chips * width * burst length; burst length / data rate over command rate",
       burst},
      {{{kTiming, "4:2:8:12:21:13:34:9:4:5:13:1:0:0"}, {kBurst, "4"}, {kRatio, "2"}},
       "dram.bank_groups, dram.banks_per_group, dram.tRCD, dram.tRP, dram.tRAS, dram.tCL, dram.tCWL, "
       "dram.tCCD_S, "
       "dram.tCCD_L, dram.tRRD_S, dram.tRRD_L, dram.tFAW, dram.tWTR_S, dram.tWTR_L, dram.tRTP, dram.tWR, "
       "dram.tRTW",
       "command cycles: nbkgrp, nbk / nbkgrp; RCD, RP, RAS, CL, WL, CCD, CCDL, RRD twice, CDLR twice, RTPL, "
       "WR; "
       "FAW = 4 RRD, which adds no limit; RTW = CL + burst + 2 - WL. RC follows from RAS + RP",
       timing},
      {{{"-gpgpu_frfcfs_dram_sched_queue_size", "0"}},
       "dram.read_queue",
       "requests; 0 keeps the base's",
       queue},
      {{{"-dram_seperate_write_queue_enable", "0"}, {"-dram_write_queue_size", "32:28:16"}},
       "dram.write_queue, dram.write_high, dram.write_low",
       "size, high and low watermark, where enabled",
       write_queue},
      {{{"-dram_latency", "30"}}, "dram.latency_ps", "core cycles in time", latency},
      {{{"-gpgpu_mem_addr_mapping", ""}},
       "dram.row_bytes",
       "2 ^ (column bits + burst bits). The hash of partitions and banks stays Lockstep's own",
       address},
  };
}

}  // namespace lockstep::accelsim
