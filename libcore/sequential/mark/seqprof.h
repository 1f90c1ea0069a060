/* Marks a region of a program for `seqprof --region NAME`: what runs between seqprof_begin("NAME") and
 * seqprof_end("NAME") of the same function. seqprof_sync() marks a place where a parallel version of the program waits for
 * all of its threads, for `seqprof --sync source`. Compiled by anything else than seqprof they do nothing. */
#ifndef KERNELCAST_SEQPROF_H
#define KERNELCAST_SEQPROF_H

static inline void seqprof_begin(char const* name) {
  (void)name;
}
static inline void seqprof_end(char const* name) {
  (void)name;
}
static inline void seqprof_sync(void) {
}

#endif
