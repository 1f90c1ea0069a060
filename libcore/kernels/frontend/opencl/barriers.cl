// Barriers that carry their flags, for the check of races: a pragma before the instruction says which memory it orders
// (ptx::fence_pragmas). Linked before shim.cl, so that these definitions win; else the code is the same.
//
// Pragma and instruction are one statement, which the optimiser neither splits nor merges with another. Flags that it
// does not know choose among four barriers at run time: all work-items of a group must give the same.

#define OVERLOAD __attribute__((overloadable)) __attribute__((always_inline))
#define INLINE __attribute__((always_inline))

#define WITH_FLAGS(BARRIER)                                                                     \
  switch (flags & (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)) {                               \
    case 0: BARRIER("none"); break;                                                             \
    case CLK_LOCAL_MEM_FENCE: BARRIER("local"); break;                                          \
    case CLK_GLOBAL_MEM_FENCE: BARRIER("global"); break;                                        \
    default: BARRIER("all");                                                                    \
  }

#define GROUP(FENCE) __asm volatile(".pragma \"fence::" FENCE "\";\n\tbar.sync \t0;" ::: "memory")
#define LANES(FENCE) __asm volatile(".pragma \"fence::" FENCE "\";\n\tbar.warp.sync \t%0;" ::"r"(members) : "memory")

INLINE static void group_barrier(cl_mem_fence_flags flags) { WITH_FLAGS(GROUP) }
INLINE static void lanes_barrier(cl_mem_fence_flags flags) {
  uint size = get_sub_group_size();
  uint members = size == 32 ? 0xffffffffu : (1u << size) - 1u;
  WITH_FLAGS(LANES)
}

OVERLOAD void barrier(cl_mem_fence_flags flags) { group_barrier(flags); }
OVERLOAD void work_group_barrier(cl_mem_fence_flags flags) { group_barrier(flags); }
OVERLOAD void work_group_barrier(cl_mem_fence_flags flags, memory_scope scope) { group_barrier(flags); }
OVERLOAD void sub_group_barrier(cl_mem_fence_flags flags) { lanes_barrier(flags); }
OVERLOAD void sub_group_barrier(cl_mem_fence_flags flags, memory_scope scope) { lanes_barrier(flags); }
