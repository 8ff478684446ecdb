// Times of transfers over the host link.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "util/types.hpp"
#include "uvm/page_set.hpp"

namespace lockstep::uvm {

enum class Direction : std::uint8_t { kToDevice, kToHost };

struct LinkParameters {
  std::uint64_t core_khz = 1481000;
  unsigned nominal_gib = 16;  // of `arctan`: 16, 32 or 64
};

/// How long a transfer holds its direction. Directions are independent.
struct LinkModel {
  std::string_view name, help;
  Cycle (*cycles)(std::uint64_t bytes, Direction direction, const LinkParameters& parameters);
};

/// All models; a new one is a file link_*.cpp and a line in link.cpp.
[[nodiscard]] std::span<const LinkModel* const> link_models();
[[nodiscard]] std::span<const std::string_view> link_names();

extern const LinkModel kArctanLink, kTableLink, kAffineLink, kPcie3Link, kPcie4Link, kPcie5Link, kC2cLink;

/// An exact multiple of 1/1000 ns as core cycles, rounded up.
[[nodiscard]] Cycle cycles_of_ps(std::uint64_t picoseconds, const LinkParameters& parameters);

/// A model's times for whole pages up to 2 MiB, computed once.
class LinkTimes {
 public:
  LinkTimes(const LinkModel& model, const LinkParameters& parameters);
  [[nodiscard]] Cycle cycles(Direction direction, unsigned pages) const {
    return table_[static_cast<unsigned>(direction)][pages];
  }
  /// For any size (explicit copies): computed in each call.
  [[nodiscard]] Cycle copy_cycles(Direction direction, std::uint64_t bytes) const {
    return bytes == 0 ? 0 : model_->cycles(bytes, direction, parameters_);
  }
  [[nodiscard]] const LinkModel& model() const { return *model_; }

 private:
  const LinkModel* model_;
  LinkParameters parameters_;
  std::array<Cycle, kPagesPerTree + 1> table_[2]{};
};

/// Cycles of a cudaDeviceSynchronize that writes `bytes` of dirty pages back, as UVMSmart cuts them: 4+60,
/// 4+60, 4+124, 4+252, 4+508 and 4+1020 KiB over and over.
[[nodiscard]] Cycle synchronise_cycles(const LinkTimes& link, std::uint64_t bytes);
/// Cycles of a cudaMemcpy in UVMSmart: half the speed from 2 MiB on.
[[nodiscard]] Cycle smart_copy_cycles(const LinkTimes& link, Direction direction, std::uint64_t bytes);

}  // namespace lockstep::uvm
