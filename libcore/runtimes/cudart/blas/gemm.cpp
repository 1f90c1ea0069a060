#include "runtimes/cudart/blas/gemm.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "runtimes/cudart/blas/openblas.hpp"

namespace kernelcast::cudart::blas {

namespace {

using hostmath::Matrix, hostmath::Op;

std::uint64_t bytes_of(DataType type) {
  switch (type) {
    case DataType::i8:
    case DataType::e4m3:
    case DataType::e5m2:
      return 1;
    case DataType::f16:
    case DataType::bf16:
      return 2;
    case DataType::f64:
    case DataType::c32:
      return 8;
    case DataType::c64:
      return 16;
    default:
      return 4;
  }
}

Op op_of(GemmOperand const& operand) {
  return static_cast<Op>(operand.op);
}

template <class T>
Matrix<T> matrix_of(GemmOperand const& operand, T* begin) {
  auto out = Matrix<T>::by_columns(begin, operand.leading, op_of(operand));
  return operand.by_rows ? Matrix<T>{begin, out.column_step, out.row_step, out.conjugated} : out;
}

// The place of one product's matrix.
template <class T>
T* place(GemmOperand const& operand, std::int64_t i) {
  if (operand.pointers) return static_cast<T* const*>(operand.begin)[i];
  return static_cast<T*>(const_cast<void*>(operand.begin)) + i * operand.stride;
}

template <class Sum>
Sum function_of(GemmRequest::Function function, Sum value) {
  if constexpr (!hostmath::is_complex<Sum>) {
    if (function == GemmRequest::Function::relu) return value > Sum(0) ? value : Sum(0);
    if (function == GemmRequest::Function::gelu) {  // Hendrycks and Gimpel 2016, by the hyperbolic tangent
      auto const x = static_cast<double>(value);
      return static_cast<Sum>(0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))));
    }
  }
  return value;
}

template <class T>
struct Products {
  GemmRequest const& request;
  T alpha, beta;

  void one(std::int64_t i) const {
    auto const& r = request;
    auto const* const a = place<T const>(r.a, i);
    auto const* const b = place<T const>(r.b, i);
    auto* const c = place<T>(r.c, i);
    auto* const d = r.d ? place<T>(*r.d, i) : c;
    auto const to = matrix_of(r.d ? *r.d : r.c, d);
    if (d != c && !(beta == T(0))) {
      auto const from = matrix_of(r.c, c);
      for (std::int64_t j = 0; j < r.n; ++j)
        for (std::int64_t row = 0; row < r.m; ++row) to.at(row, j) = from.at(row, j);
    }
    if (!multiply_fast_here(a, b, d))
      hostmath::multiply<T, T, T>(r.m, r.n, r.k, alpha, matrix_of(r.a, a), matrix_of(r.b, b), beta, to);
    if (r.bias || r.function != GemmRequest::Function::none) finish(to);
  }

 private:
  bool multiply_fast_here(T const* a, T const* b, T* c) const {
    auto const& r = request;
    auto const& to = r.d ? *r.d : r.c;
    if (r.a.by_rows || r.b.by_rows || to.by_rows || alpha == T(0)) return false;
    return multiply_fast<T>({op_of(r.a), op_of(r.b), r.m, r.n, r.k, r.a.leading, r.b.leading, to.leading}, alpha, a, b,
                            beta, c);
  }
  void finish(Matrix<T> const& to) const {
    auto const* const bias = static_cast<T const*>(request.bias);
    for (std::int64_t j = 0; j < request.n; ++j)
      for (std::int64_t i = 0; i < request.m; ++i)
        to.at(i, j) = function_of(request.function, bias ? to.at(i, j) + bias[i] : to.at(i, j));
  }
};

// visit(value of the type)
template <class Visit>
void with_type(DataType type, Visit const& visit) {
  switch (type) {
    case DataType::f16:
      return visit(Half{});
    case DataType::bf16:
      return visit(BFloat{});
    case DataType::e4m3:
      return visit(hostmath::E4M3{});
    case DataType::e5m2:
      return visit(hostmath::E5M2{});
    case DataType::i8:
      return visit(std::int8_t{});
    case DataType::i32:
      return visit(std::int32_t{});
    default:
      return visit(0.0F);
  }
}

// Types of 8 and 16 bits, in one that holds their products: as such matrices are multiplied faster. Integers in double,
// which holds their sums, too.
template <class Wide>
struct NarrowProducts {
  GemmRequest const& request;
  Wide alpha, beta;

