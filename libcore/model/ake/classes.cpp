#include "model/ake/classes.hpp"

#include <algorithm>

namespace kernelcast::model::ake {

namespace {

constexpr std::array<std::string_view, 8> space_names{"",      "generic", "global", "shared",
                                                      "local", "const",   "param",  "tex"};

bool has(std::string_view opcode, std::string_view modifier) {
  for (std::size_t at = opcode.find(modifier); at != std::string_view::npos; at = opcode.find(modifier, at + 1)) {
    std::size_t const end = at + modifier.size();
    if ((at == 0 || opcode[at - 1] == '.') && (end == opcode.size() || opcode[end] == '.' || opcode[end] == ':'))
      return true;
  }
  return false;
}

InstructionType classify_memory(std::string_view base, std::string_view opcode, Space space) {
  bool const shared = space == Space::shared;
  if (base == "prefetch" || base == "prefetchu" || base == "discard" || base == "applypriority")
    return {Class::move, Kind::plain, space};
  if (base == "ld" || base == "ldu") {
    if (space == Space::param) return {Class::param_load, Kind::plain, space};
    if (space == Space::constant) return {Class::const_load, Kind::plain, space};
    return {
        shared ? Class::smem_load : Class::gmem_load_l1,   Kind::load,       space, has(opcode, "nc") || base == "ldu",
        has(opcode, "volatile") || has(opcode, "acquire"), has(opcode, "cg")};
  }
  if (base == "atom" || base == "red")
    return {shared ? Class::smem_atomic : Class::atomic_global, Kind::atomic, space, false, true};
  bool const past_l1 = has(opcode, "cg");
  if (base == "cp" && has(opcode, "async") && !has(opcode, "bulk") && shared)
    return {Class::gmem_load_l1, Kind::copy, space, false, false, past_l1};
  if (base == "ldmatrix") return {Class::smem_load, Kind::load, Space::shared};
  if (base == "stmatrix") return {Class::smem_store, Kind::store, Space::shared};
  bool const writes = base == "st" || base == "sust" || base == "sured" || has(opcode, "store") || base == "cp";
  if (space == Space::param) return {Class::param_load, Kind::plain, space};
  if (writes)
    return {shared ? Class::smem_store : Class::gmem_load_l2, Kind::store, space, false,
            has(opcode, "volatile") || has(opcode, "release")};
  if (base == "tex" || base == "tld4" || base == "suld")
    return {Class::gmem_load_l1, Kind::load, Space::texture, base != "suld"};
  return {shared ? Class::smem_load : Class::gmem_load_l1, Kind::load, space == Space::none ? Space::generic : space};
}

Class class_of_float(std::string_view base) {
  if (base == "fma" || base == "mad") return Class::fp32_fma;
  return base == "mul" ? Class::fp32_mul : Class::fp32_add;
}

InstructionType classify_sync(std::string_view base, std::string_view opcode) {
  if (base == "cp" && has(opcode, "commit_group")) return {Class::sync, Kind::commit, Space::none, false, true};
  if (base == "cp" && (has(opcode, "wait_group") || has(opcode, "wait_all")))
    return {Class::sync, Kind::wait, Space::none, false, true};
  bool const group = (base == "bar" || base == "barrier") && !has(opcode, "warp") && !has(opcode, "cluster");
  return {group ? Class::barrier : Class::sync, group ? Kind::barrier : Kind::plain, Space::none, false, true};
}

}  // namespace

std::optional<Space> space_named(std::string_view name) {
  auto const at = std::find(space_names.begin(), space_names.end(), name);
  if (at == space_names.end()) return std::nullopt;
  return static_cast<Space>(at - space_names.begin());
}

Space space_of_letter(char letter) {
  switch (letter) {
    case 'g':
      return Space::global;
    case 's':
      return Space::shared;
    case 'l':
      return Space::local;
    case 'c':
      return Space::constant;
    case 'p':
      return Space::param;
    case 't':
      return Space::texture;
    default:
      return Space::none;
  }
}

InstructionType classify(record::InstructionClass counted, std::string_view opcode, Space space) {
  std::string_view const base = opcode.substr(0, opcode.find('.'));
  auto const plain = [](Class c) { return InstructionType{c, Kind::plain, Space::none}; };
  switch (counted) {
    using enum record::InstructionClass;
    case fp32:
      return plain(class_of_float(base));
    case fp64:
      return plain(Class::fp64);
    case fp16:
      return plain(Class::fp16);
    case int_add:
      return plain(Class::int_add);
    case int_mul:
      return plain(base == "mad" || base == "mad24" ? Class::int_mad : Class::int_mul);
    case shift:
      return plain(Class::shift);
    case logic:
      return plain(Class::logic);
    case special:
      return plain(base == "mma" || base == "wmma" ? Class::mma : Class::sfu);
    case convert:
      return plain(base == "cvta" ? Class::move : Class::cvt);  // an address stays as it is
    case memory:
      return classify_memory(base, opcode, space);
    case control: {
      bool const ends = base == "ret" || base == "exit" || base == "trap";
      return InstructionType{Class::control, ends ? Kind::exit : Kind::plain, Space::none};
    }
    case sync:
      return classify_sync(base, opcode);
    case other:
      break;
  }
  return plain(Class::move);
}

}  // namespace kernelcast::model::ake
