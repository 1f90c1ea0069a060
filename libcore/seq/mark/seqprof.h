/* Marks a region of a program for `seqprof --region NAME`: what runs between seqprof_begin("NAME") and
 * seqprof_end("NAME") of the same function. Compiled by anything else than seqprof they do nothing. */
#ifndef KERNELCAST_SEQPROF_H
#define KERNELCAST_SEQPROF_H

static inline void seqprof_begin(char const* name) {
  (void)name;
}
static inline void seqprof_end(char const* name) {
  (void)name;
}

#endif
