// NVIDIA's static runtime without a symbol table: in a stripped program or library it is found by its code,
// which the archive that it was linked from (libcudart_static.a of the same toolkit) has with names.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::cuda {

/// The machine code of one object of an archive: the linker copies its section .text as a whole, and changes
/// only what relocations name.
class ArchivedCode {
 public:
  struct Function {
    std::string name;
    std::size_t offset = 0, bytes = 0;  // in the code
  };

  /// `object`: a relocatable x86-64 ELF file, which is copied. Nothing where it is none, or is damaged, or
  /// has no functions of the CUDA runtime.
  static std::optional<ArchivedCode> read(std::string_view object);

  /// Where it begins in `code`, that of a program; nothing where it is not there.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view code) const;
  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }

 private:
  using Range = std::pair<std::size_t, std::size_t>;  // begin, end

  void keep_fixed(std::vector<Range> changed);
  [[nodiscard]] bool matches(std::string_view at) const;

  std::string code_;
  std::vector<Range> fixed_;  // what the linker does not change, ascending
  Range longest_{0, 0};       // of these
  std::vector<Function> functions_;
};

/// The objects of an ar archive that hold a runtime; none where `archive` is no such file.
[[nodiscard]] std::vector<ArchivedCode> read_runtime_archive(std::string_view archive);

}  // namespace lockstep::cuda
