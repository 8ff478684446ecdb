// What CTAs executed, as the records of a trace.
#pragma once

#include <memory>
#include <vector>

#include "exec/record.hpp"
#include "lower/code.hpp"
#include "trace/kernel_trace.hpp"

namespace lockstep::lower {

/// Replaces each executed PTX instruction by its machine instructions. Most warps execute what another one
/// before them did, with other addresses: the sequences of the last few are kept. One for each thread.
class Replayer {
 public:
  /// Both must outlive it.
  Replayer(const Code& code, const Dim3& grid);
  ~Replayer();
  Replayer(Replayer&&) noexcept;

  /// Buffers of `out` are used again. Its warps share records where they are the same.
  void replay(const exec::CtaRecord& record, trace::CtaTrace& out);

 private:
  struct Sequence;
  void warp(const exec::WarpRecord& warp, trace::CtaTrace& out);
  Sequence& sequence(const std::vector<trace::Record>& executed);

  const Code* code_;
  const Dim3* grid_;
  std::vector<std::unique_ptr<Sequence>> kept_;  // the latest first
};

}  // namespace lockstep::lower
