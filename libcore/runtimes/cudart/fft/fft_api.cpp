// cuFFT: plans of one to three dimensions, their layouts, and what they do.
//
// Limits: transforms in double precision whatever the type (runtimes/hostmath/fourier.hpp); what a transform of real
// numbers does with a destroyed input is left out: inputs stay as they are. Callbacks, several devices and half
// precision are refused.
#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/library_calls.hpp"
#include "runtimes/hostmath/fourier.hpp"

using namespace kernelcast::cudart;
namespace hostmath = kernelcast::hostmath;

namespace {

enum class Status : int {
  success = 0,
  invalid_plan = 1,
  alloc_failed = 2,
  invalid_type = 3,
  invalid_value = 4,
  exec_failed = 6,
  invalid_size = 8,
  not_supported = 16
};
enum class Type : int { c2c = 0x29, r2c = 0x2a, c2r = 0x2c, z2z = 0x69, d2z = 0x6a, z2d = 0x6c };
constexpr int inverse_direction = 1;

using Index = std::int64_t;
using Value = hostmath::Complex<double>;

bool is_known(Type type) {
  for (auto const one : {Type::c2c, Type::r2c, Type::c2r, Type::z2z, Type::d2z, Type::z2d})
    if (one == type) return true;
  return false;
}
bool is_double(Type type) {
  return type == Type::z2z || type == Type::d2z || type == Type::z2d;
}
bool reads_real(Type type) {
  return type == Type::r2c || type == Type::d2z;
}
bool writes_real(Type type) {
  return type == Type::c2r || type == Type::z2d;
}

// As cudaDataType has them; transforms between 16-bit numbers are not among them.
enum class DataType : int { r32 = 0, r64 = 1, c32 = 4, c64 = 5 };
std::optional<Type> type_between(DataType from, DataType to, DataType computed) {
  using enum DataType;
  struct Known {
    DataType from, to, computed;
    Type type;
  };
  for (auto const& known :
       {Known{c32, c32, c32, Type::c2c}, Known{r32, c32, c32, Type::r2c}, Known{c32, r32, c32, Type::c2r},
        Known{c64, c64, c64, Type::z2z}, Known{r64, c64, c64, Type::d2z}, Known{c64, r64, c64, Type::z2d}})
    if (known.from == from && known.to == to && known.computed == computed) return known.type;
  return std::nullopt;
}

// How the numbers of an input or an output lie: `embed` has the extents of each dimension in memory.
struct Layout {
  std::array<Index, 3> embed{1, 1, 1};
  Index stride = 1, distance = 1;
  bool basic = true;  // none was given

  Index place(std::array<Index, 3> const& at) const { return ((at[0] * embed[1] + at[1]) * embed[2] + at[2]) * stride; }
};

struct Plan {
  Stream stream = nullptr;
  bool made = false;
  Type type = Type::c2c;
  int rank = 1;
  std::array<Index, 3> n{1, 1, 1};
  Index batch = 1;
  Layout input, output;
  std::vector<hostmath::Fourier> dimensions;

