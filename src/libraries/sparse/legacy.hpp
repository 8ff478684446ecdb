// What the older entries describe a matrix by.
#pragma once

#include "libraries/sparse/abi.hpp"

namespace lockstep::libraries::sparse {

struct MatrixDescription {
  int type = kGeneral;
  int base = 0;
  int fill_mode = kLower;
  int diagonal_type = kNonUnit;
};

}  // namespace lockstep::libraries::sparse
