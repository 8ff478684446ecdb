// One Decoder translates one kernel: PTX instructions to operations. Internal to src/exec.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "exec/operand_decoder.hpp"
#include "ptx/control_flow.hpp"

namespace lockstep::exec {

class Decoder : private OperandDecoder {
 public:
  Decoder(const ProgramImage& image, std::uint32_t entry, Translation& out)
      : OperandDecoder(image, lay_out(image.program(), entry, out), out) {}
  void run();

 private:
  using Inst = ptx::Instruction;
  using Op = ptx::Operand;

  // decode.cpp
  void decode_function(std::uint32_t index);
  void decode(const Inst& inst, Operation& op);
  [[nodiscard]] std::optional<LaneOp> lane_op(const Inst& inst) const;
  void decode_lane(const Inst& inst, Operation& op);

  // decode_memory.cpp
  bool decode_memory_group(const Inst& inst, Operation& op);
  void decode_load(const Inst& inst, Operation& op);
  void decode_store(const Inst& inst, Operation& op);
  [[nodiscard]] bool unread_result(const Op& result);
  void decode_atomic(const Inst& inst, Operation& op);
  void decode_multimem(const Inst& inst, Operation& op);
  void decode_stack(const Inst& inst, Operation& op);
  [[nodiscard]] std::uint32_t completion_mbarrier(const Inst& inst);
  void decode_convert_address(const Inst& inst, Operation& op);
  void decode_policy(const Inst& inst, Operation& op);

  // decode_control.cpp
  bool decode_control_group(const Inst& inst, Operation& op);
  void decode_branch(const Inst& inst, Operation& op);
  void decode_call(const Inst& inst, Operation& op);
  [[nodiscard]] CallValue call_register(const Op& operand, const ptx::Parameter* formal, bool result,
                                        Operation& op);
  [[nodiscard]] CallValue call_value(const Op& operand, const ptx::Parameter* formal, bool result,
                                     Operation& op);
  void decode_barrier(const Inst& inst, Operation& op);
  void decode_sources(const Inst& inst, Operation& op, Handler handler);

  // decode_async.cpp
  bool decode_async_group(const Inst& inst, Operation& op);
  void decode_copy(const Inst& inst, Operation& op);
  void decode_prefetch(const Inst& inst, Operation& op);
  void decode_bulk_prefetch(const Inst& inst, Operation& op);
  void decode_bulk_copy(const Inst& inst, Operation& op);
  void decode_mbarrier(const Inst& inst, Operation& op);
  void decode_matrix_move(const Inst& inst, Operation& op);
  void decode_wmma_move(const Inst& inst, Operation& op);

  // decode_tensor.cpp
  void decode_tensor_copy(const Inst& inst, Operation& op);
  void decode_tensor_map(const Inst& inst, Operation& op);

  // decode_warpgroup.cpp
  void decode_warpgroup(const Inst& inst, Operation& op);
  void decode_warpgroup_order(const Inst& inst, Operation& op);

  // decode_texture.cpp
  bool decode_texture_group(const Inst& inst, Operation& op);
  void decode_fetch(const Inst& inst, Operation& op, TextureForm& form);
  void decode_surface(const Inst& inst, Operation& op, TextureForm& form);
  void decode_query(const Inst& inst, Operation& op, TextureForm& form);
  void geometry_of(const Inst& inst, TextureForm& form) const;
  std::vector<OperandRef> place_operands(const Op& operand, const TextureForm& form, Operation& op);

  std::optional<ptx::ControlFlow> flow_;  // of the function being decoded
  std::vector<std::uint32_t> mentions_;   // of each of its registers; empty: not counted yet
};

/// The semantics of an atom or red form's operation, or nullopt where there is none for this type. `flush`:
/// global memory's atom.add.f32 flushes subnormals (PTX ISA 9.0, atom).
[[nodiscard]] std::optional<AtomicFn> atomic_function(const ptx::Form& form, bool flush);

/// Does memory get the same value in whatever order such operations are done? Sums of floating-point numbers
/// are rounded, and what exch and cas leave is the last one's.
[[nodiscard]] bool atomic_commutes(const ptx::Form& form);

/// What atomics, and reductions of multimem, do to floating-point numbers.
enum class Fold : std::uint8_t { kAdd, kMin, kMax };

/// min and max of PTX: the other operand where one is NaN, and -0 below +0 (PTX ISA 9.0, 9.7.4, min, max).
[[nodiscard]] inline double min_or_max(double a, double b, bool smaller) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) == smaller ? a : b;
  return (a < b) == smaller ? a : b;
}

}  // namespace lockstep::exec
