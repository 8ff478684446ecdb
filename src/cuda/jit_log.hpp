// The texts that compiling at run time leaves in buffers of the program (CUjit_option).
#pragma once

#include <cstddef>
#include <string_view>

namespace lockstep::cuda {

class JitLog {
 public:
  /// `count` options and their values, as functions of the driver API are given them; both must outlive this.
  JitLog(unsigned count, const int* options, void** values)
      : count_(options != nullptr && values != nullptr ? count : 0), options_(options), values_(values) {}

  /// Puts the text of the error, empty where there was none, into the buffer for errors and nothing into that
  /// for information: each with a null behind it, cut short where it is too small. Sizes become the number of
  /// characters, so this is called once.
  void write(std::string_view error) const;

 private:
  void write(int buffer_option, int size_option, std::string_view text) const;
  [[nodiscard]] void** value(int option) const;

  unsigned count_;
  const int* options_;
  void** values_;
};

}  // namespace lockstep::cuda
