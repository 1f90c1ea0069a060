#include "models/ake/sass.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>

#include <fmt/format.h>

#include "base/diag/text.hpp"
#include "kernels/sass/sass.hpp"

namespace kernelcast::model::ake {

namespace {

// One mnemonic prefix and what it is; the first that fits counts.
struct Form {
  std::string_view prefix;
  Class instruction_class;
  Kind kind = Kind::plain;
  Space space = Space::none;
  bool writes = true;  // its first operand is a result
};
constexpr Form forms[] = {
    {"LDGSTS", Class::gmem_load_l1, Kind::copy, Space::shared, false},
    {"LDGDEPBAR", Class::sync, Kind::commit, Space::none, false},
    {"LDG", Class::gmem_load_l1, Kind::load, Space::global},
    {"LDL", Class::gmem_load_l1, Kind::load, Space::local},
    {"LDSM", Class::smem_load, Kind::load, Space::shared},
    {"LDS", Class::smem_load, Kind::load, Space::shared},
    {"LDC", Class::const_load},
    {"ULDC", Class::param_load},
    {"LD", Class::gmem_load_l1, Kind::load, Space::generic},
    {"STG", Class::gmem_load_l2, Kind::store, Space::global, false},
    {"STL", Class::gmem_load_l2, Kind::store, Space::local, false},
    {"STS", Class::smem_store, Kind::store, Space::shared, false},
    {"ST", Class::gmem_load_l2, Kind::store, Space::generic, false},
    {"ATOMS", Class::smem_atomic, Kind::atomic, Space::shared},
    {"ATOM", Class::atomic_global, Kind::atomic, Space::global},
    {"REDUX", Class::int_add},
    {"RED", Class::atomic_global, Kind::atomic, Space::global, false},
    {"TEX", Class::gmem_load_l1, Kind::load, Space::texture},
    {"TLD", Class::gmem_load_l1, Kind::load, Space::texture},
    {"SULD", Class::gmem_load_l1, Kind::load, Space::texture},
    {"SUST", Class::gmem_load_l2, Kind::store, Space::texture, false},
    {"BAR", Class::barrier, Kind::barrier, Space::none, false},
    {"BRA", Class::control, Kind::plain, Space::none, false},
    {"BRX", Class::control, Kind::plain, Space::none, false},
    {"JMP", Class::control, Kind::plain, Space::none, false},
    {"CALL", Class::control, Kind::plain, Space::none, false},
    {"RET", Class::control, Kind::exit, Space::none, false},
    {"EXIT", Class::control, Kind::exit, Space::none, false},
    {"BSSY", Class::sync, Kind::plain, Space::none, false},
    {"BSYNC", Class::sync, Kind::plain, Space::none, false},
    {"SSY", Class::sync, Kind::plain, Space::none, false},
    {"SYNC", Class::sync, Kind::plain, Space::none, false},
    {"WARPSYNC", Class::sync, Kind::plain, Space::none, false},
    {"MEMBAR", Class::sync, Kind::plain, Space::none, false},
    {"ERRBAR", Class::sync, Kind::plain, Space::none, false},
    {"DEPBAR", Class::sync, Kind::wait, Space::none, false},
    {"CCTL", Class::sync, Kind::plain, Space::none, false},
    {"NOP", Class::sync, Kind::plain, Space::none, false},
    {"FFMA", Class::fp32_fma},
    {"FMUL", Class::fp32_mul},
    {"FADD", Class::fp32_add},
    {"FSETP", Class::fp32_add},
    {"FSET", Class::fp32_add},
    {"FSEL", Class::fp32_add},
    {"FMNMX", Class::fp32_add},
    {"FCHK", Class::fp32_add},
    {"DADD", Class::fp64},
    {"DMUL", Class::fp64},
    {"DFMA", Class::fp64},
    {"DSETP", Class::fp64},
    {"DMNMX", Class::fp64},
    {"HMMA", Class::mma},
    {"IMMA", Class::mma},
    {"DMMA", Class::mma},
    {"BMMA", Class::mma},
    {"QMMA", Class::mma},
    {"OMMA", Class::mma},
    {"HADD", Class::fp16},
    {"HMUL", Class::fp16},
    {"HFMA", Class::fp16},
    {"HSETP", Class::fp16},
    {"HMNMX", Class::fp16},
    {"MUFU", Class::sfu},
    {"I2F", Class::cvt},
    {"F2I", Class::cvt},
    {"F2F", Class::cvt},
    {"I2I", Class::cvt},
    {"FRND", Class::cvt},
    {"POPC", Class::cvt},
    {"FLO", Class::cvt},
    {"BREV", Class::cvt},
    {"IMAD", Class::int_mad},
    {"XMAD", Class::int_mad},
    {"IMUL", Class::int_mul},
    {"IDP", Class::int_mad},
    {"SHF", Class::shift},
    {"SHL", Class::shift},
    {"SHR", Class::shift},
    {"BFE", Class::shift},
    {"BFI", Class::shift},
    {"LOP", Class::logic},
    {"PLOP", Class::logic},
    {"PRMT", Class::logic},
    {"SEL", Class::logic},
    {"MOV", Class::logic},
    {"P2R", Class::logic},
    {"R2P", Class::logic, Kind::plain, Space::none, false},
    {"SGXT", Class::logic},
    {"VOTE", Class::logic},
    {"SHFL", Class::smem_load},
    {"I", Class::int_add},
    {"LEA", Class::int_add},
    {"VIADD", Class::int_add},
    {"VABSDIFF", Class::int_add},
};

Form form_of(std::string_view mnemonic) {
  for (Form const& f : forms)
    if (mnemonic.starts_with(f.prefix)) return f;
  return {mnemonic, Class::move};  // the uniform datapath, special registers
}

// Registers as numbers: R, UR, P, UP apart; 64-bit operands are two.
constexpr std::uint32_t uniform = 1000, predicate = 2000, uniform_predicate = 3000;

class Operands {
 public:
  Operands(Instruction& instruction, Form const& form, std::string_view modifiers)
      : instruction_(instruction), writes_(form.writes) {
    wide_ = modifiers.find(".128") != std::string_view::npos  ? 4
            : modifiers.find(".64") != std::string_view::npos ? 2
                                                              : 1;
    bool const is_fp64 = form.instruction_class == Class::fp64;
    wide_source_ = is_fp64 ? 2 : 1;
    if (is_fp64 || modifiers.find(".WIDE") != std::string_view::npos) wide_ = std::max(wide_, 2u);
    is_store_ = form.kind == Kind::store;
  }

