#include "sequential/invocations.hpp"

namespace kernelcast::seq {

namespace {

constexpr std::uint64_t Totals::* members[] = {&Totals::add,   &Totals::mul,    &Totals::div,
                                               &Totals::sqrt,  &Totals::call,   &Totals::vectorizable,
                                               &Totals::loads, &Totals::stores, &Totals::bytes};

}  // namespace

void Totals::count(RowDescriptor const& row) {
  add += row.executed * row.add;
  mul += row.executed * row.mul;
  div += row.executed * row.div;
  sqrt += row.executed * row.sqrt;
  call += row.executed * row.call;
  vectorizable += row.executed * row.vectorizable;
  loads += row.executed * row.loads;
  stores += row.executed * row.stores;
  bytes += row.executed * row.bytes;
}

Totals& Totals::operator+=(Totals const& other) {
  for (auto const member : members) this->*member += other.*member;
  return *this;
}

Totals Totals::operator-(Totals const& other) const {
  Totals out;
  for (auto const member : members) out.*member = this->*member - other.*member;
  return out;
}

Totals totals_of(std::vector<FunctionDescriptor const*> const& functions, Side side) {
  Totals totals;
  for (auto const* const function : functions)
    for (std::uint64_t i = 0; i < function->row_count; ++i)
      if ((function->rows[i].accesses > 0) == (side == Side::consumer)) totals.count(function->rows[i]);
  return totals;
}

}  // namespace kernelcast::seq
