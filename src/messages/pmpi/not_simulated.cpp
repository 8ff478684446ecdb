// MPI's functions that communicate and whose time is not simulated: each notes its name, once, and goes to
// the program's own MPI.
#include "messages/pmpi/log.hpp"

namespace {

/// As `function`, with a note of `name` before.
template <const char* name, auto function>
struct Noted;
template <const char* name, class Result, class... Arguments, Result (*function)(Arguments...)>
struct Noted<name, function> {
  static Result call(Arguments... arguments) {
    lockstep_pmpi::Log::instance().not_simulated(name);
    return function(arguments...);
  }
};

}  // namespace

// The dynamic linker asks each resolver which function has the name: one with the right signature.
#define LOCKSTEP_NOTED(function)                                                                  \
  static constexpr char k##function[] = "MPI_" #function;                                         \
  extern "C" {                                                                                    \
  decltype(&PMPI_##function) lockstep_resolve_##function() {                                      \
    return &Noted<k##function, &PMPI_##function>::call;                                           \
  }                                                                                               \
  __attribute__((visibility("default"),                                                           \
                 ifunc("lockstep_resolve_" #function))) decltype(PMPI_##function) MPI_##function; \
  }

LOCKSTEP_NOTED(Comm_spawn)
LOCKSTEP_NOTED(Comm_spawn_multiple)