  void add(std::string_view text) {
    bool const address = text.find('[') != std::string_view::npos;
    bool wrote = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (i > 0 && (std::isalnum(static_cast<unsigned char>(text[i - 1])) || text[i - 1] == '_' || text[i - 1] == '`'))
        continue;
      std::uint32_t number = 0;
      std::size_t const length = register_at(text.substr(i), number);
      if (length == 0) continue;
      std::string_view const after = text.substr(i + length);
      bool const is_predicate = number >= predicate;
      // Results come first: one, and predicates before or right behind it (a carry).
      bool const result = writes_ && !address && (!ended_ || (count_ == 1 && is_predicate && length == text.size()));
      if (result) wrote = true;
      unsigned const width = is_predicate                          ? 1
                             : address && after.starts_with(".64") ? 2
                             : address                             ? 1
                             : result || is_store_                 ? wide_
                                                                   : wide_source_;
      auto& list = result ? instruction_.destinations : instruction_.sources;
      for (unsigned w = 0; w < width; ++w) list.push_back(number + w);
      if (result && !is_predicate) ended_ = true;
      i += length - 1;
    }
    ++count_;
    // A first operand without a register (RZ, PT) is the result, too.
    if (writes_ && !wrote && count_ == 1 && text != "PT" && !text.starts_with("UPT")) ended_ = true;
    if (count_ == 2) ended_ = true;
  }

