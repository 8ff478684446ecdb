// Files that are either whole or not there.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lockstep::stats {

/// Makes the folder and those above it. Throws UserError, as OutputFile does.
void make_folder(const std::string& directory);

/// As OutputFile, synced to the disk: whatever happens, `path` is the old file or the new one. Throws
/// UserError naming the file.
void write_file(const std::string& path, std::string_view content);

struct NamedContent {
  std::string name, content;
};
/// Each as write_file() in `directory`, in this order; but waits for the disk's folder only once.
void write_files(const std::string& directory, std::span<const NamedContent> files);

/// Nothing when there is no such file. Throws UserError otherwise.
void remove_file(const std::string& path);

/// The whole file. Throws UserError.
[[nodiscard]] std::string read_file(const std::string& path);

}  // namespace lockstep::stats
