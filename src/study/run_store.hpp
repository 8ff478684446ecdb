// The results of a study on disk: a folder for each run, named by a hash of what the run depends on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lockstep::study {

enum class State : std::uint8_t {
  kMissing,   // never run, or interrupted: still to be run
  kRunning,   // by another process
  kComplete,  // as far as its options allow
  kFailed,    // it was run and failed
};
[[nodiscard]] const char* name_of(State state);

struct Stored {
  State state = State::kMissing;
  std::string error;  // of a failed run: one line
};

/// Held while a run is executed, in any process; the system releases it when all its holders have ended.
class RunLock {
 public:
  /// nullopt if another process has it. Throws UserError.
  [[nodiscard]] static std::optional<RunLock> take(const std::string& folder);
  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&& other) noexcept;
  ~RunLock();
  /// For a child process to inherit.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  explicit RunLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

/// FOLDER/runs/KEY: the result folder of a run, with `log` (what it printed), `identity.txt` (what the key
/// stands for), if it failed `failure.json`, and if it was interrupted `checkpoints/`.
class RunStore {
 public:
  explicit RunStore(std::string folder) : folder_(std::move(folder)) {}

  [[nodiscard]] std::string folder_of(const std::string& key) const { return folder_ + "/runs/" + key; }
  /// Results that cannot be read count as missing: the run is repeated.
  [[nodiscard]] Stored lookup(const std::string& key) const;
  /// Precondition: the caller holds the lock.
  [[nodiscard]] Stored lookup_unlocked(const std::string& key) const;
  /// Before a run, in its folder: says what it is and removes the record of an earlier failure. Throws
  /// UserError.
  void prepare(const std::string& key, const std::string& identity) const;
  /// Throws UserError.
  void fail(const std::string& key, const std::string& error) const;
  /// Whether an interrupted run has left a checkpoint to resume from.
  [[nodiscard]] bool has_checkpoint(const std::string& key) const;
  /// Deletes results, checkpoints and failure.
  void forget(const std::string& key) const;

 private:
  std::string folder_;
};

/// Where the run with this result folder keeps its checkpoints.
[[nodiscard]] std::string checkpoints_of(const std::string& run_folder);

/// 16 hexadecimal digits of the text's hash.
[[nodiscard]] std::string key_of(const std::string& identity);

}  // namespace lockstep::study
