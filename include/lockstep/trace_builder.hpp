// Traces from one's own records, for micro-benchmarks and for front ends of other tools.
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

/// A warp instruction that was executed, as NVBit's tracers record it.
struct Instruction {
  std::string opcode = {};              // as SASS writes it: "FFMA", "LDG.E.64"
  std::optional<int> destination = {};  // number of a register R
  std::vector<int> sources = {};        // registers R, at most 5
  unsigned access_bytes = 0;            // of a lane, for instructions of memory; 1 to 16
  /// Of memory instructions: `base` is the address of the first active lane and `stride` the distance from
  /// lane to lane, or `addresses` has one for each active lane.
  std::uint64_t base = 0;
  std::int64_t stride = 0;
  std::vector<std::uint64_t> addresses = {};
  std::optional<std::uint32_t> lanes = {};  // bit l: lane l is active; without: all threads that the warp has
  std::int64_t immediate = 0;
  std::optional<std::uint32_t> pc =
      {};  // bytes from the kernel's begin; without: behind the instruction before
};

struct Warp {
  std::array<std::uint32_t, 3> cta;  // x, y, z
  std::uint32_t index;               // in its CTA
};

struct Launch {
  std::string name = "kernel";
  std::array<std::uint32_t, 3> grid = {1, 1, 1}, block = {32, 1, 1};
  std::uint32_t registers = 32;    // of a thread
  std::uint32_t shared_bytes = 0;  // of a CTA
  std::uint64_t stream = 0;
};

/// Keeps what it is given in a folder for temporary files ($TMPDIR) until the trace is gone.
class TraceBuilder {
 public:
  /// `architecture`: of the code, 70 for sm_70; from 70 on instructions are 16 bytes apart. Throws Error.
  explicit TraceBuilder(unsigned architecture = 70);
  ~TraceBuilder();
  TraceBuilder(const TraceBuilder&) = delete;
  TraceBuilder& operator=(const TraceBuilder&) = delete;

  /// A copy of the host's to the device, before what comes next.
  void copy_to_device(std::uint64_t address, std::uint64_t bytes);
  /// `code` is called for each warp, CTA by CTA, with an empty vector to fill: the instructions that the warp
  /// executes, in their order, with EXIT at the end. Throws Error for what cannot be an instruction.
  using Code = std::function<void(const Warp& warp, std::vector<Instruction>& code)>;
  void kernel(const Launch& launch, const Code& code);
  /// The trace; the builder is empty afterwards. Throws Error.
  [[nodiscard]] Trace finish();

 private:
  struct Folder;
  std::unique_ptr<Folder> folder_;
};

}  // namespace lockstep
