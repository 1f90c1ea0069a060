// A run to be judged, and the judging of single elements.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <vector>

#include "approximate.hpp"
#include "emulator/launch/launch.hpp"
#include "plans.hpp"

namespace kernelcast::suites {

struct Run {
  launch::Plan const& plan;
  Buffers const& before;
  Buffers const& after;

  template <class T>
  std::vector<T> input(std::string_view name) const {
    return elements<T>(before, name);
  }
  template <class T>
  std::vector<T> result(std::string_view name) const {
    return elements<T>(after, name);
  }
  launch::Call const& call(std::string_view kernel) const {
    for (auto const& candidate : plan.calls)
      if (candidate.kernel.text == kernel) return candidate;
    throw std::out_of_range(fmt::format("no launch of '{}'", kernel));
  }
  // Argument `index`, from 0, of the first launch of a kernel, which is a value of type T.
  template <class T>
  T argument(std::string_view kernel, std::size_t index) const {
    auto const& bytes = call(kernel).arguments.at(index).value;
    T value{};
    if (bytes.size() != sizeof value) throw std::out_of_range(fmt::format("{}: argument {}", kernel, index));
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::size_t groups(std::string_view kernel) const { return call(kernel).global.size.x / call(kernel).local->size.x; }
};

template <class T>
void expect_equal(Verdict& verdict, std::string_view name, std::vector<T> const& got, std::vector<T> const& expected) {
  if (got.size() != expected.size())
    return verdict.note_mismatch(fmt::format("size of {}", name), 0, static_cast<double>(got.size()),
                                 static_cast<double>(expected.size()));
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != expected[i])
      return verdict.note_mismatch(name, i, static_cast<double>(got[i]), static_cast<double>(expected[i]));
}

// The comparison is written so that a NaN fails.
template <class Real>
void expect_near(Verdict& verdict, std::string_view name, std::size_t index, Real got,
                 std::type_identity_t<Approximate<Real>> expected) {
  if (got == expected.value) return;
  auto const ratio = static_cast<double>(std::abs(got - expected.value) / expected.error);
  if (!(ratio <= 1)) verdict.note_mismatch(name, index, got, static_cast<double>(expected.value));
  verdict.worst = std::max(verdict.worst, ratio);
}

}  // namespace kernelcast::suites
