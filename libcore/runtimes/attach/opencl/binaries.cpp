#include "runtimes/attach/opencl/binaries.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "runtimes/attach/opencl/passing.hpp"
#include "runtimes/attach/text.hpp"

namespace kernelcast::attach {

namespace {

std::string name_of(std::string_view binary) {
  return "binary-" + hash_of(binary) + '-' + std::to_string(binary.size());
}

// A text with its length before it.
void put(std::string& out, std::string const& text) {
  out += std::to_string(text.size()) + '\n' + text + '\n';
}

std::string take(std::istream& in) {
  std::size_t bytes = 0;
  if (!(in >> bytes) || in.get() != '\n') return {};
  std::string text(std::min<std::size_t>(bytes, std::size_t{1} << 30), '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.get() != '\n') in.setstate(std::ios::failbit);
  return text;
}

std::string text_of(std::vector<Unit> const& units) {
  std::string out = std::to_string(units.size()) + '\n';
  for (auto const& unit : units) {
    put(out, unit.options);
    put(out, unit.source);
    out += std::to_string(unit.headers.size()) + '\n';
    for (auto const& [name, text] : unit.headers) {
      put(out, name);
      put(out, text);
    }
  }
  return out;
}

std::vector<Unit> units_in(std::istream& in) {
  std::size_t count = 0, headers = 0;
  std::vector<Unit> out;
  for (in >> count; in && out.size() < count;) {
    Unit unit;
    unit.options = take(in);
    unit.source = take(in);
    for (in >> headers; in && unit.headers.size() < headers;) {
      std::string name = take(in);
      unit.headers.emplace_back(std::move(name), take(in));
    }
    out.push_back(std::move(unit));
  }
  return in ? out : std::vector<Unit>{};
}

}  // namespace

void note_binary(std::string_view binary, std::vector<Unit> const& units) {
  auto const* const spool = chosen_spool();
  if (!spool || binary.empty() || units.empty()) return;
  auto const name = name_of(binary);
  if (!spool->has_program(name)) spool->publish_program(name, text_of(units));
}

std::vector<Unit> units_of(std::string_view binary) {
  auto const* const spool = chosen_spool();
  if (!spool || binary.empty()) return {};
  auto const name = name_of(binary);
  if (!spool->has_program(name)) return {};
  std::ifstream file(spool->place_of_program(name), std::ios::binary);
  return file ? units_in(file) : std::vector<Unit>{};
}

}  // namespace kernelcast::attach
