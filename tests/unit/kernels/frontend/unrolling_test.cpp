// Private arrays that vendors' compilers keep in registers: what is marked in LLVM IR, and what that does to PTX.
#include "kernels/frontend/unrolling.hpp"
#include "catch.hpp"
#include "scratch.hpp"

using namespace kernelcast;
using namespace kernelcast::frontend;

namespace {

// Compiles a source; the bytes of local memory that its kernel's PTX declares.
std::uint64_t local_bytes(std::string const& suffix, std::string const& source, std::vector<std::string> options = {}) {
  TemporaryFolder const scratch;
  auto const path = scratch.file("k" + suffix);
  write_file(path, source);
  auto const ptx = compile_text({.path = path, .options = std::move(options), .cache = false, .registers = {}}).ptx;
  std::uint64_t bytes = 0;
  for (auto at = ptx.find("__local_depot"); at != ptx.npos; at = ptx.find("__local_depot", at + 1))
    if (auto const open = ptx.find('[', at); open < ptx.find('\n', at)) bytes += std::stoull(ptx.substr(open + 1));
  return bytes;
}

std::string kernel_of(std::string const& body) {
  return "__kernel void k(__global const float* x, __global float* y, int n) {\n  int g = get_global_id(0);\n" + body +
         "}\n";
}

constexpr char const* sum_of_array = R"(
  float a[19], s = 0;
  for (uint q = 0; q < 19; q++) a[q] = x[q * n + g];
  for (uint q = 0; q < 19; q++) s += a[q];
  for (uint q = 0; q < 19; q++) y[q * n + g] = a[q] * s;
)";

}  // namespace

