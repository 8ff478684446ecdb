#include "cuda/warnings.hpp"

#include "util/console.hpp"

namespace lockstep::cuda {

void Warnings::once(const std::string& text) {
  if (warned_.insert(text).second) print_err("lockstep: warning: {}\n", text);
}

void Warnings::unsupported(const char* function) {
  if (unsupported_.insert(function).second)
    print_err("lockstep: {} is not supported: cudaErrorNotSupported\n", function);
}

void Warnings::list_unsupported() const {
  std::string names;
  for (const std::string& name : unsupported_) names += " " + name;
  if (!names.empty()) print_err("lockstep: the program called functions that are not supported:{}\n", names);
}

}  // namespace lockstep::cuda
