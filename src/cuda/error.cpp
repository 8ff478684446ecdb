#include "cuda/error.hpp"

#include "exec/error_text.hpp"

namespace lockstep::cuda {

const char* status_name(Status status) { return exec::error_name(static_cast<int>(status)); }
const char* status_text(Status status) { return exec::error_text(static_cast<int>(status)); }

Status fault_status(exec::FaultKind kind) {
  using exec::FaultKind;
  switch (kind) {
    case FaultKind::kIllegalAddress:
      return Status::kErrorIllegalAddress;
    case FaultKind::kMisalignedAddress:
      return Status::kErrorMisalignedAddress;
    case FaultKind::kIllegalInstruction:
      return Status::kErrorIllegalInstruction;
    case FaultKind::kStackOverflow:
      return Status::kErrorHardwareStackError;
    case FaultKind::kAssert:
      return Status::kErrorAssert;
    case FaultKind::kTrap:
    case FaultKind::kDeadlock:
      return Status::kErrorLaunchFailure;
    case FaultKind::kInstructionLimit:
      return Status::kErrorLaunchTimeout;
  }
  return Status::kErrorUnknown;
}

}  // namespace lockstep::cuda
