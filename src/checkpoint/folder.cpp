#include "checkpoint/folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "util/error.hpp"
#include "util/output_file.hpp"

namespace lockstep::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBegin = "kernels-", kEnd = ".checkpoint";
constexpr std::size_t kKept = 2;

bool is_checkpoint(const std::string& name) {
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd) || name.size() <= kBegin.size() + kEnd.size())
    return false;
  const std::string number = name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
  return std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string content_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in || in.bad()) throw UserError(file + ": cannot be read");
  return bytes;
}

void remove_but(const std::string& folder, std::size_t kept) {
  const std::vector<std::string> all = list(folder);
  std::error_code ignored;  // one too many does no harm
  for (std::size_t i = kept; i < all.size(); ++i) fs::remove(all[i], ignored);
}

}  // namespace

std::vector<std::string> list(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  if (!fs::exists(folder, error)) return names;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (const std::string name = at->path().filename().string(); is_checkpoint(name)) names.push_back(name);
  if (error) throw UserError(fmt::format("{}: cannot be read: {}", folder, error.message()));
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a > b;
  });
  for (std::string& name : names) name = (fs::path(folder) / name).string();
  return names;
}

Found read(const std::string& place) {
  std::string file = place;
  std::error_code error;
  if (fs::is_directory(place, error)) {
    const std::vector<std::string> all = list(place);
    if (all.empty()) throw UserError(fmt::format("{}: has no checkpoint", place));
    file = all.front();
  } else if (!fs::exists(place, error)) {
    throw UserError(
        fmt::format("{}: is not there; expected a folder with checkpoints, or one of these", place));
  }
  Checkpoint checkpoint = decode(content_of(file), file);
  return {std::move(file), std::move(checkpoint)};
}

void prepare(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail_output(folder, "cannot be made", error.value());
  (void)OutputFile((fs::path(folder) / kBegin).string());  // is gone with the object
}

void add(const std::string& folder, const Checkpoint& checkpoint) {
  OutputFile file((fs::path(folder) / fmt::format("{}{:012}{}", kBegin, checkpoint.kernels, kEnd)).string());
  file.append(encode(checkpoint));
  file.commit(OutputFile::Sync::kName);
  remove_but(folder, kKept);
}

void clear(const std::string& folder) { remove_but(folder, 0); }

}  // namespace lockstep::checkpoint
