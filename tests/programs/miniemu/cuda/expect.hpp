// Checks of an application that goes on after one that fails, and counts them.
#pragma once

#include <cstdio>

inline int failures = 0;
#define EXPECT(condition)                                               \
  do {                                                                  \
    if (!(condition)) {                                                 \
      std::printf("line %d: %s does not hold\n", __LINE__, #condition); \
      ++failures;                                                       \
    }                                                                   \
  } while (false)
#define GOOD(call) EXPECT((call) == Code::success)
