// cuBLASLt: products of ordinary layouts (column after column, row after row), with a bias, ReLU or GELU, and of 8-bit
// types with a factor for each matrix.
//
// Limits: no tiled layouts, no factors of blocks or rows, no gradients: refused by name. One algorithm, which needs no
// workspace. What describes a product lies in the application's own memory, as in NVIDIA's library.
#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "runtimes/cudart/blas/gemm.hpp"

using namespace kernelcast::cudart;
using namespace kernelcast::cudart::blas;

namespace {

struct Layout {
  DataType type;
  std::int32_t order, batch;
  std::uint64_t rows, columns;
  std::int64_t leading, stride;
  friend bool operator==(Layout const&, Layout const&) = default;
};
static_assert(sizeof(Layout) <= 64);

struct Description {
  Compute compute;
  DataType scale;
  std::int32_t pointers, op_a, op_b, op_c;
  std::uint32_t epilogue;
  std::int32_t bias_type;
  void const* bias;
  float const *scale_a, *scale_b, *scale_c, *scale_d;
  float* largest;
  std::int32_t scale_modes[4];
  bool other;  // something was set that there is not
};
static_assert(sizeof(Description) <= 256);

struct Opaque {
  std::uint64_t data[8];
};
struct Heuristic {
  Opaque algorithm;
  std::size_t workspace_bytes;
  Status state;
  float waves;
  int reserved[4];
};

Status lacks(char const* call, std::string_view what = {}) {
  library_lacks("cuBLASLt", call, what);
  return Status::not_supported;
}

template <class T>
Status take(T& to, void const* from, std::size_t bytes) {
  if (!from || bytes < sizeof(T)) return Status::invalid_value;
  std::memcpy(&to, from, sizeof(T));
  return Status::success;
}
template <class T>
Status give(T const& from, void* to, std::size_t bytes, std::size_t* written) {
  if (written) *written = sizeof(T);
  if (bytes == 0) return Status::success;
  if (!to || bytes < sizeof(T)) return Status::invalid_value;
  std::memcpy(to, &from, sizeof(T));
  return Status::success;
}

// An attribute of a layout or a description, by its number; `visit` gets the member.
template <class Visit>
Status on_attribute(Layout& l, int attribute, Visit const& visit) {
  switch (attribute) {
    case 0:
      return visit(l.type);
    case 1:
      return visit(l.order);
    case 2:
      return visit(l.rows);
    case 3:
      return visit(l.columns);
    case 4:
      return visit(l.leading);
    case 5:
      return visit(l.batch);
    case 6:
      return visit(l.stride);
    default:
      return Status::invalid_value;
  }
}
template <class Visit>
Status on_attribute(Description& d, int attribute, Visit const& visit) {
  switch (attribute) {
    case 0:
      return visit(d.compute);
    case 1:
      return visit(d.scale);
    case 2:
      return visit(d.pointers);
    case 3:
      return visit(d.op_a);
    case 4:
      return visit(d.op_b);
    case 5:
      return visit(d.op_c);
    case 7:
      return visit(d.epilogue);
    case 8:
      return visit(d.bias);
    case 17:
      return visit(d.scale_a);
    case 18:
      return visit(d.scale_b);
    case 19:
      return visit(d.scale_c);
    case 20:
      return visit(d.scale_d);
    case 21:
      return visit(d.largest);
    case 26:
      return visit(d.bias_type);
    case 31:
    case 32:
    case 33:
    case 34:
      return visit(d.scale_modes[attribute - 31]);
    default:
      return Status::invalid_value;
  }
}

bool changes_nothing(int attribute) {  // compute units to leave free, faster sums, the emulation of types
  return attribute == 15 || attribute == 25 || attribute == 38;
}

GemmOperand operand_of(void const* begin, Layout const& l, int op) {
  return {begin, false, l.leading, l.batch > 1 ? l.stride : 0, static_cast<Transpose>(op), l.order == 1};
}

constexpr std::uint32_t relu = 2, bias = 4, gelu = 32, plain = 1;
constexpr int own_type = -1;

}  // namespace

