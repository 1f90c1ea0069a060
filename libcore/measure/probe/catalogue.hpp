// What a micro-benchmark kernel counts, from the text file beside it in microbench/.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast::probe {

using Variables = std::map<std::string, std::int64_t, std::less<>>;

struct KernelEntry {
  std::string name, about, file;
  // Quantity (flop, load, store, fp32 …) -> factors of its count in a launch: numbers and names.
  std::map<std::string, std::vector<std::string>> counts;
  // How a test runs it in the emulator: its function, compiler macros, sizes, arguments in order,
  // and which argument to double.
  std::vector<std::string> macros, arguments;
  std::string kernel, global, local, vary;
};

class Catalogue {
 public:
  // `text` is TOML; `name` is used in messages. Throws Error(bad_data).
  Catalogue(std::string const& text, std::string name);

  KernelEntry const& at(std::string_view kernel) const;  // throws std::logic_error for a name that is not there
  std::vector<KernelEntry> const& kernels() const { return kernels_; }
  // The product; 0 where the kernel has no such quantity. Throws std::logic_error for a name without value.
  double count(std::string_view kernel, std::string_view quantity, Variables const&) const;

 private:
  std::string name_;
  std::vector<KernelEntry> kernels_;
};

Catalogue const& cpu_catalogue();
Catalogue const& device_catalogue();  // OpenCL and CUDA: the same kernels

// A file of microbench/, as it was when the program was built; throws std::logic_error for an unknown name.
std::string const& microbench_file(std::string_view name);

}  // namespace kernelcast::probe