  void one(std::int64_t i) const {
    auto const& r = request;
    auto const a = wide(r.a, r.in, i, r.m, r.k), b = wide(r.b, r.type_of_b(), i, r.k, r.n);
    std::vector<Wide> sums(static_cast<std::size_t>(r.m * r.n));
    Wide const one(1), none(0);
    if (r.k > 0 && !multiply_fast<Wide>({Op::none, Op::none, r.m, r.n, r.k, r.m, r.k, r.m}, one, a.data(), b.data(),
                                        none, sums.data()))
      hostmath::multiply<Wide, Wide, Wide>(r.m, r.n, r.k, one, Matrix<Wide const>::by_columns(a.data(), r.m),
                                           Matrix<Wide const>::by_columns(b.data(), r.k), none,
                                           Matrix<Wide>::by_columns(sums.data(), r.m));
    std::vector<Wide> bias(static_cast<std::size_t>(r.m));
    if (r.bias)
      with_type(r.type_of_bias(), [&]<class T>(T) {
        for (std::int64_t row = 0; row < r.m; ++row)
          bias[static_cast<std::size_t>(row)] = hostmath::converted<Wide>(static_cast<T const*>(r.bias)[row]);
      });
    auto const scaled = [](float const* scale, Wide factor) {
      return scale ? factor * static_cast<Wide>(*scale) : factor;
    };
    Wide const by = scaled(r.scale_a, scaled(r.scale_b, alpha));
    if (!(beta == none)) add(sums, scaled(r.scale_c, beta), by, i);
    Wide const of_d = scaled(r.scale_d, one);
    Wide largest = 0;
    for (std::int64_t j = 0; j < r.n; ++j)
      for (std::int64_t row = 0; row < r.m; ++row) {
        Wide& value = sums[static_cast<std::size_t>(j * r.m + row)];
        if (beta == none) value = by * value;
        value = function_of<Wide>(r.function, value + bias[static_cast<std::size_t>(row)]);
        largest = std::max(largest, std::abs(value));
        value = value * of_d;
      }
    if (r.largest) *r.largest = std::max(i > 0 ? *r.largest : 0.0F, static_cast<float>(largest));
    auto const& operand = r.d ? *r.d : r.c;
    with_type(r.out, [&]<class T>(T) {
      auto const to = matrix_of(operand, place<T>(operand, i));
      for (std::int64_t j = 0; j < r.n; ++j)
        for (std::int64_t row = 0; row < r.m; ++row)
          to.at(row, j) = hostmath::converted<T>(sums[static_cast<std::size_t>(j * r.m + row)]);
    });
  }

 private:
  static std::vector<Wide> wide(GemmOperand const& operand, DataType type, std::int64_t i, std::int64_t rows,
                                std::int64_t columns) {
    std::vector<Wide> out(static_cast<std::size_t>(rows * columns));
    with_type(type, [&]<class T>(T) {
      auto const from = matrix_of(operand, place<T const>(operand, i));
      auto to = out.begin();
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t row = 0; row < rows; ++row) *to++ = hostmath::converted<Wide>(from.value(row, j));
    });
    return out;
  }
  void add(std::vector<Wide>& sums, Wide of_c, Wide by, std::int64_t i) const {
    auto const c = wide(request.c, request.type_of_c(), i, request.m, request.n);
    for (std::size_t at = 0; at < sums.size(); ++at) sums[at] = by * sums[at] + of_c * c[at];
  }
};

// The factors, in their own type.
template <class Sum>
Sum factor(void const* at, DataType type) {
  if constexpr (hostmath::is_complex<Sum>) {
    return *static_cast<Sum const*>(at);
  } else {
    switch (type) {
      case DataType::f16:
        return static_cast<Sum>(static_cast<float>(*static_cast<Half const*>(at)));
      case DataType::f64:
        return static_cast<Sum>(*static_cast<double const*>(at));
      case DataType::i32:
        return static_cast<Sum>(*static_cast<std::int32_t const*>(at));
      default:
        return static_cast<Sum>(*static_cast<float const*>(at));
    }
  }
}

using Run = void (*)(GemmRequest const&);

template <class T, template <class> class Kind = Products>
void run(GemmRequest const& r) {
  Kind<T> const products{r, factor<T>(r.alpha, r.scale), factor<T>(r.beta, r.scale)};
  for (std::int64_t i = 0; i < r.batch; ++i) products.one(i);
}

bool is_float(DataType type) {
  return type == DataType::f32 || type == DataType::f16 || type == DataType::bf16;
}
bool is_of_8_bits(DataType type) {
  return type == DataType::e4m3 || type == DataType::e5m2;
}