KERNELCAST_CUDA_EXPORT Status cublasLtCreate(void** handle) {
  static int one = 0;
  if (!handle) return Status::invalid_value;
  *handle = &one;
  return Status::success;
}
KERNELCAST_CUDA_EXPORT Status cublasLtDestroy(void*) {
  return Status::success;
}
KERNELCAST_CUDA_EXPORT std::size_t cublasLtGetVersion() {
  return KERNELCAST_LIBRARY_VERSION * 10000;
}
KERNELCAST_CUDA_EXPORT std::size_t cublasLtGetCudartVersion() {
  return KERNELCAST_LIBRARY_VERSION * 1000;
}
KERNELCAST_CUDA_EXPORT Status cublasLtGetProperty(int which, int* to) {
  if (!to || which < 0 || which > 2) return Status::invalid_value;
  *to = which == 0 ? KERNELCAST_LIBRARY_VERSION : 0;
  return Status::success;
}
KERNELCAST_CUDA_EXPORT char const* cublasLtGetStatusName(Status status) {
  return status == Status::success ? "CUBLAS_STATUS_SUCCESS" : "CUBLAS_STATUS_NOT_SUPPORTED";
}
KERNELCAST_CUDA_EXPORT char const* cublasLtGetStatusString(Status status) {
  return cublasLtGetStatusName(status);
}

KERNELCAST_CUDA_EXPORT Status cublasLtMatrixLayoutInit_internal(Layout* layout, std::size_t bytes, DataType type,
                                                                std::uint64_t rows, std::uint64_t columns,
                                                                std::int64_t leading) {
  if (!layout || bytes < sizeof(Layout)) return Status::invalid_value;
  *layout = {type, 0, 1, rows, columns, leading, 0};
  return Status::success;
}
KERNELCAST_CUDA_EXPORT Status cublasLtMatrixLayoutCreate(Layout** layout, DataType type, std::uint64_t rows,
                                                         std::uint64_t columns, std::int64_t leading) {
  if (!layout) return Status::invalid_value;
  *layout = new Layout{type, 0, 1, rows, columns, leading, 0};
  return Status::success;
}
KERNELCAST_CUDA_EXPORT Status cublasLtMatrixLayoutDestroy(Layout* layout) {
  delete layout;
  return Status::success;
}
KERNELCAST_CUDA_EXPORT Status cublasLtMatrixLayoutSetAttribute(Layout* layout, int attribute, void const* from,
                                                               std::size_t bytes) {
  if (!layout) return Status::invalid_value;
  return on_attribute(*layout, attribute, [&](auto& member) { return take(member, from, bytes); });
}
KERNELCAST_CUDA_EXPORT Status cublasLtMatrixLayoutGetAttribute(Layout* layout, int attribute, void* to,
                                                               std::size_t bytes, std::size_t* written) {
  if (!layout) return Status::invalid_value;
  return on_attribute(*layout, attribute, [&](auto& member) { return give(member, to, bytes, written); });
}

KERNELCAST_CUDA_EXPORT Status cublasLtMatmulDescInit_internal(Description* made, std::size_t bytes, Compute compute,
                                                              DataType scale) {
  if (!made || bytes < sizeof(Description)) return Status::invalid_value;
  *made = {};
  made->compute = compute, made->scale = scale, made->epilogue = plain, made->bias_type = own_type;
  return Status::success;
}
KERNELCAST_CUDA_EXPORT Status cublasLtMatmulDescCreate(Description** made, Compute compute, DataType scale) {
  if (!made) return Status::invalid_value;
  *made = new Description;
  return cublasLtMatmulDescInit_internal(*made, sizeof(Description), compute, scale);
}
KERNELCAST_CUDA_EXPORT Status cublasLtMatmulDescDestroy(Description* made) {
  delete made;
  return Status::success;
}
KERNELCAST_CUDA_EXPORT Status cublasLtMatmulDescSetAttribute(Description* made, int attribute, void const* from,
                                                             std::size_t bytes) {
  if (!made) return Status::invalid_value;
  if (changes_nothing(attribute)) return Status::success;
  auto const status = on_attribute(*made, attribute, [&](auto& member) { return take(member, from, bytes); });
  if (status != Status::success && attribute > 5) {
    made->other = true;
    return lacks("cublasLtMatmulDescSetAttribute", fmt::format("attribute {}", attribute));
  }
  return status;
}
KERNELCAST_CUDA_EXPORT Status cublasLtMatmulDescGetAttribute(Description* made, int attribute, void* to,
                                                             std::size_t bytes, std::size_t* written) {
  if (!made) return Status::invalid_value;
  return on_attribute(*made, attribute, [&](auto& member) { return give(member, to, bytes, written); });
}

