#include "exec/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "util/error.hpp"

namespace lockstep::exec {

namespace {

bool has_address(const ptx::Variable& v) {
  return v.space == ptx::Space::kGlobal || v.space == ptx::Space::kConst;
}

}  // namespace

ProgramImage::ProgramImage(const ptx::Program& program, DeviceMemory& memory, unsigned device,
                           const ProgramImage* first)
    : program_(program), memory_(memory), first_(first), addresses_(program.variables.size()) {
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    const ptx::Variable& v = program.variables[i];
    if (!has_address(v)) continue;
    if (!owns(i)) {
      addresses_[i] = first->addresses_[i];
      continue;
    }
    const auto at =
        memory.allocate(v.size, v.managed ? MemoryKind::kManaged : MemoryKind::kDevice, v.align, device);
    if (!at) {
      release();
      throw UserError(
          fmt::format("variable {} of {} bytes does not fit into the device's memory", v.name, v.size));
    }
    addresses_[i] = *at;
  }
  initialise();
}

ProgramImage::~ProgramImage() { release(); }

bool ProgramImage::owns(std::size_t variable) const {
  return first_ == nullptr || !program_.variables[variable].managed;
}

void ProgramImage::release() const {
  for (std::size_t i = 0; i < addresses_.size(); ++i)
    if (addresses_[i] != 0 && owns(i)) memory_.release(addresses_[i]);
}

void ProgramImage::initialise() {
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    const ptx::Variable& v = program_.variables[i];
    if (addresses_[i] == 0 || !owns(i)) continue;
    auto* const bytes = reinterpret_cast<std::uint8_t*>(addresses_[i]);
    const std::size_t given = std::min<std::size_t>(v.initial.size(), v.size);
    std::copy_n(v.initial.begin(), given, bytes);
    std::memset(bytes + given, 0, v.size - given);
    for (const auto& relocation : v.relocations) relocate(v, addresses_[i], relocation);
    memory_.wrote(addresses_[i], v.size);
  }
}

void ProgramImage::relocate(const ptx::Variable& variable, Address at, const ptx::Relocation& r) const {
  const bool function = r.symbol.kind == ptx::SymbolKind::kFunction;
  const Address target = function ? code_address(r.symbol.id) : addresses_[r.symbol.id];
  if (target == 0)
    throw UserError(
        fmt::format("{}:{}: the initialiser of {} needs the address of {}, which has none before a launch",
                    program_.modules.empty() ? "" : program_.modules.front().name, variable.place.line,
                    variable.name, program_.variables[r.symbol.id].name));
  const std::uint64_t value = (target + static_cast<std::uint64_t>(r.addend)) >> r.shift;
  if (r.offset > variable.size || r.bytes > variable.size - r.offset || r.bytes > sizeof value)
    throw UserError(fmt::format("the initialiser of {} is longer than the variable", variable.name));
  std::memcpy(reinterpret_cast<void*>(at + r.offset), &value, r.bytes);
}

}  // namespace lockstep::exec
