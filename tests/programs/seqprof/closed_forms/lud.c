// kernel lud
// depth 87
// sync 29
// The suite's own, at a small size.
#define main suite_main
#include "../../../../bench-suites/automatch/lud.c"
#undef main
int main(void) {
  char* arguments[] = {"", "30"};
  return suite_main(sizeof arguments / sizeof *arguments, arguments);
}
