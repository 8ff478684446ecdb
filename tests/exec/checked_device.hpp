// A device whose kernels are checked.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "exec/check/checker.hpp"
#include "tests/exec/support.hpp"

namespace lockstep::exec::test {

/// The line of the PTX file of a device made of `text` that has `mark` in it.
inline std::uint32_t line_of(const std::string& text, std::string_view mark) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(text.find(mark));
  return 1 + static_cast<std::uint32_t>(std::count(kHeader.begin(), kHeader.end(), '\n') +
                                        std::count(text.begin(), end, '\n'));
}

class CheckedDevice : public Device {
 public:
  CheckedDevice(const std::string& text, const char* checks)
      : Device(text), checker(parse_checks(checks), memory), text_(text) {
    image->initialise();  // the checker has not seen it
    options.checker = &checker;
  }

  /// Written by the host.
  template <class T>
  Address array(const std::vector<T>& values) {
    const Address at = Device::array(values);
    memory.wrote(at, values.size() * sizeof(T));
    return at;
  }
  template <class T>
  Address zeros(std::size_t count) {
    return array(std::vector<T>(count));
  }
  /// Never written.
  Address raw(std::uint64_t bytes) { return *memory.allocate(bytes); }

  [[nodiscard]] const std::vector<Finding>& findings() const { return checker.findings().all(); }
  [[nodiscard]] std::uint32_t line_of(std::string_view mark) const { return test::line_of(text_, mark); }

  Checker checker;

 private:
  std::string text_;
};

}  // namespace lockstep::exec::test
