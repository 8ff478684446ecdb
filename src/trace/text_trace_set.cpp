#include "trace/text_trace_set.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <string_view>

#include "trace/byte_source.hpp"
#include "trace/content_hash.hpp"
#include "trace/kernel_header.hpp"
#include "trace/moved_addresses.hpp"
#include "trace/text_feed.hpp"
#include "trace/text_scan.hpp"
#include "trace/tracez.hpp"
#include "util/error.hpp"

namespace lockstep::trace {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCompressed[] = {".xz", ".gz", ".zst"};

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

/// `path` itself, else its twin with or without a compression suffix.
fs::path existing_twin(const fs::path& path) {
  if (is_there(path)) return path;
  for (const std::string_view suffix : kCompressed) {
    const std::string name = path.string();
    if (is_there(name + std::string(suffix))) return name + std::string(suffix);
    if (name.ends_with(suffix) && is_there(name.substr(0, name.size() - suffix.size()))) {
      return name.substr(0, name.size() - suffix.size());
    }
  }
  return path;
}

fs::path list_in(const fs::path& folder) {
  for (const char* name : {"kernelslist.g", "kernelslist"}) {
    if (fs::path list = existing_twin(folder / name); is_there(list)) return list;
  }
  const bool below = is_there(folder / "traces" / "kernelslist.g");
  throw InputError(folder.string(), 0,
                   fmt::format("the folder has no kernelslist.g and no kernelslist{}",
                               below ? "; its subfolder 'traces' has one" : "; expected one of them"));
}

/// Kernel files begin with "-key = value" lines; everything else is read as a list.
bool is_kernel_file(const std::string& path) {
  TextStream stream(open_text(path), path);
  std::string_view line;
  while (stream.line(line)) {
    const char* p = skip_blanks(line.data());
    if (*p == '\n') continue;
    if (starts_with(p, "#BEGIN_TB") || starts_with(p, "#traces format")) return true;
    if (*p != '#') return *p == '-';
  }
  throw InputError(path, 0, "the file is empty; expected a kernel list or a kernel trace");
}

std::string own_name(const fs::path& path) {
  fs::path name = path.filename();
  if (name.empty() || name == "." || name == "..") {
    std::error_code error;
    const fs::path whole = fs::weakly_canonical(path, error);
    name = whole.has_filename() ? whole.filename() : whole.parent_path().filename();
  }
  return name.string();
}

}  // namespace

TextTraceSet::TextTraceSet(const std::string& path, const OpenOptions& options, const ListOptions& list)
    : name_(own_name(path)), options_(options), region_(list.device ? device_region(*list.device) : 0) {
  fs::path file = path;
  std::error_code error;
  file = fs::is_directory(file, error) ? list_in(file) : existing_twin(file);
  require_readable_file(file.string());
  if (is_tracez(file.string()) || is_kernel_file(file.string())) {
    commands_.push_back({});
    commands_.back().device = list.device.value_or(0);
    files_.push_back(file.string());
  } else {
    open_list(file.string(), list);
  }
  for (const std::string& kernel : files_) {
    tracez_.push_back(is_tracez(kernel));
    if (tracez_.back()) {
      kernels_.push_back(read_tracez_header(kernel).header);
    } else {
      TextStream stream(open_text(kernel), kernel);
      kernels_.push_back(read_header(stream).header);
    }
  }
}

std::unique_ptr<CtaFeed> TextTraceSet::open(std::uint32_t index) const {
  const std::string& file = files_.at(index);
  FeedOptions options;
  options.strict = options_.strict;
  options.region = region_;
  const std::vector<std::string> remarks = index == 0 ? remarks_ : std::vector<std::string>{};
  if (tracez_[index]) return open_tracez(file, options, remarks);
  return open_kernel_text(open_text(file), file, options, remarks);
}

std::uint64_t TextTraceSet::content_hash() const {
  const std::lock_guard lock(hash_mutex_);
  if (!hash_) hash_ = compute_hash();
  return *hash_;
}

void TextTraceSet::open_list(const std::string& list, const ListOptions& options) {
  list_ = list;
  KernelList parsed = read_kernel_list(TextStream(open_text(list_), list_), options);
  commands_ = std::move(parsed.commands);
  remarks_ = std::move(parsed.remarks);
  foreign_ = std::move(parsed.foreign);
  for (std::size_t i = 0; i < parsed.files.size(); ++i) {
    const std::string file = existing_twin(fs::path(list).parent_path() / parsed.files[i]).string();
    try {
      require_readable_file(file);
    } catch (const InputError& error) {
      throw InputError(list_, parsed.lines[i],
                       fmt::format("kernel {}: {}", shown(parsed.files[i]), error.what()));
    }
    files_.push_back(file);
  }
}

std::uint64_t TextTraceSet::compute_hash() const {
  std::map<std::string, std::uint64_t> known;  // a list may name a file more than once
  ContentHash hash;
  const auto add = [&](const std::string& file) {
    const auto [entry, is_new] = known.try_emplace(file, 0);
    if (is_new) entry->second = hash_file(file);
    hash.update(entry->second);
  };
  if (!list_.empty()) add(list_);
  for (const std::string& file : files_) add(file);
  return hash.value();
}

}  // namespace lockstep::trace
