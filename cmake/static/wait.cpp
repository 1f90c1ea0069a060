// Of GCC 12's libstdc++ this is the only function that packages need and GCC 11's lacks (GLIBCXX_3.4.30): with it they
// run on Enterprise Linux 9. GCC 11 has it in its header, in the same words. Static programs take the libstdc++ that
// they have.
#include <condition_variable>
#include <mutex>

[[gnu::weak, gnu::visibility("hidden")]] void std::condition_variable::wait(std::unique_lock<std::mutex>& lock) {
  pthread_cond_wait(native_handle(), lock.mutex()->native_handle());
}
