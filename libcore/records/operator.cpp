#include "records/operator.hpp"

namespace kernelcast::record {

namespace {

constexpr char const* operator_meaning =
    "add, mul, div (of two matrices), addu, mulu, divu, powu (of a matrix and a number), relu, tanh, ln (layer norm), "
    "linear or bmm";
constexpr char const* sizes_meaning = "sizes: B64_H1024 (rows, columns); of linear and bmm B1_M64_N128_K256";

}  // namespace

Schema<OperatorFeature> const& OperatorFeature::schema() {
  using R = OperatorFeature;
  static auto const schema =
      Schema<R>("operator_feature", "features of an operator of a neural network in fp32, from its sizes")
          .column("kernel", &R::kernel, Unit::none, "the operator")
          .column("case", &R::case_name, Unit::none, "its sizes")
          .accepts("size")
          .column("flop", &R::flop, Unit::count, "floating-point operations: one a result, of products 2 K")
          .column("special", &R::special, Unit::count, "those on the units of special functions")
          .column("read_b", &R::read_b, Unit::none, "bytes of the inputs")
          .column("write_b", &R::write_b, Unit::none, "bytes of the results")
          .column("out", &R::out, Unit::count, "results")
          .column("intensity", &R::intensity, Unit::none, "flop per byte of inputs and results")
          .column("inner", &R::inner, Unit::count, "K of a product, else 0")
          .column("rows", &R::rows, Unit::count, "rows of all matrices of the batch")
          .column("cols", &R::cols, Unit::count, "columns")
          .column("reduce", &R::reduce, Unit::count, "elements of a reduction: columns of ln, else 0")
          .column("batch", &R::batch, Unit::count, "B")
          .column("gemm", &R::gemm, Unit::none, "1 for linear and bmm, else 0");
  return schema;
}

Schema<OperatorSize> const& OperatorSize::schema() {
  static auto const schema = Schema<OperatorSize>("operator", "an operator of a neural network and its sizes")
                                 .column("kernel", &OperatorSize::kernel, Unit::none, operator_meaning)
                                 .column("case", &OperatorSize::case_name, Unit::none, sizes_meaning)
                                 .accepts("size");
  return schema;
}

}  // namespace kernelcast::record