TEST_CASE("arrays that loops of constant length index are in registers") {
  if (!has_opencl()) SKIP_BECAUSE("clang-19 or libclc-19 is not installed");
  CHECK(local_bytes(".cl", kernel_of(sum_of_array)) == 0);
  // 300 exchanges over 25 values, and the inner loop's length is the outer's: far beyond what LLVM unrolls by itself.
  CHECK(local_bytes(".cl", kernel_of(R"(
  float w[25];
  for (int i = 0; i < 25; i++) w[i] = x[g + i];
  for (int i = 0; i < 24; i++)
    for (int j = 0; j < 24 - i; j++) {
      float a = w[j], b = w[j + 1];
      w[j] = fmin(a, b);
      w[j + 1] = fmax(a, b);
    }
  y[g] = w[12];
)")) == 0);
  // The array is an argument of functions, one of which is longer than what LLVM inlines by itself.
  std::string work =
      "void fill(float* a, __global const float* x) { for (int i = 0; i < 16; i++) a[i] = x[i]; }\n"
      "void mix(float* a, int g) {\n";
  for (int i = 0; i < 40; ++i) work += "  for (int i = 0; i < 16; i++) a[i] = a[i] * a[(i + 1) % 16] + g;\n";
  CHECK(local_bytes(".cl", work + "}\n" + kernel_of("  float a[16]; fill(a, x + g); mix(a, g); y[g] = a[3];\n")) == 0);
  // Halves: a built-in function in the loop.
  CHECK(local_bytes(".cl", R"(
__kernel void k(__global half* x, int n) {
  float a[19];
  for (uint q = 0; q < 19; q++) a[q] = vload_half(q * n, x);
  for (uint q = 1; q < 19; q += 2) a[q] += a[q + 1];
  for (uint q = 0; q < 19; q++) vstore_half_rte(a[q], q * n, x);
})") == 0);
}

TEST_CASE("arrays whose index no compiler knows stay in memory") {
  if (!has_opencl()) SKIP_BECAUSE("clang-19 or libclc-19 is not installed");
  // The index is data.
  CHECK(local_bytes(".cl", kernel_of(R"(
  float h[64];
  for (int i = 0; i < 64; i++) h[i] = 0;
  for (int i = 0; i < n; i++) h[(int)x[i * n + g] & 63] += 1;
  for (int i = 0; i < 64; i++) y[i * n + g] = h[i];
)")) == 256);
  // So is the length of the loop.
  CHECK(local_bytes(".cl", kernel_of(R"(
  float a[64];
  for (int i = 0; i < n; i++) a[i] = x[i];
  for (int i = 0; i < n; i++) y[i] = a[n - i];
)")) == 256);
}

TEST_CASE("a user's options and hints rule") {
  if (!has_opencl()) SKIP_BECAUSE("clang-19 or libclc-19 is not installed");
  CHECK(local_bytes(".cl", kernel_of(sum_of_array), {"-fno-unroll-loops"}) == 76);
  CHECK(local_bytes(".cl", kernel_of(sum_of_array), {"-O0"}) > 76);
  std::string hinted = kernel_of(sum_of_array);
  for (auto at = hinted.find("for"); at != hinted.npos; at = hinted.find("for", at + 50))
    hinted.insert(at, "__attribute__((opencl_unroll_hint(1))) ");
  CHECK(local_bytes(".cl", hinted) == 76);
}

TEST_CASE("CUDA C++ without nvcc has arrays in registers, too") {
  if (!has_opencl()) SKIP_BECAUSE("clang-19 or libclc-19 is not installed");
  Environment const without("KERNELCAST_NO_CUDA", "1");
  CHECK(local_bytes(".cu", R"(
__global__ void k(const float* x, float* y, int n) {
  float acc[8][8], a[8], b[8];
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) acc[i][j] = 0;
  for (int t = 0; t < n; ++t) {
    for (int i = 0; i < 8; ++i) a[i] = x[t * 16 + i], b[i] = x[t * 16 + 8 + i];
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) acc[i][j] += a[i] * b[j] + a[j] * b[i] + a[i] * a[j];
  }
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) y[i * 8 + j] = acc[i][j];
})") == 0);
}

TEST_CASE("which loops of LLVM IR are marked") {
  // for (i = 0; i < 4; i++) for (j = 0; j < 4; j++) a[j] = …: the inner one; the outer counts what it does not index.
  std::string const ir = R"(define spir_kernel void @k(ptr addrspace(1) %0) #0 {
  %2 = alloca [4 x float], align 4
  %3 = alloca i32, align 4
  %4 = alloca i32, align 4
  store i32 0, ptr %3, align 4
  br label %5

5:                                                ; preds = %20, %1
  %6 = load i32, ptr %3, align 4
  %7 = icmp slt i32 %6, 4
  br i1 %7, label %8, label %23

8:                                                ; preds = %5
  store i32 0, ptr %4, align 4
  br label %9

9:                                                ; preds = %12, %8
  %10 = load i32, ptr %4, align 4
  %11 = icmp slt i32 %10, 4
  br i1 %11, label %12, label %20

12:                                               ; preds = %9
  %13 = load i32, ptr %4, align 4
  %14 = sext i32 %13 to i64
  %15 = getelementptr inbounds [4 x float], ptr %2, i64 0, i64 %14
  store float 1.000000e+00, ptr %15, align 4
  %16 = load i32, ptr %4, align 4
  %17 = add nsw i32 %16, 1
  store i32 %17, ptr %4, align 4
  br label %9, !llvm.loop !3

20:                                               ; preds = %9
  %21 = load i32, ptr %3, align 4
  %22 = add nsw i32 %21, 1
  store i32 %22, ptr %3, align 4
  br label %5

23:                                               ; preds = %5
  ret void
}

attributes #0 = { convergent noinline }
attributes #1 = { convergent }

!2 = !DILocation(line: 1)
!3 = distinct !{!3, !4}
!4 = !{!"llvm.loop.mustprogress"}
)";
  for (auto const pointers : {PrivatePointers::all, PrivatePointers::of_variables}) {
    auto marked = ir;
    CHECK(unroll_private_arrays(marked, pointers) == 1);
    CHECK(marked.find("  br label %9, !llvm.loop !5\n") != marked.npos);
    CHECK(marked.find("!5 = distinct !{!5, !6, !4}\n!6 = !{!\"llvm.loop.unroll.full\"}\n") != marked.npos);
    CHECK(marked.find("  br label %5\n\n23:") != marked.npos);
  }
  // A hint of the user's.
  auto hinted = ir;
  hinted.replace(hinted.find("llvm.loop.mustprogress"), 22, "llvm.loop.unroll.disable");
  CHECK(unroll_private_arrays(hinted, PrivatePointers::all) == 0);
  // A pointer that is given is private in OpenCL C, and unknown in CUDA C++.
  auto given = ir;
  given.replace(given.find("%2 = alloca [4 x float], align 4"), 32, "%2 = load ptr, ptr %0, align 8");
  auto again = given;
  CHECK(unroll_private_arrays(given, PrivatePointers::all) == 1);
  CHECK(unroll_private_arrays(again, PrivatePointers::of_variables) == 0);
}

TEST_CASE("functions are inlined unless the user forbids it") {
  std::string ir =
      "define dso_local spir_kernel void @k() #0 {\n}\ndefine dso_local i32 @f(i32 %0) #1 {\n}\n"
      "define dso_local i32 @g(i32 %0) #0 {\n}\n"
      "attributes #0 = { convergent noinline }\nattributes #1 = { convergent }\n";
  auto linked = ir;
  inline_functions(linked, UsedBy::other_sources);
  CHECK(linked ==
        "define dso_local spir_kernel void @k() #0 {\n}\ndefine dso_local i32 @f(i32 %0) alwaysinline #1 {\n}\n"
        "define dso_local i32 @g(i32 %0) #0 {\n}\n"
        "attributes #0 = { convergent noinline }\nattributes #1 = { convergent }\n");
  inline_functions(ir, UsedBy::this_source);
  CHECK(ir ==
        "define dso_local spir_kernel void @k() #0 {\n}\ndefine internal i32 @f(i32 %0) alwaysinline #1 {\n}\n"
        "define internal i32 @g(i32 %0) #0 {\n}\n"
        "attributes #0 = { convergent noinline }\nattributes #1 = { convergent }\n");
}
