// A variable of the environment for the length of a test.
#pragma once

#include <cstdlib>
#include <string>

namespace kernelcast {

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

}  // namespace kernelcast
