__kernel void two_races(__global int* a, __global int* b) {
  const uint i = get_local_id(0);
  a[i / 2] = i;
  b[i] = i;
  b[(i + 1) % 64] += 1;
}
