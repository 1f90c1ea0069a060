// The micro-benchmark kernels do what the text beside them says: the emulator counts, in OpenCL C and in CUDA.
#include <fstream>

#include <fmt/format.h>

#include "../../../../microbench/cpu/kernels.hpp"
#include "base/process/process.hpp"
#include "catch.hpp"
#include "emulator/launch/launch.hpp"
#include "emulator/observe/instruction_counters.hpp"
#include "kernels/frontend/toolchain.hpp"
#include "launches.hpp"
#include "measure/probe/accelerator.hpp"
#include "measure/probe/catalogue.hpp"
#include "measure/probe/cuda/api.hpp"

using namespace kernelcast;
using namespace kernelcast::probe;

namespace {

enum class Language : std::uint8_t { opencl, cuda };

class Folder {
 public:
  std::string write(std::string const& name, std::string const& text) const {
    auto file = folder_.file(name);
    std::ofstream(file) << text;
    return file;
  }

 private:
  TemporaryFolder folder_;
};

bool have_compiler(Language language) {
  auto const tools = frontend::find_toolchain();
  if (language == Language::cuda) return !tools.clang.empty() || !tools.nvcc.empty();
  return !tools.clang.empty() && !tools.libclc.empty();
}

std::string source_of(KernelEntry const& entry, Language language) {
  std::string text;
  for (auto const& macro : entry.macros) {
    auto const equals = macro.find('=');
    text += "#define " +
            (equals == std::string::npos ? macro : macro.substr(0, equals) + " " + macro.substr(equals + 1)) + "\n";
  }
  if (entry.file == "texture.cl") return text + microbench_file("opencl/texture.cl");
  return text + kernel_source(language == Language::cuda ? "cuda/words.cu" : "opencl/words.cl", "opencl/" + entry.file);
}

// The launch of `emulate`, the argument that varies times `factor`.
launch::CommandLine command_of(KernelEntry const& entry, Language language, std::string const& path,
                               std::int64_t factor) {
  launch::CommandLine line;
  line.path = path;
  line.kernel = entry.kernel;
  line.global = entry.global;
  line.local = entry.local;
  std::string const varied = entry.vary == "count" ? "i32:512" : "i32:8";
  for (auto argument : entry.arguments) {
    if (argument == varied) argument = fmt::format("i32:{}", factor * (entry.vary == "count" ? 512 : 8));
    if (language == Language::cuda && argument.starts_with("local:")) {
      line.dynamic_shared_bytes = std::stoull(argument.substr(6));
      continue;
    }
    line.arguments.push_back(argument);
  }
  if (language == Language::cuda && entry.name == "constant_read") line.arguments.erase(line.arguments.begin());
  return line;
}

Variables variables_of(KernelEntry const& entry, std::int64_t factor) {
  Variables out{{"items", std::stoll(entry.global)}, {"lanes", 1}, {"chains", 1}, {"word_bytes", 4}};
  for (auto const& macro : entry.macros) {
    if (macro.starts_with("CHAINS=")) out["chains"] = std::stoll(macro.substr(7));
    if (macro.starts_with("WORD_UINTS=")) out["word_bytes"] = 4 * std::stoll(macro.substr(11));
  }
  out["iterations"] = 8 * factor;
  out["count"] = 512 * factor;
  return out;
}

double field(record::Kernel const& row, std::string const& name) {
  auto const* const column = record::Kernel::schema().find(name);
  REQUIRE(column != nullptr);
  auto const* const at = reinterpret_cast<char const*>(&row) + column->offset;
  if (column->type == record::FieldType::integer)
    return static_cast<double>(*reinterpret_cast<std::uint64_t const*>(at));
  REQUIRE(column->type == record::FieldType::number);
  return *reinterpret_cast<double const*>(at);
}

// Where the `kernel` record has a quantity of the catalogue; empty: it has it not.
std::string column_of(std::string const& quantity, KernelEntry const& entry) {
  static std::map<std::string, std::string> const known{
      {"load", "global_load_bytes"},          {"store", "global_store_bytes"},  {"shared_load", "shared_load_bytes"},
      {"shared_store", "shared_store_bytes"}, {"constant_load", "const_bytes"}, {"texture_load", "texture_bytes"}};
  if (auto const found = known.find(quantity); found != known.end()) return found->second;
  if (quantity == "atomics") return entry.name == "atomic_shared" ? "atomics_shared" : "atomics_global";
  if (quantity == "flop" || quantity == "op") return {};
  return "inst_" + quantity;
}

record::Kernel emulate(launch::CommandLine const& line) {
  return launch::run(plain_plan(line), with_groups("all")).rows.at(0);
}

// Floating-point operations that the instructions perform, a multiply-add being two.
double emulated_flop(launch::CommandLine const& line) {
  auto plan = launch::plan_of(line);
  plan.request.registers = {};
  auto const compiled = frontend::compile(plan.request);
  auto const& info = frontend::find_kernel(compiled.kernels, line.kernel, line.path);
  auto const& function = *compiled.module->find_kernel(info.name);
  emu::Program const program(*compiled.module, function);
  emu::Memory memory;
  launch::Buffers const buffers(plan, 1, memory);
  auto const bound = launch::bind(plan.calls.at(0), info, function, program.static_shared_bytes(), buffers);
  emu::InstructionObserver observer(program);
  emu::Observer* const observers[] = {&observer};
  std::vector<std::uint64_t> const groups{0, 1};
  REQUIRE(emu::run(program, bound.launch, memory, groups, observers).ending == emu::Ending::done);
  double flop = 0;
  auto const counters = observer.instructions();
  for (std::size_t i = 0; i < counters.size(); ++i) {
    auto const& instruction = program.kernel().instructions[i];
    auto const is = [&](std::string_view type) {
      return std::find(instruction.modifiers.begin(), instruction.modifiers.end(), type) != instruction.modifiers.end();
    };
    if (!is("f32") && !is("f64")) continue;
    double const each = instruction.is(ptx::Op::fma) ? 2
                        : instruction.is(ptx::Op::add) || instruction.is(ptx::Op::sub) || instruction.is(ptx::Op::mul)
                            ? 1
                            : 0;
    flop += each * static_cast<double>(counters[i].inst);
  }
  return flop;
}

void confirm(Language language) {
  Folder const folder;
  for (auto const& entry : device_catalogue().kernels()) {
    if (entry.arguments.empty()) continue;
    if (language == Language::cuda && entry.file == "texture.cl") continue;  // cuda/device.cu has its own
    INFO(entry.name);
    auto const path =
        folder.write(entry.name + (language == Language::cuda ? ".cu" : ".cl"), source_of(entry, language));
    auto const one = emulate(command_of(entry, language, path, 1)), two = emulate(command_of(entry, language, path, 2));
    auto const declared = [&](std::string const& quantity) {
      return device_catalogue().count(entry.name, quantity, variables_of(entry, 2)) -
             device_catalogue().count(entry.name, quantity, variables_of(entry, 1));
    };
    for (auto const& [quantity, factors] : entry.counts) {
      auto const column = column_of(quantity, entry);
      if (column.empty()) continue;
      INFO(column);
      double const expected = declared(quantity);
      double const counted = field(two, column) - field(one, column);
      CHECK(expected > 0);
      if (quantity == "int_add")  // loop counters are additions too
        CHECK(counted == Approx(expected).epsilon(0.05));
      else
        CHECK(counted == expected);
    }
    if (!entry.counts.contains("flop")) continue;
    double const counted =
        emulated_flop(command_of(entry, language, path, 2)) - emulated_flop(command_of(entry, language, path, 1));
    CHECK(counted == declared("flop"));
  }
}

// Counts what is done with it.
struct Counted {
  double value = 1;
  static inline std::uint64_t operations = 0;
};
Counted operator+(Counted a, Counted b) {
  ++Counted::operations;
  return {a.value + b.value};
}
Counted operator*(Counted a, Counted b) {
  ++Counted::operations;
  return {a.value * b.value};
}
Counted operator/(Counted a, Counted b) {
  ++Counted::operations;
  return {a.value / b.value};
}

template <class Kernel>
std::uint64_t operations_of(Kernel const& kernel) {
  Counted state[12];
  Counted::operations = 0;
  kernel(state);
  return Counted::operations;
}

}  // namespace

