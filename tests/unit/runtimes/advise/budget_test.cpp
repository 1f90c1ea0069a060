// Budgets of processor time. Time that passes is counted by the test, and work is processor time: no clock that runs on
// while the machine does something else has a part in it.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <thread>

#include "catch.hpp"
#include "runtimes/advise/budget.hpp"

using namespace kernelcast::advise;

namespace {

void use_processor(double seconds) {
  auto const used_s = [] {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
  };
  for (double const end_s = used_s() + seconds; used_s() < end_s;) continue;
}

bool is_stopped(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string const text((std::istreambuf_iterator<char>(file)), {});
  auto const name_end = text.rfind(") ");
  return name_end != std::string::npos && text[name_end + 2] == 'T';
}

// A child, and a child of its own that works when it is told to.
class Family {
 public:
  Family() {
    REQUIRE(pipe(to_worker_.data()) == 0);
    REQUIRE(pipe(from_worker_.data()) == 0);
    child_ = fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) begin();
    work(0);  // both are there
  }
  ~Family() {
    kill_process_tree(child_);
    waitpid(child_, nullptr, 0);
    for (int const end : {to_worker_[0], to_worker_[1], from_worker_[0], from_worker_[1]}) close(end);
  }
  Family(Family const&) = delete;

  pid_t process() const { return child_; }

  // Returns when the processor time is used.
  void work(double seconds) const {
    char done = 0;
    REQUIRE(write(to_worker_[1], &seconds, sizeof seconds) == sizeof seconds);
    REQUIRE(read(from_worker_[0], &done, 1) == 1);
  }

  // A signal takes effect some time after it was sent; a minute is for a defect.
  bool becomes(bool stopped) const {
    auto const members = family_of(child_);
    for (int look = 0; look < 60'000; ++look) {
      if (members.size() == 2 &&
          std::all_of(members.begin(), members.end(), [&](pid_t process) { return is_stopped(process) == stopped; }))
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

 private:
  [[noreturn]] void begin() const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (fork() == 0) serve();
    for (;;) pause();
  }

  [[noreturn]] void serve() const {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (double seconds = 0; read(to_worker_[0], &seconds, sizeof seconds) == sizeof seconds;) {
      use_processor(seconds);
      if (write(from_worker_[1], "", 1) != 1) break;
    }
    _exit(0);
  }

  std::array<int, 2> to_worker_{}, from_worker_{};
  pid_t child_ = -1;
};

}  // namespace

TEST_CASE("what a process and its descendants use stays below its share of the time") {
  constexpr double share = 0.25, max_poll_interval_s = 0.05;
  Family const family;
  Budget budget(family.process(), share, 0);
  double elapsed_s = 0;
  int held = 0, looks = 0;
  for (; elapsed_s < 3; ++looks) {
    double const again_s = budget.hold(elapsed_s);
    CHECK(again_s >= 0.002);
    CHECK(again_s <= max_poll_interval_s);
    REQUIRE(family.becomes(budget.held()));
    held += budget.held();
    if (!budget.held()) family.work(again_s);  // as much as can be used until the next look
    elapsed_s += again_s;
  }
  double const spent_s = budget.spent_s();
  INFO(spent_s << " s of " << elapsed_s << " s, held at " << held << " of " << looks << " looks");
  CHECK(held > 0);
  CHECK(held < looks);
  CHECK(spent_s <= share * elapsed_s + max_poll_interval_s);
  CHECK(spent_s >= share * elapsed_s / 2);
}

TEST_CASE("what was used before counts, and enough time makes it good") {
  Family const family;
  Budget budget(family.process(), 0.05, 100);  // as much as 2000 seconds allow
  CHECK(budget.spent_s() >= 100);
  budget.hold(1990);
  CHECK(budget.held());
  CHECK(family.becomes(true));
  budget.hold(1e6);
  CHECK_FALSE(budget.held());
  CHECK(family.becomes(false));
}

TEST_CASE("what ended children have used counts for those that waited for them") {
  constexpr double work_s = 0.2, tick_s = 0.01;
  std::array<int, 2> pipe_ends{};
  REQUIRE(pipe(pipe_ends.data()) == 0);
  pid_t const child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pid_t const worker = fork();
    if (worker == 0) {
      use_processor(work_s);
      _exit(0);
    }
    waitpid(worker, nullptr, 0);
    if (write(pipe_ends[1], "", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char done = 0;
  REQUIRE(read(pipe_ends[0], &done, 1) == 1);
  CHECK(processor_time_s(child, true) - processor_time_s(child, false) >= work_s - 2 * tick_s);
  CHECK(processor_time_s(child, false) < work_s);
  kill_process_tree(child);
  waitpid(child, nullptr, 0);
  for (int const end : pipe_ends) close(end);
}
