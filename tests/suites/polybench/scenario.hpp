// A launch file and its buffers as the references read them.
#pragma once

#include <cstring>
#include <stdexcept>

#include "expected.hpp"

namespace kernelcast::suites {

// Row-major.
class Matrix {
 public:
  Matrix(std::vector<Rounded> elements, std::size_t columns) : elements_(std::move(elements)), columns_(columns) {
    if (columns == 0 || elements_.size() % columns != 0) throw std::out_of_range("a matrix with a part of a row");
  }
  Matrix(std::size_t rows, std::size_t columns) : elements_(rows * columns), columns_(columns) {}
  std::size_t rows() const { return elements_.size() / columns_; }
  std::size_t columns() const { return columns_; }
  Rounded& operator()(std::size_t row, std::size_t column) { return elements_[row * columns_ + column]; }
  Rounded operator()(std::size_t row, std::size_t column) const { return elements_[row * columns_ + column]; }
  std::vector<Rounded> const& elements() const { return elements_; }

 private:
  std::vector<Rounded> elements_;
  std::size_t columns_;
};

class Scenario {
 public:
  Scenario(launch::Plan const& plan, Buffers const& before, Buffers const& after)
      : plan_(&plan), before_(&before), after_(&after) {}

  std::vector<Rounded> vector(std::string_view buffer) const { return read(*before_, buffer); }
  Matrix matrix(std::string_view buffer, std::size_t columns) const { return {vector(buffer), columns}; }
  Matrix result(std::string_view buffer, std::size_t columns) const { return {read(*after_, buffer), columns}; }

  // The i-th integer or float among the arguments of the n-th launch of this kernel.
  std::size_t integer(std::string_view kernel, std::size_t i, std::size_t n = 0) const {
    std::int32_t value = 0;
    read(kernel, launch::Element::i32, i, n, value);
    return static_cast<std::size_t>(value);
  }
  float number(std::string_view kernel, std::size_t i) const {
    float value = 0;
    read(kernel, launch::Element::f32, i, 0, value);
    return value;
  }
  std::size_t launches(std::string_view kernel) const {
    std::size_t count = 0;
    for (auto const& call : plan_->calls) count += call.kernel.text == kernel;
    return count;
  }

 private:
  static std::vector<Rounded> read(Buffers const& buffers, std::string_view buffer) {
    auto const found = buffers.find(buffer);
    if (found == buffers.end()) throw std::out_of_range("no buffer " + std::string(buffer));
    std::vector<Rounded> values;
    for (std::size_t at = 0; at < found->second.size(); at += sizeof(float)) {
      float value = 0;
      std::memcpy(&value, &found->second[at], sizeof value);
      values.emplace_back(value);
    }
    return values;
  }

  template <class T>
  void read(std::string_view kernel, launch::Element element, std::size_t i, std::size_t n, T& value) const {
    for (auto const& call : plan_->calls) {
      if (call.kernel.text != kernel || n-- > 0) continue;
      for (auto const& argument : call.arguments) {
        if (argument.kind != launch::Argument::Kind::value || argument.element != element || i-- > 0) continue;
        std::memcpy(&value, argument.value.data(), sizeof value);
        return;
      }
    }
    throw std::out_of_range("no such argument of " + std::string(kernel));
  }

  launch::Plan const* plan_;
  Buffers const *before_, *after_;
};

// Each file of references: the workloads of one kind.
Expected expect_product(std::string_view workload, Scenario const&);  // matrix and vector products
Expected expect_solver(std::string_view workload, Scenario const&);   // correlation, covariance, lu, gramschmidt
Expected expect_stencil(std::string_view workload, Scenario const&);  // convolutions, jacobi, fdtd2d, adi

}  // namespace kernelcast::suites
