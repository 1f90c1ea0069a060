// A program in HIP, checked against closed forms; as hipcc would compile it for AMD's GPUs, whatever the size of a warp.
#include <cmath>
#include <cstdio>
#include <hip/hip_complex.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <hipblas/hipblas.h>
#include <vector>

static int failures = 0;
#define CHECK(condition) \
  if (!(condition)) printf("app.hip:%d: %s\n", __LINE__, #condition), ++failures
#define DO(call) CHECK((call) == hipSuccess)

__constant__ float factors[2];

// The sum of each group, by shuffles and dynamic shared memory.
__global__ __launch_bounds__(256) void sums(float const* x, float* out, int n) {
  HIP_DYNAMIC_SHARED(float, parts)
  int const i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
  float value = i < n ? x[i] * factors[0] + factors[1] : 0;
  for (int distance = warpSize / 2; distance > 0; distance /= 2) value += __shfl_down(value, distance);
  if (hipThreadIdx_x % warpSize == 0) parts[hipThreadIdx_x / warpSize] = value;
  __syncthreads();
  if (hipThreadIdx_x == 0) {
    float all = 0;
    for (unsigned w = 0; w < hipBlockDim_x / warpSize; ++w) all += parts[w];
    out[hipBlockIdx_x] = all;
  }
}

__global__ void votes(unsigned long long* ballots, int* counts) {
  int const lane = __lane_id();
  if (__any(lane == 3) && !__all(lane == 3)) ballots[threadIdx.x / warpSize] = __ballot(lane % 2);
  unsafeAtomicAdd(counts, __popcll(__ballot(lane < 5)));
}

template <class V>
__global__ void vectors(V* x) {
  V const y = x[threadIdx.x] * 2 + x[threadIdx.x];
  x[threadIdx.x] = -y / 3;
  x[threadIdx.x] += 1;
}

static void kernels() {
  int const n = 10000, groups = 40;
  float *x, *out, *host;
  hipStream_t stream;
  hipEvent_t begin, end;
  DO(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  DO(hipEventCreate(&begin));
  DO(hipEventCreateWithFlags(&end, hipEventDefault));
  DO(hipMalloc(&x, n * sizeof(float)));
  DO(hipMallocAsync((void**)&out, groups * sizeof(float), stream));
  DO(hipHostMalloc(&host, n * sizeof(float)));
  for (int i = 0; i < n; ++i) host[i] = i % 7;
  float const constants[] = {2, 1};
  DO(hipMemcpyToSymbol(HIP_SYMBOL(factors), constants, sizeof constants));
  DO(hipMemcpyAsync(x, host, n * sizeof(float), hipMemcpyHostToDevice, stream));
  DO(hipEventRecord(begin, stream));
  hipLaunchKernelGGL(sums, dim3(groups), dim3(256), 8 * sizeof(float), stream, x, out, n);
  DO(hipGetLastError());
  DO(hipEventRecord(end, stream));
  DO(hipMemcpyWithStream(host, out, groups * sizeof(float), hipMemcpyDeviceToHost, stream));
  float ms = -1;
  DO(hipEventElapsedTime(&ms, begin, end));
  CHECK(ms >= 0);
  double got = 0, expected = 0;
  for (int g = 0; g < groups; ++g) got += host[g];
  for (int i = 0; i < n; ++i) expected += 2 * (i % 7) + 1;
  CHECK(got == expected);
  DO(hipFreeAsync(out, stream));
  DO(hipStreamDestroy(stream));
  DO(hipEventDestroy(begin));
  DO(hipEventDestroy(end));
  DO(hipHostFree(host));
  DO(hipFree(x));
}

template <class V>
static void vector_of(V first) {
  V* x;
  DO(hipMallocManaged(&x, 32 * sizeof(V)));
  for (int i = 0; i < 32; ++i) x[i] = first;
  DO(hipMemPrefetchAsync(x, 32 * sizeof(V), 0, nullptr));
  hipLaunchKernelGGL(HIP_KERNEL_NAME(vectors<V>), 1, 32, 0, 0, x);
  DO(hipDeviceSynchronize());
  V const expected = -first + 1;
  CHECK(x[31].x == expected.x && x[31].y == expected.y);
  DO(hipFree(x));
}

// By each way, of all but some lanes at the end: groups have no whole number of wavefronts, and lanes have left.
template <class T>
__global__ void exchanges(T* out, int lanes) {
  int const t = threadIdx.x;
  if (t >= lanes) return;
  T const mine = T(3 * t + 1);
  out[t] = __shfl(mine, 5);
  out[lanes + t] = __shfl_up(mine, 3, 16);
  out[2 * lanes + t] = __shfl_down(mine, 9);
  if (t % 3) out[3 * lanes + t] = __shfl_xor(mine, 8, 16);
  unsigned long long const all = ~0ull;
  out[4 * lanes + t] = __shfl_sync(all, mine, warpSize - 1);
}
template <class T>
static void exchanged(int warp) {
  int const lanes = 2 * 64 + 41;
  T* out;
  DO(hipMallocManaged(&out, 5 * lanes * sizeof(T)));
  exchanges<<<1, 192>>>(out, lanes);
  DO(hipDeviceSynchronize());
  auto const value = [&](int t) { return t < lanes ? T(3 * t + 1) : T(0); };
  for (int t = 0; t < lanes; ++t) {
    int const first = t / warp * warp, lane = t % warp;
    CHECK(out[t] == value(first + 5));
    CHECK(out[lanes + t] == value(t % 16 < 3 ? t : t - 3));
    CHECK(out[2 * lanes + t] == value(lane + 9 >= warp ? t : t + 9));
    if (t % 3) CHECK(out[3 * lanes + t] == ((t ^ 8) % 3 ? value(t ^ 8) : T(0)));
    CHECK(out[4 * lanes + t] == value(first + warp - 1));
  }
  DO(hipFree(out));
}

static void warps(int warp) {
  unsigned long long* ballots;
  int* counts;
  DO(hipMallocManaged(&ballots, 4 * sizeof *ballots));
  DO(hipMallocManaged(&counts, sizeof *counts));
  *counts = 0;
  votes<<<1, 128>>>(ballots, counts);
  DO(hipDeviceSynchronize());
  for (int w = 0; w < 128 / warp; ++w) CHECK(ballots[w] == (warp == 64 ? 0xaaaaaaaaaaaaaaaa : 0xaaaaaaaa));
  CHECK(*counts == 128 * 5);
  DO(hipFree(ballots));
  DO(hipFree(counts));
  exchanged<int>(warp);
  exchanged<float>(warp);
  exchanged<double>(warp);
  exchanged<long long>(warp);
}

static void products() {
  int const n = 24;
  std::vector<float> a(n * n), b(n * n), c(n * n);
  for (int i = 0; i < n * n; ++i) a[i] = i % 5, b[i] = i % 3;
  float *x, *y, *z;
  DO(hipMalloc((void**)&x, n * n * sizeof(float)));
  DO(hipMalloc((void**)&y, n * n * sizeof(float)));
  DO(hipMalloc((void**)&z, n * n * sizeof(float)));
  DO(hipMemcpy(x, a.data(), n * n * sizeof(float), hipMemcpyHostToDevice));
  DO(hipMemcpy(y, b.data(), n * n * sizeof(float), hipMemcpyHostToDevice));
  hipblasHandle_t handle;
  CHECK(hipblasCreate(&handle) == HIPBLAS_STATUS_SUCCESS);
  float const one = 1, zero = 0;
  CHECK(hipblasSgemm(handle, HIPBLAS_OP_N, HIPBLAS_OP_T, n, n, n, &one, x, n, y, n, &zero, z, n) == HIPBLAS_STATUS_SUCCESS);
  CHECK(hipblasDestroy(handle) == HIPBLAS_STATUS_SUCCESS);
  DO(hipMemcpy(c.data(), z, n * n * sizeof(float), hipMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i + k * n] * b[j + k * n];
      CHECK(c[i + j * n] == sum);
    }
  for (float* each : {x, y, z}) DO(hipFree(each));
}

int main() {
  int devices = 0, warp = 0;
  hipDeviceProp_t properties;
  DO(hipGetDeviceCount(&devices));
  DO(hipGetDeviceProperties(&properties, 0));
  DO(hipDeviceGetAttribute(&warp, hipDeviceAttributeWarpSize, 0));
  CHECK(devices == 1 && (warp == 32 || warp == 64) && properties.warpSize == warp && properties.clockRate > 0);
  CHECK(hipMemcpy(nullptr, &devices, 4, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  CHECK(hipGetLastError() == hipErrorInvalidValue && hipPeekAtLastError() == hipSuccess);
  hipDoubleComplex const z = hipCmul(make_hipDoubleComplex(1, 2), make_hipDoubleComplex(3, -1));
  CHECK(hipCreal(z) == 5 && hipCimag(z) == 5);
  kernels();
  warps(warp);
  vector_of(make_float4(3, 6, 9, 12));
  vector_of(make_int2(3, 6));
  products();
  DO(hipDeviceReset());
  printf("%d failures, warps of %d\n", failures, warp);
  return failures != 0;
}
