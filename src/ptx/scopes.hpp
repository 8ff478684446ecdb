// Names inside one function: nested { } scopes that shadow each other, and registers by declared ranges.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/ir.hpp"

namespace lockstep::ptx {

/// A map of names whose entries end with their scope; looking up costs the same at any depth.
template <class Value>
class ScopedMap {
 public:
  struct Entry {
    Value value{};
    std::uint32_t depth = 0;  // of the scope it was declared in
  };

  void open() { marks_.push_back(log_.size()); }
  void close() {
    for (; log_.size() > marks_.back(); log_.pop_back()) {
      auto& [name, before] = log_.back();
      if (before) {
        map_[name] = *before;
      } else {
        map_.erase(name);
      }
    }
    marks_.pop_back();
  }
  [[nodiscard]] std::uint32_t depth() const { return static_cast<std::uint32_t>(marks_.size()); }

  /// False when the innermost scope has the name already.
  bool declare(std::string_view name, Value value) {
    const auto [at, is_new] = map_.try_emplace(name, Entry{value, depth()});
    if (is_new) {
      log_.emplace_back(name, std::nullopt);
      return true;
    }
    if (at->second.depth == depth()) return false;
    log_.emplace_back(name, at->second);
    at->second = {value, depth()};
    return true;
  }
  [[nodiscard]] const Entry* find(std::string_view name) const {
    const auto found = map_.find(name);
    return found == map_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool empty() const { return map_.empty(); }

 private:
  std::unordered_map<std::string_view, Entry> map_;
  std::vector<std::pair<std::string_view, std::optional<Entry>>> log_;  // what close() restores
  std::vector<std::size_t> marks_;
};

/// What a name of a function stands for.
struct Binding {
  enum class Kind : std::uint8_t { kRegister, kSymbol, kBranchTable, kCallTable, kPrototype };
  Kind kind{};
  SymbolKind symbol{};       // of kSymbol
  std::uint8_t vector = 1;   // of kRegister: how many registers it is
  std::uint32_t id = 0;      // register (of a vector register: for component()), symbol or table
  std::uint32_t number = 0;  // of a vector register: which of its range
};

/// Registers get their ids when they are first looked up, so a declared range costs nothing until it is used.
class FunctionNames {
 public:
  explicit FunctionNames(Function& function) : function_(function) { open(); }

  void open();
  void close();
  [[nodiscard]] std::uint32_t depth() const { return names_.depth(); }

  /// These give false when the scope has the name already.
  bool declare(std::string_view name, Binding binding);
  bool declare_register(std::string_view name, Type type, std::uint8_t vector);
  /// %r<count>: %r0 ... %r(count-1)
  bool declare_registers(std::string_view prefix, std::uint64_t count, Type type, std::uint8_t vector);

  [[nodiscard]] std::optional<Binding> find(std::string_view name);
  /// Register i of the vector register `name`, which find() gave.
  RegisterId component(std::string_view name, const Binding& vector, unsigned i);
  [[nodiscard]] Type type(RegisterId id) const { return function_.registers[id].type; }

 private:
  struct Declared {  // a register or a range of them
    Type type{};
    std::uint8_t vector = 1;
    std::uint64_t count = 1;
    std::uint32_t depth = 0;             // of its scope
    std::optional<std::uint32_t> outer;  // declared_: the range of this prefix that it shadows in part
  };
  struct Numbered {
    std::uint32_t range = 0;  // declared_
    std::uint32_t number = 0;
    std::uint32_t depth = 0;
  };

  [[nodiscard]] std::optional<Numbered> find_numbered(std::string_view name) const;
  RegisterId create(std::string name, Type type);
  Binding register_binding(std::string_view name, std::uint32_t declared, std::uint32_t number);

  Function& function_;
  ScopedMap<Binding> names_;         // kRegister: id is an index into declared_
  ScopedMap<std::uint32_t> ranges_;  // by prefix: index into declared_
  std::vector<Declared> declared_;
  std::unordered_map<std::uint64_t, RegisterId> used_;  // declared_ << 32 | number
  std::map<std::tuple<std::uint32_t, std::uint32_t, unsigned>, RegisterId>
      components_;  // declared_, number, i
};

/// Makes the names of a function that has all its statements unique by suffixes "$1", "$2" ..., also against
/// `taken`.
void make_names_unique(Function& function, const std::unordered_map<std::string_view, Symbol>& taken);

}  // namespace lockstep::ptx
