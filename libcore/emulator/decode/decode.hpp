// Turns PTX instructions into drafts. Internal to emu.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "emulator/decode/draft.hpp"
#include "emulator/opcodes/matrix.hpp"

namespace kernelcast::emu {

// [ptx] "%reserved_smem_offset": 1 KiB, as devices have from 8.0 on; %reserved_smem_offset_1 is its second half.
inline constexpr std::uint64_t reserved_shared_bytes = 1024;

struct AsyncStore;                     // opcodes/copy.hpp
struct CopyAddress;                    // opcodes/copy.hpp
enum class MatrixRole : std::uint8_t;  // fragment.hpp
struct FragmentTable;
struct MatrixShape;       // fragment.hpp
struct TextureOperation;  // opcodes/texture.hpp

// Thrown and caught inside: this instruction cannot be executed; it becomes a refusal at run time.
struct Unsupported {
  std::string what;
};
inline Unsupported refused(ptx::Instruction const& i) {
  return {"opcode '" + ptx::full_opcode(i) + "'"};
}
inline std::uint64_t align_up(std::uint64_t value, std::uint64_t unit) {
  return unit ? (value + unit - 1) / unit * unit : value;
}

class Decoder {
 public:
  explicit Decoder(Drafts& drafts);
  void run();

 private:
  using Instruction = ptx::Instruction;
  using Operand = ptx::Operand;

  void lay_out_variables();
  void decode(std::uint32_t index);
  void decode(std::uint32_t index, Instruction const&);
  bool decode_structural(Instruction const&);
  Draft& refuse(Instruction const&, std::size_t drafts_before);

  // flow.cpp
  void split();
  void decode_end(Instruction const&);
  void decode_barrier(Instruction const&);
  bool takes_a_word(BasicBlock const&) const;
  void note_synchronisation(BasicBlock const&);

  // calls.cpp
  void lay_out_frames();
  void decode_call(Instruction const&);
  void decode_stack(Instruction const&);
  bool in_callable() const;  // the current instruction
  bool accesses_argument(Instruction const&) const;
  bool lies_in_call_frame(Operand const&) const;
  std::uint32_t frame();
  std::uint32_t frame_address(std::uint32_t variable, std::uint64_t offset);

  // data.cpp
  void decode_load(Instruction const&);
  void decode_store(Instruction const&);
  void decode_atomic(Instruction const&);
  void find_commuting();
  bool commutes(std::uint32_t instruction) const;
  void decode_move(Instruction const&);
  void move_128(Instruction const&);
  void move_vector(Instruction const&);
  std::vector<std::uint32_t> halves(Operand const&);
  void decode_address_conversion(Instruction const&);
  void decode_space_test(Instruction const&);
  void decode_fence(Instruction const&);
  void decode_cluster(Instruction const&);
  Draft& add_access(Draft::Kind, Instruction const&, ptx::StateSpace, ptx::Type, unsigned elements,
                    Operand const& address);
  bool load_parameter(Instruction const&, ptx::Type, std::span<Operand const> values, Operand const& address);

  // texture.cpp
  void decode_texture(Instruction const&);
  void decode_texture_query(Instruction const&);
  std::uint32_t texture_handle(Operand const&);
  void emit_texture(Instruction const&, TextureOperation const&, std::vector<std::uint32_t> sources);

  // arithmetic.cpp
  void decode_arithmetic(Instruction const&);
  void decode_comparison(Instruction const&);
  void decode_carry(Instruction const&);
  std::pair<std::uint32_t, std::uint32_t> both_values(std::uint32_t packed);
  void decode_select_and_test(Instruction const&);

  // convert.cpp, video.cpp
  void decode_conversion(Instruction const&);
  void decode_video(Instruction const&);

  // matrix.cpp
  void decode_matrix(Instruction const&);
  void decode_multiply(Instruction const&);
  void decode_matrix_rows(Instruction const&);
  void decode_matrix_transfer(Instruction const&);
  FragmentTable wmma_fragment(MatrixRole, MatrixElement, MatrixShape, bool column_major);
  std::uint16_t const* kept_places(std::vector<std::uint16_t> const&);
  MatrixChoice matrix_metadata(Instruction const&, std::size_t operand, MatrixElement, MatrixShape,
                               std::vector<std::uint32_t>& sources);
  MatrixFragment fragment(FragmentTable const&, MatrixElement, std::size_t registers, std::size_t first,
                          std::size_t max_registers = 8);

