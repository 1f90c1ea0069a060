// Machine code of AMD devices (GCN, CDNA, RDNA), as LLVM's back end prints it.
//
// Problem: PTX is not what a device runs; AMD's own compiler is LLVM, and its assembly says what it makes of a kernel.
// Method: the text is cut into basic blocks at labels and after branches. `.loc` gives each instruction its line of the
// source, the comments behind a function the resources that it takes. Limits: LLVM's text with its comments only.
// A function that a kernel calls has its own code; where it is called is not followed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/pipe.hpp"

namespace kernelcast::amdgcn {

// A line of the source; 0: unknown. `file` is a name without its folder.
struct Place {
  std::string_view file;
  std::uint32_t line = 0, column = 0;
  auto operator<=>(Place const&) const = default;
};

// Views point into the listing's text.
struct Instruction {
  std::string_view text;  // "v_fma_f32 v0, v3, v3, 1.0"
  Place at;

  std::string_view opcode() const;  // "v_fma_f32": without the encoding's suffix (_e32, _e64, _dpp, _sdwa)
  std::string_view second() const;  // of a pair that is issued together (v_dual_…): "v_dual_add_nc_u32"; else empty
  std::string_view target() const;  // of a branch: its label; else empty
  bool ends_block() const;          // branches and ends
  // From here on, in its block, only lanes that hold a condition are active; or all that entered the block again.
  bool narrows() const;
  bool widens() const;
};

struct Block {
  std::vector<Instruction> instructions;
  std::vector<std::string_view> labels;
};

// What a kernel takes of a compute unit; of the compiler's own words.
struct Resources {
  std::uint64_t vgprs = 0;  // as occupancy needs them: where both are in one file, with the accumulation registers
  std::uint64_t agprs = 0, sgprs = 0;
  std::uint64_t shared_bytes = 0, scratch_bytes = 0;  // per work-group; per work-item
  unsigned wavefront = 64;                            // lanes
  bool operator==(Resources const&) const = default;
};

struct Code {
  std::vector<Block> blocks;  // in the order of the listing
  std::size_t instructions = 0;
  Resources resources;
  bool calls = false;  // functions that are not part of this code
};

// Functions by their names. Throws Error(bad_data) for a text without any.
std::map<std::string, Code> read(std::string_view text, std::string const& file);

// The pipe to which an instruction is issued, by its opcode.
record::Pipe pipe_of(std::string_view opcode);

// What an instruction does that a compiler may join, split or leave to another unit, but neither adds nor saves: the
// same amount in all machine codes of a source.
enum class Conserved : std::uint8_t {
  none,
  load,
  store,
  shared_load,
  shared_store,
  atomic,
  barrier,
  image,
  matrix,           // operations of matrix_product()
  integer_product,  // of 32 bits: compilers turn some into shifts and sums
  fp16,
  fp32,
  fp64
};
struct Amount {
  Conserved conserved = Conserved::none;
  double amount = 0;  // bytes of a load or store; operations of arithmetic, a fused one counts two; else 1
};
Amount conserved_by(std::string_view opcode);

// What a load or a store of private memory moves for each lane, bytes; 0: it is none. `by_buffers`: whether buffer_…
// are such, as in code that has other instructions for global memory.
double private_bytes(std::string_view opcode, bool by_buffers);

// A product of matrices that one instruction of a wavefront computes: its kind as the column matrix_flop of kernels and
// devdb/matrix.csv name it (mfma of CDNA, wmma of RDNA), such as "mfma/f16/f32", "wmma/i8/i32/sparse", and its
// operations, two for each multiply-add, with the zeros of a sparse factor. Nothing for other instructions. Source:
// AMD's instruction references; tests/unit/kernels/amdgcn/matrix_instructions.csv.
struct MatrixProduct {
  std::string kind;
  double flop = 0;
};
std::optional<MatrixProduct> matrix_product(Instruction const&);

}  // namespace kernelcast::amdgcn
