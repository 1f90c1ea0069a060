// The error that a call ends with; one of Status::done where it ends without.
#pragma once

#include "base/diag/diag.hpp"

namespace kernelcast {

template <class Call>
Error error_of(Call const& call) {
  try {
    call();
  } catch (Error const& error) {
    return error;
  }
  return {Status::done, "nothing was thrown"};
}

}  // namespace kernelcast
