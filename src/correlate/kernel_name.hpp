// Names of kernels as different tools write them, made comparable.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::correlate {

/// Without blanks, `const`, result type, and the types that some tools write before template arguments
/// ("(int)8").
struct KernelName {
  std::string function;    // "ns::scale<float,8>"
  std::string plain;       // without template arguments: "ns::scale"
  std::string parameters;  // "(float*,int)"; empty: the name does not say
};

/// `name`: mangled, as a declaration ("void scale<float>(float *)"), or the function's alone.
[[nodiscard]] KernelName kernel_name(std::string_view name);

/// Whether `name`, of another tool, can mean `kernel`: parameters decide only where both say them.
[[nodiscard]] bool same_function(const KernelName& name, const KernelName& kernel);
[[nodiscard]] bool same_parameters(const KernelName& name, const KernelName& kernel);

}  // namespace lockstep::correlate
