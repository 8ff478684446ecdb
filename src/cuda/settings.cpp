#include "cuda/settings.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

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
    throw UserError(std::string(variable) + " is no number: start the program with `lockstep exec`");
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

/// "0-5,1-6"
std::set<std::pair<unsigned, unsigned>> parse_apart(std::string_view text) {
  std::set<std::pair<unsigned, unsigned>> pairs;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view pair = text.substr(0, comma);
    const std::size_t dash = std::min(pair.find('-'), pair.size());
    const auto first = number<unsigned>(kApartVariable, std::string(pair.substr(0, dash)).c_str());
    const auto second =
        number<unsigned>(kApartVariable, std::string(pair.substr(std::min(dash + 1, pair.size()))).c_str());
    pairs.insert(std::minmax(first, second));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return pairs;
}

}  // namespace

Settings read_settings() {
  const char* config = std::getenv(kConfigVariable);
  if (config == nullptr)
    throw UserError(std::string(kConfigVariable) +
                    " is not set: start the program with `lockstep exec -- PROGRAM`");
  Settings settings;
  settings.gpu = config::resolve(config);
  if (const char* threads = std::getenv(kThreadsVariable))
    settings.threads = number<unsigned>(kThreadsVariable, threads);
  if (const char* devices = std::getenv(kDevicesVariable)) {
    settings.devices = number<unsigned>(kDevicesVariable, devices);
    if (settings.devices == 0 || settings.devices > exec::kMostDevices)
      throw UserError(
          fmt::format("{} is {}; expected 1 to {}", kDevicesVariable, devices, exec::kMostDevices));
  }
  if (const char* apart = std::getenv(kApartVariable)) settings.apart = parse_apart(apart);
  if (const char* multicast = std::getenv(kMulticastVariable))
    settings.multicast = number<std::uint32_t>(kMulticastVariable, multicast);
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
                      " is no open file descriptor: start the program with `lockstep exec`");
  }
  const char* listings = std::getenv(kListingVariable);
  settings.listings = listings != nullptr && *listings != '\0';
  return settings;
}

}  // namespace lockstep::cuda
