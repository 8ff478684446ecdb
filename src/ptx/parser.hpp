// PTX text -> Module.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "ptx/ir.hpp"
#include "util/error.hpp"

namespace lockstep::ptx {

/// Bad PTX. `what()` reads "FILE:LINE: column COLUMN: MESSAGE"; the message names the token and what was
/// expected.
class ParseError : public InputError {
 public:
  ParseError(std::string file, Place at, const std::string& message)
      : InputError(std::move(file), at.line, "column " + std::to_string(at.column) + ": " + message),
        at_(at) {}
  [[nodiscard]] Place place() const { return at_; }

 private:
  Place at_;
};

/// Parses PTX ISA 6.0 to 9.x. `name` stands for the file in messages. A zero byte ends the text (as in
/// fatbins). Throws ParseError. Time and memory are linear in the text's length, apart from initialisers (at
/// most 256 MiB).
[[nodiscard]] Module parse(std::string_view text, std::string name);

/// Reads and parses a file; throws InputError when it cannot be read.
[[nodiscard]] Module parse_file(const std::filesystem::path& path);

}  // namespace lockstep::ptx
