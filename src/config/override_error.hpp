// What is wrong with a --set: its place is the command line, not the file that was being read.
#pragma once

#include "util/error.hpp"

namespace lockstep::config {

class OverrideError : public UserError {
 public:
  using UserError::UserError;
};

}  // namespace lockstep::config
