// Operations of streams on values in memory: what waits for one, and what writes one.
#include "cuda/driver.hpp"
#include "cuda/graph_params.hpp"

namespace lockstep::cuda {

namespace {

int submit(void* stream, const BatchParams& batch) {
  return driver_api([&](Runtime& rt) {
    Operation operation = batch_operation(rt, batch);
    if (std::get<ValueOperations>(operation).list.empty()) return;
    rt.submit(static_cast<abi::Stream>(stream), std::move(operation));
  });
}
int submit(void* stream, int type, DevicePointer address, std::uint64_t value, unsigned flags) {
  const BatchOperation one{type, address, value, flags, 0, 0};
  return submit(stream, {nullptr, 1, &one, 0});
}

}  // namespace

LOCKSTEP_CUDA_API cuStreamWaitValue32_v2(void* s, DevicePointer p, std::uint32_t value, unsigned flags) {
  return submit(s, BatchOperation::kWait32, p, value, flags);
}
LOCKSTEP_CUDA_API cuStreamWaitValue64_v2(void* s, DevicePointer p, std::uint64_t value, unsigned flags) {
  return submit(s, BatchOperation::kWait64, p, value, flags);
}
LOCKSTEP_CUDA_API cuStreamWriteValue32_v2(void* s, DevicePointer p, std::uint32_t value, unsigned flags) {
  return submit(s, BatchOperation::kWrite32, p, value, flags);
}
LOCKSTEP_CUDA_API cuStreamWriteValue64_v2(void* s, DevicePointer p, std::uint64_t value, unsigned flags) {
  return submit(s, BatchOperation::kWrite64, p, value, flags);
}
LOCKSTEP_CUDA_API cuStreamBatchMemOp_v2(void* s, unsigned count, const BatchOperation* operations,
                                        unsigned flags) {
  return submit(s, {nullptr, count, operations, flags});
}

}  // namespace lockstep::cuda
