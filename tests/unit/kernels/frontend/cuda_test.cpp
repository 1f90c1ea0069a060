// .cu and .ptx: with a toolkit where one is installed, and always without.
#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "catch.hpp"
#include "error_of.hpp"
#include "kernels/frontend/build.hpp"
#include "scratch.hpp"

using namespace kernelcast;
using namespace kernelcast::frontend;

namespace {

void check_matmul_file(CompiledText const& compiled) {
  auto const& k = kernel(compiled, "matmul");
  CHECK(k.name == "_Z6matmulPfPKfi");
  CHECK(k.signature == "matmul(float*, float const*, int)");
  REQUIRE(k.arguments.size() == 3);
  CHECK(k.arguments[0].type_name == "float*");
  CHECK(k.arguments[0].kind == ArgumentKind::global_buffer);
  CHECK(k.arguments[1].kind == ArgumentKind::global_buffer);
  CHECK(k.arguments[2].kind == ArgumentKind::value);
  CHECK(k.arguments[2].type_name == "int");
  CHECK(k.arguments[2].bytes == 4);
  CHECK(k.shared_bytes == 128);
  CHECK(&kernel(compiled, "_Z6matmulPfPKfi") == &k);
  CHECK(&kernel(compiled, "matmul(float*, float const*, int)") == &k);
  CHECK(kernel(compiled, "lib::fill<float>").name == "_ZN3lib4fillIfEEvPT_S1_");
  CHECK_THROWS_WITH(kernel(compiled, "scale"), Contains("ambiguous"));
  CHECK_THROWS_WITH(kernel(compiled, "fill"), Contains("ambiguous"));
  CHECK(kernel(compiled, "scale(double*)").name == "_Z5scalePd");
  auto const error = error_of([&] { kernel(compiled, "matmull"); });
  CHECK_THAT(error.hint(), Contains("matmul") && Contains("scale(double*)"));
}

}  // namespace

TEST_CASE("CUDA C++ with host code compiles without a toolkit") {
  if (!has_opencl()) SKIP_BECAUSE("clang-19 or libclc-19 is not installed");
  Environment const none("KERNELCAST_NO_CUDA", "1");
  auto const compiled = compile_text({.path = data("matmul.cu"), .options = {}, .cache = false});
  check_matmul_file(compiled);
  CHECK_FALSE(kernel(compiled, "matmul").registers.ptxas.contains("sm_75"));
  CHECK(kernel(compiled, "matmul").registers.ptx);
  CHECK_THAT(compiled.ptx, Contains("shfl.sync.down"));
}

TEST_CASE("CUDA C++ compiles with nvcc") {
  if (find_toolchain().nvcc.empty()) SKIP_BECAUSE("nvcc is not installed");
  auto const compiled = compile_text({.path = data("matmul.cu"), .options = {}, .cache = false});
  check_matmul_file(compiled);
  CHECK(kernel(compiled, "matmul").registers.ptxas.at("sm_75").registers > 4);
}

TEST_CASE("nvcc's shell gets nothing to interpret") {
  if (find_toolchain().nvcc.empty()) SKIP_BECAUSE("nvcc is not installed");
  TemporaryFolder const root;
  auto const proof = root.file("proof");
  auto const refused = [&](std::string const& path, std::string const& option) {
    auto const error =
        error_of([&] { compile_text({.path = path, .options = {option}, .cache = false, .registers = {}}); });
    return error.status() == Status::bad_data && !std::filesystem::exists(proof);
  };
  CHECK(refused(data("matmul.cu"), "-DX=$(touch " + proof + ")1"));
  CHECK(refused(data("matmul.cu"), "-DX=`touch " + proof + "`1"));
  CHECK(refused(data("matmul.cu"), "-DX=\\\";touch " + proof + ";\\\""));
  CHECK(refused(data("matmul.cu"), "-DX=1\ntouch " + proof));
  CHECK(refused(data("matmul.cu"), "-I/$(touch " + proof + ")"));
  auto const odd = root.file("$(cd ..; touch proof)");
  std::filesystem::create_directory(odd);
  std::filesystem::copy(data("matmul.cu"), odd + "/k.cu");
  CHECK(refused(odd + "/k.cu", "-DX=1"));
  // What the shell leaves alone in double quotes is a macro's value as ever.
  compile_text(
      {.path = data("matmul.cu"), .options = {"-DX='a'; (1 | 2) & \"b\" > c"}, .cache = false, .registers = {}});
}

// Our headers go with the folder of one compilation: they must not count as sources of the next.
TEST_CASE("CUDA C++ comes from the cache the second time, whatever compiled it") {
  if (!has_opencl()) SKIP_BECAUSE("clang-19 or libclc-19 is not installed");
  TemporaryFolder const root;
  Environment const cache("XDG_CACHE_HOME", root.path().string());
  Request const request{.path = data("matmul.cu"), .options = {}, .registers = {}};
  CHECK_FALSE(compile_text(request).from_cache);
  CHECK(compile_text(request).from_cache);
  if (find_toolchain().nvcc.empty()) return;
  Environment const none("KERNELCAST_NO_CUDA", "1");
  CHECK_FALSE(compile_text(request).from_cache);
  CHECK(compile_text(request).from_cache);
}

