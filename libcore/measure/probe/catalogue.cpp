#include "measure/probe/catalogue.hpp"

#include <cstdlib>
#include <stdexcept>

#include "base/toml/toml.hpp"
#include "measure/probe/embedded.hpp"

namespace kernelcast::probe {

namespace {

// [2, "chains", "iterations"] as texts.
std::vector<std::string> factors(toml::node const& node) {
  std::vector<std::string> out;
  if (auto const* const list = node.as_array())
    for (auto const& item : *list)
      out.push_back(item.is_integer() ? std::to_string(item.value_or<std::int64_t>(0))
                                      : item.value_or<std::string>(""));
  return out;
}

std::vector<std::string> strings(toml::node_view<toml::node const> node) {
  std::vector<std::string> out;
  if (auto const* const list = node.as_array())
    for (auto const& item : *list) out.push_back(item.value_or<std::string>(""));
  return out;
}

}  // namespace

Catalogue::Catalogue(std::string const& text, std::string name) : name_(std::move(name)) {
  TomlFile const file(name_, text, "it is TOML: one table for each kernel");
  for (auto const& [key, node] : file.root()) {
    auto const* const kernel = node.as_table();
    if (!kernel) continue;
    KernelEntry entry;
    entry.name = key.str();
    for (auto const& [field, value] : *kernel) {
      auto const word = std::string(field.str());
      if (word == "about")
        entry.about = value.value_or<std::string>("");
      else if (word == "file")
        entry.file = value.value_or<std::string>("");
      else if (word == "emulate") {
        toml::node_view<toml::node const> const how{value};
        entry.macros = strings(how["macros"]);
        entry.arguments = strings(how["args"]);
        entry.kernel = how["kernel"].value_or<std::string>("");
        entry.global = how["global"].value_or<std::string>("");
        entry.local = how["local"].value_or<std::string>("");
        entry.vary = how["vary"].value_or<std::string>("");
      } else
        entry.counts[word] = factors(value);
    }
    kernels_.push_back(std::move(entry));
  }
}

KernelEntry const& Catalogue::at(std::string_view kernel) const {
  for (auto const& entry : kernels_)
    if (entry.name == kernel) return entry;
  throw std::logic_error("no kernel '" + std::string(kernel) + "' in " + name_);
}

double Catalogue::count(std::string_view kernel, std::string_view quantity, Variables const& variables) const {
  auto const& counts = at(kernel).counts;
  auto const found = counts.find(std::string(quantity));
  if (found == counts.end()) return 0;
  double product = 1;
  for (auto const& factor : found->second) {
    if (!factor.empty() && factor.find_first_not_of("0123456789") == std::string::npos) {
      product *= std::strtod(factor.c_str(), nullptr);
      continue;
    }
    auto const value = variables.find(factor);
    if (value == variables.end())
      throw std::logic_error("no value for '" + factor + "' of kernel '" + std::string(kernel) + "' in " + name_);
    product *= static_cast<double>(value->second);
  }
  return product;
}

std::string const& microbench_file(std::string_view name) {
  for (auto const& file : embedded_files())
    if (file.name == name) return file.content;
  throw std::logic_error("no file '" + std::string(name) + "' in microbench/");
}

Catalogue const& cpu_catalogue() {
  static Catalogue const catalogue(microbench_file("cpu/kernels.toml"), "microbench/cpu/kernels.toml");
  return catalogue;
}

Catalogue const& device_catalogue() {
  static Catalogue const catalogue(microbench_file("opencl/kernels.toml"), "microbench/opencl/kernels.toml");
  return catalogue;
}

}  // namespace kernelcast::probe
