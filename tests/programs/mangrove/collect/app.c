/* An application on the stand-in runtime: its "kernels" count how often they ran, in memory of each kind. */
#include <stddef.h>
#include <stdio.h>

struct dim3 {
  unsigned x, y, z;
};
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFunction(void**, char const*, char*, char const*, int, void*, void*, void*, void*, int*);
void __cudaRegisterVar(void**, char*, char*, char const*, int, size_t, int, int);
int cudaMalloc(void**, size_t);
int cudaMallocManaged(void**, size_t, unsigned);
int cudaHostAlloc(void**, size_t, unsigned);
int cudaFree(void*);
int cudaFreeHost(void*);
int cudaLaunchKernel(void const*, struct dim3, struct dim3, void**, size_t, void*);

static int variable;

static void count(void** arguments) {
  for (int i = 0; i < 3; ++i) ++**(int**)arguments[i];
  ++variable;
}
static void other(void** arguments) {
  count(arguments);
}

int main(void) {
  struct dim3 const one = {1, 1, 1}, four = {4, 1, 1}, block = {256, 1, 1}, square = {16, 16, 1}, wide = {4096, 1, 1};
  int *on_device = NULL, *managed = NULL, *on_host = NULL, *gone = NULL;
  char capturing; /* its address is a stream */
  void** const handle = __cudaRegisterFatBinary(&capturing);
  __cudaRegisterFunction(handle, (char const*)count, NULL, "count", -1, NULL, NULL, NULL, NULL, NULL);
  __cudaRegisterFunction(handle, (char const*)other, NULL, "other", -1, NULL, NULL, NULL, NULL, NULL);
  __cudaRegisterVar(handle, (char*)&variable, NULL, "variable", 0, sizeof variable, 0, 0);
  if (cudaMalloc((void**)&on_device, 64) != 0) {
    puts("no device");
    return 3;
  }
  cudaMallocManaged((void**)&managed, 64, 1);
  cudaHostAlloc((void**)&on_host, 64, 2);
  cudaMalloc((void**)&gone, 64);
  cudaFree(gone);
  void* arguments[] = {&on_device, &managed, &on_host};
  for (int i = 0; i < 3; ++i) cudaLaunchKernel((void*)count, four, block, arguments, 0, NULL);
  cudaLaunchKernel((void*)count, one, square, arguments, 0, NULL);
  cudaLaunchKernel((void*)other, four, block, arguments, 0, NULL);
  cudaLaunchKernel((void*)other, one, block, arguments, 0, &capturing); /* no row */
  int const failed = cudaLaunchKernel((void*)other, one, wide, arguments, 0, NULL);
  printf("%d %d %d %d, %d\n", *on_device, *managed, *on_host, variable, failed);
  cudaFree(on_device);
  cudaFree(managed);
  cudaFreeHost(on_host);
  return 7;
}
