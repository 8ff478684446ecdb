#include "cuda/warnings.hpp"

#include "cuda/preload/runtime_archives.hpp"
#include "util/console.hpp"

namespace lockstep::cuda {

void Warnings::once(const std::string& text) {
  if (warned_.insert(text).second) print_err("lockstep: warning: {}\n", text);
}

void Warnings::unsupported(const std::string& function, const std::string& caller) {
  if (!unsupported_.insert(function).second) return;
  const std::string by = caller.empty() ? "" : " (called by " + caller + ")";
  print_err("lockstep: {} is not supported: cudaErrorNotSupported{}\n", function, by);
  // Only NVIDIA's runtime asks for it. Where the runtime's functions have symbols, ours take their place.
  if (function == "cuGetExportTable")
    print_err(
        "lockstep: {} contains NVIDIA's CUDA runtime without a symbol table, and no libcudart_static.a that "
        "was found here has the same code, so it cannot be replaced: name the one that it was linked with in "
        "{}, link with -cudart shared, or do not strip it; NVIDIA's own libraries do not run "
        "(docs/packaging.md)\n",
        caller.empty() ? "the program" : caller, kArchivesVariable);
}

void Warnings::list_unsupported() const {
  std::string names;
  for (const std::string& name : unsupported_) names += " " + name;
  if (!names.empty()) print_err("lockstep: the program called functions that are not supported:{}\n", names);
}

}  // namespace lockstep::cuda
