// What these tests share: a private cache folder, and where their sources are.
#pragma once

#include <cstdlib>
#include <string>

#include "frontend/frontend.hpp"
#include "frontend/toolchain.hpp"
#include "process/process.hpp"

namespace kernelcast::frontend {

inline std::string data(std::string const& name) {
  return std::string(KERNELCAST_SOURCE_DIR) + "/tests/unit/frontend/data/" + name;
}

// Sets an environment variable for one test.
class Environment {
 public:
  Environment(char const* name, std::string const& value) : name_(name) {
    if (char const* old = std::getenv(name)) old_ = old;
    had_ = std::getenv(name) != nullptr;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (had_)
      setenv(name_, old_.c_str(), 1);
    else
      unsetenv(name_);
  }
  Environment(Environment const&) = delete;
  Environment& operator=(Environment const&) = delete;

 private:
  char const* name_;
  std::string old_;
  bool had_ = false;
};

inline bool has_opencl() {
  auto const tools = find_toolchain();
  return !tools.clang.empty() && !tools.libclc.empty();
}

inline KernelInfo const& kernel(CompiledText const& c, std::string const& name) {
  return find_kernel(c.kernels, name, "test");
}

}  // namespace kernelcast::frontend