// Null where there is no such product.
Run run_of(GemmRequest const& r) {
  using enum DataType;
  auto const is = [&](DataType in, DataType out) { return r.in == in && r.out == out; };
  if (r.is_of_8_bits()) {
    auto const known = [](DataType type) { return is_float(type) || is_of_8_bits(type); };
    bool const all = is_of_8_bits(r.type_of_b()) && known(r.type_of_c()) && known(r.out) && r.scale == f32;
    return all && (!r.bias || is_float(r.type_of_bias())) ? run<float, NarrowProducts> : nullptr;
  }
  if (r.type_of_b() != r.in || r.type_of_c() != r.out || r.type_of_bias() != r.out) return nullptr;
  if (r.scale_a || r.scale_b || r.scale_c || r.scale_d || r.largest) return nullptr;
  if (is(f32, f32) && r.scale == f32) return run<float>;
  if (is(f64, f64) && r.scale == f64) return run<double>;
  if (is(c32, c32) && r.scale == c32) return run<C32>;
  if (is(c64, c64) && r.scale == c64) return run<C64>;
  bool const real = r.scale == f32 || (r.scale == f16 && is(f16, f16));
  if ((r.in == f16 || r.in == bf16) && (r.out == r.in || r.out == f32) && real) return run<float, NarrowProducts>;
  if (is(i8, i32) && r.scale == i32) return run<double, NarrowProducts>;
  if (is(i8, f32) && r.scale == f32) return run<float, NarrowProducts>;
  return nullptr;
}

char const* name_of_type(GemmRequest const& r) {
  switch (r.in) {
    case DataType::f16:
      return "f16";
    case DataType::bf16:
      return "bf16";
    case DataType::i8:
      return "i8";
    case DataType::e4m3:
    case DataType::e5m2:
      return "f8";
    case DataType::f64:
      return "f64";
    case DataType::c32:
      return "c32";
    case DataType::c64:
      return "c64";
    default:
      return r.tf32 ? "tf32" : "f32";
  }
}

struct Shape {
  std::uint64_t rows, columns;
};

// All products' matrices of an operand; as it lies in memory, columns of `rows` elements.
void add_operand(LibraryCall& call, GemmRequest const& r, std::string_view name, GemmOperand const& operand,
                 Shape shape, std::uint64_t size, bool read, bool written) {
  auto const batch = static_cast<std::uint64_t>(r.batch);
  if ((operand.op != Transpose::none) != operand.by_rows) std::swap(shape.rows, shape.columns);
  auto const leading = static_cast<std::uint64_t>(operand.leading);
  if (operand.pointers) {
    call.operands.push_back({name, operand.begin, batch * sizeof(void*), batch * sizeof(void*), true, false});
    if (!device_holds(operand.begin, batch * sizeof(void*))) return;  // which will be said
    for (std::int64_t i = 0; i < r.batch; ++i)
      call.matrix(name, place<std::byte const>(operand, i), size, shape.rows, shape.columns, leading, read, written);
    return;
  }
  call.matrix(name, operand.begin, size, shape.rows, shape.columns, leading, read, written);
  if (call.operands.empty() || batch < 2 || shape.rows == 0 || shape.columns == 0) return;
  auto& all = call.operands.back();
  std::uint64_t between = 0;
  if (__builtin_mul_overflow(batch - 1, static_cast<std::uint64_t>(operand.stride) * size, &between) ||
      __builtin_add_overflow(between, all.extent_bytes, &all.extent_bytes))
    all.extent_bytes = ~std::uint64_t{0};
  if (operand.stride != 0) all.touched_bytes = std::min(all.touched_bytes * batch, all.extent_bytes);
}

bool is_zero(void const* at, std::uint64_t bytes) {
  static constexpr std::byte none[16]{};
  return std::memcmp(at, none, bytes) == 0;
}

std::string identity_of(GemmRequest const& r) {
  auto const words = [](GemmOperand const& o) {
    return fmt::format("{}:{}:{}:{}:{:d}:{:d}", o.begin, o.leading, o.stride, static_cast<int>(o.op), o.pointers,
                       o.by_rows);
  };
  auto const scalar = [&](void const* at) {
    if (r.device_scalars) return fmt::format("{}", at);
    return std::string(static_cast<char const*>(at), bytes_of(r.scale));
  };
  std::string types;
  for (auto const type : {r.in, r.type_of_b(), r.type_of_c(), r.out, r.scale, r.type_of_bias()})
    types += fmt::format("{} ", static_cast<int>(type));
  std::string pointers;
  for (void const* at :
       {r.bias, static_cast<void const*>(r.scale_a), static_cast<void const*>(r.scale_b),
        static_cast<void const*>(r.scale_c), static_cast<void const*>(r.scale_d), static_cast<void const*>(r.largest)})
    pointers += fmt::format("{} ", at);
  return fmt::format("{} {}x{}x{}x{} {}{:d}{} {} {} {} {} {}{} {}", r.call, r.m, r.n, r.k, r.batch, types, r.tf32,
                     static_cast<int>(r.function), words(r.a), words(r.b), words(r.c), r.d ? words(*r.d) : "", pointers,
                     scalar(r.alpha), scalar(r.beta));
}

