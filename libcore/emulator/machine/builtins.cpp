// What a device's run-time library does for a kernel: vprintf, malloc, free, __assertfail. One lane after the other.
#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/machine/machine.hpp"
#include "emulator/machine/printf.hpp"

namespace kernelcast::emu {

namespace {
constexpr std::uint64_t longest_text = 64 * 1024;
}  // namespace

// The memory at a generic address, as far as it is one piece.
Machine::Place Machine::place_of(std::uint32_t thread, std::uint64_t address) const {
  std::uint64_t const window = address >> window_bits << window_bits, offset = address - window;
  auto const within = [&](std::byte* host, std::uint64_t size) {
    return offset < size ? Place{host + offset, size - offset} : Place{};
  };
  if (window == shared_window) return within(const_cast<std::byte*>(shared_.data()), shared_bytes_);
  if (window == local_window) return within(stacks_.memory(thread), stacks_.top(thread));
  if (window == parameter_window) return within(const_cast<std::byte*>(parameters_.data()), parameters_.size());
  Memory::Buffer const* const buffer = device_.find(address);
  if (!buffer || buffer->freed || buffer->size == 0) return {};
  return {buffer->data + (address - buffer->address), buffer->size - (address - buffer->address)};
}

std::optional<std::string> Machine::text_at(std::uint32_t thread, std::uint64_t address,
                                            std::uint32_t instruction) const {
  Place const place = place_of(thread, address);
  auto const* text = reinterpret_cast<char const*>(place.host);
  std::size_t const most = std::min(place.bytes, longest_text);
  std::size_t const length = text ? strnlen(text, most) : 0;
  if (!text || (length == most && most < longest_text)) {
    pass_over(Finding::Kind::out_of_bounds, instruction, thread,
              [&] { return "no text that ends lies at address " + std::to_string(address); });
    return {};
  }
  return std::string(text, length);
}

std::uint64_t Machine::argument(std::uint32_t thread, Slice const& slice) const {
  std::uint64_t value = 0;
  std::memcpy(&value, stacks_.frame(thread) + slice.offset, std::min<std::size_t>(slice.bytes, 8));
  return value;
}

void Machine::give_result(std::uint32_t thread, CallSite const& site, std::uint64_t value) {
  if (site.results.empty()) return;
  Slice const& slice = site.results[0];
  std::memcpy(stacks_.frame(thread) + slice.offset, &value, std::min<std::size_t>(slice.bytes, 8));
}

void Machine::run_builtin(Unit& unit, End const& end, CallSite const& site) {
  using Callee = CallSite::Callee;
  for (std::uint32_t w = 0; w < unit.warps; ++w)
    for (std::uint32_t rest = bits_[w]; rest; rest &= rest - 1) {
      std::uint32_t const thread =
          (unit.first_warp + w) * lanes_per_warp + static_cast<std::uint32_t>(std::countr_zero(rest));
      work(end.instruction, 16);
      auto const given = [&](std::size_t k) { return argument(thread, site.arguments[k]); };
      switch (site.callee) {
        case Callee::print:
          give_result(thread, site, static_cast<std::uint32_t>(print(thread, end, given(0), given(1))));
          break;
        case Callee::allocate: {
          ptx::Instruction const& call = p_.kernel->instructions[end.instruction];
          std::string place = p_.module->describe(call.source);
          if (place.empty()) place = p_.module->path + ":" + std::to_string(call.at.line);
          std::uint64_t const address = device_.allocate(given(0), "malloc at " + place);
          give_result(thread, site, address);
          if (address) work(end.instruction, given(0) / 256);
          break;
        }
        case Callee::release:
          release_memory(thread, end, given(0));
          break;
        case Callee::assertion:
          fail_assertion(thread, end, site);
        default: {
          auto const callee = ptx::callee_of(*p_.module, p_.kernel->instructions[end.instruction]);
          ptx::Function const* f = callee ? &p_.module->functions[*callee] : nullptr;
          if (site.callee == Callee::external && call_external(thread, site, f->name)) break;
          throw fault(Finding::Kind::unknown_opcode, end.instruction, thread,
                      "call of '" + std::string(f ? f->name : "?") + "' cannot be executed: " +
                          (f && f->has_body ? "its parameters are not those of the call" : "it has no body here"));
        }
      }
    }
}

bool Machine::call_external(std::uint32_t thread, CallSite const& site, std::string_view function) {
  if (!launch_.external) return false;
  std::byte const* const frame = stacks_.frame(thread);
  std::vector<std::span<std::byte const>> arguments;
  for (Slice const& slice : site.arguments) arguments.emplace_back(frame + slice.offset, slice.bytes);
  auto const memory_at = [&](std::uint64_t address) {
    Place const place = place_of(thread, address);
    // Who answers may write there.
    if (std::uint64_t const offset = address - local_window; context_.observed && offset < stacks_.top(thread)) {
      FrameChange::Range const written[] = {{offset, place.bytes}};
      for (Observer* o : observers_) o->frame({thread, stacks_.stride(), {}, written});
    }
    return std::span(place.host, static_cast<std::size_t>(place.bytes));
  };
  auto const result = launch_.external({function, arguments, memory_at});
  if (result) give_result(thread, site, *result);
  return result.has_value();
}

std::int32_t Machine::print(std::uint32_t thread, End const& end, std::uint64_t format, std::uint64_t arguments) {
  if (format == 0) return -1;
  Place const given = arguments ? place_of(thread, arguments) : Place{};
  Printed const printed = format_printf(
      text_at(thread, format, end.instruction).value_or(""), {given.host, static_cast<std::size_t>(given.bytes)},
      [&](std::uint64_t address) { return text_at(thread, address, end.instruction).value_or(""); });
  work(end.instruction, printed.text.size() / 16);
  if (launch_.print) keep_text(thread, end, printed.text);
  return printed.arguments;
}

void Machine::keep_text(std::uint32_t thread, End const& end, std::string const& text) {
  if (printed_.add(text)) return;
  Fault stop = fault(
      Finding::Kind::limit, end.instruction, thread,
      "more than " + std::to_string(budget_.max_text_bytes) + " bytes of printed text wait for that of earlier groups");
  stop.ending = Ending::text_limit;
  throw stop;
}

void Machine::release_memory(std::uint32_t thread, End const& end, std::uint64_t address) {
  if (address == 0) return;
  Memory::Freed const freed = device_.release(address);
  if (freed == Memory::Freed::done) {
    // Accesses remember the buffer that they hit last.
    for (Access& x : accesses_)
      if (x.window.address == address && x.window.space == ptx::StateSpace::global) x.window = Window{};
    for (Placement& placement : placements_) placement.valid = false;
    return;
  }
  Memory::Buffer const* const buffer = device_.find(address);
  pass_over(Finding::Kind::invalid_free, end.instruction, thread, [&] {
    return freed == Memory::Freed::twice
               ? "memory of " + buffer->name + " is freed twice"
               : "free of address " + std::to_string(address) + ", which malloc has not returned" +
                     (buffer ? " (it lies in '" + buffer->name + "')" : "");
  });
}

// __assertfail(message, file, line, function, size of a character)
void Machine::fail_assertion(std::uint32_t thread, End const& end, CallSite const& site) {
  auto const text = [&](std::size_t k) {
    std::uint64_t const address = argument(thread, site.arguments[k]);
    return (address ? text_at(thread, address, end.instruction) : std::nullopt).value_or("?");
  };
  std::string const file = text(1), line = std::to_string(argument(thread, site.arguments[2]) & 0xffffffffu);
  Fault failed = fault(Finding::Kind::assertion, end.instruction, thread,
                       "assertion '" + text(0) + "' failed in " + text(3) + " (" + file + ":" + line + ")");
  if (failed.finding.source.empty()) failed.finding.source = file + ":" + line;
  throw failed;
}

}  // namespace kernelcast::emu
