#include "cuda/settings.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "config/config.hpp"
#include "exec/address_space.hpp"
#include "util/console.hpp"
#include "util/error.hpp"

namespace lockstep::cuda {

namespace {

template <class T>
T number(const char* variable, std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw UserError(std::string(variable) + " is not a number: start the program with `lockstep exec`");
  return value;
}

/// Whether this process is the one that is recorded. Programs that it starts cannot claim any more.
bool claim() {
  const char* variable = std::getenv(kClaimVariable);
  if (variable == nullptr) return true;
  std::uint64_t one = 0;
  const int descriptor = number<int>(kClaimVariable, variable);
  const bool mine = ::read(descriptor, &one, sizeof one) == sizeof one;
  if (!mine)
    print_err(
        "lockstep: process {} is executed but not simulated: an earlier process of this program is, and "
        "one can be\n",
        ::getpid());
  return mine;
}

/// The system sends SIGTERM to this process when `parent` ends, if that has started it itself.
void end_with(pid_t parent) {
  if (::getppid() == parent) ::prctl(PR_SET_PDEATHSIG, SIGTERM);
}

bool profiles_from_start() {
  const char* text = std::getenv(kProfileFromStartVariable);
  if (text == nullptr) return true;
  if (std::string_view(text) != "off")
    throw UserError(fmt::format("{} is {}; expected off", kProfileFromStartVariable, text));
  return false;
}

double host_time_factor() {
  const char* text = std::getenv(kHostTimeVariable);
  if (text == nullptr) return 0;
  const auto factor = number<double>(kHostTimeVariable, text);
  if (!(factor > 0 && factor <= kMaxHostTime))
    throw UserError(
        fmt::format("{} is {}; expected more than 0, up to {}", kHostTimeVariable, text, kMaxHostTime));
  return factor;
}

bool refuses_ptx_above() {
  const char* text = std::getenv(kPtxAboveVariable);
  const std::string_view choice = text == nullptr ? "take" : text;
  if (choice != "take" && choice != "refuse")
    throw UserError(fmt::format("{} is {}; expected take or refuse", kPtxAboveVariable, choice));
  return choice == "refuse";
}

/// Calls `take(entry)` for each entry of a list "A,B,C".
template <class Take>
void for_entries(std::string_view text, Take take) {
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    take(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
}

/// What stands before and after the first `sign`.
std::pair<std::string_view, std::string_view> halves(std::string_view text, char sign) {
  const std::size_t at = std::min(text.find(sign), text.size());
  return {text.substr(0, at), text.substr(std::min(at + 1, text.size()))};
}

/// "0-5,1-6"
std::set<std::pair<unsigned, unsigned>> parse_apart(std::string_view text) {
  std::set<std::pair<unsigned, unsigned>> pairs;
  for_entries(text, [&](std::string_view pair) {
    const auto [a, b] = halves(pair, '-');
    pairs.insert(std::minmax(number<unsigned>(kApartVariable, a), number<unsigned>(kApartVariable, b)));
  });
  return pairs;
}

/// "0-8*12,1-8*12"
std::vector<Links> parse_links(std::string_view text) {
  std::vector<Links> links;
  for_entries(text, [&](std::string_view entry) {
    const auto [ends, count] = halves(entry, '*');
    const auto [a, b] = halves(ends, '-');
    links.push_back({number<unsigned>(kLinksVariable, a), number<unsigned>(kLinksVariable, b),
                     number<unsigned>(kLinksVariable, count)});
  });
  return links;
}

}  // namespace

Machine read_machine() {
  const char* config = std::getenv(kConfigVariable);
  if (config == nullptr)
    throw UserError(std::string(kConfigVariable) +
                    " is not set: start the program with `lockstep exec -- PROGRAM`");
  Machine machine;
  machine.gpu = config::resolve(config);
  if (const char* devices = std::getenv(kDevicesVariable)) {
    machine.devices = number<unsigned>(kDevicesVariable, devices);
    if (machine.devices == 0 || machine.devices > exec::kMaxDevices)
      throw UserError(
          fmt::format("{} is {}; expected 1 to {}", kDevicesVariable, devices, exec::kMaxDevices));
  }
  if (const char* apart = std::getenv(kApartVariable)) machine.apart = parse_apart(apart);
  if (const char* multicast = std::getenv(kMulticastVariable))
    machine.multicast = number<exec::DeviceSet>(kMulticastVariable, multicast);
  if (const char* links = std::getenv(kLinksVariable)) machine.links = parse_links(links);
  return machine;
}

Settings read_settings() {
  Settings settings;
  static_cast<Machine&>(settings) = read_machine();
  if (const char* threads = std::getenv(kThreadsVariable))
    settings.threads = number<unsigned>(kThreadsVariable, threads);
  if (const char* cycles = std::getenv(kMaxCyclesVariable))
    settings.max_cycles = number<std::uint64_t>(kMaxCyclesVariable, cycles);
  if (const char* checks = std::getenv(kChecksVariable)) {
    settings.checks = exec::parse_checks(checks);
    const char* folder = std::getenv(kFindingsVariable);
    if (folder == nullptr)
      throw UserError(std::string(kFindingsVariable) +
                      " is not set: start the program with `lockstep exec --check`");
    settings.findings = folder;
  }
  if (const char* operations = std::getenv(kInterleaveVariable))
    settings.interleave = number<std::uint32_t>(kInterleaveVariable, operations);
  settings.ptx_refuse = refuses_ptx_above();
  if (const char* instructions = std::getenv(kMaxInstructionsVariable))
    settings.max_instructions = number<std::uint64_t>(kMaxInstructionsVariable, instructions);
  if (const char* parent = std::getenv(kParentVariable)) end_with(number<pid_t>(kParentVariable, parent));
  const char* trace = std::getenv(kTraceVariable);
  settings.functional = trace == nullptr;
  if (trace != nullptr && !claim()) return settings;
  if (const char* page = std::getenv(kExecutionVariable))
    settings.execution = number<int>(kExecutionVariable, page);
  if (trace == nullptr) return settings;
  settings.trace = trace;
  if (const char* socket = std::getenv(kSocketVariable)) {
    settings.socket = number<int>(kSocketVariable, socket);
    if (fcntl(settings.socket, F_SETFD, FD_CLOEXEC) != 0)
      throw UserError(std::string(kSocketVariable) +
                      " is not an open file descriptor: start the program with `lockstep exec`");
  }
  settings.profile_from_start = profiles_from_start();
  settings.timestamps = std::getenv(kTimestampsVariable) != nullptr;
  if (const char* times = std::getenv(kEventTimesVariable)) settings.event_times = times;
  settings.host_time = host_time_factor();
  const char* listings = std::getenv(kListingVariable);
  settings.listings = listings != nullptr && *listings != '\0';
  return settings;
}

}  // namespace lockstep::cuda
