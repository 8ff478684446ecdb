#include "gpu/managed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "gpu/managed_file.hpp"
#include "sim/clock.hpp"
#include "trace/moved_addresses.hpp"
#include "util/error.hpp"
#include "util/size.hpp"

namespace lockstep::gpu {
namespace {

std::uint64_t number(std::string_view text, std::string_view option, std::string_view whole,
                     std::string_view expected = "a number") {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size())
    throw UserError(fmt::format("{}: found '{}' in '{}', expected {}", option, text, whole, expected));
  return value;
}

/// Bytes of ".5" of a unit; it must be a whole number of them.
std::uint64_t part_of_unit(std::string_view decimals, const SizeUnit& unit, std::string_view option,
                           std::string_view whole) {
  constexpr std::size_t kMaxDecimals = 6;  // so that the product fits
  std::uint64_t divisor = 1, scaled = 0;
  if (decimals.size() <= kMaxDecimals) {
    for (std::size_t i = 0; i < decimals.size(); ++i) divisor *= 10;
    scaled = number(decimals, option, whole, "decimals") << unit.shift;
  }
  if (decimals.size() > kMaxDecimals || scaled % divisor != 0)
    throw UserError(fmt::format("{}: '{}' is not a whole number of bytes", option, whole));
  return scaled / divisor;
}

std::uint64_t size(std::string_view text, std::string_view option, std::string_view whole) {
  constexpr std::string_view kExpected = "bytes, such as 65536, 64 KiB or 1.5GiB";
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const std::size_t digits = std::min(
      hex ? text.find_first_not_of("0123456789abcdefABCDEF", 2) : text.find_first_not_of("0123456789."),
      text.size());
  std::string_view name = text.substr(digits);
  name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
  const SizeUnit* unit = name.empty() ? &kSizeUnits[0] : find_size_unit(name);
  if (unit == nullptr)
    throw UserError(fmt::format("{}: found '{}' in '{}', expected {}", option, text, whole, kExpected));
  const std::string_view count = text.substr(0, digits);
  const std::size_t point = count.find('.');
  std::uint64_t bytes = number(count.substr(0, point), option, whole, kExpected);
  if (bytes > ~std::uint64_t{0} >> unit->shift)
    throw UserError(fmt::format("{}: '{}' does not fit 64 bits", option, whole));
  bytes <<= unit->shift;
  return point == std::string_view::npos
             ? bytes
             : bytes + part_of_unit(count.substr(point + 1), *unit, option, whole);
}

/// Behind all addresses of traces, also of many devices with separate address spaces.
constexpr Address kTraceEnd = std::max(kAddressEnd, trace::device_region(trace::Command::kMaxDevices));

/// Rounded outward to pages. `limit`: addresses are below.
std::pair<Address, Address> pages_of(Address first, std::uint64_t bytes, Address limit) {
  if (bytes == 0) throw UserError(fmt::format("managed range 0x{:x}+0: expected at least 1 byte", first));
  if (first >= limit || bytes > limit - first)
    throw UserError(
        fmt::format("managed range 0x{:x}+{}: expected an end below 0x{:x}", first, bytes, limit));
  const Address mask = uvm::kPageBytes - 1;
  return {first & ~mask, (first + bytes + mask) & ~mask};
}

}  // namespace

ManagedOptions parse_managed(std::string_view text) {
  constexpr std::string_view kName = "--managed";
  ManagedOptions options;
  if (text == "none") {
    options.kind = ManagedOptions::Kind::kNone;
    return options;
  }
  if (text == "all") {
    options.kind = ManagedOptions::Kind::kAll;
    return options;
  }
  if (text == "memcpy") {
    options.kind = ManagedOptions::Kind::kCopies;
    return options;
  }
  options.kind = ManagedOptions::Kind::kRanges;
  if (!text.empty() && (text[0] < '0' || text[0] > '9') && text[0] != '+') {
    options.ranges = read_managed_file(std::string(text));
    return options;
  }
  for (std::string_view rest = text;;) {
    const auto comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    const auto plus = part.find('+');
    if (plus == std::string_view::npos)
      throw UserError(
          fmt::format("{}: found '{}', expected none, all, memcpy, ADDR+SIZE or a file (./ before a digit)",
                      kName, part));
    options.ranges.emplace_back(number(part.substr(0, plus), kName, part),
                                size(part.substr(plus + 1), kName, part));
    if (comma == std::string_view::npos) return options;
    rest.remove_prefix(comma + 1);
  }
}

