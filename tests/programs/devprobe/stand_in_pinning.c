/* Threads may not choose their processors: what a sandbox does that refuses sched_setaffinity. */
#include <errno.h>
#include <stddef.h>

int pthread_setaffinity_np(unsigned long thread, size_t bytes, void const* set) {
  (void)thread, (void)bytes, (void)set;
  return EPERM;
}
