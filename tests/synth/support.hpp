// What the tests of the generator share.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "synth/synth.hpp"
#include "tests/temporary_folder.hpp"
#include "trace/byte_source.hpp"
#include "util/error.hpp"

namespace lockstep::synth {

using Options = std::map<std::string, std::string>;

using test::TemporaryFolder;

/// The text of a file, decompressed.
inline std::string text_of(const std::string& path) {
  const auto source = trace::open_text(path);
  std::string text(1 << 16, '\0');
  std::size_t size = 0;
  while (const std::size_t n = source->read(text.data() + size, text.size() - size)) {
    size += n;
    if (size == text.size()) text.resize(2 * size);
  }
  text.resize(size);
  return text;
}

/// What synthesize() complains about, or "".
inline std::string complaint(const std::string& kind, const Options& options) {
  TemporaryFolder folder;
  try {
    synthesize(kind, options, folder / "t");
  } catch (const UserError& e) {
    CHECK_FALSE(std::filesystem::exists(folder / "t"));  // checked before anything is written
    return e.what();
  }
  return "";
}

}  // namespace lockstep::synth
