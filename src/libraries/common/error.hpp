// What goes wrong in a library, and how it becomes one of the library's status codes.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

namespace lockstep::libraries {

enum class Failure {
  kNotInitialized,  // a handle that is none
  kInvalidValue,
  kAllocation,
  kExecution,     // the runtime refuses a launch or a copy
  kNotSupported,  // by this library; the text says what
};

class Error : public std::exception {
 public:
  explicit Error(Failure why, std::string text = "") : failure(why), text_(std::move(text)) {}
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }

  Failure failure;

 private:
  std::string text_;
};

/// Says so on standard error, once for each text.
void say(const std::string& text);
inline void say_unsupported(const std::string& what) {
  say(what + " is not supported by Lockstep's own library");
}

/// Throws kNotSupported: `what` is a function with what it was asked for ("cublasGemmEx: computeType 99").
[[noreturn]] void refuse(const std::string& what);

inline void require(bool fact) {
  if (!fact) throw Error(Failure::kInvalidValue);
}

/// 0 after `body`, or `status_of` the failure that it threw. What is not supported is said on standard error,
/// as is what the runtime refused.
template <class Status, class Body>
Status guarded(Status (*status_of)(Failure), Body&& body) noexcept {
  try {
    body();
    return Status{};
  } catch (const Error& error) {
    if (error.failure == Failure::kNotSupported) say_unsupported(error.what());
    if (error.failure == Failure::kExecution) say(error.what());
    return status_of(error.failure);
  } catch (const std::bad_alloc&) {
    return status_of(Failure::kAllocation);
  } catch (const std::exception&) {
    return status_of(Failure::kExecution);
  }
}

}  // namespace lockstep::libraries

/// An entry that is exported and not implemented: it names itself on standard error and gives `status`. A
/// definition elsewhere in the library takes its place. To be used in a file of its own.
#define LOCKSTEP_UNSUPPORTED(name, status)                                                         \
  extern "C" __attribute__((weak, visibility("default"))) int unsupported_##name() __asm__(#name); \
  extern "C" int unsupported_##name() {                                                            \
    lockstep::libraries::say_unsupported(#name);                                                   \
    return status;                                                                                 \
  }
