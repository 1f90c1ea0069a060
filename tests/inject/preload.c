// A library that is loaded before a program (LD_PRELOAD) and has one call of the program fail.
//
// Problem: how a program behaves when memory, files or threads fail it must be known for each single call, and no
// machine fails on demand. Method: functions of the C library are wrapped. Each call belongs to a kind of fault and is
// counted; the call with the wanted number fails (with KERNELCAST_INJECT_ON all calls after it, too), without taking
// effect, but for close(), which closes and then reports the failure, as Linux does. Counts and the failed call are
// written to a shared file, which survives whatever happens to the program. Limits: calls that the C library makes
// within itself are not seen (what fopen() does to open), nor those of a program that is linked statically. Allocations
// of the dynamic loader are left alone: it ends the process when one fails. Calls before the constructor of this
// library are not counted: those of shared libraries that are initialised earlier.
//
// KERNELCAST_INJECT          the shared file, see struct report in report.h
// KERNELCAST_INJECT_PROGRAM  the program's name: in any other program nothing is counted
// KERNELCAST_INJECT_STACK    set: the failed call's stack goes to standard error
// Programs that this one starts do not inherit them.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report.h"

#define WRAPPER __attribute__((visibility("default")))

static struct report* report;
static int shows_stack;
static uintptr_t loader_begin, loader_end;

// The next function of this name in the loader's order.
static void* next(char const* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (!found) abort();
  return found;
}
#define NEXT(name)               \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))next(#name);

static int find_loader(struct dl_phdr_info* info, size_t size, void* unused) {
  (void)size, (void)unused;
  if (!info->dlpi_name || !strstr(info->dlpi_name, "/ld-")) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    ElfW(Phdr) const* const part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD) continue;
    uintptr_t const begin = info->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
    if (!loader_begin || begin < loader_begin) loader_begin = begin;
    if (end > loader_end) loader_end = end;
  }
  return 1;
}