  // warpgroup.cpp, tensor_memory.cpp
  void decode_warpgroup(Instruction const&);
  void decode_tensor_memory(Instruction const&);
  void decode_tensor_allocation(Instruction const&);
  void decode_tensor_transfer(Instruction const&);
  void decode_tensor_reduction(Instruction const&);
  void decode_tensor_product(Instruction const&);
  std::uint32_t own_rank();  // of the group in its cluster

  // copy.cpp
  void decode_copy(Instruction const&);
  void decode_bulk_copy(Instruction const&);
  void decode_bulk_fill(Instruction const&);
  void decode_async_store(Instruction const&);
  void decode_launch_control(Instruction const&);
  void decode_barrier_object(Instruction const&);
  void decode_tensor_copy(Instruction const&);  // tensor.cpp
  void decode_tensor_map(Instruction const&);
  CopyAddress copy_address(Operand const&, std::vector<std::uint32_t>& sources);
  // Accesses of instructions that are no plain load or store; they stand one after the other.
  std::uint32_t address_register(Operand const& address);
  std::uint32_t add_plain_access(ptx::StateSpace, Direction);
  template <class Facts>
  Draft& emit_with(std::string_view name, Facts const& facts, std::vector<std::uint32_t> destinations,
                   std::vector<std::uint32_t> sources) {
    auto kept = std::make_shared<Facts>(facts);
    Draft& draft = emit(name, std::move(destinations), std::move(sources));
    draft.data = kept.get();
    p_.facts.push_back(std::move(kept));
    return draft;
  }

  // operands.cpp
  std::uint64_t reserved_shared(std::string_view special) const;
  std::uint32_t source(Operand const&, LaneType);
  std::uint32_t named_register(Operand const&);
  std::vector<Operand> elements_of(Operand const&);  // of {a, b} or of a register of a vector type; else the operand
  std::uint32_t variable_address(Operand const&);
  std::uint32_t destination(Operand const&, LaneType);  // the register to write; finish() adds what is left to do
  void finish();
  Opcode const* opcode(std::string_view name);
  Draft& emit(Opcode const*, std::vector<std::uint32_t> destinations, std::vector<std::uint32_t> sources);
  Draft& emit(std::string_view name, std::vector<std::uint32_t> destinations, std::vector<std::uint32_t> sources) {
    return emit(opcode(name), std::move(destinations), std::move(sources));
  }
  ptx::Type register_type(std::uint32_t id) const;

  Drafts& d_;
  Program::Impl& p_;
  ptx::Function const& f_;
  ptx::Module const& m_;
  std::uint32_t current_ = 0;  // instruction
  Draft origin_;               // instruction and guard of what is emitted
  struct Conversion {          // after the operation: temporary to register
    Opcode const* opcode;
    std::uint32_t destination, source;
  };
  std::vector<Conversion> pending_;
  std::uint32_t carry_ = no_register;
  std::vector<std::uint32_t> commuting_;  // instructions, ascending: updates of global memory in any order
  std::map<std::uint32_t, std::uint32_t> upper_halves_;        // of registers of 128 bits
  std::map<std::uint32_t, std::uint32_t> vector_elements_;     // 4 * register + element
  bool publishes_ = false;                                     // some store is for other groups to see
  std::vector<std::uint32_t> block_of_;                        // by instruction; one more for the end
  std::vector<std::uint64_t> module_offsets_, local_offsets_;  // shared and local variables
  std::uint64_t reserved_shared_ = 0;                          // where the reserved part of shared memory begins
  End* end_ = nullptr;
  std::unordered_map<std::string, Opcode const*> opcodes_;  // met so far
  std::map<std::vector<std::uint16_t>, std::uint16_t const*> fragment_places_;
};

// Of each block, its place in the order in which diverged lanes run: order.cpp.
std::vector<std::uint32_t> ranks_of_blocks(Drafts const&);

// Does a basic block end with this instruction?
bool ends_block(ptx::Instruction const&);

bool is_video(ptx::Op);

// The type an opcode names by its last modifier ("u32"); none where it is not a type.
ptx::Type type_named(std::string_view);

}  // namespace kernelcast::emu