KERNELCAST_CUDA_EXPORT Status cublasLtMatmulPreferenceInit_internal(Opaque* made, std::size_t bytes) {
  if (!made || bytes < sizeof(Opaque)) return Status::invalid_value;
  *made = {};
  return Status::success;
}
KERNELCAST_CUDA_EXPORT Status cublasLtMatmulPreferenceCreate(Opaque** made) {
  if (!made) return Status::invalid_value;
  *made = new Opaque{};
  return Status::success;
}
KERNELCAST_CUDA_EXPORT Status cublasLtMatmulPreferenceDestroy(Opaque* made) {
  delete made;
  return Status::success;
}
KERNELCAST_CUDA_EXPORT Status cublasLtMatmulPreferenceSetAttribute(Opaque* made, int, void const*, std::size_t) {
  return made ? Status::success : Status::invalid_value;
}
KERNELCAST_CUDA_EXPORT Status cublasLtMatmulAlgoGetHeuristic(void*, Description const*, Layout const*, Layout const*,
                                                             Layout const*, Layout const*, Opaque const*, int wanted,
                                                             Heuristic* found, int* count) {
  if (!found || !count || wanted < 1) return Status::invalid_value;
  found[0] = {{}, 0, Status::success, 1, {}};
  *count = 1;
  return Status::success;
}

KERNELCAST_CUDA_EXPORT Status cublasLtMatmul(void*, Description const* made, void const* alpha, void const* a,
                                             Layout const* a_layout, void const* b, Layout const* b_layout,
                                             void const* beta, void const* c, Layout const* c_layout, void* d,
                                             Layout const* d_layout, void const*, void*, std::size_t, Stream stream) {
  constexpr char const* name = "cublasLtMatmul";
  if (!made || !a_layout || !b_layout || !d_layout || !alpha || !beta) return Status::invalid_value;
  if (!c_layout) c_layout = d_layout;
  if (!c) c = d, c_layout = d_layout;
  for (auto const* layout : {a_layout, b_layout, c_layout, d_layout})
    if (layout->order != 0 && layout->order != 1) return lacks(name, fmt::format("layout of order {}", layout->order));
  bool const factors_of_parts = std::ranges::any_of(made->scale_modes, [](auto mode) { return mode != 0; });
  if (made->other || factors_of_parts || made->op_c != 0 || (made->pointers != 0 && made->pointers != 1) ||
      (made->epilogue & ~(plain | relu | bias | gelu)) != 0)
    return lacks(name, fmt::format("epilogue {} or what else it is to do", made->epilogue));
  GemmRequest r;
  r.call = name;
  r.stream = stream;
  r.device_scalars = made->pointers == 1;
  r.tf32 = made->compute == Compute::f32_fast_tf32;
  bool const across_a = made->op_a != 0, across_b = made->op_b != 0;
  auto const whole = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
  r.m = whole(d_layout->rows), r.n = whole(d_layout->columns);
  r.k = whole(across_a ? a_layout->rows : a_layout->columns);
  if (whole(across_a ? a_layout->columns : a_layout->rows) != r.m ||
      whole(across_b ? b_layout->columns : b_layout->rows) != r.k ||
      whole(across_b ? b_layout->rows : b_layout->columns) != r.n || whole(c_layout->rows) != r.m ||
      whole(c_layout->columns) != r.n)
    return Status::invalid_value;
  r.batch = d_layout->batch;
  r.in = a_layout->type, r.out = d_layout->type, r.scale = made->scale;
  r.in_b = b_layout->type, r.in_c = c_layout->type;
  if (made->bias_type != own_type) r.of_bias = static_cast<DataType>(made->bias_type);
  r.scale_a = made->scale_a, r.scale_b = made->scale_b, r.scale_c = made->scale_c, r.scale_d = made->scale_d;
  r.largest = made->largest;
  r.alpha = alpha, r.beta = beta;
  r.a = operand_of(a, *a_layout, made->op_a), r.b = operand_of(b, *b_layout, made->op_b);
  r.c = operand_of(c, *c_layout, 0);
  if (c != d || *c_layout != *d_layout) r.d = operand_of(d, *d_layout, 0);
  r.bias = made->epilogue & bias ? made->bias : nullptr;
  r.function = (made->epilogue & relu)   ? GemmRequest::Function::relu
               : (made->epilogue & gelu) ? GemmRequest::Function::gelu
                                         : GemmRequest::Function::none;
  if ((made->epilogue & bias) && !r.bias) return Status::invalid_value;
  return multiply(r);
}

#define KERNELCAST_LT_REFUSED(function)      \
  KERNELCAST_CUDA_EXPORT Status function() { \
    return lacks(#function);                 \
  }
#include "runtimes/cudart/blas/lt_entry_points.def"
