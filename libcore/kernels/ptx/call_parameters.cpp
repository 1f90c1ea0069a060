#include "kernels/ptx/call_parameters.hpp"

#include <map>
#include <string_view>
#include <utility>

namespace kernelcast::ptx {

namespace {

constexpr std::uint32_t no_register = ~std::uint32_t{0};

// The type by which a value of this access is moved; empty where no register holds it unchanged.
std::string_view move_type(std::string_view access) {
  static constexpr std::pair<std::string_view, std::string_view> types[] = {
      {"b16", "b16"}, {"u16", "b16"}, {"b32", "b32"}, {"u32", "b32"}, {"s32", "b32"},
      {"f32", "f32"}, {"b64", "b64"}, {"u64", "b64"}, {"s64", "b64"}, {"f64", "f64"}};
  for (auto const& [name, moved] : types)
    if (name == access) return moved;
  return {};
}
unsigned move_bytes(std::string_view type) {
  return type == "b16" ? 2 : type.ends_with("32") ? 4 : 8;
}
// .param variables of the body: into registers where possible, else into local memory.
class Parameters {
 public:
  Parameters(Function& f, std::vector<Callable> const& callables) : f_(f), uses_(f.variables.size()) {
    for (Callable const& callable : callables) {
      for (std::uint32_t v : callable.parameters) uses_[v].call = true;
      for (std::uint32_t v : callable.results) uses_[v].call = true;
    }
  }

  void run() {
    for (Instruction const& i : f_.instructions) survey(i);
    for (std::size_t v = 0; v < uses_.size(); ++v) {
      Use& use = uses_[v];
      std::uint64_t end = 0;
      for (auto const& [offset, piece] : use.pieces) {
        if (offset < end) use.memory = true;
        end = offset + move_bytes(piece.type);
      }
      if (use.memory && !use.call && f_.variables[v].space == StateSpace::param)
        f_.variables[v].space = StateSpace::local;
    }
    rewrite();
    for (std::size_t v = 0; v < uses_.size(); ++v)
      if (!uses_[v].call && f_.variables[v].space == StateSpace::param) f_.variables[v].size = 0;  // lies in registers
  }

 private:
  struct Piece {
    std::string_view type;
    std::uint32_t reg = no_register;
  };
  struct Use {
    bool memory = false;  // its address matters
    bool call = false;    // a call remains that uses it
    std::map<std::uint64_t, Piece> pieces;
  };

  bool parameter(Operand const& o) const {
    return o.kind == Operand::Kind::variable && o.local && f_.variables[o.id].space == StateSpace::param;
  }
  // The operand of ld.param or st.param that names a variable, or null.
  Operand const* access(Instruction const& i) const {
    if (!i.accesses_parameter() || i.operands.size() != 2) return nullptr;
    Operand const& address = i.operands[i.is(Op::ld) ? 1 : 0];
    if (address.kind != Operand::Kind::address || address.elements.empty()) return nullptr;
    Operand const& base = address.elements[0];
    bool const named = base.kind == Operand::Kind::variable && base.local;
    return named ? &address : nullptr;
  }

  void survey(Instruction const& i) {
    if (Operand const* const address = access(i)) {
      Use& use = uses_[address->elements[0].id];
      std::string_view const type = move_type(i.modifiers.back());
      if (type.empty()) {
        use.memory = true;
        return;
      }
      std::uint64_t offset = address->elements[0].value + address->value;
      for (unsigned e = 0; e < i.elements(); ++e, offset += move_bytes(type)) {
        auto const [known, fresh] = use.pieces.try_emplace(offset, Piece{type, no_register});
        if (!fresh && move_bytes(known->second.type) != move_bytes(type)) use.memory = true;
      }
      return;
    }
    for (Operand const& o : i.operands) survey(o, i.is_call());
  }
  void survey(Operand const& o, bool call) {
    if (parameter(o)) (call ? uses_[o.id].call : uses_[o.id].memory) = true;
    for (Operand const& element : o.elements) survey(element, call);
  }

  void rewrite() {
    std::vector<Instruction> old = std::exchange(f_.instructions, {});
    std::vector<std::uint32_t> position(old.size() + 1);
    for (std::size_t i = 0; i < old.size(); ++i) {
      position[i] = static_cast<std::uint32_t>(f_.instructions.size());
      Operand const* const address = access(old[i]);
      Use* const use = address ? &uses_[address->elements[0].id] : nullptr;
      if (!use || use->call) {
        f_.instructions.push_back(std::move(old[i]));
      } else if (use->memory) {
        old[i].modifiers[0] = "local";
        f_.instructions.push_back(std::move(old[i]));
      } else {
        move(old[i], *address, *use);
      }
    }
    position.back() = static_cast<std::uint32_t>(f_.instructions.size());
    for (Label& label : f_.labels) label.instruction = position[label.instruction];
  }

  void move(Instruction const& i, Operand const& address, Use& use) {
    bool const load = i.is(Op::ld);
    Operand const& value = i.operands[load ? 0 : 1];
    std::uint64_t offset = address.elements[0].value + address.value;
    std::string_view const type = move_type(i.modifiers.back());
    for (unsigned e = 0; e < i.elements(); ++e, offset += move_bytes(type)) {
      Operand const& element = value.kind == Operand::Kind::vector ? value.elements[e] : value;
      if (element.kind == Operand::Kind::sink) continue;
      Operand held;
      held.kind = Operand::Kind::reg;
      held.id = piece_register(use.pieces.at(offset));
      Instruction made = i;
      made.opcode = Op::mov;
      made.modifiers = {type};
      if (load)
        made.operands = {element, held};
      else
        made.operands = {held, element};
      f_.instructions.push_back(std::move(made));
    }
  }
  std::uint32_t piece_register(Piece& piece) {
    if (piece.reg == no_register) {
      piece.reg = static_cast<std::uint32_t>(f_.registers.size());
      unsigned const bytes = move_bytes(piece.type);
      f_.registers.push_back({"%param", bytes == 2 ? Type::b16 : bytes == 4 ? Type::b32 : Type::b64, 1});
    }
    return piece.reg;
  }

  Function& f_;
  std::vector<Use> uses_;
};

}  // namespace

void settle_parameters(Function& function, std::vector<Callable> const& callables) {
  Parameters(function, callables).run();
}

}  // namespace kernelcast::ptx
