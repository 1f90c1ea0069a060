#include "runtimes/attach/count/program.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "kernels/cuda/fatbin.hpp"
#include "kernels/cuda/next.hpp"
#include "kernels/ptx/parser.hpp"
#include "measure/flux/instrument.hpp"

namespace kernelcast::attach::count {

namespace {

std::string application_name() {
  std::error_code failed;
  auto const path = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? "application" : path.filename().string();
}

std::string one_line(std::string text) {
  if (auto const end = text.find('\n'); end != std::string::npos) text.resize(end);
  return text;
}

// ".target sm_90a": for that architecture alone.
bool only_for_its_architecture(std::string_view ptx) {
  auto at = ptx.find(".target");
  at = at == std::string_view::npos ? at : ptx.find("sm_", at);
  if (at == std::string_view::npos) return false;
  at += 3;
  while (at < ptx.size() && std::isdigit(static_cast<unsigned char>(ptx[at]))) ++at;
  return at < ptx.size() && std::isalpha(static_cast<unsigned char>(ptx[at]));
}

// Puts the instrumented form into the entry, which stays as it is where that fails.
Variant replace(fatbin::Entry& entry, std::string const& text, std::size_t number) {
  Variant out;
  out.sm = entry.sm;
  try {
    auto const name = fmt::format("{}, PTX {} (compute_{})", application_name(), number, entry.sm);
    auto module = ptx::parse(text, name);
    auto made = flux::instrument(*module);
    entry = fatbin::with_text(entry, made.ptx);
    out.plan = std::move(made.plan);
    out.module = std::move(module);
  } catch (Error const& error) {
    out.failure = one_line(error.text("flux-count"));
  } catch (std::exception const& error) {
    out.failure = error.what();
  }
  return out;
}

void replace_all(Program& program, void const* fatbin, std::size_t number) {
  auto entries = fatbin::entries_of(fatbin);
  std::uint32_t oldest = ~0u;  // that is counted
  std::vector<fatbin::Entry> kept;
  for (auto& entry : entries) {
    if (!entry.is_ptx) continue;
    auto const text = fatbin::text_of(entry);
    // Of two for one architecture the one that later devices take too: which one runs could not be told.
    auto const same = [&](fatbin::Entry const& e) { return e.is_ptx && &e != &entry && e.sm == entry.sm; };
    bool const twice = std::any_of(entries.begin(), entries.end(), same);
    if ((twice && only_for_its_architecture(text)) || program.variant_for(static_cast<int>(entry.sm))) continue;
    auto const& made = program.variants.emplace_back(replace(entry, text, number));
    if (made.failure.empty()) oldest = std::min(oldest, made.sm);
    kept.push_back(entry);
  }
  if (program.variants.empty())
    throw std::runtime_error("the program holds no PTX: compile it with -gencode arch=…,code=compute_…");
  if (oldest == ~0u) throw std::runtime_error(program.variants.front().failure);
  for (auto const& entry : entries)
    if (!entry.is_ptx && entry.sm < oldest) kept.push_back(entry);
  program.fatbin = fatbin::binary_of(kept);
  program.wrapper.data = program.fatbin.data();
}

}  // namespace

Variant const* Program::variant_for(int ptx_version) const {
  for (auto const& variant : variants)
    if (static_cast<int>(variant.sm) == ptx_version) return &variant;
  return nullptr;
}

std::unique_ptr<Program> instrumented_program(cudart::FatbinWrapper const& given, std::size_t number) {
  auto program = std::make_unique<Program>();
  program->wrapper = given;
  try {
    if (auto const* const missing = cudart::runtime().missing(cudart::counting))
      throw std::runtime_error(fmt::format("the CUDA runtime has no {}", missing));
    replace_all(*program, given.data, number);
  } catch (std::exception const& error) {
    program->failure = error.what();
    program->wrapper = given;
  }
  return program;
}

}  // namespace kernelcast::attach::count
