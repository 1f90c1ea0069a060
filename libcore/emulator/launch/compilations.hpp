// What was compiled and decoded for one run, for the next ones.
//
// Problem: an application launches the kernels of few programs with many sizes; parsing and decoding the PTX of a large
// program (hashcat: 70 MB) takes longer than all the rest of a run.
// Limits: sources do not change while this lives. Of several programs those used last are kept, with at most
// max_ptx_bytes of PTX together; what is made of it takes about ten times as much. Not for several threads.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/diag/diag.hpp"
#include "emulator/emu.hpp"
#include "kernels/frontend/frontend.hpp"

namespace kernelcast::launch {

struct Compilation {
  frontend::Compiled compiled;
  std::map<std::string, std::unique_ptr<emu::Program>, std::less<>> programs;  // decoded kernels, by the PTX's names
};

class Compilations {
 public:
  static constexpr std::size_t max_ptx_bytes = std::size_t{96} << 20;

  // Compiled where it is not there. Throws what frontend::compile() throws, each time: what took too long is not tried
  // again.
  std::shared_ptr<Compilation> find(frontend::Request const&);

 private:
  struct Kept {
    frontend::Request request;
    std::shared_ptr<Compilation> compilation;
    std::optional<Error> error;  // in its place
    std::size_t ptx_bytes() const;
  };
  std::list<Kept> kept_;  // the last used first
};

}  // namespace kernelcast::launch
