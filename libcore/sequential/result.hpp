// What a run has gathered, as rows of the `profile` record.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "records/profile.hpp"
#include "sequential/contexts.hpp"
#include "sequential/invocations.hpp"
#include "sequential/rows.hpp"
#include "sequential/settings.hpp"

namespace kernelcast::seq {

struct Gathered {
  std::string kernel;
  std::vector<FunctionDescriptor const*> functions;
  Contexts const* contexts = nullptr;
  RowConsumer* rows = nullptr;                          // finished
  std::uint64_t const* widths = nullptr;                // [level], operations
  std::deque<Invocation> const* invocations = nullptr;  // where each call is told apart, else empty
  SyncMarks const* sync_marks = nullptr;
};

std::vector<record::Profile> profile_of(Gathered const&, Settings const&);

}  // namespace kernelcast::seq
