// OpenMP's functions where its directives are comments: one thread, the host alone. Instrumented programs find them in
// the run-time library, those in Fortran with a trailing underscore. Locks are never held by another.
#include <time.h>

#define KERNELCAST_OMP extern "C" __attribute__((visibility("default")))
// int omp_NAME(void), always the same.
#define KERNELCAST_OMP_IS(name, value) \
  KERNELCAST_OMP int omp_##name();     \
  KERNELCAST_OMP int omp_##name##_();  \
  int omp_##name() {                   \
    return value;                      \
  }                                    \
  int omp_##name##_() {                \
    return value;                      \
  }
// What sets something: nothing to do, whatever the arguments.
#define KERNELCAST_OMP_NOTHING(name)   \
  KERNELCAST_OMP void omp_##name();    \
  KERNELCAST_OMP void omp_##name##_(); \
  void omp_##name() {}                 \
  void omp_##name##_() {}

KERNELCAST_OMP_IS(get_num_threads, 1)
KERNELCAST_OMP_IS(get_max_threads, 1)
KERNELCAST_OMP_IS(get_thread_num, 0)
KERNELCAST_OMP_IS(get_num_procs, 1)
KERNELCAST_OMP_IS(get_thread_limit, 1)
KERNELCAST_OMP_IS(in_parallel, 0)
KERNELCAST_OMP_IS(in_final, 1)
KERNELCAST_OMP_IS(get_dynamic, 0)
KERNELCAST_OMP_IS(get_nested, 0)
KERNELCAST_OMP_IS(get_max_active_levels, 1)
KERNELCAST_OMP_IS(get_level, 0)
KERNELCAST_OMP_IS(get_active_level, 0)
KERNELCAST_OMP_IS(get_cancellation, 0)
KERNELCAST_OMP_IS(get_num_teams, 1)
KERNELCAST_OMP_IS(get_team_num, 0)
KERNELCAST_OMP_IS(get_num_devices, 0)
KERNELCAST_OMP_IS(get_default_device, 0)
KERNELCAST_OMP_IS(get_initial_device, 0)
KERNELCAST_OMP_IS(is_initial_device, 1)
KERNELCAST_OMP_IS(get_num_places, 0)
KERNELCAST_OMP_IS(get_place_num, -1)
KERNELCAST_OMP_IS(get_proc_bind, 0)
KERNELCAST_OMP_IS(test_lock, 1)
KERNELCAST_OMP_IS(test_nest_lock, 1)
KERNELCAST_OMP_NOTHING(set_num_threads)
KERNELCAST_OMP_NOTHING(set_dynamic)
KERNELCAST_OMP_NOTHING(set_nested)
KERNELCAST_OMP_NOTHING(set_max_active_levels)
KERNELCAST_OMP_NOTHING(set_default_device)
KERNELCAST_OMP_NOTHING(set_schedule)
KERNELCAST_OMP_NOTHING(init_lock)
KERNELCAST_OMP_NOTHING(destroy_lock)
KERNELCAST_OMP_NOTHING(set_lock)
KERNELCAST_OMP_NOTHING(unset_lock)
KERNELCAST_OMP_NOTHING(init_nest_lock)
KERNELCAST_OMP_NOTHING(destroy_nest_lock)
KERNELCAST_OMP_NOTHING(set_nest_lock)
KERNELCAST_OMP_NOTHING(unset_nest_lock)

KERNELCAST_OMP int omp_get_ancestor_thread_num(int level);
KERNELCAST_OMP int omp_get_team_size(int level);
KERNELCAST_OMP void omp_get_schedule(int* kind, int* chunk);
KERNELCAST_OMP double omp_get_wtime();
KERNELCAST_OMP double omp_get_wtime_();
KERNELCAST_OMP double omp_get_wtick();
KERNELCAST_OMP double omp_get_wtick_();

// Of the outermost level alone.
int omp_get_ancestor_thread_num(int level) {
  return level == 0 ? 0 : -1;
}
int omp_get_team_size(int level) {
  return level == 0 ? 1 : -1;
}
void omp_get_schedule(int* kind, int* chunk) {
  *kind = 1;  // static
  *chunk = 0;
}
double omp_get_wtime() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
double omp_get_wtime_() {
  return omp_get_wtime();
}
double omp_get_wtick() {
  return 1e-9;
}
double omp_get_wtick_() {
  return omp_get_wtick();
}
