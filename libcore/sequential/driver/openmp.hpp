// OpenMP's directives as marks: how often a sequential run passes the barriers that they stand for.
//
// Problem: directives are comments for the measured program, and the number of global synchronizations is known only
// once it has run. Method: in the preprocessed source each directive that ends with a barrier becomes a statement
// before its construct, which calls a mark; a construct that is entered once ends once. The code is the same otherwise.
// Limits: C and C++ alone. A directive counts wherever a sequential run meets it: nested parallel regions too, and `if`
// clauses are not evaluated. Not global, and not counted: critical, atomic, ordered, tasks and their waits, teams.
#pragma once

#include <string>
#include <string_view>

namespace kernelcast::seq {

inline constexpr char const* openmp_mark = "seqprof_sync_openmp";

// The directive's name, such as "parallel for", where it synchronizes all threads; empty otherwise. `text` is what
// follows
// `#pragma omp`.
std::string synchronizing_directive(std::string_view text);

// `source` as the preprocessor writes it, with the marks; the lines keep their numbers.
std::string with_openmp_marks(std::string_view source);

}  // namespace kernelcast::seq
