#include "tests/ptx/support.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "paths.hpp"
#include "ptx/parser.hpp"

namespace lockstep::ptx {
namespace {

bool same(const Variable& a, const Variable& b) {
  return a.name == b.name && a.linkage == b.linkage && a.space == b.space && a.type == b.type &&
         a.vector == b.vector && a.managed == b.managed && a.unified == b.unified && a.unsized == b.unsized &&
         a.align == b.align && a.dims == b.dims && a.size == b.size && a.initial == b.initial &&
         a.relocations == b.relocations;
}

bool same(const Instruction& a, const Instruction& b) {
  return a.form == b.form && a.guard == b.guard && a.operands == b.operands && a.source == b.source;
}

template <class T>
bool same_list(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return same(x, y); });
}

std::string difference(const Function& a, const Function& b) {
  if (a.name != b.name || a.linkage != b.linkage || a.entry != b.entry || a.has_body != b.has_body ||
      a.unified != b.unified)
    return "header";
  if (a.results != b.results || a.parameters != b.parameters) return "parameters";
  if (a.registers != b.registers) return "registers";
  if (!same_list(a.variables, b.variables)) return "variables";
  if (a.labels != b.labels || a.branch_tables != b.branch_tables || a.call_tables != b.call_tables)
    return "labels";
  if (a.prototypes != b.prototypes) return "prototypes";
  if (a.directives != b.directives) return "directives";
  if (a.callers != b.callers) return "callers";
  return same_list(a.instructions, b.instructions) ? "" : "instructions";
}

}  // namespace

std::string module_text(std::string_view declarations) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n" + std::string(declarations);
}

std::string kernel_text(std::string_view statements) {
  return module_text(
      ".visible .entry k(.param .u64 arg) {\n.reg .b32 %r<100>; .reg .b64 %d<100>; .reg .f32 %f<100>;\n"
      ".reg .b16 %h<100>; .reg .b128 %q<10>; .reg .pred %p<100>;\n" +
      std::string(statements) + "\n}\n");
}

std::string parse_message(const std::string& text) {
  try {
    (void)parse(text, "bad.ptx");
  } catch (const ParseError& e) {
    return e.what();
  }
  return "no error";
}

Function parse_kernel(std::string_view statements) {
  return parse(kernel_text(statements), "test.ptx").functions.at(0);
}

Instruction parse_one(std::string_view statement) { return parse_kernel(statement).instructions.at(0); }

std::string difference(const Module& a, const Module& b) {
  if (a.major != b.major || a.minor != b.minor || a.target != b.target || a.options != b.options ||
      a.address_bits != b.address_bits || a.files != b.files || a.pragmas != b.pragmas)
    return "module header";
  if (!same_list(a.variables, b.variables)) return "variables";
  if (a.functions.size() != b.functions.size()) return "number of functions";
  for (std::size_t i = 0; i < a.functions.size(); ++i) {
    const std::string found = difference(a.functions[i], b.functions[i]);
    if (!found.empty()) return a.functions[i].name + ": " + found;
  }
  const bool aliases =
      std::equal(a.aliases.begin(), a.aliases.end(), b.aliases.begin(), b.aliases.end(),
                 [](const Alias& x, const Alias& y) { return x.name == y.name && x.target == y.target; });
  return aliases ? "" : "aliases";
}

std::vector<std::filesystem::path> sample_files() {
  std::vector<std::filesystem::path> files;
  for (const char* const folder :
       {LOCKSTEP_SOURCE_DIR "/tests/ptx/data", LOCKSTEP_SOURCE_DIR "/examples/ptx"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".ptx") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string read_text(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace lockstep::ptx
