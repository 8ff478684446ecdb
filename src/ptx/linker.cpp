#include "ptx/linker.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <unordered_map>

#include "ptx/lexer.hpp"
#include "util/error.hpp"

namespace lockstep::ptx {
namespace {

constexpr std::string_view kRuntimeFunctions[] = {
#define RUNTIME(name) name,
#include "ptx/table_runtime.inc"
#undef RUNTIME
};

bool is_definition(const Function& f) { return f.has_body; }
bool is_definition(const Variable& v) { return v.linkage != Linkage::kExtern; }

/// A definition that gives way to any other one.
bool is_tentative(const Function&) { return false; }
bool is_tentative(const Variable& v) { return v.linkage == Linkage::kCommon && v.initial.empty(); }

bool same_layout(const std::vector<Parameter>& a, const std::vector<Parameter>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Parameter& p, const Parameter& q) {
    return p.size == q.size && p.offset == q.offset;
  });
}

bool agrees(const Function& a, const Function& b) {
  return a.entry == b.entry && same_layout(a.parameters, b.parameters) && same_layout(a.results, b.results);
}

/// An array of a class is one of bytes to nvcc where it sees only a declaration, while the definition may
/// have elements of another size.
bool is_of_bytes(const Variable& v) { return !is_definition(v) && bits(v.type) == 8 && !v.dims.empty(); }

bool agrees(const Variable& a, const Variable& b) {
  const bool common = a.linkage == Linkage::kCommon || b.linkage == Linkage::kCommon;  // of any type and size
  const bool sized = !a.unsized && !b.unsized && !common;
  const bool alike = common || bits(a.type) == bits(b.type) || is_of_bytes(a) || is_of_bytes(b);
  return a.space == b.space && alike && (!sized || a.size == b.size);
}

/// Where an object of the program was declared, for messages.
struct Origin {
  std::string file;
  Place place;
  std::string text() const { return fmt::format("{}:{}", file, place.line); }
};

/// Merges the functions, or the variables, of all modules.
template <class Object>
class Merger {
 public:
  explicit Merger(std::vector<Object>& out) : out_(out) {}

  /// The id in the program of an object of module `file`.
  std::uint32_t add(Object object, const std::string& file) {
    const bool is_private = object.linkage == Linkage::kInternal && is_definition(object);
    if (is_private) return append(std::move(object), file);
    const auto [at, is_new] = ids_.try_emplace(object.name, static_cast<std::uint32_t>(out_.size()));
    if (is_new) return append(std::move(object), file);
    merge(at->second, std::move(object), file);
    return at->second;
  }

  [[nodiscard]] const std::unordered_map<std::string, std::uint32_t>& ids() const { return ids_; }
  [[nodiscard]] const Origin& origin(std::uint32_t id) const { return origins_[id]; }

 private:
  std::uint32_t append(Object object, const std::string& file) {
    origins_.push_back({file, object.place});
    out_.push_back(std::move(object));
    return static_cast<std::uint32_t>(out_.size() - 1);
  }

  void merge(std::uint32_t id, Object object, const std::string& file) {
    Object& before = out_[id];
    if (merge_dynamic(before, object)) return;
    if (!agrees(before, object)) {
      throw InputError(
          file, object.place.line,
          fmt::format("{} is declared differently in {}", quote(object.name), origins_[id].text()));
    }
    if (!is_definition(object)) return;
    if (!replaces(id, object, file)) return;
    before = std::move(object);
    origins_[id] = {file, before.place};
  }

  /// Dynamic shared arrays all begin at one address, whatever their elements.
  static bool merge_dynamic(Variable& before, const Variable& v) {
    if (!before.is_dynamic_shared() || !v.is_dynamic_shared()) return false;
    before.align = std::max(before.align, v.align);
    return true;
  }
  static bool merge_dynamic(Function&, const Function&) { return false; }

