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
#include "exec/translation.hpp"

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
  [[nodiscard]] const ptx::Function& entry() const { return *code_.functions.front().source; }
  [[nodiscard]] std::uint32_t parameter_bytes() const { return code_.parameter_bytes; }
  /// Static shared memory of a CTA in bytes; dynamic shared memory begins at this rounded up to its
  /// alignment.
  [[nodiscard]] std::uint32_t shared_bytes() const { return code_.shared_bytes; }
  [[nodiscard]] std::uint32_t dynamic_shared_offset() const { return code_.dynamic_shared; }
  /// Local memory of a thread that the kernel's own frame takes, in bytes.
  [[nodiscard]] std::uint32_t local_bytes() const { return code_.functions.front().frame_bytes; }

  /// The entry first. Operation i is PTX instruction i - functions()[f].first of its function.
  [[nodiscard]] const std::vector<FunctionCode>& functions() const { return code_.functions; }
  [[nodiscard]] const std::vector<Operation>& operations() const { return code_.operations; }
  /// By operation.
  [[nodiscard]] const std::vector<SharedAccess>& shared_accesses() const { return code_.shared_accesses; }
  /// The static index of the records of lanes that take the slow path of an operation.
  [[nodiscard]] std::uint32_t slow_path_record(std::uint32_t operation) const {
    return static_cast<std::uint32_t>(code_.operations.size()) + operation;
  }
  /// The static index of records that say for which signals a warp has waited (record.hpp).
  [[nodiscard]] std::uint32_t await_record() const {
    return static_cast<std::uint32_t>(2 * code_.operations.size());
  }
  [[nodiscard]] const FunctionCode& function_of(std::uint32_t operation) const;
  [[nodiscard]] const ptx::Instruction& instruction(std::uint32_t operation) const;
  /// The function whose address is `address`, as an index into functions(); ~0 if there is none.
  [[nodiscard]] std::uint32_t function_at(Address address) const;

  [[nodiscard]] const std::vector<OperandRef>& operands() const { return code_.operands; }
  [[nodiscard]] const std::vector<LaneValues>& constants() const { return code_.constants; }
  [[nodiscard]] const std::vector<FixedRegister>& fixed() const { return code_.fixed; }
  [[nodiscard]] const std::vector<MemoryForm>& memory() const { return code_.memory; }
  [[nodiscard]] const std::vector<SpinLoop>& spins() const { return code_.spins; }
  [[nodiscard]] const std::vector<AtomicForm>& atomics() const { return code_.atomics; }
  /// Does a loop of it count in global memory and use the number? So do CTAs that take one piece of work
  /// after the other: which ones then depends on how fast they are.
  [[nodiscard]] bool takes_work() const { return code_.takes_work; }
  [[nodiscard]] const std::vector<MultimemForm>& multimems() const { return code_.multimems; }
  [[nodiscard]] const std::vector<BarrierForm>& barriers() const { return code_.barriers; }
  [[nodiscard]] const std::vector<CallSite>& calls() const { return code_.calls; }
  [[nodiscard]] const std::vector<BranchTargets>& branches() const { return code_.branches; }
  [[nodiscard]] const std::vector<MbarrierForm>& mbarriers() const { return code_.mbarriers; }
  [[nodiscard]] const std::vector<CopyForm>& copies() const { return code_.copies; }
  [[nodiscard]] const std::vector<MatrixForm>& matrices() const { return code_.matrices; }
  [[nodiscard]] const std::vector<WarpgroupForm>& warpgroups() const { return code_.warpgroups; }
  [[nodiscard]] const std::vector<TensorForm>& tensors() const { return code_.tensors; }
  [[nodiscard]] const std::vector<TensorMapForm>& tensor_maps() const { return code_.tensor_maps; }
  /// Does any of its functions take local memory by alloca?
  [[nodiscard]] bool allocates() const { return code_.allocates; }
  [[nodiscard]] const std::vector<TextureForm>& textures() const { return code_.textures; }

  /// CTAs of a launch turned out to depend on each other: it is not worth trying to run them at once again.
  void note_dependent() const { dependent_ = true; }
  [[nodiscard]] bool dependent() const { return dependent_; }

 private:
  const ProgramImage& image_;
  Translation code_;
  mutable std::atomic<bool> dependent_{false};
};

}  // namespace lockstep::exec
