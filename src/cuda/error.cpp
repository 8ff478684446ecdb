#include "cuda/error.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace lockstep::cuda {

namespace {

struct Entry {
  int number;
  const char* name;
  std::string text;
};

/// "ErrorInvalidDevicePointer" as "invalid device pointer"; runs of capitals stay one word.
std::string in_words(std::string_view name) {
  if (name.starts_with("Error")) name.remove_prefix(5);
  if (name == "Success") return "no error";
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool upper = std::isupper(static_cast<unsigned char>(name[i])) != 0;
    const bool before = i > 0 && std::isupper(static_cast<unsigned char>(name[i - 1])) != 0;
    if (upper && i > 0 && !before) text += ' ';
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return text;
}

const auto& entries() {
  static const std::array table{
#define X(number, name) Entry{number, "cuda" #name, in_words(#name)},
#include "cuda/error_table.inc"
#undef X
  };
  return table;
}

const Entry* find(Status status) {
  const auto found = std::ranges::find(entries(), static_cast<int>(status), &Entry::number);
  return found == entries().end() ? nullptr : &*found;
}

}  // namespace

const char* status_name(Status status) {
  const Entry* entry = find(status);
  return entry != nullptr ? entry->name : "unrecognized error code";
}

const char* status_text(Status status) {
  const Entry* entry = find(status);
  return entry != nullptr ? entry->text.c_str() : "unrecognized error code";
}

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
