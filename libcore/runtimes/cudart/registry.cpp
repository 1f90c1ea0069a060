#include "runtimes/cudart/registry.hpp"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "kernels/cuda/fatbin.hpp"
#include "kernels/ptx/image.hpp"
#include "kernels/ptx/link.hpp"
#include "kernels/ptx/parser.hpp"
#include "kernels/ptx/regions.hpp"
#include "runtimes/cudart/errors.hpp"

namespace kernelcast::cudart {

namespace {

constexpr char const* where = "the application's PTX";
constexpr std::uintmax_t max_source_bytes = std::uintmax_t{16} << 20;
constexpr std::size_t max_text_bytes = 160;  // of a line, as a table can show it

// A line of the application's source, where its file is there as the compiler was given it, from the current folder or
// beside the application: without the blanks around it, cut where it is long.
std::string text_of_line(std::filesystem::path const& file, std::uint32_t number) {
  std::error_code error;
  auto const beside = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / file;
  for (auto const& path : {file, beside}) {
    if (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) > max_source_bytes)
      continue;
    std::ifstream lines(path);
    std::string text;
    for (std::uint32_t i = 0; i < number; ++i)
      if (!std::getline(lines, text)) return {};
    std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
    text.resize(text.find_last_not_of(' ') + 1);
    if (text.size() <= max_text_bytes) return text;
    auto end = max_text_bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // within a character
    return text.substr(0, end) + " ...";
  }
  return {};
}

// The file that holds these bytes, where it is a library; empty for the application itself.
std::string library_of(void const* bytes) {
  Dl_info found{}, own{};
  if (!dladdr(bytes, &found) || !found.dli_fname) return {};
  auto const* const program = reinterpret_cast<void const*>(getauxval(AT_PHDR));  // within the application
  if (dladdr(program, &own) && own.dli_fbase == found.dli_fbase) return {};
  return std::filesystem::path(found.dli_fname).filename().string();
}

std::string name_of(void const* fatbin) {
  auto const library = library_of(fatbin);
  return library.empty() ? "the application" : library;
}

// NVIDIA's libraries are as they are; of others and of the application there is the source.
std::string without_ptx(void const* fatbin) {
  auto const library = library_of(fatbin);
  auto const is_of_nvidia = [&](std::string_view name) { return library.starts_with(name); };
  static constexpr std::array names{"libcublas",   "libcudnn",    "libcufft", "libcurand", "libcusolver",
                                    "libcusparse", "libcutensor", "libnccl",  "libnpp",    "libnvjpeg"};
  if (std::ranges::any_of(names, is_of_nvidia))
    return library +
           " holds no PTX, only machine code: its kernels cannot run on the emulator, which has cuBLAS, cuFFT and "
           "cuRAND "
           "of its own; a version of CUDA 13 may hold PTX";
  bool const of_clang = dlsym(RTLD_DEFAULT, "__tgt_register_lib");  // regions of OpenMP
  return name_of(fatbin) + " holds no PTX, only machine code: compile it with " +
         (of_clang ? "-g, or with -foffload-lto -Wl,--embed-bitcode" : "-gencode arch=compute_75,code=compute_75");
}
constexpr std::string_view elf_magic = "\177ELF";

std::optional<fatbin::Ptx> ptx_of(void const* fatbin, std::uint32_t limit, device::Device const& device) {
  auto found = fatbin::ptx_of(fatbin, limit);
  if (found && found->sm == sm_of_wavefronts && is_hip() && device.rule.wave_width != 64)
    found = fatbin::ptx_of(fatbin, sm_of_wavefronts - 1);
  return found;
}

// Of every fat binary that has PTX for the device, the newest; where none has, the oldest of the newer ones.
std::vector<fatbin::Ptx> texts_of(std::vector<void const*> const& fatbins, device::Device const& device) {
  constexpr std::uint32_t newest = 1000;
  std::vector<fatbin::Ptx> out;
  for (auto limit = capability(device); out.empty() && limit < newest; ++limit)
    for (auto const* fatbin : fatbins)
      if (auto found = ptx_of(fatbin, limit, device)) out.push_back(std::move(*found));
  return out;
}

std::vector<void const*> fatbins_of(FatbinWrapper const& wrapper) {
  if (wrapper.version != fatbin_version_linked || !wrapper.more) return {wrapper.data};
  std::vector<void const*> out;
  for (auto const* fatbin = wrapper.more; *fatbin; ++fatbin) out.push_back(*fatbin);
  return out;
}

std::unique_ptr<ptx::Module> module_of(std::vector<fatbin::Ptx> texts) {
  if (texts.size() == 1) return ptx::parse(std::move(texts[0].text), where);
  std::vector<std::unique_ptr<ptx::Module>> parts;
  for (auto& text : texts) parts.push_back(ptx::parse(std::move(text.text), where));
  return ptx::parse(ptx::link(std::move(parts)), where);
}

}  // namespace

Program& Registry::add_program(FatbinWrapper const& wrapper) {
  auto& program = add_program();
  program.fatbins = fatbins_of(wrapper);
  return program;
}

Program& Registry::add_program() {
  auto& program = *programs_.emplace_back(std::make_unique<Program>());
  live_.insert(&program);
  return program;
}

