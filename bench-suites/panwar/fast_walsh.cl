// Fast Walsh-Hadamard transform in place, natural order: log2(n) launches, one butterfly per work-item.
//
// `reach` is the distance between the two elements of a butterfly: 1, 2, 4, ... n/2. Quotient and remainder are written
// as such although `reach` is a power of two: the compiler cannot know it, and neither could the paper's.
// Groups of 256, n / 2 work-items.
__kernel void fast_walsh_pass(__global float* data, const uint reach) {
  const uint item = get_global_id(0);
  const uint first = 2 * reach * (item / reach) + item % reach;
  const uint second = first + reach;
  float const a = data[first];
  float const b = data[second];
  data[first] = a + b;
  data[second] = a - b;
}
