// What programs describe products with. The structures are in memory of the program, which has reserved as
// much as NVIDIA's need, and begin with a number that tells what they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "libraries/blas/abi.hpp"

namespace lockstep::libraries::blaslt {

using blas::Status;

struct Layout {
  static constexpr std::uint32_t kMark = 0x4c54'6c79;
  static constexpr std::size_t kReserved = 64;
  std::uint32_t mark;
  std::int32_t type, order;
  std::int32_t batches;
  std::uint64_t rows, columns;
  std::int64_t ld, stride, plane_offset;
  std::int32_t batch_mode;
};

struct MatmulDescription {
  static constexpr std::uint32_t kMark = 0x4c54'6d64;
  static constexpr std::size_t kReserved = 256;
  std::uint32_t mark;
  std::int32_t compute, scale, pointer_mode, op_a, op_b, op_c, fill_mode;
  std::uint32_t epilogue;
  std::int32_t bias_type, sm_target;
  const void* bias;
  std::int64_t bias_stride;
  std::int8_t fast_accumulation;
};

struct Preference {
  static constexpr std::uint32_t kMark = 0x4c54'7066;
  static constexpr std::size_t kReserved = 64;
  std::uint32_t mark, search_mode;
  std::uint64_t workspace;
  std::uint32_t reductions, alignment[4];  // of A, B, C and D
  float waves;
  std::uint64_t implementations;
};

static_assert(sizeof(Layout) <= Layout::kReserved &&
              sizeof(MatmulDescription) <= MatmulDescription::kReserved &&
              sizeof(Preference) <= Preference::kReserved);

enum Order : std::int32_t { kColumns = 0, kRows = 1 };
enum Epilogue : std::uint32_t {
  kDefault = 1,
  kRelu = 2,
  kBias = 4,
  kReluBias = 6,
  kGelu = 32,
  kGeluBias = 36,
};

/// What `handle` points to; throws where it is not a T.
template <class T>
[[nodiscard]] T& described(void* handle) {
  require(handle != nullptr && static_cast<T*>(handle)->mark == T::kMark);
  return *static_cast<T*>(handle);
}
template <class T>
[[nodiscard]] const T& described(const void* handle) {
  return described<T>(const_cast<void*>(handle));
}

}  // namespace lockstep::libraries::blaslt
