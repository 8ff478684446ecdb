// A kernel and the functions it may call, as operations: what decoding produces and Executable gives out.
// Internal to src/exec.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/operation.hpp"
#include "exec/sharing.hpp"

namespace lockstep::exec {

/// The accessors of Executable say what each member is.
struct Translation {
  std::vector<FunctionCode> functions;
  std::vector<Operation> operations;
  std::vector<SharedAccess> shared_accesses;
  std::vector<std::uint32_t> by_id;  // functions index of Program::functions[id]; ~0: not translated
  std::vector<OperandRef> operands;
  std::vector<LaneValues> constants;
  std::vector<FixedRegister> fixed;
  std::vector<MemoryForm> memory;
  std::vector<SpinLoop> spins;
  std::vector<AtomicForm> atomics;
  bool takes_work = false;  // see Executable
  std::vector<MultimemForm> multimems;
  std::vector<BarrierForm> barriers;
  std::vector<CallSite> calls;
  std::vector<BranchTargets> branches;
  std::vector<MbarrierForm> mbarriers;
  std::vector<CopyForm> copies;
  std::vector<MatrixForm> matrices;
  std::vector<WarpgroupForm> warpgroups;
  std::vector<TensorForm> tensors;
  std::vector<TensorMapForm> tensor_maps;
  bool allocates = false;
  std::vector<TextureForm> textures;
  std::uint32_t parameter_bytes = 0, shared_bytes = 0, dynamic_shared = 0;
};

}  // namespace lockstep::exec
