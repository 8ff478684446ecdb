#include "cuda/preload/runtime_archives.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>

namespace lockstep::cuda {
namespace {

constexpr std::string_view kArchive = "libcudart_static.a";

// Both until the very end of the process, and not before they are used: nothing is initialised so early.
std::vector<std::string>& paths() {
  static auto& all = *new std::vector<std::string>;
  return all;
}

void add_toolkit(std::string_view folder) {
  for (const char* libraries : {"/lib64/", "/lib/", "/targets/x86_64-linux/lib/"})
    paths().push_back(std::string(folder) + libraries + std::string(kArchive));
}

/// /usr/local/cuda-12.4 and the like, the newest name first.
void add_installed_toolkits() {
  std::vector<std::string> found;
  if (DIR* const folder = opendir("/usr/local")) {
    while (const dirent* const entry = readdir(folder))
      if (std::string_view(entry->d_name).starts_with("cuda")) found.push_back(entry->d_name);
    closedir(folder);
  }
  std::ranges::sort(found, std::ranges::greater());
  for (const std::string& name : found) add_toolkit("/usr/local/" + name);
  paths().push_back("/usr/lib/x86_64-linux-gnu/" + std::string(kArchive));  // Debian's package
}

void read_archive(const std::string& path, std::vector<ArchivedCode>& to) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  struct stat status {};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto bytes = static_cast<std::size_t>(status.st_size);
    void* const at = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (at != MAP_FAILED) {
      std::ranges::move(read_runtime_archive({static_cast<const char*>(at), bytes}), std::back_inserter(to));
      munmap(at, bytes);
    }
  }
  close(file);
}

}  // namespace

void set_runtime_archives(const char* const* environment) {
  const auto value_of = [&](std::string_view name) -> std::string_view {
    for (const char* const* entry = environment; *entry != nullptr; ++entry) {
      const std::string_view text(*entry);
      if (text.starts_with(name) && text.size() > name.size() && text[name.size()] == '=')
        return text.substr(name.size() + 1);
    }
    return {};
  };
  for (std::string_view rest = value_of(kArchivesVariable); !rest.empty();) {
    const std::string_view path = rest.substr(0, rest.find(':'));
    paths().emplace_back(path);
    rest.remove_prefix(std::min(path.size() + 1, rest.size()));
  }
  for (const char* const name : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string_view folder = value_of(name); !folder.empty()) add_toolkit(folder);
  add_installed_toolkits();
}

const std::vector<ArchivedCode>& runtime_archives() {
  static const std::vector<ArchivedCode>* all = nullptr;
  if (all == nullptr) {
    auto& found = *new std::vector<ArchivedCode>;
    for (const std::string& path : paths()) read_archive(path, found);
    all = &found;
  }
  return *all;
}

}  // namespace lockstep::cuda
