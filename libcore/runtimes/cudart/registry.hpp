// The programs of the application: fat binaries, kernels, variables, as the code that nvcc adds registers them.
//
// A program's PTX is read when something of it is used first. Of several versions the newest that the device runs is
// taken, as the driver does; where all are for newer devices, the oldest, with a warning. Files compiled apart
// (-rdc=true) are linked from their PTX; one that has none for the device (CUDA's own device runtime) is left out.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/emu.hpp"
#include "kernels/cuda/abi.hpp"
#include "kernels/cuda/fatbin.hpp"
#include "kernels/ptx/module.hpp"
#include "runtimes/cudart/devices.hpp"

namespace kernelcast::cudart {

struct Program {
  std::vector<void const*> fatbins;  // several where files were compiled apart
  std::vector<fatbin::Ptx> texts;    // of one that the driver has loaded, whose image may be gone
  bool loaded = false;
  Code failure = Code::success;         // why it cannot run
  std::unique_ptr<ptx::Module> module;  // null where that is so
  std::string file;                     // its PTX in the spool
  struct Managed {
    void** pointer;  // of the host, to be set
    std::string name;
  };
  std::vector<Managed> managed;
  std::optional<std::uint64_t>
      registers_of_teams;  // of its kernels that start teams, by ptxas; 0 where that is unknown
};

struct Kernel {
  Program* program = nullptr;
  std::string name;
  std::string name_in_rows;                 // once it is loaded
  std::string source, source_text;          // likewise: columns of its rows
  ptx::Function const* function = nullptr;  // once it is loaded
  std::unique_ptr<emu::Program> ready;
  std::uint64_t max_dynamic_shared_bytes = 48 * 1024;
  int carveout = -1;
  bool of_library = false;      // the driver has given it as a kernel of a library
  std::uint32_t registers = 0;  // computed on the first query: see api/kernels.cpp
};

struct Symbol {
  Program* program = nullptr;
  std::string name;
  std::uint64_t bytes = 0;
};

class Registry {
 public:
  Registry(Devices const& devices, emu::Memory& memory) : devices_(devices), memory_(memory) {}

  Program& add_program(FatbinWrapper const&);
  // From memory that its owner may free: PTX, a fat binary, or what points to one. Null where there is no PTX for this
  // thread's device in it; `failure` says why.
  Program* add_program(void const* image, Code& failure);
  bool known(Program const* program) const { return live_.contains(program); }
  void add_kernel(void const* host_function, Program&, char const* name);
  // One that no host function stands for; null where the program, which is loaded, has none of that name.
  Kernel* find_kernel(Program&, std::string const& name);
  // Its library is closed: what it has registered is there no more, and may be registered anew. Launches under way go
  // on.
  void remove_program(Program&);
  void add_symbol(void const* host_variable, Program&, char const* name, std::size_t bytes);

  // By the host's function or by the handle that __cudaGetKernel gave; null where there is none.
  Kernel* kernel(void const* function_or_handle);
  Kernel* kernel(Program const&, std::string_view name) const;
  Symbol const* symbol(void const* host_variable) const;
  bool is_managed(std::uint64_t address) const;  // a __managed__ variable lies there

  Code load(Program&);    // reads the program's PTX for this thread's device
  Code prepare(Kernel&);  // loads, and decodes

 private:
  Program& add_program();
  Code read(Program&);

  Devices const& devices_;
  emu::Memory& memory_;

  std::vector<std::unique_ptr<Program>> programs_;
  std::set<Program const*> live_;
  std::map<void const*, std::unique_ptr<Kernel>> kernels_;  // by host function
  std::map<void const*, Kernel*> handles_;
  std::vector<std::unique_ptr<Kernel>> removed_;
  std::map<void const*, Symbol> symbols_;
};

}  // namespace kernelcast::cudart
