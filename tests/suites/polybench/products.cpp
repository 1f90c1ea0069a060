// Matrix and vector products: gemm, 2mm, 3mm, syrk, syr2k, doitgen, atax, bicg, mvt, gesummv, gemver.
#include "scenario.hpp"

namespace kernelcast::suites {
namespace {

Matrix product(Matrix const& a, Matrix const& b) {
  if (a.columns() != b.rows()) throw std::out_of_range("a product of matrices that do not fit");
  Matrix result(a.rows(), b.columns());
  for (std::size_t i = 0; i < a.rows(); ++i)
    for (std::size_t j = 0; j < b.columns(); ++j) {
      Sum sum;
      for (std::size_t k = 0; k < a.columns(); ++k) sum += a(i, k) * b(k, j);
      result(i, j) = sum.total();
    }
  return result;
}

Matrix transposed(Matrix const& a) {
  Matrix result(a.columns(), a.rows());
  for (std::size_t i = 0; i < a.rows(); ++i)
    for (std::size_t j = 0; j < a.columns(); ++j) result(j, i) = a(i, j);
  return result;
}

Matrix scaled(Rounded factor, Matrix a) {
  for (std::size_t i = 0; i < a.rows(); ++i)
    for (std::size_t j = 0; j < a.columns(); ++j) a(i, j) = factor * a(i, j);
  return a;
}

Matrix plus(Matrix a, Matrix const& b) {
  for (std::size_t i = 0; i < a.rows(); ++i)
    for (std::size_t j = 0; j < a.columns(); ++j) a(i, j) += b(i, j);
  return a;
}

Matrix column(std::vector<Rounded> elements) {
  return {std::move(elements), 1};
}

Expected gemm(Scenario const& s) {
  std::size_t const columns = s.integer("gemm", 1), depth = s.integer("gemm", 2);
  Matrix const ab = product(s.matrix("a", depth), s.matrix("b", columns));
  return {{"c", plus(scaled(s.number("gemm", 0), ab), scaled(s.number("gemm", 1), s.matrix("c", columns))).elements()}};
}

Expected mm2(Scenario const& s) {
  std::size_t const nj = s.integer("mm2_first", 1), nk = s.integer("mm2_first", 2), nl = s.integer("mm2_second", 1);
  Matrix const ab = scaled(s.number("mm2_first", 0), product(s.matrix("a", nk), s.matrix("b", nj)));
  Matrix const d = plus(product(ab, s.matrix("c", nl)), scaled(s.number("mm2_second", 0), s.matrix("d", nl)));
  return {{"ab", ab.elements()}, {"d", d.elements()}};
}

Expected mm3(Scenario const& s) {
  auto const size = [&](std::size_t launch, std::size_t i) { return s.integer("mm3_product", i, launch); };
  Matrix const ab = product(s.matrix("a", size(0, 2)), s.matrix("b", size(0, 1)));
  Matrix const cd = product(s.matrix("c", size(1, 2)), s.matrix("d", size(1, 1)));
  return {{"ab", ab.elements()}, {"cd", cd.elements()}, {"abcd", product(ab, cd).elements()}};
}

Expected syrk(Scenario const& s) {
  Matrix const a = s.matrix("a", s.integer("syrk", 1)), c = s.matrix("c", s.integer("syrk", 0));
  return {
      {"c", plus(scaled(s.number("syrk", 0), product(a, transposed(a))), scaled(s.number("syrk", 1), c)).elements()}};
}

// Both products of a pair are added before they join the sum, or each alone: the bound is that of 2 n terms.
Expected syr2k(Scenario const& s) {
  std::size_t const depth = s.integer("syr2k", 1);
  Matrix const a = s.matrix("a", depth), b = s.matrix("b", depth);
  Matrix c = s.matrix("c", s.integer("syr2k", 0));
  for (std::size_t i = 0; i < c.rows(); ++i)
    for (std::size_t j = 0; j < c.columns(); ++j) {
      Sum sum;
      for (std::size_t k = 0; k < depth; ++k) {
        sum += a(i, k) * b(j, k);
        sum += b(i, k) * a(j, k);
      }
      c(i, j) = Rounded(s.number("syr2k", 0)) * sum.total() + Rounded(s.number("syr2k", 1)) * c(i, j);
    }
  return {{"c", c.elements()}};
}

// Every (r, q) is a row of a.
Expected doitgen(Scenario const& s) {
  std::size_t const np = s.integer("doitgen_product", 2);
  auto const a = product(s.matrix("a", np), s.matrix("c4", np)).elements();
  return {{"a", a}, {"sum", a}};
}

Expected atax(Scenario const& s) {
  Matrix const a = s.matrix("a", s.integer("atax_rows", 1));
  Matrix const ax = product(a, column(s.vector("x")));
  return {{"ax", ax.elements()}, {"y", product(transposed(a), ax).elements()}};
}

Expected bicg(Scenario const& s) {
  Matrix const a = s.matrix("a", s.integer("bicg_q", 1));
  return {{"q", product(a, column(s.vector("p"))).elements()},
          {"s", product(transposed(a), column(s.vector("r"))).elements()}};
}

// The kernel's sum begins with x: one more term than the product has.
std::vector<Rounded> plus_product(std::vector<Rounded> x, Matrix const& a, std::vector<Rounded> const& y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    Sum sum;
    sum += x[i];
    for (std::size_t k = 0; k < y.size(); ++k) sum += a(i, k) * y[k];
    x[i] = sum.total();
  }
  return x;
}

Expected mvt(Scenario const& s) {
  Matrix const a = s.matrix("a", s.integer("mvt_rows", 0));
  return {{"x1", plus_product(s.vector("x1"), a, s.vector("y1"))},
          {"x2", plus_product(s.vector("x2"), transposed(a), s.vector("y2"))}};
}

Expected gesummv(Scenario const& s) {
  std::size_t const n = s.integer("gesummv", 0);
  Matrix const x = column(s.vector("x"));
  return {{"y", plus(scaled(s.number("gesummv", 0), product(s.matrix("a", n), x)),
                     scaled(s.number("gesummv", 1), product(s.matrix("b", n), x)))
                    .elements()}};
}

Expected gemver(Scenario const& s) {
  Matrix a = s.matrix("a", s.integer("gemver_rank2", 0));
  auto const u1 = s.vector("u1"), v1 = s.vector("v1"), u2 = s.vector("u2"), v2 = s.vector("v2");
  for (std::size_t i = 0; i < a.rows(); ++i)
    for (std::size_t j = 0; j < a.columns(); ++j) {
      Sum sum;
      sum += a(i, j);
      sum += u1[i] * v1[j];
      sum += u2[i] * v2[j];
      a(i, j) = sum.total();
    }
  Matrix const turned = scaled(s.number("gemver_x", 0), product(transposed(a), column(s.vector("y"))));
  Matrix const x = plus(column(s.vector("x")), plus(turned, column(s.vector("z"))));
  Matrix const w = plus(column(s.vector("w")), scaled(s.number("gemver_w", 0), product(a, x)));
  return {{"a", a.elements()}, {"x", x.elements()}, {"w", w.elements()}};
}

}  // namespace

Expected expect_product(std::string_view workload, Scenario const& s) {
  if (workload == "gemm") return gemm(s);
  if (workload == "2mm") return mm2(s);
  if (workload == "3mm") return mm3(s);
  if (workload == "syrk") return syrk(s);
  if (workload == "syr2k") return syr2k(s);
  if (workload == "doitgen") return doitgen(s);
  if (workload == "atax") return atax(s);
  if (workload == "bicg") return bicg(s);
  if (workload == "mvt") return mvt(s);
  if (workload == "gesummv") return gesummv(s);
  if (workload == "gemver") return gemver(s);
  return {};
}

}  // namespace kernelcast::suites