void describe(LibraryCall& call, GemmRequest const& r, Run run) {
  auto const m = static_cast<std::uint64_t>(r.m), n = static_cast<std::uint64_t>(r.n),
             k = static_cast<std::uint64_t>(r.k);
  auto const letter = [](GemmOperand const& operand) { return "ntc"[static_cast<int>(operand.op)]; };
  call.kernel = r.call;
  call.case_name = fmt::format("m{}_n{}_k{}_{}{}", m, n, k, letter(r.a), letter(r.b));
  if (r.batch > 1) call.case_name += fmt::format("_b{}", r.batch);
  call.library = fmt::format("gemm:{}:{}x{}x{}x{}", name_of_type(r), m, n, k, r.batch);
  bool const complex = r.in == DataType::c32 || r.in == DataType::c64;
  call.flop = (complex ? 8.0 : 2.0) * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
              static_cast<double>(r.batch);
  auto const scalar = bytes_of(r.scale);
  bool reads_c = true;
  if (r.device_scalars) {
    call.operands.push_back({"alpha", r.alpha, scalar, scalar, true, false});
    call.operands.push_back({"beta", r.beta, scalar, scalar, true, false});
    reads_c = device_holds(r.beta, scalar) && !is_zero(r.beta, scalar);
  } else {
    reads_c = !is_zero(r.beta, scalar);
  }
  if (m == 0 || n == 0 || r.batch == 0) return;
  add_operand(call, r, "A", r.a, {m, k}, bytes_of(r.in), true, false);
  add_operand(call, r, "B", r.b, {k, n}, bytes_of(r.type_of_b()), true, false);
  if (reads_c || !r.d) add_operand(call, r, "C", r.c, {m, n}, bytes_of(r.type_of_c()), reads_c, !r.d);
  if (r.d) add_operand(call, r, "D", *r.d, {m, n}, bytes_of(r.out), false, true);
  auto const size_of_bias = m * bytes_of(r.type_of_bias());
  if (r.bias) call.operands.push_back({"bias", r.bias, size_of_bias, size_of_bias, true, false});
  for (auto const* const factor : {r.scale_a, r.scale_b, r.scale_c, r.scale_d})
    if (factor) call.operands.push_back({"scale", factor, sizeof *factor, sizeof *factor, true, false});
  if (r.largest) call.operands.push_back({"amax", r.largest, sizeof(float), sizeof(float), false, true});
  call.identity = identity_of(r);
  call.work = [&r, run] { run(r); };
}

bool leads(GemmOperand const& operand, std::int64_t rows, std::int64_t columns) {
  bool const across = (operand.op != Transpose::none) != operand.by_rows;
  return operand.leading >= std::max<std::int64_t>(1, across ? columns : rows) && operand.stride >= 0;
}

bool is_valid(GemmOperand const& operand) {
  return operand.op >= Transpose::none && operand.op <= Transpose::conjugated;
}

}  // namespace

Status multiply(GemmRequest const& given) {
  auto request = given;
  auto const& r = request;
  if (r.m < 0 || r.n < 0 || r.k < 0 || r.batch < 0 || !r.alpha || !r.beta || !is_valid(r.a) || !is_valid(r.b))
    return Status::invalid_value;
  if (!leads(r.a, r.m, r.k) || !leads(r.b, r.k, r.n) || !leads(r.c, r.m, r.n) || (r.d && !leads(*r.d, r.m, r.n)))
    return Status::invalid_value;
  auto const run = run_of(r);
  if (!run)
    return refused(r.call, fmt::format("product of the types {}, {}, {}", static_cast<int>(r.in),
                                       static_cast<int>(r.out), static_cast<int>(r.scale)));
  // Factors of the host are read now, whenever the call runs.
  struct Factors {
    std::byte alpha[16], beta[16];
  };
  auto const factors = std::make_shared<Factors>();
  if (!r.device_scalars) {
    std::memcpy(factors->alpha, r.alpha, bytes_of(r.scale));
    std::memcpy(factors->beta, r.beta, bytes_of(r.scale));
    request.alpha = factors->alpha, request.beta = factors->beta;
  }
  return status_of(
      library_call(r.stream, [request, factors, run](LibraryCall& call) { describe(call, request, run); }));
}

}  // namespace kernelcast::cudart::blas
