// Builds traces from records, for micro-benchmarks and for front ends of other tools.
//
//   lockstep::TraceBuilder builder;
//   builder.kernel({.name = "chase", .block = {32, 1, 1}}, [](const lockstep::Warp& warp,
//   std::vector<lockstep::Instruction>& code) {
//     code.push_back({.opcode = "LDG.E", .destination = 4, .sources = {2}, .access_bytes = 4, .base =
//     0x7f0000000000, .stride = 4}); code.push_back({.opcode = "EXIT"});
//   });
//   const lockstep::Trace trace = builder.finish();
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/simulator.hpp"

namespace lockstep {

/// One executed warp instruction, as NVBit-based tracers record it.
struct Instruction {
  std::string opcode = {};              // in SASS syntax: "FFMA", "LDG.E.64"
  std::optional<int> destination = {};  // number of a general-purpose register (4 for R4)
  std::vector<int> sources = {};        // likewise, at most 5
  unsigned access_bytes = 0;            // bytes per lane of a memory instruction, 1 to 16
  /// For memory instructions: either `base` is the address of the first active lane and `stride` the distance
  /// from lane to lane, or `addresses` has one address for each active lane.
  std::uint64_t base = 0;
  std::int64_t stride = 0;
  std::vector<std::uint64_t> addresses = {};
  std::optional<std::uint32_t> lanes = {};  // bit l: lane l is active; without it, all threads of the warp
  std::int64_t immediate = 0;
  std::optional<std::uint32_t> pc =
      {};  // bytes from the kernel's start; without it, the instruction follows the one before
};

struct Warp {
  std::array<std::uint32_t, 3> cta;  // x, y, z
  std::uint32_t index;               // within its CTA
};

struct Launch {
  std::string name = "kernel";
  std::array<std::uint32_t, 3> grid = {1, 1, 1}, block = {32, 1, 1};
  std::uint32_t registers = 32;    // per thread
  std::uint32_t shared_bytes = 0;  // per CTA
  std::uint64_t stream = 0;
};

/// Stores the trace in a temporary folder (below $TMPDIR) that is removed together with the trace.
class TraceBuilder {
 public:
  /// `architecture`: that of the code, 70 for sm_70; from 70 on, instructions are 16 bytes apart. Throws
  /// Error.
  explicit TraceBuilder(unsigned architecture = 70);
  ~TraceBuilder();
  TraceBuilder(const TraceBuilder&) = delete;
  TraceBuilder& operator=(const TraceBuilder&) = delete;

  /// Adds a copy from host to device, before the kernels that are added afterwards.
  void copy_to_device(std::uint64_t address, std::uint64_t bytes);
  /// Calls `code` for each warp, CTA by CTA, with an empty vector, which it fills with the instructions that
  /// the warp executes, in order, ending with EXIT. Throws Error if something cannot be an instruction, and what `code`
  /// throws; then the trace is without the kernel.
  using Code = std::function<void(const Warp& warp, std::vector<Instruction>& code)>;
  void kernel(const Launch& launch, const Code& code);
  /// Returns the trace and leaves the builder empty. Throws Error.
  [[nodiscard]] Trace finish();

 private:
  struct Folder;
  std::unique_ptr<Folder> folder_;
};

}  // namespace lockstep
