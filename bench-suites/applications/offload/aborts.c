// A region that gives up.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int x = 3;
#pragma omp target map(tofrom : x)  // region main
  if (x == 3) abort();
  printf("not reached\n");
  return 0;
}
