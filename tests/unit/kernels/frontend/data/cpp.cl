template <class T>
class Sum {
 public:
  void add(T value) { total += value; }
  T total = 0;
};

__kernel void sums(__global float* out) {
  Sum<float> sum;
  for (int i = 0; i < 4; ++i) sum.add(out[i]);
  out[0] = sum.total;
}
