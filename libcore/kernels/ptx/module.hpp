// What a PTX text says, as data: the parser's output and the emulator's and instrumenter's input.
//
// Every name is resolved: an operand holds a register, variable, function or label by index. An opcode is kept as
// written (base and modifiers), so that a module with unknown instructions still parses; what executes it
// decides. Words are the PTX manual's. Text is kept by the module, so that a message can quote the line.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ptx/opcode.hpp"

namespace kernelcast::ptx {

// State spaces (PTX ISA "State Spaces"). `generic` is the absence of a space on ld, st, atom and cvta.
enum class StateSpace : std::uint8_t { generic, reg, sreg, constant, global, local, param, shared, tex };

enum class Type : std::uint8_t {
  none,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  b8,
  b16,
  b32,
  b64,
  b128,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f64,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  u16x2,
  s16x2,
  pred,
  texref,
  samplerref,
  surfref,
};
unsigned size_bytes(Type);          // of one value; 0 for none; pred counts 1; references are 8-byte handles
std::string_view name(Type);        // "u32", without the dot
std::string_view name(StateSpace);  // "global"

// A place in the PTX text, counted from 1.
struct TextPosition {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

// A place in the high-level source, from .loc: `file` indexes Module::files by its .file number; line 0 = unknown.
struct SourcePosition {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct Register {
  std::string_view name;  // with its '%' where it has one
  Type type = Type::none;
  std::uint8_t vector = 1;  // elements: .reg .v4 .f32 declares one register of four
};

// Special registers, %tid.x and the like; the component of a vector one is part of the enumerator.
enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  globaltimer_lo,
  globaltimer_hi,
  dynamic_smem_size,
  total_smem_size,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,
  current_graph_exec,
  envreg,  // index in Operand::value
  pm,      // index in Operand::value
  other,   // a special register not listed here: parses, refused when executed; Operand::value = text_slice of its name
};

struct Operand {
  enum class Kind : std::uint8_t {
    none,
    reg,        // id = index into Function::registers
    special,    // id = Special
    integer,    // value = two's complement bits
    f32,        // value = bits of 0f… or of a decimal constant in an f32 context
    f64,        // value = bits of 0d… or of a decimal constant
    variable,   // id = index into Module::variables or Function::variables (see `local`); value = byte offset
    parameter,  // id = index into Function::parameters (or ::results, see `result`); value = byte offset
    function,   // id = index into Module::functions
    label,      // id = index into Function::labels
    prototype,  // id = index into Function::prototypes
    targets,    // id = index into Function::branch_targets or ::call_targets (brx.idx, call)
    address,    // [base + value]; elements[0] = base (reg, variable, parameter, integer), further elements: see below
    vector,     // {a, b, c, d}
    list,       // (a, b): the arguments and results of a call
    sink,       // _
  };
  Kind kind = Kind::none;
  bool negated = false;        // !p, or -x where the grammar allows it on a register
  bool local = false;          // variable: declared in the function rather than in the module
  bool result = false;         // parameter: one of Function::results
  std::uint8_t component = 0;  // .x .y .z .w of a register = 1..4; .b0….b3, .h0, .h1 = 5..10; 0 = whole;
                               // 11 = any other selector of the video instructions, value = text_slice of it
  std::uint32_t id = 0;
  std::uint64_t value = 0;
  std::vector<Operand> elements;  // vector, list; address: base, then for tex/suld/sust the sampler and coordinates,
                                  // for mbarrier and cp.async.bulk forms whatever follows in the brackets
};

struct Guard {
  bool present = false;
  bool negated = false;
  std::uint32_t reg = 0;
};

struct Instruction {
  Opcode opcode;                            // "mad"
  std::vector<std::string_view> modifiers;  // {"lo", "s32"}
  Guard guard;
  std::vector<Operand> operands;  // as written, destination first; a dual destination p|q is a list
  TextPosition at;
  SourcePosition source;

  // Whether it is one of these.
  bool is(Op first, std::same_as<Op> auto... others) const { return opcode == first || (... || (opcode == others)); }
  bool has(std::string_view modifier) const {
    return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
  }

  bool is_load() const { return is(Op::ld, Op::ldu); }
  bool is_atomic() const { return is(Op::atom, Op::red); }
  bool is_memory() const { return is_load() || is(Op::st) || is_atomic(); }  // by an address, of each work-item's own
  bool is_image_access() const { return is(Op::tex, Op::tld4, Op::suld, Op::sust, Op::sured); }
  bool is_barrier() const { return is(Op::bar, Op::barrier); }  // of a group, warp or cluster
  bool is_branch() const { return is(Op::bra, Op::brx); }
  bool is_call() const { return is(Op::call); }
  bool ends_function() const { return is(Op::ret, Op::exit, Op::trap); }
  // Copies that a copy engine carries out: cp.async.bulk and its kind.
  bool is_bulk_copy() const { return is(Op::cp) && has("bulk") && !has("commit_group") && !has("wait_group"); }
  bool tests_mbarrier() const { return is(Op::mbarrier) && (has("test_wait") || has("try_wait")); }
  // Arrivals of any kind: those of work-items, of transactions, and what follows when copies or products are complete.
  bool arrives_at_mbarrier() const {
    return has("mbarrier::complete_tx::bytes") || has("mbarrier::arrive::one") || (is(Op::cp) && has("mbarrier")) ||
           (is(Op::mbarrier) && (has("arrive") || has("arrive_drop") || has("expect_tx") || has("complete_tx")));
  }
  // ld.param and st.param: of a kernel's own parameters, and arguments and results of calls.
  bool accesses_parameter() const {
    return is(Op::ld, Op::st) && !modifiers.empty() && modifiers[0].starts_with("param");
  }

