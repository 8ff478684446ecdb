#include "cuda/settings.hpp"

#include <fcntl.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "config/config.hpp"
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

}  // namespace

Settings read_settings() {
  const char* config = std::getenv(kConfigVariable);
  if (config == nullptr)
    throw UserError(std::string(kConfigVariable) +
                    " is not set: start the program with `lockstep exec -- PROGRAM`");
  Settings settings;
  settings.gpu = config::resolve(config);
  if (const char* trace = std::getenv(kTraceVariable)) settings.trace = trace;
  if (const char* socket = std::getenv(kSocketVariable)) {
    settings.socket = number<int>(kSocketVariable, socket);
    if (fcntl(settings.socket, F_SETFD, FD_CLOEXEC) != 0)
      throw UserError(std::string(kSocketVariable) +
                      " is no open file descriptor: start the program with `lockstep exec`");
  }
  if (const char* cycles = std::getenv(kMaxCyclesVariable))
    settings.max_cycles = number<std::uint64_t>(kMaxCyclesVariable, cycles);
  return settings;
}

}  // namespace lockstep::cuda