  /// Whether the definition `object` stands for the name from now on, and not the one before.
  bool replaces(std::uint32_t id, const Object& object, const std::string& file) const {
    const Object& before = out_[id];
    if (!is_definition(before)) return true;
    if (is_tentative(object) || is_tentative(before)) return replaces_tentative(id, object, file);
    const bool weak = object.linkage == Linkage::kWeak, weak_before = before.linkage == Linkage::kWeak;
    if (weak || weak_before) return !weak;
    throw InputError(file, object.place.line,
                     fmt::format("{} is defined already in {}", quote(object.name), origins_[id].text()));
  }

  /// "PTX ISA 9.0", .common: the largest of several counts; where one of them is initialised it is that one,
  /// and must be the largest. nvlink 13 takes a strong or weak definition likewise.
  bool replaces_tentative(std::uint32_t id, const Variable& v, const std::string& file) const {
    const Variable& before = out_[id];
    if (is_tentative(v) && is_tentative(before)) return v.size > before.size;
    const Variable &tentative = is_tentative(v) ? v : before, &definition = is_tentative(v) ? before : v;
    if (tentative.size > definition.size)
      throw InputError(
          file, v.place.line,
          fmt::format("{} has {} bytes and {} in {}; expected a definition as large as its largest "
                      ".common declaration",
                      quote(v.name), v.size, before.size, origins_[id].text()));
    return is_tentative(before);
  }
  bool replaces_tentative(std::uint32_t, const Function&, const std::string&) const { return false; }

  std::vector<Object>& out_;
  std::vector<Origin> origins_;
  std::unordered_map<std::string, std::uint32_t> ids_;  // of names that modules share
};

class Linker {
 public:
  Linker(std::vector<Module> modules, const LinkOptions& options)
      : modules_(std::move(modules)),
        options_(options),
        functions_(program_.functions),
        variables_(program_.variables) {}

  Program link() {
    for (std::size_t i = 0; i < modules_.size(); ++i) add_module(i);
    for (std::size_t i = 0; i < modules_.size(); ++i) add_aliases(i);
    for (Function& f : program_.functions) rewrite(f);
    for (std::uint32_t id = 0; id < program_.variables.size(); ++id) rewrite(id);
    check_used();
    index_names();
    return std::move(program_);
  }

 private:
  void add_module(std::size_t i) {
    Module& m = modules_[i];
    if (m.address_bits != 64)
      throw InputError(m.name, 0, "addresses of 32 bits are not supported; expected '.address_size 64'");
    program_.modules.push_back({m.name, m.target, m.major, m.minor, m.address_bits, std::move(m.files)});
    Maps maps;
    for (Variable& v : m.variables) {
      v.module = static_cast<std::uint32_t>(i);
      maps.variables.push_back(variables_.add(std::move(v), m.name));
    }
    for (Function& f : m.functions) {
      f.module = static_cast<std::uint32_t>(i);
      maps.functions.push_back(functions_.add(std::move(f), m.name));
    }
    maps_.push_back(std::move(maps));
  }

  void add_aliases(std::size_t i) {
    for (const Alias& a : modules_[i].aliases) {
      const std::uint32_t name = maps_[i].functions[a.name.id], target = maps_[i].functions[a.target.id];
      const Function& alias = program_.functions[name];
      if (alias.has_body || !agrees(alias, program_.functions[target]))
        throw InputError(modules_[i].name, a.place.line,
                         fmt::format("{} and its target differ", quote(alias.name)));
      aliases_.emplace(name, target);
    }
  }

  /// What an alias names; an alias may name another.
  [[nodiscard]] std::uint32_t behind_aliases(std::uint32_t function, std::uint32_t module,
                                             Place place) const {
    for (std::size_t steps = 0; steps <= aliases_.size(); ++steps) {
      const auto alias = aliases_.find(function);
      if (alias == aliases_.end()) return function;
      function = alias->second;
    }
    throw InputError(modules_[module].name, place.line, "this alias names itself");
  }

