// What the parts of the parser share while they read one module.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/forms.hpp"
#include "ptx/ir.hpp"
#include "ptx/lexer.hpp"

namespace lockstep::ptx {

/// A name used before its declaration. Until the module's end its symbol is {kVariable, kPending + index}.
struct PendingName {
  std::string_view name;
  Place at;
};
inline constexpr std::uint32_t kPending = std::uint32_t{1} << 31;

struct ParseState {
  ParseState(std::string_view text, std::string name) : lexer(text, std::move(name)) {}

  Lexer lexer;
  FormReader forms;
  Module module;
  std::unordered_map<std::string_view, Symbol> names;  // of the module
  std::vector<PendingName> pending;
  std::unordered_map<std::uint64_t, std::uint32_t> files;  // .file index -> Module::files
  std::uint64_t initial_bytes = 0;                         // of all initialisers

  /// The symbol of a module's name; a pending one when it is not declared yet.
  [[nodiscard]] Symbol symbol(std::string_view name, Place at) {
    const auto found = names.find(name);
    if (found != names.end()) return found->second;
    pending.push_back({name, at});
    return {SymbolKind::kVariable, kPending + static_cast<std::uint32_t>(pending.size() - 1)};
  }
  /// Position in Module::files of the file that .file and .loc call `index`.
  [[nodiscard]] std::uint32_t file(std::uint64_t index) {
    const auto [at, is_new] = files.try_emplace(index, static_cast<std::uint32_t>(module.files.size()));
    if (is_new) module.files.emplace_back();
    return at->second;
  }
};

/// Replaces the pending symbols of the whole module; a name that was never declared fails.
void resolve_pending(ParseState& state);

}  // namespace lockstep::ptx
