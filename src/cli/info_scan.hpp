// What `lockstep info` counts in a trace.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/kernel_trace.hpp"

namespace lockstep::cli {

/// Distinct 32-byte sectors and 128-byte lines of an address space. Takes 16 bytes for each 2 KiB touched,
/// less than twice that with its spare room.
class Footprint {
 public:
  void add(Address address, std::uint32_t bytes);
  void merge(const Footprint& other);
  [[nodiscard]] std::uint64_t lines() const;
  [[nodiscard]] std::uint64_t sectors() const;

 private:
  struct Block {
    std::uint64_t number = 0, sectors = 0;  // number of the 2 KiB block; one bit per sector, 0 = unused entry
  };
  void mark(std::uint64_t block, std::uint64_t sectors);
  void grow();
  std::vector<Block> table_;  // open addressing; a power of two
  std::size_t used_ = 0;
};

struct Counts {
  std::uint64_t warp = 0, thread = 0;  // instructions
  Counts& operator+=(const Counts& o) {
    warp += o.warp;
    thread += o.thread;
    return *this;
  }
};

struct SpaceUse {
  Counts loads, stores, atomics;  // async copies count as loads, reductions as atomics
  std::uint64_t bytes_moved = 0;  // by all lanes
  Footprint footprint;
  std::uint64_t lines = 0, sectors = 0;  // of the footprint, once sealed
  void merge(const SpaceUse& other);
  /// Sets lines and sectors and gives the footprint's memory back.
  void seal();
};

inline constexpr std::size_t kClasses = static_cast<std::size_t>(trace::OpClass::kCount);
enum class InfoSpace : std::uint8_t { kGlobal, kShared, kLocal, kCount };
inline constexpr std::size_t kInfoSpaces = static_cast<std::size_t>(InfoSpace::kCount);

/// A kernel, or all of them.
struct KernelInfo {
  trace::KernelHeader header;
  Counts total;
  std::array<Counts, kClasses> by_class{};
  std::map<std::string, Counts> by_opcode;                                      // base opcode
  std::array<std::map<std::string, std::uint64_t>, kClasses> opcodes_by_class;  // warp instructions
  std::array<SpaceUse, kInfoSpaces> spaces;
  std::uint64_t tensor_macs = 0;
  std::uint32_t static_instructions = 0;
  std::map<std::pair<std::string, std::uint32_t>, Counts>
      by_line;                                   // of the source: file ("" where none is named), line
  std::map<std::string, std::uint64_t> unknown;  // opcodes that are not in the table
  std::vector<std::string> remarks;              // sorted, each once
  void merge(const KernelInfo& other);
  void seal() {
    for (SpaceUse& use : spaces) use.seal();
  }
};

/// Reads the whole kernel; memory does not grow with the number of its CTAs.
[[nodiscard]] KernelInfo scan_kernel(const trace::TraceSet& trace, std::uint32_t kernel, unsigned threads);

/// "alu", "fp32", "imad_wide", ...
[[nodiscard]] std::string_view class_name(trace::OpClass c);
[[nodiscard]] std::string_view space_name(InfoSpace s);

}  // namespace lockstep::cli
