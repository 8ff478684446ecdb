// What the tests of PTX share: short sources, comparison of modules, example files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/ir.hpp"

namespace lockstep::ptx {

/// A module of sm_90 with these declarations.
std::string module_text(std::string_view declarations);
/// A kernel k with registers %r<100> (.b32), %d<100> (.b64), %f<100> (.f32), %h<100> (.b16), %q<10> (.b128),
/// %p<100> (.pred), a parameter `arg` (.u64) and these statements.
std::string kernel_text(std::string_view statements);

/// The function k of kernel_text().
Function parse_kernel(std::string_view statements);
/// The one instruction of a kernel.
Instruction parse_one(std::string_view statement);
/// The operand that this text is.
inline Operand immediate(const std::string& text) {
  return parse_one("mov.b64 %d1, " + text + ";").operands.at(1);
}

/// An instruction of forms.inc or forms_rare.inc, with operands.
struct FormSample {
  std::string_view form, operands;
};

/// What the reader says of this file, "bad.ptx"; "no error" where it takes it.
std::string parse_message(const std::string& text);

/// Everything but places in the text. Gives what differs first, or "".
std::string difference(const Module& a, const Module& b);

/// PTX that nvcc made of our own CUDA sources: tests/ptx/data/*.ptx and examples/ptx/*.ptx.
std::vector<std::filesystem::path> sample_files();
std::string read_text(const std::filesystem::path& path);

}  // namespace lockstep::ptx
