// What regions.c calls on the device, in a file of its own.
#pragma omp declare target
int twice(int x) {
  return 2 * x;
}
#pragma omp end declare target
