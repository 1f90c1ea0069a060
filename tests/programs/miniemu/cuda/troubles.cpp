// A CUDA application that makes trouble for an observer. Usage: troubles KIND, the kinds are those below. What it
// does on the device is in trouble_kernels.cpp, a library that it opens.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

class Library {
 public:
  Library() : handle_(dlopen(TROUBLE_KERNELS, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_) return;
    std::puts(dlerror());
    std::exit(9);
  }
  void close() { dlclose(handle_); }
  template <class Function>
  Function* find(char const* name) const {
    return reinterpret_cast<Function*>(dlsym(handle_, name));
  }
  int work(unsigned n) const {
    bool const right = find<int(unsigned)>("work")(n) != 0;
    std::printf("%u: %s\n", n, right ? "right" : "wrong");
    std::fflush(stdout);
    return right ? 0 : 1;
  }

 private:
  void* handle_;
};

int fault() {
  Library const library;
  int const before = library.work(128);
  char const *then = nullptr, *after_reset = nullptr;
  std::puts(library.find<char const*(char const**, char const**)>("beyond")(&then, &after_reset));
  std::printf("%s\n%s\n", then, after_reset);
  return before + library.work(256);
}

int endless() {
  std::puts(Library().find<char const*()>("stopped")());
  return 0;
}

// Stores of one value to one place, and of several.
int collides() {
  Library const library;
  for (unsigned const what : {0u, 1u}) std::puts(library.find<char const*(unsigned)>("collided")(what));
  return 0;
}

template <class Then>
int in_child(Then then) {
  std::fflush(stdout);
  pid_t const child = fork();
  if (child == 0) std::exit(then());
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child: %d\n", WEXITSTATUS(status));
  return WEXITSTATUS(status);
}

// Launches that cost little, much, much, and little.
int costs() {
  Library const library;
  return library.work(64) + library.work(2048) + library.work(2048) + library.work(64);
}

// CUDA in parent and child, begun after the fork.
int forks() {
  int const of_child = in_child([] { return Library().work(64); });
  return of_child + Library().work(256);
}

// The child goes on with what its parent had, while another thread of the parent launches.
int forks_late() {
  Library const library;
  int wrong = library.work(64);
  std::thread(library.find<void()>("launch_on")).detach();
  for (int i = 0; i < 5; ++i) {
    usleep(2000);
    wrong += in_child([&] {
      int const here = library.work(512);
      std::fflush(stdout);
      std::_Exit(here);
      return here;
    });
  }
  std::fflush(stdout);
  std::_Exit(wrong);
}

int closes() {
  int wrong = 0;
  for (unsigned i = 1; i <= 3; ++i) {
    Library library;
    wrong += library.work(64 * i) + library.work(64);
    library.close();
  }
  return wrong;
}

// Four threads launch while the process ends, by exit() and thus with all that is registered for it.
int leaves() {
  Library const library;
  for (int t = 0; t < 4; ++t) std::thread(library.find<void()>("launch_on")).detach();
  int const wrong = library.work(96);
  std::exit(wrong == 0 ? 4 : 1);
}

int interrupted() {
  int const wrong = Library().work(192);
  raise(SIGINT);
  return wrong;
}

// Ended from without while it launches.
int killed() {
  Library const library;
  library.work(192);
  std::thread(library.find<void()>("launch_on")).detach();
  while (library.find<unsigned()>("launched")() < 10) usleep(1000);
  raise(SIGKILL);
  return 1;
}

// What it was started with is gone before our runtime is even loaded.
int clears() {
  clearenv();
  return Library().work(448);
}

// Says that it is ready, and goes on when it is told to, or when the test is over and its folder gone.
int waits() {
  Library const library;
  int const wrong = library.work(320);
  std::printf("ready\n");
  std::fflush(stdout);
  while (access("go-on", F_OK) != 0 && access("plain.out", F_OK) == 0) usleep(10000);
  return wrong + library.work(384);
}

}  // namespace

int main(int argc, char** argv) {
  struct {
    char const* name;
    int (*run)();
  } const kinds[] = {{"fault", fault},       {"endless", endless}, {"costs", costs},
                     {"collides", collides}, {"forks", forks},     {"forks_late", forks_late},
                     {"closes", closes},     {"leaves", leaves},   {"interrupted", interrupted},
                     {"killed", killed},     {"clears", clears},   {"waits", waits}};
  for (auto const& kind : kinds)
    if (argc == 2 && std::strcmp(argv[1], kind.name) == 0) return kind.run();
  return 2;
}
