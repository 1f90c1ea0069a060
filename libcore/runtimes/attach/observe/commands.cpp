#include "runtimes/attach/observe/commands.hpp"

#include <cstring>

#include <fmt/format.h>

namespace kernelcast::attach::observe {

Commands::Commands(std::string const& spool) : log_(spool) {}

void Commands::add_memory(std::uint64_t address, std::uint64_t bytes, bool initial) {
  log_.begins();  // a child of fork() has no device
  buffers_[address] = {bytes, made_};
  log_.line(fmt::format("B {} {} {}", made_, bytes, initial ? 1 : 0));
  log_.line(fmt::format("S {} {}", made_, address));
  ++made_;
}

void Commands::remove_memory(std::uint64_t address) {
  buffers_.erase(address);
}

std::optional<Commands::Place> Commands::find(std::uint64_t address) const {
  auto const after = buffers_.upper_bound(address);
  if (after == buffers_.begin()) return std::nullopt;
  auto const& [begin, buffer] = *std::prev(after);
  return address - begin < buffer.bytes ? std::optional(Place{buffer.number, address - begin}) : std::nullopt;
}

std::string Commands::words(Place const& place, cudart::Area const& area) {
  return fmt::format(" {} {} {}", place.buffer, place.offset, place.offset + area.pitch * (area.rows - 1) + area.bytes);
}

void Commands::copied(cudart::Area const& to, cudart::Area const& from) {
  if (to.bytes * to.rows == 0) return;
  auto const source = find(reinterpret_cast<std::uint64_t>(from.begin));
  auto const target = find(reinterpret_cast<std::uint64_t>(to.begin));
  auto const bytes = to.bytes * to.rows;
  if (source && target) log_.line(fmt::format("C{} {}{}", words(*source, from), bytes, words(*target, to)));
  if (source && !target) log_.line(fmt::format("R{} {}", words(*source, from), bytes));
  if (!source && target) log_.line(fmt::format("W{} {}", words(*target, to), bytes));
}

void Commands::filled(cudart::Area const& to) {
  if (to.bytes * to.rows == 0) return;
  if (auto const target = find(reinterpret_cast<std::uint64_t>(to.begin)))
    log_.line(fmt::format("F{} {}", words(*target, to), to.bytes * to.rows));
}

std::string Commands::launch(std::uint64_t number, ptx::Function const& function, void** arguments) const {
  std::string out = fmt::format("K {}", number);
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    if (function.parameters[i].size != 8) continue;
    std::uint64_t pointer = 0;
    std::memcpy(&pointer, arguments[i], sizeof pointer);
    if (auto const place = find(pointer)) out += fmt::format(" {}:{}:{}", i, place->buffer, place->offset);
  }
  return out;
}

void Commands::launched(std::string const& line) {
  if (!line.empty()) log_.line(line);
}

}  // namespace kernelcast::attach::observe