TEST_CASE("host code that calls CUDA's libraries compiles without them") {
  if (!has_opencl()) SKIP_BECAUSE("clang-19 or libclc-19 is not installed");
  Environment const none("KERNELCAST_NO_CUDA", "1");
  TemporaryFolder const folder;
  write_file(folder.file("calls.cu"),
             "#include <cublas.h>\n#include <cufft.h>\n"
             "__global__ void twice(float2* x) { x[threadIdx.x].x *= 2; }\n"
             "int main() {\n  cufftHandle plan;\n  cufftComplex* data = 0;\n"
             "  if (cufftPlan1d(&plan, 512, CUFFT_C2C, 8) != CUFFT_SUCCESS) return 1;\n"
             "  cufftExecC2C(plan, data, data, CUFFT_FORWARD);\n"
             "  if (cublasInit() != CUBLAS_STATUS_SUCCESS) return 1;\n"
             "  cublasSgemm('t', 'n', 1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 1);\n  twice<<<1, 32>>>(data);\n}\n");
  auto const compiled = compile_text({.path = folder.file("calls.cu"), .options = {}, .cache = false, .registers = {}});
  REQUIRE(compiled.kernels.size() == 1);
  CHECK(compiled.kernels[0].signature == "twice(float2*)");
}

TEST_CASE("every family of our CUDA header compiles and is accepted by ptxas") {
  if (!has_opencl()) SKIP_BECAUSE("clang-19 or libclc-19 is not installed");
  CompiledText compiled;
  {
    Environment const none("KERNELCAST_NO_CUDA", "1");
    compiled = compile_text({.path = data("device_functions.cu"), .options = {}, .cache = false});
  }
  REQUIRE(compiled.kernels.size() == 2);
  for (auto const& k : compiled.kernels)
    for (auto const& note : k.notes) CHECK_THAT(note, !Contains("not defined"));
  auto const ptxas = find_toolchain().ptxas;
  if (ptxas.empty()) return;
  TemporaryFolder const folder;
  write_file(folder.file("k.ptx"), compiled.ptx);
  auto const direct = run_process({ptxas, "-arch=sm_75", folder.file("k.ptx"), "-o", folder.file("k.cubin")}, 60);
  INFO(direct.errors);
  CHECK(direct.succeeded());
}

TEST_CASE("macros of one letter, as benchmarks name their sizes, leave our CUDA header alone") {
  if (!has_opencl()) SKIP_BECAUSE("clang-19 or libclc-19 is not installed");
  TemporaryFolder const folder;
  write_file(folder.file("sizes.cu"), "__global__ void k(float* p) { p[N] = min(p[M], 2.0) + pow(p[T], D); }\n");
  Request request{.path = folder.file("sizes.cu"), .options = {}, .cache = false};
  for (char letter = 'A'; letter <= 'Z'; ++letter) request.options.push_back(fmt::format("-D{}=37", letter));
  Environment const none("KERNELCAST_NO_CUDA", "1");
  CHECK(compile_text(request).kernels.size() == 1);
}

TEST_CASE("a mistake in CUDA C++ has its place") {
  if (!has_opencl()) SKIP_BECAUSE("clang-19 or libclc-19 is not installed");
  TemporaryFolder const folder;
  write_file(folder.file("bad.cu"), "__global__ void k(int* p) {\n  *p = missing;\n}\n");
  for (bool const toolkit : {false, true}) {
    Environment const none("KERNELCAST_NO_CUDA", "1");
    if (toolkit) unsetenv("KERNELCAST_NO_CUDA");
    auto const error = error_of([&] { compile({.path = folder.file("bad.cu"), .options = {}, .cache = false}); });
    CHECK(error.status() == Status::bad_data);
    CHECK(error.where().line == 2);
    CHECK_THAT(error.what(), Contains("missing"));
  }
}

TEST_CASE("PTX is taken as it is; pointers are told by their use") {
  auto const compiled = compile_text({.path = data("add.ptx"), .options = {}, .cache = false});
  CHECK(compiled.ptx == read_file(data("add.ptx")));
  REQUIRE(compiled.kernels.size() == 1);
  auto const& k = compiled.kernels[0];
  REQUIRE(k.arguments.size() == 3);
  CHECK(k.arguments[0].kind == ArgumentKind::global_buffer);
  CHECK(k.arguments[1].kind == ArgumentKind::value);  // a 64-bit number that no address comes from
  CHECK(k.arguments[1].bytes == 8);
  CHECK(k.arguments[2].bytes == 4);
  CHECK(k.arguments[2].name == "add_param_2");
  CHECK(k.required_group == std::array<std::uint32_t, 3>{64, 2, 1});
  CHECK(k.shared_bytes == 112);  // 100, up to 104 for the alignment of 8, then 8
}

TEST_CASE("parameter types come from demangled names") {
  using List = std::vector<std::string>;
  CHECK(parameter_types("matmul(float*, float*, int)") == List{"float*", "float*", "int"});
  CHECK(parameter_types("ns::k<float, 4>(std::pair<int, float>, void (*)(int, int))") ==
        List{"std::pair<int, float>", "void (*)(int, int)"});
  CHECK(parameter_types("k()").empty());
  CHECK(parameter_types("plain").empty());
  CHECK(parameter_types("(anonymous namespace)::k(int)") == List{"int"});
}
