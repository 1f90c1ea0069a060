#include "emulator/launch/compiler_options.hpp"

#include <algorithm>

#include "base/diag/text.hpp"
#include "kernels/frontend/source_kind.hpp"

namespace kernelcast::launch {

namespace {

bool consists_of(std::string_view text, std::string_view more) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || more.find(c) != more.npos;
  });
}

bool is_one_of(std::string_view text, std::string_view known) {
  auto const words = split(known, ' ');
  return std::find(words.begin(), words.end(), text) != words.end();
}

// clang's and gcc's -f and -fno-.
constexpr std::string_view code_options =
    "fast-math math-errno unsafe-math-optimizations finite-math-only signed-zeros reciprocal-math "
    "associative-math rounding-math trapping-math honor-nans honor-infinities approx-func unroll-loops "
    "vectorize tree-vectorize slp-vectorize inline inline-functions strict-aliasing strict-overflow wrapv "
    "signed-char unsigned-char short-enums exceptions rtti common builtin freestanding ms-extensions gpu-rdc "
    "gpu-flush-denormals-to-zero gpu-approx-transcendentals cuda-flush-denormals-to-zero "
    "cuda-approx-transcendentals threadsafe-statics";
constexpr std::string_view code_options_with_value =
    "ffp-contract ffp-model fdenormal-fp-math ftemplate-depth fconstexpr-depth";
// nvcc's and NVRTC's, with one or two hyphens.
constexpr std::string_view cuda_options =
    "use_fast_math dc device-c lineinfo generate-line-info device-debug restrict extended-lambda "
    "expt-extended-lambda expt-relaxed-constexpr default-device device-as-default-execution-space "
    "extra-device-vectorization disable-warnings m64 g G g0 w pedantic ansi static-global-template-stub";
constexpr std::string_view options_with_value =
    "std arch gpu-architecture code gpu-code gencode generate-code cuda-gpu-arch offload-arch rdc "
    "relocatable-device-code ftz prec-div prec-sqrt fmad use_fast_math maxrregcount default-stream "
    "static-global-template-stub diag-suppress split-compile";

}  // namespace

bool is_plain_value(std::string_view value) {
  return !value.empty() && value.front() != '-' && value.front() != '@';
}

bool is_harmless_option(std::string_view option, bool& value_follows) {
  value_follows = option == "-D" || option == "-U" || option == "-I";
  if (value_follows) return true;
  for (std::string_view const joined : {"-D", "-U", "-I"})
    if (option.starts_with(joined)) return true;
  if (option.starts_with(frontend::spirv_constants)) return consists_of(option, "-=:. +");
  if (!option.starts_with('-') || !consists_of(option, "-_=+.,#")) return false;
  auto const name = option.substr(option.starts_with("--") ? 2 : 1);
  if (option.starts_with("-W")) return consists_of(option, "-_=+");  // -Wp,… and the like go to other programs
  if (option.starts_with("-O")) return consists_of(option, "-");
  if (option.starts_with("-cl-")) return true;
  auto const equals = name.find('=');
  if (equals != name.npos)
    return is_one_of(name.substr(0, equals), options_with_value) ||
           is_one_of(name.substr(0, equals), code_options_with_value);
  if (is_one_of(name, cuda_options)) return true;
  if (!option.starts_with("-f")) return false;
  auto const what = option.substr(option.starts_with("-fno-") ? 5 : 2);
  return is_one_of(what, code_options);
}

}  // namespace kernelcast::launch