  std::array<Index, 3> sizes(bool half) const {
    auto out = n;
    if (half) out[2] = n[2] / 2 + 1;
    return out;
  }
};

// Never destroyed; guarded by the lock of all calls.
auto& plans() {
  static auto* const all = new std::map<int, std::shared_ptr<Plan>>;
  return *all;
}

std::shared_ptr<Plan> plan_of(int handle) {
  std::lock_guard const lock(call_mutex());
  auto const found = plans().find(handle);
  return found == plans().end() ? nullptr : found->second;
}

Status refused(char const* call, std::string_view what = {}) {
  library_lacks("cuFFT", call, what);
  return Status::not_supported;
}

Status status_of(Code code) {
  return code == Code::success             ? Status::success
         : code == Code::memory_allocation ? Status::alloc_failed
                                           : Status::exec_failed;
}

template <class Int>
Layout layout_of(Int const* embed, Index stride, Index distance, int rank) {
  Layout out;
  if (!embed || rank < 1 || rank > 3) return out;  // make() refuses such a rank
  out.basic = false;
  std::copy_n(embed, rank, out.embed.end() - rank);
  out.stride = stride, out.distance = distance;
  return out;
}

template <class Int>
Status make(int handle, Type type, int rank, Int const* n, Index batch, Layout input, Layout output,
            std::size_t* work_bytes) {
  auto const plan = plan_of(handle);
  if (!plan || plan->made) return Status::invalid_plan;
  if (!is_known(type)) return Status::invalid_type;
  constexpr Index longest = Index{1} << 28;
  if (!n || rank < 1 || rank > 3 || batch < 1 || batch > longest) return Status::invalid_size;
  Index total = 1;
  for (int i = 0; i < rank; ++i) {
    if (n[i] < 1 || n[i] > longest) return Status::invalid_size;
    *(plan->n.end() - rank + i) = n[i];
    if ((total *= n[i]) > longest) return Status::invalid_size;
  }
  for (auto const* layout : {&input, &output})
    if (layout->stride < 1 || layout->distance < 0 || *std::min_element(layout->embed.begin(), layout->embed.end()) < 1)
      return Status::invalid_value;
  // No place is so far away that its number would not be exact.
  constexpr double farthest = 0x1p48;
  for (auto const* layout : {&input, &output}) {
    auto const number = [](Index i) { return static_cast<double>(i); };
    double const row = number(plan->n[0]) * number(layout->embed[1]) + number(plan->n[1]);
    double const last = (row * number(layout->embed[2]) + number(plan->n[2])) * number(layout->stride);
    if (last + number(batch) * number(layout->distance) > farthest) return Status::invalid_value;
  }
  plan->type = type, plan->rank = rank, plan->batch = batch, plan->input = input, plan->output = output;
  for (auto const length : plan->n) plan->dimensions.emplace_back(static_cast<std::size_t>(length));
  plan->made = true;
  if (work_bytes) *work_bytes = 0;
  return Status::success;
}

Status create(int* handle) {
  if (!handle) return Status::invalid_value;
  std::lock_guard const lock(call_mutex());
  int const next = plans().empty() ? 1 : plans().rbegin()->first + 1;
  plans()[next] = std::make_shared<Plan>();
  *handle = next;
  return Status::success;
}

template <class Int>
Status create_made(int* handle, Type type, int rank, Int const* n, Index batch, Layout input = {}, Layout output = {}) {
  if (auto const status = create(handle); status != Status::success) return status;
  auto const status = make(*handle, type, rank, n, batch, input, output, nullptr);
  if (status != Status::success) {
    std::lock_guard const lock(call_mutex());
    plans().erase(*handle);
  }
  return status;
}

// A basic layout is dense; real numbers that are transformed in place are padded to the room of the complex ones.
Layout placed(Plan const& plan, Layout const& given, bool real, bool other_real, bool in_place) {
  if (!given.basic) return given;
  Layout out;
  out.embed = plan.sizes(!real && other_real);
  if (real && in_place) out.embed[2] = 2 * (plan.n[2] / 2 + 1);
  out.distance = out.embed[0] * out.embed[1] * out.embed[2];
  return out;
}

void add_operand(LibraryCall& call, char const* name, void const* begin, Plan const& plan, Layout const& layout,
                 std::array<Index, 3> const& sizes, std::uint64_t size, bool written) {
  auto const last = layout.place({sizes[0] - 1, sizes[1] - 1, sizes[2] - 1}) + (plan.batch - 1) * layout.distance;
  auto const extent = (static_cast<std::uint64_t>(last) + 1) * size;
  auto const touched = static_cast<std::uint64_t>(sizes[0] * sizes[1] * sizes[2] * plan.batch) * size;
  call.operands.push_back({name, begin, extent, touched, !written, written});
}

template <class T>
void run(Plan const& plan, T const* from, Layout const& input, T* to, Layout const& output, bool inverse) {
  bool const real_in = reads_real(plan.type), real_out = writes_real(plan.type);
  auto const [n0, n1, n2] = plan.n;
  std::vector<Value> values(static_cast<std::size_t>(n0 * n1 * n2));
  auto const dense = [&](Index i, Index j, Index k) -> Value& {
    return values[static_cast<std::size_t>((i * n1 + j) * n2 + k)];
  };
  auto const in = plan.sizes(real_out), out = plan.sizes(real_in);
  // All inputs of a batch are read before its outputs are written; batches lie apart.
  for (Index b = 0; b < plan.batch; ++b) {
    for (Index i = 0; i < in[0]; ++i)
      for (Index j = 0; j < in[1]; ++j)
        for (Index k = 0; k < in[2]; ++k) {
          Index const at = b * input.distance + input.place({i, j, k});
          dense(i, j, k) = real_in ? Value(from[at]) : Value(from[2 * at], from[2 * at + 1]);
        }
    if (real_out)  // the other half is the mirror image, conjugated
      for (Index i = 0; i < n0; ++i)
        for (Index j = 0; j < n1; ++j)
          for (Index k = in[2]; k < n2; ++k)
            dense(i, j, k) = hostmath::conjugate(dense((n0 - i) % n0, (n1 - j) % n1, n2 - k));
    hostmath::transform(plan.dimensions, values, inverse);
    for (Index i = 0; i < out[0]; ++i)
      for (Index j = 0; j < out[1]; ++j)
        for (Index k = 0; k < out[2]; ++k) {
          Index const at = b * output.distance + output.place({i, j, k});
          Value const v = dense(i, j, k);
          if (real_out) {
            to[at] = static_cast<T>(v.re);
          } else {
            to[2 * at] = static_cast<T>(v.re);
            to[2 * at + 1] = static_cast<T>(v.im);
          }
        }
  }
}

// How often all numbers go through memory: once for each dimension, of a long one more often.
double passes_of(Plan const& plan) {
  double out = 0;
  for (auto const length : plan.n)
    if (length > 1) out += length <= 4096 ? 1 : length <= Index{1} << 24 ? 2 : 3;
  return std::max(1.0, out);
}

template <class T>
Status execute(int handle, char const* name, Type type, void* from, void* to, int direction) {
  auto const plan = plan_of(handle);
  if (!plan || !plan->made) return Status::invalid_plan;
  if (plan->type != type) return Status::invalid_type;
  if (!from || !to) return Status::invalid_value;
  return status_of(library_call(plan->stream, [=](LibraryCall& call) {
    auto const& n = plan->n;
    bool const real_in = reads_real(type), real_out = writes_real(type), in_place = from == to;
    auto const input = placed(*plan, plan->input, real_in, real_out, in_place);
    auto const output = placed(*plan, plan->output, real_out, real_in, in_place);
    std::string sizes;
    for (int i = 3 - plan->rank; i < 3; ++i) sizes += fmt::format("{}x", n[static_cast<std::size_t>(i)]);
    double const count = static_cast<double>(n[0] * n[1] * n[2]);
    call.kernel = name;
    call.case_name =
        fmt::format("{}b{}{}", sizes, plan->batch, direction == inverse_direction && !real_out ? "_inverse" : "");
    call.library = fmt::format("fft:{}:{}{}", is_double(type) ? "f64" : "f32", sizes, plan->batch);
    call.flop =
        (real_in || real_out ? 2.5 : 5) * count * std::log2(std::max(count, 2.0)) * static_cast<double>(plan->batch);
    call.passes = passes_of(*plan);
    add_operand(call, "input", from, *plan, input, plan->sizes(real_out), sizeof(T) * (real_in ? 1 : 2), false);
    add_operand(call, "output", to, *plan, output, plan->sizes(real_in), sizeof(T) * (real_out ? 1 : 2), true);
    bool const inverse = real_out || direction == inverse_direction;
    call.work = [=] { run<T>(*plan, static_cast<T const*>(from), input, static_cast<T*>(to), output, inverse); };
  }));
}

Status no_work_area(std::size_t* bytes) {
  if (!bytes) return Status::invalid_value;
  *bytes = 0;
  return Status::success;
}

}  // namespace

