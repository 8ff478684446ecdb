#include "cuda/event_times.hpp"

#include <fstream>

#include "util/error.hpp"

namespace lockstep::cuda {

EventTimes::EventTimes(const std::string& path) {
  if (path.empty()) return;
  std::ifstream in(path);
  for (std::uint64_t time = 0; in >> time;) times_.push_back(time);
  if (!in.eof()) throw UserError(path + " cannot be read; expected the times of events");
}

std::optional<float> EventTimes::milliseconds(std::uint64_t from, std::uint64_t to) const {
  if (from >= times_.size() || to >= times_.size()) return std::nullopt;
  constexpr double kMillisecondsOfPs = 1e-9;
  const double ps = static_cast<double>(times_[to]) - static_cast<double>(times_[from]);
  return static_cast<float>(ps * kMillisecondsOfPs);
}

}  // namespace lockstep::cuda