ManagedMemory parse_gpu_memory(std::string_view text) {
  constexpr std::string_view kName = "--gpu-memory";
  ManagedMemory memory;
  if (!text.ends_with('x')) {
    memory.bytes = size(text, kName, text);
    if (memory.bytes < uvm::kPageBytes)
      throw UserError(fmt::format("{}: found '{}', expected at least one page of {} bytes", kName, text,
                                  uvm::kPageBytes));
    return memory;
  }
  const std::string_view digits = text.substr(0, text.size() - 1);
  const auto dot = digits.find('.');
  const std::string_view whole = digits.substr(0, dot);
  std::string fraction(dot == std::string_view::npos ? "" : digits.substr(dot + 1));
  if (fraction.size() > 6 || whole.size() > 6)
    throw UserError(fmt::format("{}: found '{}', expected a factor such as 0.8x", kName, text));
  fraction.resize(6, '0');
  memory.millionths =
      (whole.empty() ? 0 : number(whole, kName, text) * 1000000) + number(fraction, kName, text);
  if (memory.millionths == 0)
    throw UserError(fmt::format("{}: found '{}', expected a factor above 0", kName, text));
  return memory;
}

void check(const ManagedOptions& options) {
  const ManagedMemory& memory = options.memory;
  if (options.kind == ManagedOptions::Kind::kAll && memory.millionths > 0)
    throw UserError("--gpu-memory: a factor needs a footprint; --managed all has none, give a size");
  if (options.kind == ManagedOptions::Kind::kNone && (memory.bytes > 0 || memory.millionths > 0))
    throw UserError("--gpu-memory: with --managed none there is no managed memory");
}

void check_memory_is_managed(const trace::TraceSet& trace, const ManagedOptions& options) {
  if (options.memory.bytes == 0 && options.memory.millionths == 0) return;
  throw UserError(
      fmt::format("--gpu-memory: {} has no managed memory; name some with --managed", trace.name()));
}

void manage(uvm::AddressSpace& space, const trace::Command& command) {
  const auto [first, end] = pages_of(command.address, command.bytes, kTraceEnd);
  space.cover(first, end - first);
}

uvm::AddressSpace managed_space(const trace::TraceSet& trace, const ManagedOptions& options) {
  using Kind = ManagedOptions::Kind;
  uvm::AddressSpace space;
  std::vector<std::pair<Address, Address>> ranges;
  if (options.kind == Kind::kAll)
    ranges.emplace_back(0, std::max(kAddressEnd, trace::device_region(trace::devices_of(trace.commands()))));
  for (const auto& [first, bytes] : options.ranges) ranges.push_back(pages_of(first, bytes, kAddressEnd));
  if (options.kind == Kind::kCopies)
    for (const trace::Command& c : trace.commands())
      if (is_copy_to_device(c.kind) && c.bytes > 0) ranges.push_back(pages_of(c.address, c.bytes, kTraceEnd));
  if (options.kind == Kind::kTrace)
    for (const trace::Command& c : trace.commands())
      if (c.kind == trace::Command::Kind::kManage) manage(space, c);
  check(options);
  if (ranges.empty() && space.empty()) check_memory_is_managed(trace, options);
  if (options.kind == Kind::kCopies && ranges.empty())
    throw UserError(fmt::format("--managed memcpy: trace {} copies nothing to the device", trace.name()));
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t i = 0; i < ranges.size();) {
    auto [first, end] = ranges[i++];
    while (i < ranges.size() && ranges[i].first < end) end = std::max(end, ranges[i++].second);
    space.add(first, end - first);
  }
  return space;
}

bool grows(const ManagedOptions& options) {
  return options.kind == ManagedOptions::Kind::kTrace && options.memory.millionths > 0;
}

std::uint64_t share_of(const uvm::AddressSpace& space, const ManagedMemory& memory) {
  return static_cast<std::uint64_t>(static_cast<sim::Wide>(space.footprint()) * memory.millionths / 1000000);
}

std::uint64_t managed_frames(const uvm::AddressSpace& space, const ManagedOptions& options,
                             std::uint64_t capacity) {
  const ManagedMemory& memory = options.memory;
  check(options);
  if (grows(options)) return 1;
  std::uint64_t bytes = memory.bytes ? memory.bytes : capacity;
  if (memory.millionths > 0) bytes = share_of(space, memory);
  return std::max<std::uint64_t>(1, bytes / uvm::kPageBytes);
}

std::vector<std::uint64_t> managed_frames(const uvm::AddressSpace& space, const ManagedOptions& options,
                                          const config::SystemConfig& system) {
  std::vector<std::uint64_t> frames;
  for (const config::GpuConfig& device : system.devices)
    frames.push_back(managed_frames(space, options, device.dram.capacity_bytes));
  return frames;
}

}  // namespace lockstep::gpu