Program* Registry::add_program(void const* image, Code& failure) {
  auto const& device = devices_.current();
  auto const begins_with = [&](std::string_view bytes) {  // of a short text no more is read than there is
    return std::strncmp(static_cast<char const*>(image), bytes.data(), bytes.size()) == 0;
  };
  std::vector<fatbin::Ptx> texts;
  if (begins_with(elf_magic)) {
    for (auto& text : ptx::texts_in_image(image)) texts.push_back({std::move(text), 0});
    failure = texts.empty() ? Code::no_kernel_image_for_device : Code::success;
  } else if (begins_with(fatbin::magic) || begins_with(fatbin::wrapper_magic)) {
    try {
      texts = texts_of(
          begins_with(fatbin::magic) ? std::vector{image} : fatbins_of(*static_cast<FatbinWrapper const*>(image)),
          device);
      failure = texts.empty() ? Code::no_kernel_image_for_device : Code::success;
    } catch (std::exception const& error) {
      report(fmt::format("a program of the application cannot be read: {}", error.what()));
      failure = Code::invalid_kernel_image;
      return nullptr;
    }
  } else {
    texts.push_back({static_cast<char const*>(image), 0});
    failure = Code::success;
  }
  if (failure != Code::success) {
    report(without_ptx(image));
    return nullptr;
  }
  auto& program = add_program();
  program.texts = std::move(texts);
  program.fatbins = {image};
  failure = load(program);
  if (failure == Code::success) return &program;
  remove_program(program);
  return nullptr;
}

Kernel* Registry::find_kernel(Program& program, std::string const& name) {
  if (auto* const known = kernel(program, name)) return known;
  auto const* const function = program.module->find_kernel(name);
  if (!function) return nullptr;
  auto made = std::make_unique<Kernel>();
  auto* const handle = made.get();
  made->program = &program;
  made->name = name;
  handles_[handle] = handle;
  kernels_[handle] = std::move(made);
  return handle;
}

void Registry::add_kernel(void const* host_function, Program& program, char const* name) {
  auto& kernel = kernels_[host_function];
  kernel = std::make_unique<Kernel>();
  kernel->program = &program;
  kernel->name = name;
  handles_[kernel.get()] = kernel.get();
}

void Registry::remove_program(Program& program) {
  live_.erase(&program);
  for (auto at = kernels_.begin(); at != kernels_.end();) {
    bool const of_it = at->second->program == &program;
    if (of_it) handles_.erase(at->second.get());
    if (of_it) removed_.push_back(std::move(at->second));
    at = of_it ? kernels_.erase(at) : std::next(at);
  }
  std::erase_if(symbols_, [&](auto const& symbol) { return symbol.second.program == &program; });
  program.managed.clear();
}

void Registry::add_symbol(void const* host_variable, Program& program, char const* name, std::size_t bytes) {
  symbols_[host_variable] = {&program, name, bytes};
}

Kernel* Registry::kernel(void const* function_or_handle) {
  if (auto const found = kernels_.find(function_or_handle); found != kernels_.end()) return found->second.get();
  auto const found = handles_.find(function_or_handle);
  return found == handles_.end() ? nullptr : found->second;
}

Kernel* Registry::kernel(Program const& program, std::string_view name) const {
  for (auto const& [function, kernel] : kernels_)
    if (kernel->program == &program && kernel->name == name) return kernel.get();
  return nullptr;
}

Symbol const* Registry::symbol(void const* host_variable) const {
  auto const found = symbols_.find(host_variable);
  return found == symbols_.end() ? nullptr : &found->second;
}

bool Registry::is_managed(std::uint64_t address) const {
  for (auto const& program : programs_)
    for (auto const& variable : program->managed)
      if (reinterpret_cast<std::uint64_t>(*variable.pointer) == address) return true;
  return false;
}

Code Registry::load(Program& program) {
  if (program.loaded) return program.failure;
  program.loaded = true;
  try {
    program.failure = read(program);
  } catch (Error const& error) {
    report(error.text("PTX"));
    program.failure = Code::invalid_ptx;
  } catch (std::exception const& error) {
    report(fmt::format("a program of the application cannot be read: {}", error.what()));
    program.failure = Code::invalid_kernel_image;
  }
  return program.failure;
}

Code Registry::read(Program& program) {
  auto const& device = devices_.current();
  auto texts = program.texts.empty() ? texts_of(program.fatbins, device) : std::move(program.texts);
  if (texts.empty()) {
    report(without_ptx(program.fatbins.empty() ? nullptr : program.fatbins.front()));
    return Code::no_kernel_image_for_device;
  }
  if (texts[0].sm > capability(device))
    report(fmt::format("{} is for sm_{} and newer, it runs on the emulator of an sm_{} all the same",
                       name_of(program.fatbins.empty() ? nullptr : program.fatbins.front()), texts[0].sm,
                       capability(device)));
  program.module = module_of(std::move(texts));
  for (auto const& variable : program.managed)
    *variable.pointer = reinterpret_cast<void*>(memory_.address_of(*program.module, variable.name));
  return Code::success;
}

Code Registry::prepare(Kernel& kernel) {
  if (kernel.ready) return Code::success;
  if (auto const failure = load(*kernel.program); failure != Code::success) return failure;
  kernel.function = kernel.program->module->find_kernel(kernel.name);
  if (!kernel.function) return Code::invalid_device_function;
  kernel.name_in_rows = ptx::name_in_rows(*kernel.program->module, *kernel.function);
  if (auto const source = ptx::source_of(*kernel.program->module, *kernel.function); source.line > 0) {
    kernel.source = fmt::format("{}:{}", source.file, source.line);
    kernel.source_text = text_of_line(source.file, source.line);
  }
  kernel.ready = std::make_unique<emu::Program>(*kernel.program->module, *kernel.function,
                                                emu::wmma_fragments(cudart::capability(devices_.current())));
  return Code::success;
}

}  // namespace kernelcast::cudart
