#include "stats/demangle.hpp"

#include <cxxabi.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <unordered_map>

namespace lockstep::stats {
namespace {

constexpr std::size_t kMaxText = std::size_t{64} << 10, kMaxName = std::size_t{16} << 10;
constexpr std::size_t kShort = 1024;  // longer names are demangled apart

std::string demangle_here(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  std::string result = status == 0 && text ? text.get() : "";
  if (result.size() > kMaxText) result.clear();
  return result;
}

/// Each reference ("S1_", "T_") may stand for all of the text before it, so the text can double with each.
bool may_explode(std::string_view name) {
  constexpr std::size_t kHarmless = 10;
  std::size_t references = 0;
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    const char next = name[i + 1];
    if (name[i] != 'S' && name[i] != 'T') continue;
    if (next == '_' || (next >= '0' && next <= '9') || (name[i] == 'S' && next >= 'A' && next <= 'Z'))
      ++references;
  }
  return references > kHarmless;
}

[[noreturn]] void demangle_in_child(const std::string& name, int out) {
  const rlimit one_second{1, 1}, no_core{0, 0};
  setrlimit(RLIMIT_CPU, &one_second);
  setrlimit(RLIMIT_CORE, &no_core);
  const std::string text = demangle_here(name);
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = write(out, text.data() + at, text.size() - at);
    if (n <= 0) _exit(1);
    at += static_cast<std::size_t>(n);
  }
  _exit(0);
}

/// A name of 200 characters can stand for gigabytes, and the demangler has no limit: a process of its own has
/// one of processor time. Names come from traces, which are not ours.
std::string demangle_apart(const std::string& name) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) demangle_in_child(name, ends[1]);
  close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t n = 0; child > 0 && ((n = read(ends[0], part, sizeof part)) > 0 || (n < 0 && errno == EINTR));)
    if (n > 0) text.append(part, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status == 0 ? text : std::string();
}

std::string demangle(const std::string& name) {
  if (!name.starts_with("_Z") || name.size() > kMaxName) return {};
  return name.size() > kShort || may_explode(name) ? demangle_apart(name) : demangle_here(name);
}

}  // namespace

const std::string& demangled(const std::string& name) {
  static std::unordered_map<std::string, std::string> known;
  const auto found = known.find(name);
  return found != known.end() ? found->second : known.emplace(name, demangle(name)).first->second;
}

}  // namespace lockstep::stats
