// A linked program in device memory: where its variables lie.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "exec/device_memory.hpp"
#include "ptx/ir.hpp"

namespace lockstep::exec {

/// The address that a function's name stands for as a value: what function pointers hold.
inline constexpr Address kCodeWindow = 0x6000'0000;
inline constexpr unsigned kCodeAddressShift = 4;
[[nodiscard]] constexpr Address code_address(std::uint32_t function) {
  return kCodeWindow + (Address{function} << kCodeAddressShift);
}

/// Allocates and initialises the variables of .global and .const, in order, when made; releases them when
/// destroyed. A managed variable lies in managed memory. Variables of other spaces get no address here.
/// Each device that runs the program has an image: managed variables are those of the first one.
class ProgramImage {
 public:
  /// Throws UserError where the device's memory does not suffice. Both must outlive the image.
  /// `first`: the image that has the managed variables; nullptr: this one. It must outlive this one.
  ProgramImage(const ptx::Program& program, DeviceMemory& memory, unsigned device = 0,
               const ProgramImage* first = nullptr);
  ~ProgramImage();
  ProgramImage(const ProgramImage&) = delete;
  ProgramImage& operator=(const ProgramImage&) = delete;

  [[nodiscard]] const ptx::Program& program() const { return program_; }
  /// The address of Program::variables[variable]; 0 if it is in another space.
  [[nodiscard]] Address address(std::uint32_t variable) const { return addresses_[variable]; }
  /// Writes initial values again (cudaDeviceReset and tests).
  void initialise();

 private:
  [[nodiscard]] bool owns(std::size_t variable) const;
  void release() const;
  void relocate(const ptx::Variable& variable, Address at, const ptx::Relocation& relocation) const;

  const ptx::Program& program_;
  DeviceMemory& memory_;
  const ProgramImage* first_;
  std::vector<Address> addresses_;
};

}  // namespace lockstep::exec
