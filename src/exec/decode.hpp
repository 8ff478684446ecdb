// The making of an Executable: one Decoder for one kernel. Internal to src/exec.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exec/executable.hpp"
#include "ptx/control_flow.hpp"

namespace lockstep::exec {

/// Where the names of one function lie.
struct FunctionLayout {
  std::vector<std::uint32_t> registers;  // first slot of each register
  std::vector<std::uint32_t>
      variables;  // offset of each Function::variable: in shared memory or in the frame
  std::vector<std::uint32_t>
      parameters;  // offsets: of the entry in the parameter buffer, otherwise in the frame
  std::vector<std::uint32_t> results;                    // offsets in the frame
  std::map<std::uint32_t, std::uint32_t> address_slots;  // frame offset -> slot that holds its address
};

class Decoder {
 public:
  Decoder(Executable& out, std::uint32_t entry);
  void run();

 private:
  using Inst = ptx::Instruction;
  using Op = ptx::Operand;

  // decode.cpp: what is reachable, and layouts.
  void reach(std::uint32_t function);
  void reach_targets(const ptx::Function& function, bool& indirect);
  void reach_address_taken();
  void note_symbols(const Op& operand);
  void lay_out_shared();
  void lay_out_frame(std::uint32_t code);
  void lay_out_registers(std::uint32_t code);
  [[nodiscard]] std::uint32_t extend_frame(FunctionCode& code, std::uint64_t bytes,
                                           std::uint64_t align) const;
  std::uint32_t place_parameter(const ptx::Parameter& parameter, const FunctionLayout& layout,
                                FunctionCode& code, std::vector<ParameterPlace>& places);
  void decode_function(std::uint32_t code);
  void decode(const Inst& inst, Operation& op);
  bool decode_memory_group(const Inst& inst, Operation& op);
  bool decode_control_group(const Inst& inst, Operation& op);
  [[nodiscard]] std::optional<LaneOp> lane_op(const Inst& inst) const;
  void decode_lane(const Inst& inst, Operation& op);

  // decode_operand.cpp
  [[nodiscard]] Slot constant(std::uint64_t bits);
  void check_width(const Op& operand, ptx::Type type) const;
  [[nodiscard]] Slot slot_of(const Op& operand, ptx::Type type, Operation& op);
  void flatten(const Op& operand, ptx::Type type, Operation& op, std::vector<Slot>& to);
  [[nodiscard]] Slot register_slot(ptx::RegisterId reg) const;
  [[nodiscard]] Slot special_slot(const Op& operand, Operation& op);
  [[nodiscard]] Slot symbol_slot(const Op& operand);
  [[nodiscard]] Slot immediate_slot(const Op& operand, ptx::Type type);
  [[nodiscard]] Slot frame_address(std::uint32_t offset);
  struct SymbolPlace {
    Reach reach;
    std::uint64_t at;
  };
  [[nodiscard]] SymbolPlace place_of(ptx::Symbol symbol) const;
  [[nodiscard]] ptx::Type source_type(std::size_t operand) const;
  void set_operands(Operation& op, const std::vector<Slot>& destinations, const std::vector<Slot>& sources);

  // decode_memory.cpp
  [[nodiscard]] MemoryForm address_form(const Op& address, ptx::Space space, Operation& op);
  void set_elements(MemoryForm& form, ptx::Type type, std::size_t count) const;
  [[nodiscard]] std::uint32_t add_memory(const MemoryForm& form);
  void decode_load(const Inst& inst, Operation& op);
  void decode_store(const Inst& inst, Operation& op);
  [[nodiscard]] bool unread_result(const Op& result);
  void decode_atomic(const Inst& inst, Operation& op);
  void decode_multimem(const Inst& inst, Operation& op);
  void decode_stack(const Inst& inst, Operation& op);
  [[nodiscard]] std::uint32_t completion_mbarrier(const Inst& inst, Operation& op);
  void decode_convert_address(const Inst& inst, Operation& op);

  // decode_poll.cpp
  void find_fenced_polls();
  // decode_signal.cpp
  void find_signals();
  // decode_spin.cpp
  void find_spin_loops();
  void find_spin_loop(std::uint32_t end);

  // decode_base.cpp
  void find_known_bases();

  // decode_control.cpp
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
  void decode_bulk_copy(const Inst& inst, Operation& op);
  void decode_mbarrier(const Inst& inst, Operation& op);
  void decode_matrix_move(const Inst& inst, Operation& op);
  void decode_wmma_move(const Inst& inst, Operation& op);
  static void place_pieces(MatrixForm& form, bool by_columns);

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
  std::vector<Slot> place_slots(const Op& operand, const TextureForm& form, Operation& op);

  [[noreturn]] void fail(const std::string& message) const;
  [[nodiscard]] std::string source_prefix() const;

  Executable& out_;
  const ptx::Program& program_;
  std::uint32_t entry_;
  std::vector<std::uint32_t> ids_;  // Program::functions id of each function of the executable
  std::vector<FunctionLayout> layouts_;
  std::vector<std::uint64_t>
      variables_;  // of each Program::variable: offset in shared memory or the entry's frame
  std::vector<bool> used_variables_;
  std::map<std::uint64_t, std::uint32_t> constants_;
  std::map<std::pair<ptx::Special, std::uint32_t>, std::uint32_t> fixed_;
  // While decoding a function:
  const ptx::Function* function_ = nullptr;
  FunctionLayout* layout_ = nullptr;
  FunctionCode* code_ = nullptr;
  const Inst* inst_ = nullptr;
  std::optional<ptx::ControlFlow> flow_;
  std::vector<std::uint32_t> mentions_;  // of each register; empty: nobody has asked
};

/// The semantics of an atom or red form's operation, or nullopt where there is none for this type. `flush`:
/// global memory's atom.add.f32 flushes subnormals (PTX ISA 9.0, atom).
[[nodiscard]] std::optional<AtomicFn> atomic_function(const ptx::Form& form, bool flush);

/// Does memory get the same value in whatever order such operations are done? Sums of floating-point numbers
/// are rounded, and what exch and cas leave is the last one's.
[[nodiscard]] bool atomic_commutes(const ptx::Form& form);

}  // namespace lockstep::exec