KERNELCAST_CUDA_EXPORT Status cufftCreate(int* handle) {
  return create(handle);
}
KERNELCAST_CUDA_EXPORT Status cufftDestroy(int handle) {
  std::lock_guard const lock(call_mutex());
  return plans().erase(handle) ? Status::success : Status::invalid_plan;
}
KERNELCAST_CUDA_EXPORT Status cufftPlan1d(int* handle, int n, Type type, int batch) {
  return create_made(handle, type, 1, &n, batch);
}
KERNELCAST_CUDA_EXPORT Status cufftPlan2d(int* handle, int nx, int ny, Type type) {
  std::array const n{nx, ny};
  return create_made(handle, type, 2, n.data(), 1);
}
KERNELCAST_CUDA_EXPORT Status cufftPlan3d(int* handle, int nx, int ny, int nz, Type type) {
  std::array const n{nx, ny, nz};
  return create_made(handle, type, 3, n.data(), 1);
}
KERNELCAST_CUDA_EXPORT Status cufftPlanMany(int* handle, int rank, int* n, int* inembed, int istride, int idist,
                                            int* onembed, int ostride, int odist, Type type, int batch) {
  if (rank < 1 || rank > 3) return Status::invalid_size;
  bool const basic = !inembed || !onembed;
  return create_made(handle, type, rank, n, batch, layout_of(basic ? nullptr : inembed, istride, idist, rank),
                     layout_of(basic ? nullptr : onembed, ostride, odist, rank));
}
KERNELCAST_CUDA_EXPORT Status cufftMakePlan1d(int handle, int n, Type type, int batch, std::size_t* bytes) {
  return make(handle, type, 1, &n, batch, {}, {}, bytes);
}
KERNELCAST_CUDA_EXPORT Status cufftMakePlan2d(int handle, int nx, int ny, Type type, std::size_t* bytes) {
  std::array const n{nx, ny};
  return make(handle, type, 2, n.data(), 1, {}, {}, bytes);
}
KERNELCAST_CUDA_EXPORT Status cufftMakePlan3d(int handle, int nx, int ny, int nz, Type type, std::size_t* bytes) {
  std::array const n{nx, ny, nz};
  return make(handle, type, 3, n.data(), 1, {}, {}, bytes);
}
KERNELCAST_CUDA_EXPORT Status cufftMakePlanMany(int handle, int rank, int* n, int* inembed, int istride, int idist,
                                                int* onembed, int ostride, int odist, Type type, int batch,
                                                std::size_t* bytes) {
  if (rank < 1 || rank > 3) return Status::invalid_size;
  bool const basic = !inembed || !onembed;
  return make(handle, type, rank, n, batch, layout_of(basic ? nullptr : inembed, istride, idist, rank),
              layout_of(basic ? nullptr : onembed, ostride, odist, rank), bytes);
}
KERNELCAST_CUDA_EXPORT Status cufftMakePlanMany64(int handle, int rank, long long* n, long long* inembed,
                                                  long long istride, long long idist, long long* onembed,
                                                  long long ostride, long long odist, Type type, long long batch,
                                                  std::size_t* bytes) {
  if (rank < 1 || rank > 3) return Status::invalid_size;
  bool const basic = !inembed || !onembed;
  return make(handle, type, rank, n, batch, layout_of(basic ? nullptr : inembed, istride, idist, rank),
              layout_of(basic ? nullptr : onembed, ostride, odist, rank), bytes);
}
KERNELCAST_CUDA_EXPORT Status cufftXtMakePlanMany(int handle, int rank, long long* n, long long* inembed,
                                                  long long istride, long long idist, DataType from, long long* onembed,
                                                  long long ostride, long long odist, DataType to, long long batch,
                                                  std::size_t* bytes, DataType computed) {
  auto const type = type_between(from, to, computed);
  if (!type) return refused("cufftXtMakePlanMany", "transform between these types");
  return cufftMakePlanMany64(handle, rank, n, inembed, istride, idist, onembed, ostride, odist, *type, batch, bytes);
}
KERNELCAST_CUDA_EXPORT Status cufftSetStream(int handle, Stream stream) {
  auto const plan = plan_of(handle);
  if (!plan) return Status::invalid_plan;
  plan->stream = stream;
  return Status::success;
}
KERNELCAST_CUDA_EXPORT Status cufftSetAutoAllocation(int handle, int) {
  return plan_of(handle) ? Status::success : Status::invalid_plan;
}
KERNELCAST_CUDA_EXPORT Status cufftSetWorkArea(int handle, void*) {
  return plan_of(handle) ? Status::success : Status::invalid_plan;
}
KERNELCAST_CUDA_EXPORT Status cufftGetSize(int handle, std::size_t* bytes) {
  if (!plan_of(handle) || !bytes) return Status::invalid_plan;
  *bytes = 0;
  return Status::success;
}
// Of the work area, as for cufftGetSize.
KERNELCAST_CUDA_EXPORT Status cufftEstimate1d(int, Type, int, std::size_t* bytes) {
  return no_work_area(bytes);
}
KERNELCAST_CUDA_EXPORT Status cufftEstimate2d(int, int, Type, std::size_t* bytes) {
  return no_work_area(bytes);
}
KERNELCAST_CUDA_EXPORT Status cufftEstimate3d(int, int, int, Type, std::size_t* bytes) {
  return no_work_area(bytes);
}
KERNELCAST_CUDA_EXPORT Status cufftEstimateMany(int, int*, int*, int, int, int*, int, int, Type, int,
                                                std::size_t* bytes) {
  return no_work_area(bytes);
}
KERNELCAST_CUDA_EXPORT Status cufftGetSize1d(int handle, int, Type, int, std::size_t* bytes) {
  return cufftGetSize(handle, bytes);
}
KERNELCAST_CUDA_EXPORT Status cufftGetSize2d(int handle, int, int, Type, std::size_t* bytes) {
  return cufftGetSize(handle, bytes);
}
KERNELCAST_CUDA_EXPORT Status cufftGetSize3d(int handle, int, int, int, Type, std::size_t* bytes) {
  return cufftGetSize(handle, bytes);
}
KERNELCAST_CUDA_EXPORT Status cufftGetSizeMany(int handle, int, int*, int*, int, int, int*, int, int, Type, int,
                                               std::size_t* bytes) {
  return cufftGetSize(handle, bytes);
}
KERNELCAST_CUDA_EXPORT Status cufftGetSizeMany64(int handle, int, long long*, long long*, long long, long long,
                                                 long long*, long long, long long, Type, long long,
                                                 std::size_t* bytes) {
  return cufftGetSize(handle, bytes);
}
KERNELCAST_CUDA_EXPORT Status cufftGetVersion(int* version) {
  if (!version) return Status::invalid_value;
  *version = KERNELCAST_LIBRARY_VERSION * 1000;
  return Status::success;
}
KERNELCAST_CUDA_EXPORT Status cufftGetProperty(int which, int* value) {
  if (!value || which < 0 || which > 2) return Status::invalid_value;
  *value = which == 0 ? KERNELCAST_LIBRARY_VERSION : 0;
  return Status::success;
}
KERNELCAST_CUDA_EXPORT Status cufftExecC2C(int handle, void* from, void* to, int direction) {
  return execute<float>(handle, "cufftExecC2C", Type::c2c, from, to, direction);
}
KERNELCAST_CUDA_EXPORT Status cufftExecR2C(int handle, void* from, void* to) {
  return execute<float>(handle, "cufftExecR2C", Type::r2c, from, to, 0);
}
KERNELCAST_CUDA_EXPORT Status cufftExecC2R(int handle, void* from, void* to) {
  return execute<float>(handle, "cufftExecC2R", Type::c2r, from, to, 0);
}
KERNELCAST_CUDA_EXPORT Status cufftExecZ2Z(int handle, void* from, void* to, int direction) {
  return execute<double>(handle, "cufftExecZ2Z", Type::z2z, from, to, direction);
}
KERNELCAST_CUDA_EXPORT Status cufftExecD2Z(int handle, void* from, void* to) {
  return execute<double>(handle, "cufftExecD2Z", Type::d2z, from, to, 0);
}
KERNELCAST_CUDA_EXPORT Status cufftExecZ2D(int handle, void* from, void* to) {
  return execute<double>(handle, "cufftExecZ2D", Type::z2d, from, to, 0);
}
KERNELCAST_CUDA_EXPORT Status cufftXtExec(int handle, void* from, void* to, int direction) {
  auto const plan = plan_of(handle);
  if (!plan || !plan->made) return Status::invalid_plan;
  return is_double(plan->type) ? execute<double>(handle, "cufftXtExec", plan->type, from, to, direction)
                               : execute<float>(handle, "cufftXtExec", plan->type, from, to, direction);
}

#define KERNELCAST_FFT_REFUSED(function)     \
  KERNELCAST_CUDA_EXPORT Status function() { \
    return refused(#function);               \
  }
#include "runtimes/cudart/fft/entry_points.def"
