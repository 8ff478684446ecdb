// Result codes of the CUDA runtime.
#pragma once

#include <stdexcept>
#include <string>

#include "exec/fault.hpp"

namespace lockstep::cuda {

/// cudaError_t: an int in the ABI.
enum class Status : int {
#define X(number, name, text) k##name = (number),
#include "exec/error_table.inc"
#undef X
};

/// "cudaErrorInvalidValue"; "unrecognized error code" for numbers outside the table.
[[nodiscard]] const char* status_name(Status status);
/// CUDA's text: "invalid argument"; "unrecognized error code" for numbers outside the table.
[[nodiscard]] const char* status_text(Status status);

/// What the host sees of a fault of the device program.
[[nodiscard]] Status fault_status(exec::FaultKind kind);

/// Thrown inside an API function to end it with `status`.
class ApiError : public std::runtime_error {
 public:
  explicit ApiError(Status status) : std::runtime_error(status_text(status)), status_(status) {}
  /// `reason`: shown once on stderr, as what() alone would not help the user.
  ApiError(Status status, const std::string& reason)
      : std::runtime_error(reason), status_(status), reported_(true) {}
  [[nodiscard]] Status status() const { return status_; }
  [[nodiscard]] bool reported() const { return reported_; }

 private:
  Status status_;
  bool reported_ = false;
};

/// Throws ApiError(InvalidValue) unless `condition`.
inline void require(bool condition, Status otherwise = Status::kErrorInvalidValue) {
  if (!condition) throw ApiError(otherwise);
}

}  // namespace lockstep::cuda
