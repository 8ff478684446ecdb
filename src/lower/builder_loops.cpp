// Which runs of the machine code are copies of a loop's body.
#include "lower/builder.hpp"

namespace lockstep::lower {

/// Instructions of all copies of loops unrolled in part but each one's last.
std::vector<bool> Builder::repeated_copies(const Predicated& shape) {
  std::vector<bool> repeated(shape.origin.size());
  for (const PartialLoop& loop : shape.partial)
    for (std::size_t c = 0; c + 1 < loop.copies.size(); ++c)
      for (std::uint32_t at = loop.copies[c].first; at < loop.copies[c].end; ++at) repeated[at] = true;
  return repeated;
}

/// Which copies of loops the next run begins or ends. Its last ones may share a run with what follows them.
void Builder::note_copies(const Predicated& shape, std::size_t first_loop, Run run, CodeRun& code) {
  const auto number = static_cast<std::uint32_t>(code_.runs_.size());
  for (std::size_t l = 0; l < shape.partial.size(); ++l) {
    const auto& copies = shape.partial[l].copies;
    for (std::size_t c = 0; c < copies.size(); ++c) {
      RunsOfCopies& at = code_.loops_[first_loop + l][c];
      if (run.first == copies[c].first) {
        at.first = number;
        code.loop = static_cast<std::uint32_t>(first_loop + l);
      }
      if (run.first < copies[c].end) at.end = number + 1;
    }
  }
}

}  // namespace lockstep::lower
