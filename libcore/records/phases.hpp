// What a work-group does from one barrier to the next, as the column group_phases has it.
//
// Problem: the wavefronts of a group that is alone on its compute unit overlap each other between two barriers only.
// What it takes of a pipe in one phase hides nothing of what it takes of another pipe in the next one.
// Method: phases between the same two places of the code are one kind. Of each kind there are its number, what its
// phases take together of the group's work by kinds of work, and what the chain of results of one of them consists of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "records/kernel.hpp"

namespace kernelcast::record {

// issue    slots of all pipes
// fp32     of those of single and half precision
// integer  of imad and alu
// others   of double precision, conversions, special functions, matrix products
// lsu      cycles of the load/store unit for global and private memory
// shared   of shared memory
// sectors  of global memory
#define KERNELCAST_WORKS(X) X(issue) X(fp32) X(integer) X(others) X(lsu) X(shared) X(sectors)
#define KERNELCAST_ENUMERATOR(name) name,
enum class Work : std::uint8_t { KERNELCAST_WORKS(KERNELCAST_ENUMERATOR) };
#undef KERNELCAST_ENUMERATOR
#define KERNELCAST_NAME(name) std::string_view(#name),
template <>
inline constexpr std::array names_of<Work>{KERNELCAST_WORKS(KERNELCAST_NAME)};
#undef KERNELCAST_NAME
#undef KERNELCAST_WORKS

struct Phase {
  double count = 0;
  PerValue<Work, double> part;   // of the group's, of all phases of this kind together: 0 to 1
  PerValue<Step, double> steps;  // on the longest chain of one phase
};

// A histogram: the parts and the steps joined by '/', how many.
std::string text_of(std::vector<Phase> const&);
bool read_phases(std::string_view text, std::vector<Phase>& out);  // false where it is no such text

}  // namespace kernelcast::record
