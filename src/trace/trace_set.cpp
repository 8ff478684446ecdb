// open_trace: from a path to a checked set of kernels.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

#include "trace/byte_source.hpp"
#include "trace/compact_blocks.hpp"
#include "trace/compact_feed.hpp"
#include "trace/content_hash.hpp"
#include "trace/kernel_header.hpp"
#include "trace/kernel_list.hpp"
#include "trace/kernel_trace.hpp"
#include "trace/text_feed.hpp"
#include "trace/text_scan.hpp"
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

class TextTraceSet final : public TraceSet {
 public:
  TextTraceSet(const std::string& path, const OpenOptions& options)
      : name_(own_name(path)), options_(options) {
    fs::path file = path;
    std::error_code error;
    if (fs::is_directory(file, error)) {
      file = list_in(file);
    } else {
      file = existing_twin(file);
    }
    require_readable_file(file.string());
    if (is_kernel_file(file.string())) {
      commands_.push_back({});
      files_.push_back(file.string());
    } else {
      open_list(file);
    }
    for (const std::string& kernel : files_) {
      TextStream stream(open_text(kernel), kernel);
      kernels_.push_back(read_header(stream).header);
    }
  }

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::vector<Command>& commands() const override { return commands_; }
  [[nodiscard]] const std::vector<KernelHeader>& kernels() const override { return kernels_; }
  [[nodiscard]] std::unique_ptr<CtaFeed> open(std::uint32_t index) const override {
    const std::string& file = files_.at(index);
    FeedOptions options;
    options.strict = options_.strict;
    return open_kernel_text(open_text(file), file, options,
                            index == 0 ? remarks_ : std::vector<std::string>{});
  }
  [[nodiscard]] std::uint64_t content_hash() const override {
    const std::lock_guard lock(hash_mutex_);
    if (!hash_) hash_ = compute_hash();
    return *hash_;
  }

 private:
  void open_list(const fs::path& list) {
    list_ = list.string();
    KernelList parsed = read_kernel_list(TextStream(open_text(list_), list_));
    commands_ = std::move(parsed.commands);
    remarks_ = std::move(parsed.remarks);
    for (std::size_t i = 0; i < parsed.files.size(); ++i) {
      const std::string file = existing_twin(list.parent_path() / parsed.files[i]).string();
      try {
        require_readable_file(file);
      } catch (const InputError& error) {
        throw InputError(list_, parsed.lines[i],
                         fmt::format("kernel {}: {}", shown(parsed.files[i]), error.what()));
      }
      files_.push_back(file);
    }
  }

  [[nodiscard]] std::uint64_t compute_hash() const {
    std::map<std::string, std::uint64_t> known;  // a list may name a file more than once
    ContentHash hash;
    const auto add = [&](const std::string& file) {
      const auto [entry, is_new] = known.try_emplace(file, 0);
      if (is_new) entry->second = hash_file(file);
      char bytes[8];
      for (unsigned i = 0; i < 8; ++i) bytes[i] = static_cast<char>(entry->second >> (8 * i) & 0xff);
      hash.update(bytes, sizeof bytes);
    };
    if (!list_.empty()) add(list_);
    for (const std::string& file : files_) add(file);
    return hash.value();
  }

  std::string name_;
  OpenOptions options_;
  std::string list_;  // empty when a single kernel was named
  std::vector<std::string> files_;
  std::vector<Command> commands_;
  std::vector<KernelHeader> kernels_;
  std::vector<std::string> remarks_;
  mutable std::mutex hash_mutex_;
  mutable std::optional<std::uint64_t> hash_;
};

}  // namespace

std::unique_ptr<TraceSet> open_trace(const std::string& path, const OpenOptions& options) {
  if (is_compact(path)) return open_compact(path, options);
  return std::make_unique<TextTraceSet>(path, options);
}

}  // namespace lockstep::trace
