// The PTX statements that a kernel's machine instructions stand for, for profiles (`exec --profile`).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exec/executable.hpp"
#include "lower/code.hpp"
#include "trace/compact_bytes.hpp"

namespace lockstep::cuda {

struct ListedInstruction {
  std::uint32_t pc = 0;
  std::string ptx;  // such as "add.f32 %f3, %f1, %f2;"
  friend bool operator==(const ListedInstruction&, const ListedInstruction&) = default;
};
using Listing = std::vector<ListedInstruction>;

/// In the order of the code; instructions that stand for no one operation (of subroutines) are left out.
[[nodiscard]] Listing list_ptx(const exec::Executable& kernel, const lower::Code& code);

void encode_listing(const Listing& listing, trace::Bytes& to);
/// Throws trace::BrokenBlock.
[[nodiscard]] Listing decode_listing(trace::ByteReader& in);

}  // namespace lockstep::cuda
