// Errors that the user can correct. Everything the user gave us (files, options, configuration) is reported
// through these; programming errors use assert or std::logic_error.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace lockstep {

/// Bad usage or bad input: the program prints `what()` as its one error line and exits with code 2.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Output that is lost because the system cannot take it, such as on a full disk: the program prints `what()`
/// and exits with code 4.
class OutputError : public UserError {
 public:
  using UserError::UserError;
};

/// Bad content of a file. `what()` reads "FILE:LINE: MESSAGE", or "FILE: MESSAGE" where line is 0.
/// MESSAGE says what was found and what was expected.
class InputError : public UserError {
 public:
  InputError(std::string file, std::uint64_t line, const std::string& message)
      : UserError(line ? file + ":" + std::to_string(line) + ": " + message : file + ": " + message),
        file_(std::move(file)),
        line_(line) {}
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::uint64_t line() const { return line_; }

 private:
  std::string file_;
  std::uint64_t line_;
};

}  // namespace lockstep