 private:
  // "R12" -> 12 and its length; 0 for what is none (RZ, PT, c[0x0], SR_TID).
  static std::size_t register_at(std::string_view text, std::uint32_t& number) {
    std::uint32_t base = 0;
    std::size_t letters = 1;
    if (text.starts_with("UR"))
      base = uniform, letters = 2;
    else if (text.starts_with("UP"))
      base = uniform_predicate, letters = 2;
    else if (text.starts_with("P"))
      base = predicate;
    else if (!text.starts_with("R"))
      return 0;
    auto const* const from = text.data() + letters;
    auto const [end, failure] = std::from_chars(from, text.data() + text.size(), number);
    if (failure != std::errc{}) return 0;
    number += base;
    return static_cast<std::size_t>(end - text.data());
  }

  Instruction& instruction_;
  bool writes_, ended_ = false, is_store_ = false;
  unsigned wide_ = 1, wide_source_ = 1, count_ = 0;
};

bool has_modifier(std::string_view opcode, std::initializer_list<std::string_view> any) {
  return std::any_of(any.begin(), any.end(), [&](std::string_view m) {
    std::size_t const at = opcode.find(m);
    return at != std::string_view::npos && (at + m.size() == opcode.size() || opcode[at + m.size()] == '.');
  });
}

unsigned last_number(std::string_view operands) {
  std::size_t const at = operands.rfind("0x");
  unsigned number = 0;
  if (at != std::string_view::npos)
    std::from_chars(operands.data() + at + 2, operands.data() + operands.size(), number, 16);
  return number;
}

Instruction instruction_of(std::string_view text) {
  Instruction out;
  bool never = false;
  if (text.starts_with("@")) {
    std::size_t const blank = std::min(text.find(' '), text.size());
    Form const guard{"", Class::move, Kind::plain, Space::none, false};
    Operands(out, guard, "").add(text.substr(1, blank - 1));
    never = text.starts_with("@!PT ");
    text = trimmed(text.substr(blank));
  }
  std::size_t const end = std::min(text.find(' '), text.size());
  std::string_view const opcode = text.substr(0, end);
  std::string_view const mnemonic = opcode.substr(0, opcode.find('.'));
  Form const form = never ? form_of("NOP") : form_of(mnemonic);
  out.type = {form.instruction_class,
              form.kind,
              form.space,
              opcode.find(".CONSTANT") != std::string_view::npos,
              form.kind == Kind::atomic || form.kind == Kind::barrier,
              opcode.find(".BYPASS") != std::string_view::npos};
  out.bytes_per_lane = opcode.find(".128") != std::string_view::npos  ? 16
                       : opcode.find(".64") != std::string_view::npos ? 8
                       : has_modifier(opcode, {".U8", ".S8"})         ? 1
                       : has_modifier(opcode, {".U16", ".S16"})       ? 2
                                                                      : 4;
  Operands operands(out, form, opcode);
  std::string_view rest = text.substr(end);
  if (form.kind == Kind::wait) out.pending = last_number(rest);  // DEPBAR.LE SB0, 0x1
  while (!rest.empty()) {
    std::size_t depth = 0, i = 0;
    for (; i < rest.size() && (depth > 0 || rest[i] != ','); ++i)
      depth += rest[i] == '[' ? 1 : rest[i] == ']' ? ~std::size_t{0} : 0;
    if (auto const operand = trimmed(rest.substr(0, i)); !operand.empty()) operands.add(operand);
    rest = i < rest.size() ? rest.substr(i + 1) : std::string_view();
  }
  return out;
}

}  // namespace

std::map<std::string, Listing> read_listing(std::string_view text, std::string const& file) {
  std::map<std::string, Listing> out;
  for (auto const& [name, code] : sass::read(text, file)) {
    Listing& kernel = out[name];
    kernel.instructions = code.instructions;
    for (auto const& block : code.blocks) {
      auto& instructions = kernel.blocks.emplace_back();
      for (auto const& i : block.instructions) instructions.push_back(instruction_of(i.text));
    }
  }
  return out;
}

Listing const* find_listing(std::map<std::string, Listing> const& listings, std::string const& kernel) {
  if (auto const at = listings.find(kernel); at != listings.end()) return &at->second;
  std::string const mangled = fmt::format("{}{}", kernel.size(), kernel);
  for (auto const& [name, listing] : listings)
    if (name.find(mangled) != std::string::npos) return &listing;
  return nullptr;
}

}  // namespace kernelcast::model::ake
