// The results of a study on the disk: a folder for each run, named by what the run depends on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lockstep::study {

enum class State : std::uint8_t {
  kMissing,   // never run, or interrupted: it is to be run
  kRunning,   // by another process
  kComplete,  // as far as its options let it come
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
  /// nullopt: another process has it. Throws UserError.
  [[nodiscard]] static std::optional<RunLock> take(const std::string& folder);
  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&& other) noexcept;
  ~RunLock();
  /// For a child to inherit.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  explicit RunLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

/// FOLDER/runs/KEY: the result folder of a run, with `log` (what it printed), `identity.txt` (what the key
/// stands for), where it failed `failure.json`, and where it was interrupted `checkpoints/`.
class RunStore {
 public:
  explicit RunStore(std::string folder) : folder_(std::move(folder)) {}

  [[nodiscard]] std::string folder_of(const std::string& key) const { return folder_ + "/runs/" + key; }
  /// Results that cannot be read count as missing: they are made again.
  [[nodiscard]] Stored lookup(const std::string& key) const;
  /// Precondition: the caller holds the lock.
  [[nodiscard]] Stored lookup_unlocked(const std::string& key) const;
  /// Before a run: its folder, without an earlier failure. Throws UserError.
  void prepare(const std::string& key, const std::string& identity) const;
  /// Throws UserError.
  void fail(const std::string& key, const std::string& error) const;
  /// Has an interrupted run left a state to resume from?
  [[nodiscard]] bool has_checkpoint(const std::string& key) const;
  /// Deletes results, checkpoints and failure.
  void forget(const std::string& key) const;

 private:
  std::string folder_;
};

/// Where the run of this result folder keeps its state.
[[nodiscard]] std::string checkpoints_of(const std::string& run_folder);

/// 16 hexadecimal digits of the text's hash.
[[nodiscard]] std::string key_of(const std::string& identity);

}  // namespace lockstep::study
