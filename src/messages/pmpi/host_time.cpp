#include "messages/pmpi/host_time.hpp"

#include <cstdlib>

#include "messages/pmpi/runtime.hpp"

namespace lockstep_pmpi {
namespace {

constexpr const char* kFactorVariable = "LOCKSTEP_CUDA_HOST_TIME";  // as src/cuda/settings.hpp has it

}  // namespace

LibraryCall::Function LibraryCall::enter_ = nullptr;
LibraryCall::Function LibraryCall::leave_ = nullptr;

bool begin_host_time() {
  if (std::getenv(kFactorVariable) == nullptr) return true;
  using Function = LibraryCall::Function;
  const auto begin = reinterpret_cast<Function>(runtime_function("lockstep_mpi_begin"));
  if (begin == nullptr) return false;
  begin();
  LibraryCall::enter_ = reinterpret_cast<Function>(runtime_function("lockstep_mpi_enter"));
  LibraryCall::leave_ = reinterpret_cast<Function>(runtime_function("lockstep_mpi_leave"));
  return true;
}

}  // namespace lockstep_pmpi
