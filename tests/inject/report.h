// What the preloaded library and its driver share: a file mapped by both.
#pragma once

#include <stdint.h>

enum fault {
  fault_allocation,  // malloc and its kin: no memory
  fault_mapping,     // mmap: no memory
  fault_open,        // what makes a descriptor, a file or a folder: too many files, no space
  fault_read,        // input/output error
  fault_write,       // no space
  fault_sync,        // input/output error
  fault_rename,      // input/output error
  fault_close,       // closed, but input/output error
  fault_start,       // threads and processes: try again
  fault_interrupt,   // a call that may wait is interrupted by a signal
  fault_short,       // fewer bytes are read or written than wanted
  fault_kinds
};

struct report {
  // The driver's wishes.
  uint32_t kind;
  uint32_t all_after;  // not only this call fails, but all of its kind after it
  uint64_t point;      // the call's number, from 1; 0: none fails
  // The library's answer.
  uint64_t counts[fault_kinds];
  uint32_t failed;
  uint32_t writes;     // the failed call is one that puts content into a file, or the file in its place
  int32_t descriptor;  // of the failed call, or -1
  char function[32], path[1024];
};
