#include "runtimes/attach/counted_rows.hpp"

#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/cache/cache.hpp"
#include "base/csv/csv.hpp"
#include "base/diag/diag.hpp"
#include "base/process/process.hpp"
#include "emulator/launch/kernel_record.hpp"
#include "kernels/cuda/linkage.hpp"
#include "kernels/frontend/frontend.hpp"
#include "kernels/ptx/parser.hpp"
#include "records/table/table.hpp"

namespace kernelcast::attach {

record::Kernel RowReader::read_row(Spooled const& file) const {
  std::istringstream text(read_file(spool_.path(file)));
  csv::Reader fields(text, spool_.path(file));
  record::Reader<record::Kernel> reader(fields);
  record::Kernel row;
  if (!reader.next(row)) throw Error(Status::bad_data, Where{file.file}, "no row");
  return row;
}

RowReader::Code RowReader::code_of(Spooled const& file) const {
  std::ifstream kernel(spool_.folder() + "/kernel-" + file.process + '-' + std::to_string(file.number) + ".txt");
  Code out;
  if (!std::getline(kernel, out.kernel) || !std::getline(kernel, out.program)) return {};
  std::getline(kernel, out.object);
  return out;
}

// By a path that is the same in every run, so that what is compiled is found again.
frontend::Request RowReader::request_for(std::string const& program) const {
  frontend::Request out;
  out.path = spool_.folder() + '/' + program;
  out.cache = cache_;
  out.registers = registers_;
  if (auto const kept = cache_ ? keep_source(read_file(out.path), ".ptx") : std::string{}; !kept.empty())
    out.path = kept;
  return out;
}

namespace {

void fill(record::Kernel& row, std::string const& name, std::vector<frontend::KernelInfo> const& kernels) {
  for (auto const& kernel : kernels) {
    if (kernel.name != name) continue;
    launch::fill_registers(row, kernel.registers);
    launch::leave_out_local_memory(row, kernel.registers);
  }
}

}  // namespace

record::Kernel RowReader::read(Spooled const& file) {
  auto row = read_row(file);
  if (auto const [program, name, object] = code_of(file); !program.empty()) {
    auto const [at, is_new] = programs_.try_emplace(program);
    if (is_new) at->second = frontend::compile_text(request_for(program)).kernels;
    fill(row, name, at->second);
  }
  return row;
}

std::vector<record::Kernel> RowReader::read_targets(Spooled const& file) {
  auto row = read(file);
  auto const [program, name, object] = code_of(file);
  if (!machine_code_ || !machine_code_->wanted() || program.empty()) return {std::move(row)};
  auto& module = modules_[program];
  if (!module) module = ptx::parse(read_file(spool_.folder() + '/' + program), program);
  auto& kernel = kernels_[{program, name}];
  if (auto const* const function = module->find_kernel(name); !kernel && function)
    kernel = std::make_unique<emu::Program>(*module, *function);
  if (!kernel) throw Error(Status::bad_data, Where{program}, fmt::format("no kernel '{}'", name));
  std::ifstream text(spool_.folder() + "/entries-" + file.process + '-' + std::to_string(file.number) + ".txt");
  launch::MachineCode::Entries entries;
  for (auto* const counts : {&entries.w32, &entries.w64}) {
    std::string line;
    std::getline(text, line);
    std::istringstream numbers(line);
    for (std::uint64_t n = 0; numbers >> n;) counts->push_back(n);
  }
  return machine_code_->rows(row, entries, *module, *kernel, sources_in(object));
}

std::vector<frontend::Request> const& RowReader::sources_in(std::string const& object) {
  auto const [at, is_new] = sources_.try_emplace(object);
  if (!is_new || object.empty()) return at->second;
  at->second = frontend::hip_requests(cuda::section_of(object, frontend::hip_section));
  for (auto& request : at->second) request.cache = cache_;
  return at->second;
}

std::optional<record::Kernel> RowReader::recall(Spooled const& file) {
  auto const program = code_of(file).program;
  if (!program.empty() && !programs_.contains(program)) {
    auto const known = cache_ ? frontend::find_cached(request_for(program)) : std::nullopt;
    if (!known) return std::nullopt;
    programs_[program] = known->kernels;
  }
  return read(file);
}

RowsByLaunch rows_in(SpoolReader const& spool, bool cache, std::vector<std::string> const& registers,
                     std::function<void(std::string_view)> const& report) {
  RowsByLaunch out;
  RowReader reader(spool, cache, registers);
  for (auto const& file : reader.rows()) try {
      out[file.key()] = reader.read(file);
    } catch (Error const& error) {
      report(error.text("rows"));
    }
  return out;
}

}  // namespace kernelcast::attach