__attribute__((constructor)) static void start(void) {
  char const* const path = getenv("KERNELCAST_INJECT");
  char const* const program = getenv("KERNELCAST_INJECT_PROGRAM");
  shows_stack = getenv("KERNELCAST_INJECT_STACK") != NULL;
  struct report* shared = NULL;
  if (path && program && strcmp(program, program_invocation_short_name) == 0) {
    long const file = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    if (file >= 0) {
      void* const at = (void*)syscall(SYS_mmap, NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (at != MAP_FAILED) shared = at;
      syscall(SYS_close, file);
    }
  }
  for (char const* const* name = (char const* const[]){"LD_PRELOAD", "KERNELCAST_INJECT", "KERNELCAST_INJECT_PROGRAM",
                                                       "KERNELCAST_INJECT_STACK", NULL};
       *name; ++name)
    unsetenv(*name);
  dl_iterate_phdr(find_loader, NULL);
  void* stack[1];
  if (shows_stack) backtrace(stack, 1);  // loads what it needs
  __atomic_store_n(&report, shared, __ATOMIC_RELEASE);
}

// The file of a descriptor, for the report.
static void name_file(int descriptor, char* name, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  long const length = syscall(SYS_readlinkat, AT_FDCWD, link, name, size - 1);
  name[length > 0 ? length : 0] = 0;
}

// Whether this call is to fail. `path`, or the file of `descriptor` (-1: none), goes into the report; `writes`: the
// call is one of those that put a file's content in its place.
static int fails(enum fault kind, char const* function, char const* path, int descriptor, int writes) {
  struct report* const r = __atomic_load_n(&report, __ATOMIC_ACQUIRE);
  if (!r) return 0;
  uint64_t const number = __atomic_add_fetch(&r->counts[kind], 1, __ATOMIC_RELAXED);
  if (r->kind != (uint32_t)kind || r->point == 0) return 0;
  if (number != r->point && !(r->all_after && number > r->point)) return 0;
  if (number > r->point) return 1;
  r->failed = 1;
  r->writes = writes;
  r->descriptor = descriptor;
  char name[sizeof r->path] = "";
  if (descriptor >= 0) name_file(descriptor, name, sizeof name);
  snprintf(r->path, sizeof r->path, "%s", path ? path : name);
  snprintf(r->function, sizeof r->function, "%s", function);
  if (shows_stack) {
    void* stack[48];
    __atomic_store_n(&report, NULL, __ATOMIC_RELEASE);  // not within itself
    backtrace_symbols_fd(stack, backtrace(stack, 48), 2);
    __atomic_store_n(&report, r, __ATOMIC_RELEASE);
  }
  return 1;
}

static int fails_with(int error, enum fault kind, char const* function, char const* path, int descriptor, int writes) {
  if (!fails(kind, function, path, descriptor, writes)) return 0;
  errno = error;
  return 1;
}

// ---- memory. glibc's own names need no dlsym(), which would allocate.

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

#define ALLOCATION_FAILS(function)                                                       \
  ((uintptr_t)__builtin_return_address(0) - loader_begin >= loader_end - loader_begin && \
   fails_with(ENOMEM, fault_allocation, function, NULL, -1, 0))

WRAPPER void* malloc(size_t bytes) {
  return ALLOCATION_FAILS("malloc") ? NULL : __libc_malloc(bytes);
}
WRAPPER void* calloc(size_t count, size_t bytes) {
  return ALLOCATION_FAILS("calloc") ? NULL : __libc_calloc(count, bytes);
}
WRAPPER void* realloc(void* old, size_t bytes) {
  return ALLOCATION_FAILS("realloc") ? NULL : __libc_realloc(old, bytes);
}
WRAPPER void* memalign(size_t alignment, size_t bytes) {
  return ALLOCATION_FAILS("memalign") ? NULL : __libc_memalign(alignment, bytes);
}
WRAPPER void* aligned_alloc(size_t alignment, size_t bytes) {
  return ALLOCATION_FAILS("aligned_alloc") ? NULL : __libc_memalign(alignment, bytes);
}
WRAPPER int posix_memalign(void** out, size_t alignment, size_t bytes) {
  if (ALLOCATION_FAILS("posix_memalign")) return ENOMEM;
  void* const got = __libc_memalign(alignment, bytes);
  if (!got) return ENOMEM;
  *out = got;
  return 0;
}

WRAPPER void* mmap(void* at, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (fails_with(ENOMEM, fault_mapping, "mmap", NULL, file, 0)) return MAP_FAILED;
  return (void*)syscall(SYS_mmap, at, bytes, protection, flags, file, offset);
}
WRAPPER void* mmap64(void* at, size_t bytes, int protection, int flags, int file, off64_t offset)
    __attribute__((alias("mmap")));

// ---- files

static int opens_to_write(int flags) {
  return (flags & O_ACCMODE) != O_RDONLY;
}

static int open_with(int folder, char const* path, int flags, mode_t mode) {
  if (fails_with(EMFILE, fault_open, "open", path, -1, opens_to_write(flags))) return -1;
  return (int)syscall(SYS_openat, folder, path, flags, mode);
}

#define MODE(after)                    \
  mode_t mode = 0;                     \
  if (flags & (O_CREAT | O_TMPFILE)) { \
    va_list list;                      \
    va_start(list, after);             \
    mode = va_arg(list, mode_t);       \
    va_end(list);                      \
  }
WRAPPER int open(char const* path, int flags, ...) {
  MODE(flags)
  return open_with(AT_FDCWD, path, flags, mode);
}
WRAPPER int open64(char const* path, int flags, ...) {
  MODE(flags)
  return open_with(AT_FDCWD, path, flags, mode);
}
WRAPPER int openat(int folder, char const* path, int flags, ...) {
  MODE(flags)
  return open_with(folder, path, flags, mode);
}
WRAPPER int openat64(int folder, char const* path, int flags, ...) {
  MODE(flags)
  return open_with(folder, path, flags, mode);
}

WRAPPER FILE* fopen(char const* path, char const* how) {
  NEXT(fopen)
  return fails_with(EMFILE, fault_open, "fopen", path, -1, how[0] != 'r') ? NULL : real(path, how);
}
WRAPPER FILE* fopen64(char const* path, char const* how) {
  NEXT(fopen64)
  return fails_with(EMFILE, fault_open, "fopen", path, -1, how[0] != 'r') ? NULL : real(path, how);
}
WRAPPER DIR* opendir(char const* path) {
  NEXT(opendir)
  return fails_with(EMFILE, fault_open, "opendir", path, -1, 0) ? NULL : real(path);
}
WRAPPER int mkstemp(char* path) {
  NEXT(mkstemp)
  return fails_with(EMFILE, fault_open, "mkstemp", path, -1, 1) ? -1 : real(path);
}
WRAPPER int mkostemp(char* path, int flags) {
  NEXT(mkostemp)
  return fails_with(EMFILE, fault_open, "mkostemp", path, -1, 1) ? -1 : real(path, flags);
}
WRAPPER char* mkdtemp(char* path) {
  NEXT(mkdtemp)
  return fails_with(ENOSPC, fault_open, "mkdtemp", path, -1, 1) ? NULL : real(path);
}
WRAPPER int mkdir(char const* path, mode_t mode) {
  NEXT(mkdir)
  return fails_with(ENOSPC, fault_open, "mkdir", path, -1, 1) ? -1 : real(path, mode);
}
// pipe() is left alone: sanitizers find out by it what memory can be read.
WRAPPER int pipe2(int ends[2], int flags) {
  NEXT(pipe2)
  return fails_with(EMFILE, fault_open, "pipe2", NULL, -1, 0) ? -1 : real(ends, flags);
}

WRAPPER ssize_t read(int file, void* data, size_t bytes) {
  if (fails_with(EIO, fault_read, "read", NULL, file, 0)) return -1;
  if (fails_with(EINTR, fault_interrupt, "read", NULL, file, 0)) return -1;
  if (bytes > 1 && fails(fault_short, "read", NULL, file, 0)) bytes = 1;
  return syscall(SYS_read, file, data, bytes);
}
WRAPPER ssize_t pread(int file, void* data, size_t bytes, off_t offset) {
  if (fails_with(EIO, fault_read, "pread", NULL, file, 0)) return -1;
  if (fails_with(EINTR, fault_interrupt, "pread", NULL, file, 0)) return -1;
  if (bytes > 1 && fails(fault_short, "pread", NULL, file, 0)) bytes = 1;
  return syscall(SYS_pread64, file, data, bytes, offset);
}
WRAPPER ssize_t pread64(int file, void* data, size_t bytes, off64_t offset) __attribute__((alias("pread")));

WRAPPER ssize_t write(int file, void const* data, size_t bytes) {
  if (file != 2) {  // messages have no other way out
    if (fails_with(ENOSPC, fault_write, "write", NULL, file, 1)) return -1;
    if (fails_with(EINTR, fault_interrupt, "write", NULL, file, 1)) return -1;
    if (bytes > 1 && fails(fault_short, "write", NULL, file, 1)) bytes /= 2;
  }
  return syscall(SYS_write, file, data, bytes);
}
WRAPPER ssize_t pwrite(int file, void const* data, size_t bytes, off_t offset) {
  if (fails_with(ENOSPC, fault_write, "pwrite", NULL, file, 1)) return -1;
  if (fails_with(EINTR, fault_interrupt, "pwrite", NULL, file, 1)) return -1;
  if (bytes > 1 && fails(fault_short, "pwrite", NULL, file, 1)) bytes /= 2;
  return syscall(SYS_pwrite64, file, data, bytes, offset);
}
WRAPPER ssize_t pwrite64(int file, void const* data, size_t bytes, off64_t offset) __attribute__((alias("pwrite")));
WRAPPER ssize_t writev(int file, struct iovec const* parts, int count) {
  if (file != 2) {
    if (fails_with(ENOSPC, fault_write, "writev", NULL, file, 1)) return -1;
    if (fails_with(EINTR, fault_interrupt, "writev", NULL, file, 1)) return -1;
    if (count > 1 && fails(fault_short, "writev", NULL, file, 1)) count = 1;
  }
  return syscall(SYS_writev, file, parts, count);
}
WRAPPER int ftruncate(int file, off_t bytes) {
  if (fails_with(ENOSPC, fault_write, "ftruncate", NULL, file, 1)) return -1;
  return (int)syscall(SYS_ftruncate, file, bytes);
}
WRAPPER int ftruncate64(int file, off64_t bytes) __attribute__((alias("ftruncate")));

static int is_written(int file) {
  struct stat info;
  return opens_to_write(fcntl(file, F_GETFL)) && fstat(file, &info) == 0 && S_ISREG(info.st_mode);
}
WRAPPER int fsync(int file) {
  if (fails_with(EIO, fault_sync, "fsync", NULL, file, is_written(file))) return -1;
  return (int)syscall(SYS_fsync, file);
}
WRAPPER int fdatasync(int file) {
  if (fails_with(EIO, fault_sync, "fdatasync", NULL, file, is_written(file))) return -1;
  return (int)syscall(SYS_fdatasync, file);
}
WRAPPER int rename(char const* from, char const* to) {
  return fails_with(EIO, fault_rename, "rename", to, -1, 1) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

WRAPPER int close(int file) {
  int const failed = fails(fault_close, "close", NULL, file, is_written(file));
  int const result = (int)syscall(SYS_close, file);
  if (failed) errno = EIO;
  return failed ? -1 : result;
}
WRAPPER int fclose(FILE* file) {
  NEXT(fclose)
  int const failed = fails(fault_close, "fclose", NULL, fileno(file), is_written(fileno(file)));
  int const result = real(file);
  if (failed) errno = EIO;
  return failed ? EOF : result;
}

// ---- threads and processes

WRAPPER int pthread_create(pthread_t* thread, pthread_attr_t const* how, void* (*body)(void*), void* argument) {
  NEXT(pthread_create)
  return fails(fault_start, "pthread_create", NULL, -1, 0) ? EAGAIN : real(thread, how, body, argument);
}
WRAPPER pid_t fork(void) {
  NEXT(fork)
  return fails_with(EAGAIN, fault_start, "fork", NULL, -1, 0) ? -1 : real();
}
WRAPPER int posix_spawn(pid_t* process, char const* path, posix_spawn_file_actions_t const* actions,
                        posix_spawnattr_t const* attributes, char* const argv[], char* const environment[]) {
  NEXT(posix_spawn)
  if (fails(fault_start, "posix_spawn", path, -1, 0)) return EAGAIN;
  return real(process, path, actions, attributes, argv, environment);
}
WRAPPER int posix_spawnp(pid_t* process, char const* path, posix_spawn_file_actions_t const* actions,
                         posix_spawnattr_t const* attributes, char* const argv[], char* const environment[]) {
  NEXT(posix_spawnp)
  if (fails(fault_start, "posix_spawnp", path, -1, 0)) return EAGAIN;
  return real(process, path, actions, attributes, argv, environment);
}
WRAPPER int poll(struct pollfd* files, nfds_t count, int milliseconds) {
  if (fails_with(EINTR, fault_interrupt, "poll", NULL, -1, 0)) return -1;
  struct timespec wait = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  return (int)syscall(SYS_ppoll, files, count, milliseconds < 0 ? NULL : &wait, NULL, 0);
}
WRAPPER pid_t waitpid(pid_t process, int* status, int options) {
  if (fails_with(EINTR, fault_interrupt, "waitpid", NULL, -1, 0)) return -1;
  return (pid_t)syscall(SYS_wait4, process, status, options, NULL);
}
