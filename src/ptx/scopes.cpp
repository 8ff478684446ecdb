#include "ptx/scopes.hpp"

#include <string>
#include <unordered_set>

#include "ptx/pragmas.hpp"

namespace lockstep::ptx {

void FunctionNames::open() {
  names_.open();
  ranges_.open();
}

void FunctionNames::close() {
  names_.close();
  ranges_.close();
}

bool FunctionNames::declare(std::string_view name, Binding binding) { return names_.declare(name, binding); }

bool FunctionNames::declare_register(std::string_view name, Type type, std::uint8_t vector) {
  declared_.push_back({.type = type, .vector = vector, .depth = depth(), .outer = {}});
  Binding binding;
  binding.kind = Binding::Kind::kRegister;
  binding.id = static_cast<std::uint32_t>(declared_.size() - 1);
  return names_.declare(name, binding);
}

bool FunctionNames::declare_registers(std::string_view prefix, std::uint64_t count, Type type,
                                      std::uint8_t vector) {
  const auto* const before = ranges_.find(prefix);
  Declared declared{.type = type, .vector = vector, .count = count, .depth = depth(), .outer = {}};
  if (before) declared.outer = before->value;
  declared_.push_back(declared);
  return ranges_.declare(prefix, static_cast<std::uint32_t>(declared_.size() - 1));
}

RegisterId FunctionNames::create(std::string name, Type type) {
  function_.registers.push_back({std::move(name), type});
  return static_cast<RegisterId>(function_.registers.size() - 1);
}

Binding FunctionNames::register_binding(std::string_view name, std::uint32_t index, std::uint32_t number) {
  const Declared& declared = declared_[index];
  Binding binding;
  binding.kind = Binding::Kind::kRegister;
  binding.id = index;
  binding.vector = declared.vector;
  binding.number = number;
  if (declared.vector > 1) return binding;
  const auto [used, is_new] = used_.try_emplace(std::uint64_t{index} << 32 | number, 0);
  if (is_new) used->second = create(std::string(name), declared.type);
  binding.id = used->second;
  return binding;
}

RegisterId FunctionNames::component(std::string_view name, const Binding& vector, unsigned i) {
  const auto [used, is_new] = components_.try_emplace({vector.id, vector.number, i}, 0);
  if (is_new) used->second = create(std::string(name) + '$' + "xyzwabcd"[i], declared_[vector.id].type);
  return used->second;
}

/// The innermost range that holds `name`: every split into a prefix and a number without leading zeros.
std::optional<FunctionNames::Numbered> FunctionNames::find_numbered(std::string_view name) const {
  if (ranges_.empty()) return std::nullopt;
  std::optional<Numbered> best;
  std::uint64_t number = 0, power = 1;
  for (std::size_t cut = name.size(); cut > 1 && power <= 1'000'000'000; power *= 10) {
    const char digit = name[--cut];
    if (digit < '0' || digit > '9') break;
    number += power * static_cast<unsigned>(digit - '0');
    if (digit == '0' && cut + 1 < name.size()) continue;
    const auto* const innermost = ranges_.find(name.substr(0, cut));
    if (!innermost) continue;
    std::optional<std::uint32_t> range = innermost->value;
    while (range && number >= declared_[*range].count) range = declared_[*range].outer;
    if (range && (!best || declared_[*range].depth > best->depth))
      best = Numbered{*range, static_cast<std::uint32_t>(number), declared_[*range].depth};
  }
  return best;
}

std::optional<Binding> FunctionNames::find(std::string_view name) {
  const auto* const exact = names_.find(name);
  const auto in_range = find_numbered(name);
  if (in_range && (!exact || in_range->depth > exact->depth))
    return register_binding(name, in_range->range, in_range->number);
  if (!exact) return std::nullopt;
  return exact->value.kind == Binding::Kind::kRegister ? register_binding(name, exact->value.id, 0)
                                                       : exact->value;
}

namespace {

class Renamer {
 public:
  explicit Renamer(const std::unordered_map<std::string_view, Symbol>& taken) : taken_(taken) {}

  /// `name` must stay where it is: the set keeps a view of it.
  void claim(std::string& name) {
    if (name == "_") return;  // a parameter without a name
    if (free(name)) {
      used_.insert(name);
      return;
    }
    unsigned& count = counts_[name];
    std::string candidate;
    do {
      candidate = name + '$' + std::to_string(++count);
    } while (!free(candidate));
    name = std::move(candidate);
    used_.insert(name);
  }

 private:
  [[nodiscard]] bool free(const std::string& name) const {
    return !used_.contains(name) && !taken_.contains(name);
  }

  const std::unordered_map<std::string_view, Symbol>& taken_;
  std::unordered_set<std::string_view> used_;
  std::unordered_map<std::string, unsigned> counts_;
};

}  // namespace

void make_names_unique(Function& f, const std::unordered_map<std::string_view, Symbol>& taken) {
  Renamer renamer(taken);
  for (Parameter& p : f.results) renamer.claim(p.name);
  for (Parameter& p : f.parameters) renamer.claim(p.name);
  for (Variable& v : f.variables) renamer.claim(v.name);
  for (Register& r : f.registers) renamer.claim(r.name);
  for (Label& l : f.labels)
    if (!is_pragma(l)) renamer.claim(l.name);
  for (BranchTable& t : f.branch_tables) renamer.claim(t.name);
  for (CallTable& t : f.call_tables) renamer.claim(t.name);
  for (Prototype& p : f.prototypes) renamer.claim(p.name);
}

}  // namespace lockstep::ptx