  void rewrite(Symbol& s, std::uint32_t module, Place place) {
    const Maps& maps = maps_[module];
    if (s.kind == SymbolKind::kVariable) {
      s.id = maps.variables[s.id];
      variable_uses_.try_emplace(s.id, Use{module, place});
    } else if (s.kind == SymbolKind::kFunction) {
      s.id = behind_aliases(maps.functions[s.id], module, place);
      function_uses_.try_emplace(s.id, Use{module, place});
    }
  }

  void rewrite(Operand& o, std::uint32_t module, Place place) {
    const bool symbol =
        o.kind == OperandKind::kSymbol || (o.kind == OperandKind::kAddress && o.base == AddressBase::kSymbol);
    if (symbol) rewrite(o.symbol, module, place);
    for (Operand& element : o.elements) rewrite(element, module, place);
  }

  void rewrite(Function& f) {
    for (Instruction& i : f.instructions) {
      for (Operand& o : i.operands) rewrite(o, f.module, i.place);
    }
    for (CallTable& t : f.call_tables) {
      for (Symbol& s : t.functions) rewrite(s, f.module, f.place);
    }
  }

  void rewrite(std::uint32_t variable) {
    Variable& v = program_.variables[variable];
    for (Relocation& r : v.relocations) rewrite(r.symbol, v.module, v.place);
  }

  void index_names() {
    program_.function_ids = functions_.ids();
    program_.variable_ids = variables_.ids();
    for (std::uint32_t id = 0; id < program_.functions.size(); ++id)
      program_.function_ids.try_emplace(program_.functions[id].name, id);
    for (std::uint32_t id = 0; id < program_.variables.size(); ++id)
      program_.variable_ids.try_emplace(program_.variables[id].name, id);
    for (const auto& [name, target] : aliases_)
      program_.function_ids[program_.functions[name].name] = behind_aliases(target, 0, {});
  }

  void check_used() const {
    for (std::uint32_t id = 0; id < program_.functions.size(); ++id) {
      const Function& f = program_.functions[id];
      const auto use = function_uses_.find(id);
      if (f.has_body || use == function_uses_.end() || is_provided(f.name)) continue;
      fail_undefined(use->second, "function", f.name);
    }
    for (std::uint32_t id = 0; id < program_.variables.size(); ++id) {
      const Variable& v = program_.variables[id];
      const auto use = variable_uses_.find(id);
      if (is_definition(v) || v.is_dynamic_shared() || use == variable_uses_.end()) continue;
      fail_undefined(use->second, "variable", v.name);
    }
  }

  [[nodiscard]] bool is_provided(std::string_view name) const {
    return std::find(options_.provided.begin(), options_.provided.end(), name) != options_.provided.end();
  }

  struct Use {
    std::uint32_t module = 0;
    Place place;
  };
  struct Maps {  // ids of a module -> ids of the program
    std::vector<std::uint32_t> variables, functions;
  };

  [[noreturn]] void fail_undefined(const Use& use, std::string_view sort, const std::string& name) const {
    throw InputError(modules_[use.module].name, use.place.line,
                     fmt::format("column {}: {} {} is used here and defined in no module", use.place.column,
                                 sort, quote(name)));
  }

  std::vector<Module> modules_;
  const LinkOptions& options_;
  Program program_;
  Merger<Function> functions_;
  Merger<Variable> variables_;
  std::vector<Maps> maps_;
  std::unordered_map<std::uint32_t, std::uint32_t> aliases_;              // functions of the program
  std::unordered_map<std::uint32_t, Use> function_uses_, variable_uses_;  // first uses
};

std::optional<std::uint32_t> look_up(const std::unordered_map<std::string, std::uint32_t>& ids,
                                     std::string_view name) {
  const auto found = ids.find(std::string(name));
  return found == ids.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::span<const std::string_view> runtime_functions() { return kRuntimeFunctions; }

Program link(std::vector<Module> modules, const LinkOptions& options) {
  return Linker(std::move(modules), options).link();
}

std::optional<std::uint32_t> Program::find_function(std::string_view name) const {
  return look_up(function_ids, name);
}
std::optional<std::uint32_t> Program::find_variable(std::string_view name) const {
  return look_up(variable_ids, name);
}

}  // namespace lockstep::ptx
