// kernel stencil
// depth 21
// sync 2
// flop 10752
// The suite's own, at a small size.
#define main suite_main
#include "../../../../bench-suites/automatch/stencil.c"
#undef main
int main(void) {
  char* arguments[] = {"", "10", "9", "10", "3"};
  return suite_main(sizeof arguments / sizeof *arguments, arguments);
}