TEST_CASE("the emulator confirms the counts of the OpenCL kernels") {
  if (!have_compiler(Language::opencl)) SKIP_BECAUSE("clang-19 or libclc-19 is not installed");
  confirm(Language::opencl);
}

TEST_CASE("the emulator confirms the counts of the CUDA kernels") {
  if (!have_compiler(Language::cuda)) SKIP_BECAUSE("no compiler for CUDA is installed");
  confirm(Language::cuda);
}

TEST_CASE("CUDA's own kernels become PTX") {
  if (!have_compiler(Language::cuda)) SKIP_BECAUSE("no compiler for CUDA is installed");
  Folder const folder;
  frontend::Request request;
  request.path = folder.write("device.cu", kernel_source("cuda/words.cu", "cuda/device.cu"));
  request.registers = {};
  auto const compiled = frontend::compile(request);
  CHECK(compiled.module->find_kernel("clock_rate") != nullptr);
  CHECK(compiled.module->find_kernel("texture_read") != nullptr);
}

TEST_CASE("NVRTC compiles every kernel") {
  if (!cuda::compiler().missing.empty()) SKIP_BECAUSE("NVRTC is not installed");
  for (auto const& entry : device_catalogue().kernels()) {
    if (entry.arguments.empty() || entry.file == "texture.cl") continue;
    INFO(entry.name);
    auto const ptx = cuda::compile(source_of(entry, Language::cuda), "compute_75");
    CHECK(ptx.find(".entry " + entry.kernel) != std::string::npos);
  }
  CHECK(cuda::compile(kernel_source("cuda/words.cu", "cuda/device.cu"), "compute_75").find("clock_rate") !=
        std::string::npos);
  auto const half = "#define FMA\n#define PACKED_HALF\n#define VALUE uint\n#define SCALAR uint\n#define CHAINS 8\n" +
                    kernel_source("cuda/words.cu", "opencl/arithmetic.cl");
  CHECK(cuda::compile(half, "compute_75").find("fma.rn.f16x2") != std::string::npos);
  CHECK_THROWS_WITH(cuda::compile("nonsense", "compute_75"), Contains("NVRTC does not compile the kernel"));
}

