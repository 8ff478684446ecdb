#include "messages/pmpi/clock.hpp"

#include <cstdlib>
#include <fstream>

namespace lockstep_pmpi {
namespace {

constexpr const char* kClockVariable = "LOCKSTEP_MPI_CLOCK";  // as cli/mpi_clock.cpp sets it

}  // namespace

void ShownClock::begin() {
  const char* const path = std::getenv(kClockVariable);
  if (path == nullptr) return;
  shown_ = true;
  std::ifstream in(path);
  for (std::uint64_t time = 0; in >> time;) times_.push_back(time);
  unsetenv(kClockVariable);
}

}  // namespace lockstep_pmpi
