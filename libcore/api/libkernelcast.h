/* libkernelcast: which device runs this launch fastest, and how fast, asked from a running program.
 *
 * For runtimes that choose a device for each kernel: describe a launch (source or PTX, sizes, arguments), and get the
 * devices of a database in the order of their projected times. One work-group of the kernel is emulated and cast onto
 * the devices by the model of miniemu(1) and perfcast(1); no device is needed. Compiled kernels and counts are kept
 * under XDG_CACHE_HOME. Manual page: libkernelcast(3).
 *
 * Every function that can fail returns a status; kernelcast_message() then tells what is wrong, in words, to the
 * thread that called. No other state is shared: a database may be used by any number of threads at once, a launch and
 * a ranking by one at a time. Nothing is printed, no signal is taken, nothing is thrown.
 */
#ifndef LIBKERNELCAST_H
#define LIBKERNELCAST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(KERNELCAST_BUILDING_LIBRARY)
#define KERNELCAST_API __attribute__((visibility("default")))
#else
#define KERNELCAST_API
#endif

/* The first seven are the exit statuses of the suite's programs. */
typedef enum kernelcast_status {
  KERNELCAST_DONE = 0,
  KERNELCAST_FINDING = 1,     /* the kernel is wrong: an access outside a buffer, a deadlock, a trap */
  KERNELCAST_USAGE = 2,       /* the call is wrong: a null pointer, a missing argument, an unknown kernel */
  KERNELCAST_BAD_DATA = 3,    /* a source that does not compile, a bad file in a database */
  KERNELCAST_IO = 4,          /* a file that cannot be read or written */
  KERNELCAST_UNAVAILABLE = 5, /* no such device; no compiler */
  KERNELCAST_LIMIT = 6,       /* kernelcast_launch_limit() */
  KERNELCAST_NO_MEMORY = 7,
  KERNELCAST_INTERNAL = 8 /* internal error */
} kernelcast_status;

typedef enum kernelcast_language {
  KERNELCAST_OPENCL_C = 0,
  KERNELCAST_CUDA_CPP = 1,
  KERNELCAST_PTX = 2
} kernelcast_language;

typedef struct kernelcast_database kernelcast_database;
typedef struct kernelcast_launch kernelcast_launch;
typedef struct kernelcast_ranking kernelcast_ranking;

/* Of the library, as "MAJOR.MINOR.PATCH". Valid for ever. */
KERNELCAST_API const char* kernelcast_version(void);

/* What went wrong in this thread's last call that did not return KERNELCAST_DONE: the error, its place, a hint, one or
 * more lines without a newline at the end. Valid until this thread's next call that fails. Never null. */
KERNELCAST_API const char* kernelcast_message(void);

/* ---- devices */

/* Reads a device database. `folder` null: $KERNELCAST_DEVDB, else the one that is installed with the library. */
KERNELCAST_API kernelcast_status kernelcast_database_open(char const* folder, kernelcast_database** database);
KERNELCAST_API void kernelcast_database_close(kernelcast_database* database);

/* Its GPUs, which are what the model is for. Texts live as long as the database; null beyond the end. */
KERNELCAST_API size_t kernelcast_device_count(kernelcast_database const* database);
KERNELCAST_API const char* kernelcast_device_id(kernelcast_database const* database, size_t index);   /* "a100" */
KERNELCAST_API const char* kernelcast_device_name(kernelcast_database const* database, size_t index); /* marketing */

/* ---- a launch */

/* `language` is a kernelcast_language. `source` is copied. `kernel` is the function's name; for CUDA C++ also a full
 * signature. */
KERNELCAST_API kernelcast_status kernelcast_launch_create(int language, char const* source, size_t source_bytes,
                                                          char const* kernel, kernelcast_launch** launch);
KERNELCAST_API void kernelcast_launch_destroy(kernelcast_launch* launch);

/* An option for the compiler, one argument: "-DN=4", "-I/usr/include/x", "-cl-std=CL2.0". */
KERNELCAST_API kernelcast_status kernelcast_launch_option(kernelcast_launch* launch, char const* option);

/* Sizes in work-items, `dimensions` 1 to 3; each of `global` is a multiple of `local`. `local` null: the largest
 * divisors that make at most 256 work-items. */
KERNELCAST_API kernelcast_status kernelcast_launch_size(kernelcast_launch* launch, unsigned dimensions,
                                                        size_t const* global, size_t const* local);

/* Arguments by index from 0. A value is copied. A buffer's content is not: it is read by kernelcast_project(); null
 * stands for zeros. Shared memory is OpenCL's __local. */
KERNELCAST_API kernelcast_status kernelcast_launch_value(kernelcast_launch* launch, unsigned index, void const* value,
                                                         size_t bytes);
KERNELCAST_API kernelcast_status kernelcast_launch_buffer(kernelcast_launch* launch, unsigned index,
                                                          void const* content, size_t bytes);
/* A buffer that kernelcast_emulate() writes back: `content` is read and written, and not null. Elsewhere it is a buffer
 * like any other. */
KERNELCAST_API kernelcast_status kernelcast_launch_output(kernelcast_launch* launch, unsigned index, void* content,
                                                          size_t bytes);
