// kernel spmv
// depth 50
// sync 0
// The suite's own, at a small size.
#define main suite_main
#include "../../../../bench-suites/automatch/spmv.c"
#undef main
int main(void) {
  char* arguments[] = {"", "200", "1"};
  return suite_main(sizeof arguments / sizeof *arguments, arguments);
}
