// Writes trace folders: kernelslist.g, kernel-N.traceg, and in them CTAs, warps and instruction lines.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "synth/compressor.hpp"
#include "trace/kernel_trace.hpp"
#include "util/types.hpp"

namespace lockstep::synth {

inline constexpr LaneMask kAllLanes = 0xffffffffu;
inline constexpr std::uint8_t kRz = 255;

/// How the lines are written.
struct Dialect {
  std::uint32_t tracer_version = 5;  // 1..5; below 3 lines begin with CTA and warp and addresses are listed;
                                     // from 5 on they end with the immediate
  std::uint32_t binary_version = 70;
  bool line_info = false;  // from version 4 on
  Compression compression = Compression::kNone;
};

/// The memory operand of a line.
struct Access {
  enum class Form : std::uint8_t { kNone, kStride, kList, kDelta } form = Form::kNone;
  unsigned width = 0;  // bytes per lane
  Address base = 0;    // kStride: address of the first active lane
  std::int64_t stride = 0;
  std::span<const Address> addresses;  // kList, kDelta: one for each active lane
};
[[nodiscard]] inline Access strided(unsigned width, Address base, std::int64_t stride) {
  return {Access::Form::kStride, width, base, stride, {}};
}
[[nodiscard]] inline Access listed(unsigned width, std::span<const Address> addresses) {
  return {Access::Form::kList, width, 0, 0, addresses};
}
[[nodiscard]] inline Access deltas(unsigned width, std::span<const Address> addresses) {
  return {Access::Form::kDelta, width, 0, 0, addresses};
}

/// Source registers, in the order of the operands.
struct Sources {
  std::array<std::uint8_t, 5> reg{};
  std::uint8_t size = 0;
  Sources() = default;
  Sources(std::initializer_list<int> list) {
    for (const int r : list) reg.at(size++) = static_cast<std::uint8_t>(r);
  }
};

struct Line {
  std::string_view opcode;
  std::optional<int> to = {};
  Sources from = {};
  Access access = {};
  std::optional<LaneMask> mask = {};  // none: the warp's live lanes
  std::int64_t immediate = 0;
};

/// The text of one warp. PCs advance by themselves; `jump` sets the next one.
class WarpText {
 public:
  void emit(const Line& line);
  [[nodiscard]] std::uint32_t pc() const { return pc_; }
  void jump(std::uint32_t pc) { pc_ = pc; }
  [[nodiscard]] LaneMask live() const { return live_; }

 private:
  friend class KernelFile;
  void put_access(const Access& access, LaneMask mask);

  Dialect dialect_;
  std::string prefix_;  // CTA and warp, in the early versions
  std::string text_;
  std::uint32_t pc_ = 0, lines_ = 0;
  LaneMask live_ = kAllLanes;
};

/// One kernel's file. All CTAs of the grid must be written, in order.
class KernelFile {
 public:
  KernelFile(const std::string& path, const trace::KernelHeader& header, const Dialect& dialect);
  ~KernelFile();
  KernelFile(KernelFile&&) noexcept;
  KernelFile& operator=(KernelFile&&) = delete;

  void begin_cta(Dim3 id);
  /// Starts warp `index` of the CTA; the next call to any of these functions writes its text to the file.
  [[nodiscard]] WarpText& begin_warp(std::uint32_t index);
  void end_cta();
  /// Throws UserError if the disk is full.
  void close();

 private:
  struct Output;
  void flush_warp();
  void put(std::string_view text);

  trace::KernelHeader header_;
  WarpText warp_;
  std::optional<std::uint32_t> open_warp_;
  Dim3 cta_{0, 0, 0};
  std::unique_ptr<Output> output_;
};

class TraceFolder {
 public:
  TraceFolder(std::string directory, const Dialect& dialect);
  void copy_to_device(Address address, std::uint64_t bytes);
  /// `header.id` numbers the file; binary version, tracer version and windows are filled in.
  [[nodiscard]] KernelFile kernel(trace::KernelHeader header);
  /// Runs the last kernel once more.
  void launch_again() { list_ += last_kernel_ + "\n"; }
  /// Before it is launched again: it is no part of the trace.
  void drop_last_kernel();
  [[nodiscard]] const Dialect& dialect() const { return dialect_; }
  /// Writes kernelslist.g.
  void close();

 private:
  std::string directory_, list_, last_kernel_;
  std::size_t last_line_ = 0;  // where that kernel's is in list_
  Dialect dialect_;
};

/// The existing lanes of warp `index` in a CTA of `threads` threads.
[[nodiscard]] LaneMask live_lanes(std::uint32_t threads, std::uint32_t index);

}  // namespace lockstep::synth
