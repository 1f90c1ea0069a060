__kernel void broken(__global float *a) {
  a[0] = MISSING_MACRO;
  undeclared_call(a);
}
