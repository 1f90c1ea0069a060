#include "intercept/cuda/attach.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "csv/csv.hpp"
#include "diag/diag.hpp"
#include "frontend/frontend.hpp"
#include "launch/kernel_record.hpp"
#include "process/process.hpp"
#include "record/table.hpp"

namespace kernelcast::cudart {

std::string folder_of_runtimes() {
  auto const path = find_plugin("kernelcast-cudart/libcudart.so.13");
  return path.empty() ? path : std::filesystem::path(path).parent_path().string();
}

namespace {

// Puts a folder or a library before others in a list of such.
void put_first(std::vector<std::string>& variables, std::string const& list, std::string const& item) {
  for (auto& variable : variables)
    if (variable.starts_with(list)) {
      variable.insert(list.size(), item + (variable.size() > list.size() ? ":" : ""));
      return;
    }
  variables.push_back(list + item);
}

}  // namespace

void add_runtime(std::vector<std::string>& variables, Settings const& settings) {
  auto const folder = folder_of_runtimes();
  if (folder.empty()) return;
  put_first(variables, "LD_LIBRARY_PATH=", folder);
  for (auto& variable : environment_of(settings)) {
    auto const name = variable.substr(0, variable.find('=') + 1);
    std::erase_if(variables, [&](std::string const& other) { return other.starts_with(name); });
    variables.push_back(std::move(variable));
  }
}

void add_look_out(std::vector<std::string>& variables) {
  auto const path = find_plugin("kernelcast-cudart-forward.so");
  if (path.empty())
    throw Error(Status::unavailable, "the library kernelcast-cudart-forward.so is not installed beside the program",
                "build with the packages libzstd-dev and liblz4-dev");
  put_first(variables, "LD_PRELOAD=", path);
}

namespace {

// Registers of the kernels of each program.
class RegistersOfPrograms {
 public:
  RegistersOfPrograms(std::string folder, bool cache, bool registers)
      : folder_(std::move(folder)), cache_(cache), registers_(registers) {}

  void fill(record::Kernel& row, std::string const& file) {
    auto const [at, is_new] = programs_.try_emplace(file);
    if (is_new) {
      frontend::Request request;
      request.path = folder_ + '/' + file;
      request.cache = cache_;
      request.registers = registers_;
      at->second = frontend::compile_text(request).kernels;
    }
    for (auto const& kernel : at->second)
      if (kernel.name == row.kernel) launch::fill_registers(row, kernel.registers);
  }

 private:
  std::string folder_;
  bool cache_, registers_;
  std::map<std::string, std::vector<frontend::KernelInfo>> programs_;
};

}  // namespace

RowsByLaunch rows_in(intercept::SpoolReader const& spool, bool cache, bool registers,
                     std::function<void(std::string_view)> const& tell) {
  RowsByLaunch out;
  RegistersOfPrograms programs(spool.folder(), cache, registers);
  for (auto const& file : spool.files("row-", ".csv")) try {
      std::istringstream text(read_file(spool.path(file)));
      csv::Reader fields(text, spool.path(file));
      record::Reader<record::Kernel> reader(fields);
      record::Kernel row;
      if (!reader.next(row)) continue;
      std::ifstream kernel(spool.folder() + "/kernel-" + file.process + '-' + std::to_string(file.number) + ".txt");
      std::string name, program;
      if (std::getline(kernel, name) && std::getline(kernel, program)) programs.fill(row, program);
      out[file.key()] = std::move(row);
    } catch (Error const& error) {
      tell(error.text("rows"));
    }
  return out;
}

}  // namespace kernelcast::cudart
