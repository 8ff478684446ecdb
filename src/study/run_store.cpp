#include "study/run_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "checkpoint/folder.hpp"
#include "stats/files.hpp"
#include "stats/stored_run.hpp"
#include "stats/text.hpp"
#include "trace/content_hash.hpp"
#include "util/error.hpp"

namespace lockstep::study {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* kFailure = "/failure.json";
constexpr const char* kLock = "/lock";

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::string read_failure(const std::string& file) {
  try {
    const Json root = Json::parse(stats::read_file(file), nullptr, false);
    if (root.is_object() && root.contains("error") && root["error"].is_string())
      return stats::printable(root["error"].get<std::string>());
  } catch (const UserError&) {
  }
  return "failed; its failure.json cannot be read";
}

/// A run that a limit of its own options has ended is as complete as it will ever be.
bool is_complete(const std::string& folder) {
  if (!exists(folder + "/stats.json")) return false;
  try {
    const Json root = stats::read_stats(folder);
    const auto partial = root.find("partial"), reason = root.find("partial_reason");
    if (partial == root.end() || !partial->is_boolean()) return false;
    if (!partial->get<bool>()) return true;
    return reason != root.end() && reason->is_string() && reason->get<std::string>().starts_with("max-");
  } catch (const UserError&) {
    return false;
  }
}

/// The whole file, for writing. It belongs to the open file, which children inherit, and not to a process.
struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

/// Takes no lock, so that looking does not keep another process from starting the run.
bool is_locked(const std::string& folder) {
  const int fd = ::open((folder + kLock).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  struct flock lock = whole_file();
  const bool locked = ::fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  ::close(fd);
  return locked;
}

}  // namespace

const char* name_of(State state) {
  constexpr const char* kNames[] = {"missing", "running", "complete", "failed"};
  return kNames[static_cast<std::size_t>(state)];
}

std::optional<RunLock> RunLock::take(const std::string& folder) {
  const std::string file = folder + kLock;
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) throw UserError(fmt::format("{}: cannot be made: {}", file, std::strerror(errno)));
  struct flock lock = whole_file();
  if (::fcntl(fd, F_OFD_SETLK, &lock) == 0) return RunLock(fd);
  const int error = errno;
  ::close(fd);
  if (error == EAGAIN || error == EACCES) return std::nullopt;
  throw UserError(fmt::format("{}: cannot be locked: {}", file, std::strerror(error)));
}

RunLock::RunLock(RunLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

RunLock::~RunLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Stored RunStore::lookup(const std::string& key) const {
  return is_locked(folder_of(key)) ? Stored{State::kRunning, ""} : lookup_unlocked(key);
}

Stored RunStore::lookup_unlocked(const std::string& key) const {
  const std::string folder = folder_of(key);
  if (exists(folder + kFailure)) return {State::kFailed, read_failure(folder + kFailure)};
  return {is_complete(folder) ? State::kComplete : State::kMissing, ""};
}

void RunStore::prepare(const std::string& key, const std::string& identity) const {
  stats::remove_file(folder_of(key) + kFailure);
  stats::write_file(folder_of(key) + "/identity.txt", identity);
}

void RunStore::fail(const std::string& key, const std::string& error) const {
  stats::write_file(folder_of(key) + kFailure,
                    Json{{"error", error}}.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void RunStore::forget(const std::string& key) const {
  for (const char* file : {kFailure, "/stats.json"}) stats::remove_file(folder_of(key) + file);
  checkpoint::clear(checkpoints_of(folder_of(key)));
}

bool RunStore::has_checkpoint(const std::string& key) const {
  return !checkpoint::list(checkpoints_of(folder_of(key))).empty();
}

std::string checkpoints_of(const std::string& run_folder) { return run_folder + "/checkpoints"; }

std::string key_of(const std::string& identity) {
  trace::ContentHash hash;
  hash.update(identity.data(), identity.size());
  return stats::hex16(hash.value());
}

}  // namespace lockstep::study
