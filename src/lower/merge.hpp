// Neighbouring accesses of a thread to shared or local memory, as one of 64 or 128 bits.
//
// Derived from what ptxas 13.0 makes for sm_75, sm_86 and sm_90 of accesses at some of four offsets from one
// aligned address. Loads of words: of the four words in 16 aligned bytes three or all are one of 128 bits,
// two in 8 aligned bytes one of 64; stores: all four, or two in 8 aligned bytes. Two 64-bit loads or stores
// in 16 aligned bytes are one. Not what is shorter than a word, or volatile, or has another access between
// that may be to the same place, or a barrier; nor what goes to global memory, of whose pointers no alignment
// is known. ptxas also merges three loads of which the first word is the missing one, which stay here.
#pragma once

#include <vector>

#include "lower/predication.hpp"
#include "ptx/ir.hpp"

namespace lockstep::lower {

/// Turns the first load (the last store) of those that are merged into all of them; the others are gone, and
/// `carrier` says which one has the lowest address. `variables`: of the program.
void merge_accesses(Predicated& shape, const std::vector<ptx::Variable>& variables);

}  // namespace lockstep::lower