  // The space that the first of its modifiers names which name one (.shared::cluster is shared); generic without.
  StateSpace space() const;
  unsigned elements() const;  // .v2, .v4, .v8; else 1
};
// Pragmas of our own, before a barrier of OpenCL C: which memory it orders. The barrier has the text as a modifier.
inline constexpr std::array<std::string_view, 4> fence_pragmas{"fence::none", "fence::local", "fence::global",
                                                               "fence::all"};
// Before an exchange among lanes of HIP: that it is among the 64 of a wavefront, which are two warps; of a ballot,
// which half of its bits. So what is otherwise plain PTX remains so for NVIDIA's assembler. A modifier in the same way.
inline constexpr std::array<std::string_view, 3> wavefront_pragmas{"wave64", "wave64::low", "wave64::high"};

// An instruction without operands: "mad.lo.s32".
Instruction instruction_of(std::string_view full_opcode);
std::string full_opcode(Instruction const&);  // "mad.lo.s32"
std::string_view name(Special);               // "%tid.x"; "%envreg" and "%pm" without their index

// One element of an initialiser: bytes, or the address of a variable or function (+ offset), or a slice of it.
struct Initializer {
  std::uint64_t offset = 0;                // bytes from the start of the variable
  std::uint8_t bytes = 0;                  // width of this element
  Operand value;                           // integer, f32, f64, variable, function
  bool generic_address = false;            // generic(name)
  std::optional<std::uint8_t> mask_shift;  // 0xFF00(name): which byte, as a right shift in bits
};

enum class Linkage : std::uint8_t { none, external, visible, weak, common };

struct Variable {
  std::string_view name;
  StateSpace space = StateSpace::global;
  Type type = Type::none;
  std::uint8_t vector = 1;  // .v2, .v4, .v8
  std::uint64_t align = 0;  // bytes; natural alignment when the text gives none
  std::uint64_t size = 0;   // bytes; 0 for an extern array of unknown size (dynamic shared memory)
  bool array = false;
  Linkage linkage = Linkage::none;
  std::vector<Initializer> initializers;                               // the rest is zero
  std::vector<std::pair<std::string_view, std::uint64_t>> attributes;  // .managed; fields of a
  // samplerref, texref or surfref: a number below 2^16, or the text_slice of a word
  TextPosition at;
};

struct Parameter {
  std::string_view name;
  Type type = Type::none;
  bool in_register = false;  // .reg parameters of old ABI-less functions
  std::uint32_t reg = 0;     //   its register
  std::uint64_t align = 0;
  std::uint64_t size = 0;    // bytes, arrays included
  std::uint64_t offset = 0;  // bytes from the start of the kernel's parameter block
  bool pointer = false;      // .ptr
  StateSpace pointer_space = StateSpace::generic;
  std::uint64_t pointer_align = 0;
};

struct Label {
  std::string_view name;
  std::uint32_t instruction = 0;  // index of the instruction it stands before; instructions.size() at the end
};

struct Prototype {  // .callprototype
  std::string_view name;
  std::vector<Parameter> results, parameters;
  bool noreturn = false;
};

struct TargetList {  // .branchtargets (label ids) and .calltargets (function ids)
  std::string_view name;
  std::vector<std::uint32_t> ids;
};

struct Function {
  std::string_view name;
  bool entry = false;     // .entry: a kernel
  bool has_body = false;  // a declaration otherwise
  bool noreturn = false;
  Linkage linkage = Linkage::none;
  std::vector<Parameter> results, parameters;
  std::uint64_t parameter_bytes = 0;  // size of the parameter block
  std::vector<Register> registers;    // scoped re-declarations are distinct registers
  std::vector<Variable> variables;    // .local, .shared, .param, … declared in the body
  std::vector<Label> labels;
  std::vector<Prototype> prototypes;
  std::vector<TargetList> branch_targets, call_targets;
  std::vector<Instruction> instructions;
  std::optional<std::uint32_t> alias_of;  // .alias: index of the function that this name stands for
  // Performance-tuning directives by name without the dot: maxntid, reqntid, minnctapersm, maxnreg, …
  std::map<std::string_view, std::vector<std::uint64_t>> directives;
  TextPosition at;
};

struct Module {
  std::string path;                        // for messages
  std::string text;                        // the whole source; views point into it, or into the next
  std::deque<std::string> numbered_names;  // %P0 and %P1, of a variable that is declared as %P<2>
  unsigned version_major = 0, version_minor = 0;
  std::vector<std::string_view> targets;       // sm_75, texmode_independent, debug, …
  unsigned address_size = 64;                  // bits
  std::map<std::uint32_t, std::string> files;  // .file
  std::vector<Variable> variables;
  std::vector<Function> functions;  // declarations included; a definition replaces its declaration

  Module() = default;
  Module(Module const&) = delete;  // views would dangle
  Module& operator=(Module const&) = delete;
  // Movable only through unique_ptr: the small-string optimisation would move the text.

  Function const* find_kernel(std::string_view name) const;  // a kernel with a body, or null
  std::string_view line(std::uint32_t number) const;         // text of one line, without its end
  std::string_view slice(std::uint64_t text_slice) const;    // words that have no enumerator: offset << 16 | length
  std::string describe(SourcePosition) const;                // "matmul.cl:12", empty when unknown
};

}  // namespace kernelcast::ptx