KERNELCAST_API kernelcast_status kernelcast_launch_same_buffer(kernelcast_launch* launch, unsigned index,
                                                               unsigned as_index);
KERNELCAST_API kernelcast_status kernelcast_launch_shared(kernelcast_launch* launch, unsigned index, size_t bytes);
KERNELCAST_API kernelcast_status kernelcast_launch_null(kernelcast_launch* launch, unsigned index);

/* Images of OpenCL, textures and surfaces of CUDA, described by what miniemu(1) has before their contents:
 * "image2d:rgba8:640x480", "image2d_array:r32f:64x64x8", "texture1d:r32f,linear,wrap,normalized:256". The content is
 * texel after texel and row after row without gaps (unless the description has a pitch=BYTES), exactly as many bytes;
 * like a buffer's it is read by kernelcast_project(), and null stands for zeros. kernelcast_launch_same_buffer() gives
 * an image a second time. Samplers: "linear,clamp,normalized". */
KERNELCAST_API kernelcast_status kernelcast_launch_image(kernelcast_launch* launch, unsigned index,
                                                         char const* description, void const* content, size_t bytes);
KERNELCAST_API kernelcast_status kernelcast_launch_sampler(kernelcast_launch* launch, unsigned index,
                                                           char const* description);

/* Dynamic shared memory of a group: CUDA's third launch parameter. */
KERNELCAST_API kernelcast_status kernelcast_launch_dynamic_shared(kernelcast_launch* launch, size_t bytes);

/* How many work-groups are emulated, at even distances; 0: all. Unless this is called, as many as it takes, from all
   over the grid: miniemu(1), --groups spread. */
KERNELCAST_API kernelcast_status kernelcast_launch_groups(kernelcast_launch* launch, uint64_t groups);

/* Emulation ends with KERNELCAST_LIMIT after so many warp instructions, or so many seconds; 0: never. */
KERNELCAST_API kernelcast_status kernelcast_launch_limit(kernelcast_launch* launch, uint64_t warp_instructions,
                                                         double seconds);

/* 0: compile and emulate anew, and keep nothing. What a buffer holds takes no part in what is found in the cache. */
KERNELCAST_API kernelcast_status kernelcast_launch_cache(kernelcast_launch* launch, int use);

/* It is launched so many times, 1 or more: times and counters are totals of all, of which one is emulated. */
KERNELCAST_API kernelcast_status kernelcast_launch_times(kernelcast_launch* launch, uint64_t times);

/* ---- projections */

typedef struct kernelcast_projection {
  char const* device; /* id; texts live as long as the ranking */
  char const* name;
  uint64_t rank;        /* 1 is the fastest, equal times share a rank; 0: there is no time */
  double time_s;        /* of the launch; NaN where there is none */
  double time_low_s;    /* ends of the interval that holds it; NaN where the model gives none */
  double time_high_s;   /*   */
  double relative_time; /* over the fastest; NaN where there is no time */
  int decided;          /* 0: the order to the fastest is not certain   */
  char const* limiter;  /* compute, global, shared; empty where there is no time */
  char const* status;   /* ok, infeasible, unknown */
  char const* reason;   /* why there is no time, or what was assumed; may be empty */
} kernelcast_projection;

/* Emulates the launch, or remembers it, and casts it onto `devices` (ids, marketing names or aliases), or with a count
 * of 0 onto all GPUs of the database. The fastest is the first. The same launch may be asked for again, changed or
 * not. The calling thread does it: 3 to 5 ms for a kernel that was compiled before, below 1 ms for a launch that was
 * counted before. */
KERNELCAST_API kernelcast_status kernelcast_project(kernelcast_database const* database, kernelcast_launch* launch,
                                                    char const* const* devices, size_t device_count,
                                                    kernelcast_ranking** ranking);
/* Emulates the launch without a device: a ranking of no rows, with its kernel record. Where the launch has outputs they
 * are written back, unless there is an error; what was counted before is not asked then, and all groups are emulated,
 * unless kernelcast_launch_groups() says how many. */
KERNELCAST_API kernelcast_status kernelcast_emulate(kernelcast_launch* launch, kernelcast_ranking** ranking);
KERNELCAST_API void kernelcast_ranking_destroy(kernelcast_ranking* ranking);

KERNELCAST_API size_t kernelcast_ranking_count(kernelcast_ranking const* ranking);
/* `bytes` is sizeof(kernelcast_projection) as the caller knows it: later versions may add members at the end. */
KERNELCAST_API kernelcast_status kernelcast_ranking_get(kernelcast_ranking const* ranking, size_t index,
                                                        kernelcast_projection* projection, size_t bytes);
/* Whether the counts were known from before, and what the call took: wall time, seconds. */
KERNELCAST_API int kernelcast_ranking_from_cache(kernelcast_ranking const* ranking);
KERNELCAST_API double kernelcast_ranking_cost_s(kernelcast_ranking const* ranking);
/* The launch's `kernel` record as CSV, header and row: what perfcast and other programs of the suite read. */
KERNELCAST_API const char* kernelcast_ranking_kernel_csv(kernelcast_ranking const* ranking);

#ifdef __cplusplus
}
#endif

#endif
