#include "ranks/mpi_group.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "ranks/mpi/module.hpp"
#include "util/error.hpp"

extern char** environ;

namespace lockstep::ranks {
namespace {

// Launchers pass a process its rank in one of the former variables, and the number of processes in one of the
// latter.
constexpr std::array kRankNames{"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
constexpr std::array kSizeNames{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
constexpr std::array<std::string_view, 4> kStarter{"OMPI_", "PMIX_", "PMI_", "ORTE_"};

bool is_started() {
  for (const char* name : kRankNames)
    if (std::getenv(name) != nullptr) return true;
  return false;
}

/// As the environment says; 0: it does not.
unsigned told_size() {
  for (const char* name : kSizeNames) {
    const char* text = std::getenv(name);
    if (text == nullptr) continue;
    unsigned size = 0;
    std::from_chars(text, text + std::strlen(text), size);
    return size;
  }
  return 0;
}

/// A program that this process starts must not take itself for a rank.
void forget_starter() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    for (const std::string_view prefix : kStarter)
      if (text.starts_with(prefix)) names.emplace_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names) unsetenv(name.c_str());
}

const LockstepMpi& load(std::span<const std::filesystem::path> folders) {
  std::string why = "it was built without MPI";
  for (const std::filesystem::path& folder : folders) {
    const std::string file = (folder / kMpiModule).string();
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) {
      if (const std::string text = dlerror(); text.find("No such file") == std::string::npos) why = text;
      continue;
    }
    using Entry = const LockstepMpi* (*)();
    const auto entry = reinterpret_cast<Entry>(dlsym(library, "lockstep_mpi"));
    if (entry != nullptr && entry()->version == kMpiVersion) return *entry();
    why = file + " is of another version of the program";
  }
  throw UserError("started as one of several processes (mpirun, srun), and cannot be one: " + why);
}

class MpiGroup final : public Group {
 public:
  MpiGroup(const LockstepMpi& mpi, int rank, int size)
      : mpi_(&mpi), rank_(static_cast<unsigned>(rank)), size_(static_cast<unsigned>(size)) {}
  ~MpiGroup() override {
    if (!lost_) (void)mpi_->finish();
  }
  [[nodiscard]] unsigned rank() const override { return rank_; }
  [[nodiscard]] unsigned size() const override { return size_; }

 private:
  static constexpr std::size_t kNotice = 4;  // words of a notice

  static int wait(void* group) {
    auto* self = static_cast<MpiGroup*>(group);
    return self->must_give_up() ? 1 : 0;
  }
  void check(const char* why) {
    if (why == nullptr) return;
    lost_ = true;
    if (why == mpi_->given_up) throw Failed("other ranks do not reply", kInterruptedCode);
    throw Failed(fmt::format("MPI: {}", why), kInternalCode);
  }
  /// The block of a rank: its notice, and the bytes of its message to each rank.
  void carry(const Notice& notice, std::span<const std::string> messages, Gathered& gathered) override {
    if (lost_) throw Failed("other ranks do not reply", kInterruptedCode);
    const std::size_t words = kNotice + size_;
    std::vector<std::uint64_t> mine{static_cast<std::uint64_t>(notice.topic), notice.time, notice.flags,
                                    notice.work_ns};
    for (const std::string& message : messages) mine.push_back(message.size());
    std::vector<std::uint64_t> all(words * size_);
    check(mpi_->all_gather(mine.data(), words * sizeof mine[0], all.data(), wait, this));
    std::vector<std::size_t> out_bytes(size_), in_bytes(size_);
    std::vector<const char*> out(size_);
    std::vector<char*> in(size_);
    for (unsigned r = 0; r < size_; ++r) {
      const std::uint64_t* block = &all[r * words];
      gathered.notices[r] = {static_cast<Topic>(block[0]), block[1], block[2], block[3]};
      gathered.messages[r].resize(block[kNotice + rank_]);
      out[r] = messages[r].data();
      out_bytes[r] = messages[r].size();
      in[r] = gathered.messages[r].data();
      in_bytes[r] = gathered.messages[r].size();
    }
    check(mpi_->messages(out.data(), out_bytes.data(), in.data(), in_bytes.data(), wait, this));
  }

  static constexpr int kInterruptedCode = 130, kInternalCode = 70;
  const LockstepMpi* mpi_;
  unsigned rank_, size_;
  bool lost_ = false;  // MPI is of no use any more
};

}  // namespace

std::unique_ptr<Group> join_mpi(std::span<const std::filesystem::path> folders) {
  if (!is_started() || told_size() == 1) return nullptr;
  const LockstepMpi& mpi = load(folders);
  int rank = 0, size = 1;
  if (const char* why = mpi.start(&rank, &size)) throw UserError(fmt::format("MPI: {}", why));
  forget_starter();
  auto group = std::make_unique<MpiGroup>(mpi, rank, size);
  return size > 1 ? std::unique_ptr<Group>(std::move(group)) : nullptr;
}

}  // namespace lockstep::ranks
