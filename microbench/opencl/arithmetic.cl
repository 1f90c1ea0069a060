// Arithmetic: chains of one operation, CHAINS of them side by side. One chain shows its latency, many its rate.
//
// Macros: VALUE, SCALAR (types of a value and of its elements), CHAINS (1, 4, 8, 12), one of FMA, ADD_MUL, ADD, MUL,
// INT_ADD, INT_MUL, SHIFT, LOGIC, SPECIAL, CONVERT.
// Also read as CUDA, after cuda/words.cu. Counts: kernels.toml.
#define UNROLL 4
#define EACH_1(X) X(0)
#define EACH_4(X) X(0) X(1) X(2) X(3)
#define EACH_8(X) EACH_4(X) X(4) X(5) X(6) X(7)
#define EACH_12(X) EACH_8(X) X(8) X(9) X(10) X(11)
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define EACH(X) JOIN(EACH_, CHAINS)(X)

// Values in [1, 2) of random bits; odd integers.
#if defined(INT_ADD) || defined(INT_MUL) || defined(SHIFT) || defined(LOGIC) || defined(CONVERT)
#define FIRST(bits) SPLAT((bits) | 1)
#elif defined(PACKED_HALF)
#define FIRST(bits) (0x3c003c00u | ((bits) & 0x03ff03ffu))
#else
#define FIRST(bits) SPLAT((SCALAR)(1.0f + (float)((bits) >> 8) * 5.9604645e-8f))
#endif

#if defined(INT_ADD)  // x += y, y += x: nothing shorter computes it
#define DECLARE(c) VALUE v##c = FIRST(in[me * CHAINS + c]), w##c = FIRST(in[me * CHAINS + c] >> 3);
#define STEP(c) v##c = v##c + w##c; w##c = w##c + v##c;
#define TAKE(c) sum = sum ^ v##c ^ w##c;
#elif defined(LOGIC)  // each result is needed twice: no two become one instruction of three operands
#define DECLARE(c)                                                                      \
  VALUE v##c = FIRST(in[me * CHAINS + c]), w##c = FIRST(in[me * CHAINS + c] >> 3),      \
        x##c = FIRST(in[me * CHAINS + c] >> 5), y##c = FIRST(in[me * CHAINS + c] >> 7);
#define STEP(c) v##c = XOR(v##c, y##c); w##c = AND(w##c, v##c); x##c = XOR(x##c, w##c); y##c = AND(y##c, x##c);
#define TAKE(c) sum = sum ^ v##c ^ w##c ^ x##c ^ y##c;
#else
#define DECLARE(c) VALUE v##c = FIRST(in[me * CHAINS + c]);
#define TAKE(c) sum = GATHER(sum, v##c);
#endif

#if defined(FMA)
#define STEP(c) v##c = MULTIPLY_ADD(v##c, a, b);
#elif defined(ADD_MUL)  // in chains of their own, so that they cannot be fused
#define STEP(c) if (c % 2 == 0) v##c = v##c + b; else v##c = v##c * a;
#elif defined(ADD)
#define STEP(c) v##c = v##c + b;
#elif defined(MUL)
#define STEP(c) v##c = v##c * a;
#elif defined(INT_MUL)
#define STEP(c) v##c = v##c * v##c;
#elif defined(SHIFT)
#define STEP(c) v##c = ROTATE(v##c, turn);
#elif defined(SPECIAL)
#define STEP(c) v##c = RECIPROCAL_ROOT(v##c);
#elif defined(CONVERT)
#define STEP(c) v##c = TO_FLOAT_BITS(v##c);  // the bits of the float are the next integer
#endif

KERNEL void arithmetic(GLOBAL const uint* in, GLOBAL VALUE* out, float af, float bf, uint iterations) {
  uint const me = GLOBAL_ID;
#if defined(INT_ADD) || defined(INT_MUL) || defined(LOGIC) || defined(CONVERT)
#elif defined(SHIFT)
  VALUE const turn = SPLAT((uint)bf | 5);
#elif defined(PACKED_HALF)
  VALUE const a = 0x3bff3bffu, b = 0x10001000u;  // 0.9995, 0.0005
#else
  VALUE const a = SPLAT((SCALAR)af), b = SPLAT((SCALAR)bf);
#endif
  EACH(DECLARE)
  for (uint i = 0; i < iterations; ++i) {
    EACH(STEP)
    EACH(STEP)
    EACH(STEP)
    EACH(STEP)
  }
  VALUE sum = v0;
  EACH(TAKE)
  out[me] = sum;
}
