// Translation of a kernel and the functions it may call into operations.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exec/image.hpp"
#include "exec/operation.hpp"

namespace lockstep::exec {

/// Immutable once made, but for what note_dependent() says; any number of launches and threads may share it.
class Executable {
 public:
  /// `entry`: index of a kernel in image.program(). Everything that this kernel can reach is translated, so
  /// every form that is not supported is reported here: InputError with the PTX file, line and instruction.
  /// The image and its program must outlive the executable.
  Executable(const ProgramImage& image, std::uint32_t entry);
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] const ptx::Program& program() const { return image_.program(); }
  [[nodiscard]] const ptx::Function& entry() const { return *functions_.front().source; }
  [[nodiscard]] std::uint32_t parameter_bytes() const { return parameter_bytes_; }
  /// Static shared memory of a CTA in bytes; dynamic shared memory begins at this rounded up to its
  /// alignment.
  [[nodiscard]] std::uint32_t shared_bytes() const { return shared_bytes_; }
  [[nodiscard]] std::uint32_t dynamic_shared_offset() const { return dynamic_shared_; }
  /// Local memory of a thread that the kernel's own frame takes, in bytes.
  [[nodiscard]] std::uint32_t local_bytes() const { return functions_.front().frame_bytes; }

  /// The entry first. Operation i is PTX instruction i - functions()[f].first of its function.
  [[nodiscard]] const std::vector<FunctionCode>& functions() const { return functions_; }
  [[nodiscard]] const std::vector<Operation>& operations() const { return operations_; }
  /// The static index of the records of lanes that take the slow path of an operation.
  [[nodiscard]] std::uint32_t slow_path_record(std::uint32_t operation) const {
    return static_cast<std::uint32_t>(operations_.size()) + operation;
  }
  /// The static index of records that say for which signals a warp has waited (record.hpp).
  [[nodiscard]] std::uint32_t await_record() const {
    return static_cast<std::uint32_t>(2 * operations_.size());
  }
  [[nodiscard]] const FunctionCode& function_of(std::uint32_t operation) const;
  [[nodiscard]] const ptx::Instruction& instruction(std::uint32_t operation) const;
  /// The function whose address is `address`, as an index into functions(); ~0 where there is none.
  [[nodiscard]] std::uint32_t function_at(Address address) const;

  [[nodiscard]] const std::vector<Slot>& slots() const { return slots_; }
  [[nodiscard]] const std::vector<LaneSlots>& constants() const { return constants_; }
  [[nodiscard]] const std::vector<FixedSlot>& fixed() const { return fixed_; }
  [[nodiscard]] const std::vector<MemoryForm>& memory() const { return memory_; }
  [[nodiscard]] const std::vector<SpinLoop>& spins() const { return spins_; }
  [[nodiscard]] const std::vector<AtomicForm>& atomics() const { return atomics_; }
  [[nodiscard]] const std::vector<MultimemForm>& multimems() const { return multimems_; }
  [[nodiscard]] const std::vector<BarrierForm>& barriers() const { return barriers_; }
  [[nodiscard]] const std::vector<CallSite>& calls() const { return calls_; }
  [[nodiscard]] const std::vector<BranchTargets>& branches() const { return branches_; }
  [[nodiscard]] const std::vector<MbarrierForm>& mbarriers() const { return mbarriers_; }
  [[nodiscard]] const std::vector<CopyForm>& copies() const { return copies_; }
  [[nodiscard]] const std::vector<MatrixForm>& matrices() const { return matrices_; }
  [[nodiscard]] const std::vector<WarpgroupForm>& warpgroups() const { return warpgroups_; }
  [[nodiscard]] const std::vector<TensorForm>& tensors() const { return tensors_; }
  [[nodiscard]] const std::vector<TensorMapForm>& tensor_maps() const { return tensor_maps_; }
  /// Does any of its functions take local memory by alloca?
  [[nodiscard]] bool allocates() const { return allocates_; }
  [[nodiscard]] const std::vector<TextureForm>& textures() const { return textures_; }

  /// CTAs of a launch turned out to depend on each other: it is not worth trying to run them at once again.
  void note_dependent() const { dependent_ = true; }
  [[nodiscard]] bool dependent() const { return dependent_; }

 private:
  friend class Decoder;
  const ProgramImage& image_;
  std::vector<FunctionCode> functions_;
  std::vector<Operation> operations_;
  std::vector<std::uint32_t> by_id_;  // functions_ index of Program::functions[id]; ~0: not translated
  std::vector<Slot> slots_;
  std::vector<LaneSlots> constants_;
  std::vector<FixedSlot> fixed_;
  std::vector<MemoryForm> memory_;
  std::vector<SpinLoop> spins_;
  std::vector<AtomicForm> atomics_;
  std::vector<MultimemForm> multimems_;
  std::vector<BarrierForm> barriers_;
  std::vector<CallSite> calls_;
  std::vector<BranchTargets> branches_;
  std::vector<MbarrierForm> mbarriers_;
  std::vector<CopyForm> copies_;
  std::vector<MatrixForm> matrices_;
  std::vector<WarpgroupForm> warpgroups_;
  std::vector<TensorForm> tensors_;
  std::vector<TensorMapForm> tensor_maps_;
  bool allocates_ = false;
  mutable std::atomic<bool> dependent_{false};
  std::vector<TextureForm> textures_;
  std::uint32_t parameter_bytes_ = 0, shared_bytes_ = 0, dynamic_shared_ = 0;
};

}  // namespace lockstep::exec
