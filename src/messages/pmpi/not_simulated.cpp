// MPI's functions that go to the program's own MPI and take no simulated time. Those that communicate each
// note their name, once; the others only wait for a message, or for other processes.
#include "messages/pmpi/host_time.hpp"
#include "messages/pmpi/log.hpp"

namespace {

/// As `function`, with a note of `name` before.
template <const char* name, auto function>
struct Noted;
template <const char* name, class Result, class... Arguments, Result (*function)(Arguments...)>
struct Noted<name, function> {
  static Result call(Arguments... arguments) {
    const lockstep_pmpi::LibraryCall call;
    lockstep_pmpi::Log::instance().not_simulated(name);
    return function(arguments...);
  }
};

/// As `function`.
template <auto function>
struct Silent;
template <class Result, class... Arguments, Result (*function)(Arguments...)>
struct Silent<function> {
  static Result call(Arguments... arguments) {
    const lockstep_pmpi::LibraryCall call;
    return function(arguments...);
  }
};

}  // namespace

// The dynamic linker asks each resolver which function has the name: one with the right signature.
#define LOCKSTEP_RESOLVED(function, ...)                                                          \
  extern "C" {                                                                                    \
  decltype(&PMPI_##function) lockstep_resolve_##function() { return &__VA_ARGS__::call; }         \
  __attribute__((visibility("default"),                                                           \
                 ifunc("lockstep_resolve_" #function))) decltype(PMPI_##function) MPI_##function; \
  }

#define LOCKSTEP_NOTED(function)                          \
  static constexpr char k##function[] = "MPI_" #function; \
  LOCKSTEP_RESOLVED(function, Noted<k##function, &PMPI_##function>)
#define LOCKSTEP_SILENT(function) LOCKSTEP_RESOLVED(function, Silent<&PMPI_##function>)

LOCKSTEP_NOTED(Comm_spawn)
LOCKSTEP_NOTED(Comm_spawn_multiple)
LOCKSTEP_SILENT(Probe)
LOCKSTEP_SILENT(Iprobe)
LOCKSTEP_SILENT(Request_get_status)
LOCKSTEP_SILENT(Buffer_detach)
LOCKSTEP_SILENT(Comm_idup)
LOCKSTEP_SILENT(Comm_disconnect)
LOCKSTEP_SILENT(Intercomm_create)
LOCKSTEP_SILENT(Win_allocate_shared)