TEST_CASE("the counts of the CPU kernels, by numbers that count") {
  namespace mb = kernelcast::microbench;
  Counted const a{0.5}, b{0.25};
  auto const declared = [](char const* kernel, char const* quantity, int chains) {
    return cpu_catalogue().count(kernel, quantity,
                                 {{"iterations", 7}, {"chains", chains}, {"unroll", 4}, {"lanes", 1}});
  };
  CHECK(operations_of([&](Counted* s) { mb::multiply_add<12, 4>(s, a, b, 7); }) ==
        declared("multiply_add", "flop", 12));
  CHECK(operations_of([&](Counted* s) { mb::multiply_add<1, 4>(s, a, b, 7); }) == declared("multiply_add", "flop", 1));
  CHECK(operations_of([&](Counted* s) { mb::add_or_multiply<12, 4>(s, a, b, 7); }) ==
        declared("add_or_multiply", "flop", 12));
  // One addition per chain beyond the loop, for the result.
  CHECK(operations_of([&](Counted* s) { mb::add<12, 4>(s, b, 7); }) - 12 == declared("add", "op", 12));
  CHECK(operations_of([&](Counted* s) { mb::add<1, 4>(s, b, 7); }) - 1 == declared("add_in_one_chain", "op", 1));
  CHECK(operations_of([&](Counted* s) { mb::multiply<12, 4>(s, 7); }) == declared("multiply", "op", 12));
  CHECK(operations_of([&](Counted* s) { mb::divide<12, 4>(s, a, 7); }) == declared("divide", "op", 12));
}

TEST_CASE("access patterns touch every word once") {
  namespace mb = kernelcast::microbench;
  for (unsigned const bits : {6u, 9u, 14u}) {
    std::uint64_t const words = std::uint64_t{1} << bits;
    std::vector<int> touched(words);
    for (std::uint64_t i = 0; i < words; ++i) ++touched[mb::scattered(i, bits)];
    CHECK(std::all_of(touched.begin(), touched.end(), [](int n) { return n == 1; }));
    for (unsigned const shift : {0u, 1u, 3u, 5u}) {
      std::fill(touched.begin(), touched.end(), 0);
      for (std::uint64_t i = 0; i < words; ++i) ++touched[mb::strided(i, bits, shift)];
      CHECK(std::all_of(touched.begin(), touched.end(), [](int n) { return n == 1; }));
      CHECK(mb::strided(1, bits, shift) == std::uint64_t{1} << shift);
    }
  }
}
