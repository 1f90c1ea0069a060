// The operation of a matrix instruction, as the decoder leaves it in MicroOp::data. Internal to emu; plain data only,
// as lane.hpp.
//
// A matrix lies spread over the registers of a warp: a fragment. Which lane's register holds which element is a table,
// made by the decoder (decode/fragment.cpp), so that the handlers do not depend on shapes.
#pragma once

#include "emulator/opcodes/lane.hpp"

namespace kernelcast::emu {

enum class MatrixElement : std::uint8_t {
  f16,
  bf16,
  tf32,
  f32,
  f64,
  s32,
  s8,
  u8,
  s4,
  u4,
  b1,  // words of 32: the k dimension is counted in words
  e4m3,
  e5m2,
  e3m2,        // 6 bits in the low bits of a byte
  e2m3,        // the same
  e2m1,        // 4 bits in the middle of a byte
  e2m1_packed  // of the kinds mxf4 and mxf4nvf4: 4 bits
};

struct MatrixFragment {
  MatrixElement element = MatrixElement::f32;
  std::uint8_t registers = 0;     // as the instruction names them
  std::uint8_t distinct = 0;      // of which so many hold something new; the others repeat them in order
  std::uint8_t per_register = 1;  // elements, from the low bits up
  std::uint8_t first = 0;         // among the sources (or destinations)
  std::uint16_t elements = 0;     // of the matrix; several lanes may hold one
  // [distinct][32 lanes][per_register]: row * columns + column of the element.
  std::uint16_t const* places = nullptr;
};

// A of half as many elements: which k each of them has. Of `nonzero` elements in a row, `chunk` are in the matrix; an
// index of the metadata says which of these `together` neighbours are. [ptx] "Sparse matrix storage"
struct MatrixChoice {
  static constexpr std::uint8_t nothing = 0xff;
  std::uint8_t source = nothing;  // the metadata; nothing: A has all elements
  std::uint8_t nonzero = 2, chunk = 4, together = 1;
  std::uint8_t index_shift = 0;  // what the index counts, halves of elements: 1
  // [rows][elements / together]: lane * 32 + lowest bit of the index's two.
  std::uint16_t const* places = nullptr;
};

// A factor for each block of a row of A, and of a column of B, along k. [ptx] "Block Scaling for mma.sync"
struct MatrixScales {
  std::uint8_t blocks = 0;                  // 0: no factors
  bool exponents = true;                    // ue8m0; else ue4m3
  std::uint8_t a_source = 0, b_source = 0;  // each: the factors, the first one's byte, the thread of a quad
};

// mma, wmma.mma: D = A B + C for `batches` matrices one after the other.
struct MatrixMultiply {
  enum class Product : std::uint8_t { number, xor_popc, and_popc };
  // To nearest, towards zero, minus infinity, plus infinity (f64 only).
  enum class Rounding : std::uint8_t { rn, rz, rm, rp };
  Product product = Product::number;
  Rounding rounding = Rounding::rn;
  bool saturate = false;
  std::uint8_t batches = 1;
  std::uint16_t rows = 0, columns = 0, depth = 0;
  MatrixFragment d, a, b, c;
  MatrixChoice choice;
  MatrixScales scales;
};

// wgmma.mma_async: D = A B + D, or A B, of the warps of a group of four; one warp's part is 16 rows. Accesses: A, B.
struct GroupMultiply {
  static constexpr std::uint8_t nothing = 0xff;
  MatrixElement a = MatrixElement::f16, b = MatrixElement::f16, d = MatrixElement::f32;
  std::uint16_t columns = 0, depth = 0;  // of B and D
  std::uint16_t a_depth = 0;             // half of it where A is sparse
  std::uint8_t element_bytes = 2;        // of A and B
  std::uint8_t b_parts_log2 = 1;         // pieces of 16 bytes of a row of B that is not transposed
  bool a_transposed = false, b_transposed = false;
  bool negates = false;  // the product
  bool saturate = false;
  bool adds = true;                               // D, where no source says it
  std::uint8_t scale_source = nothing;            // a predicate: whether D is added
  std::uint8_t a_source = nothing, b_source = 0;  // descriptors; A without one is a_fragment
  MatrixFragment a_fragment, sum_before, sum;
  MatrixChoice choice;
};

// wmma.load and wmma.store. Elements are numbered as they lie in memory: line after line, a row or a column each.
struct MatrixTransfer {
  static constexpr std::uint16_t no_element = 0xffff;
  MatrixFragment fragment;
  std::uint16_t line = 0;  // elements
  bool together = false;   // the elements of a register are neighbours in memory
  std::uint8_t element_bytes = 4;
  std::uint8_t register_bytes = 4;
  std::uint8_t elements_per_byte = 1;  // of types smaller than a byte
  std::uint8_t requests = 0, request_bytes = 4;
  std::uint16_t const* first = nullptr;  // [requests][32 lanes]: the first element of each lane, or no_element
  bool wide_address = true, has_stride = false;
  std::uint32_t stride = 0;       // elements, where none is given
  std::uint8_t stride_shift = 0;  // single bits: a given stride counts bits, an element is a word of 32
  std::uint64_t displacement = 0;
};

// ldmatrix, stmatrix: `matrices` of 8 rows of 16 bytes.
struct MatrixRows {
  // m8n8: elements of 16 bits; m16n16: two blocks of 8 by 16 bytes, transposed; m8n16: 8 rows of 16 bytes, packed as
  // `unpack` says; m16n8: 16 by 8 bytes, stored transposed.
  enum class Shape : std::uint8_t { m8n8, m16n16, m8n16, m16n8 };
  Shape shape = Shape::m8n8;
  std::uint8_t matrices = 1;
  std::uint8_t unpack_bits = 8;  // of an element in memory: 4 (b4x16_p64), 6 (b6x16_p32) or 8
  bool transposed = false, wide_address = true;
  std::uint64_t displacement = 0;
};

// Ends the run with a finding about a lane of the unit; machine/asynchronous.cpp.
[[noreturn]] void stop_at_lane(Context&, MicroOp const&, Finding::Kind, std::uint32_t lane, char const* message);
// The same, unless the launch goes on after it (Limits::passed_over): the caller leaves out what the lane would do.
void pass_over_lane(Context&, MicroOp const&, Finding::Kind, std::uint32_t lane, char const* message);

}  // namespace kernelcast::emu
