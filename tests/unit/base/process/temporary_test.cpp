// Temporary folders and files: gone with their process, whatever ends it; those of living processes stay.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>

#include "base/diag/diag.hpp"
#include "base/process/process.hpp"
#include "catch.hpp"

using namespace kernelcast;
namespace fs = std::filesystem;

// Sanitizers have operators of their own.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KERNELCAST_SANITIZED
#endif
#endif

#ifndef KERNELCAST_SANITIZED
namespace {

// How many more of this program succeed: all by default.
std::size_t allocations_left = ~std::size_t{0};

}  // namespace

// Not inline: g++ 12 would take a pointer of new that is freed for a mistake.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const memory = allocations_left == 0 ? nullptr : std::malloc(bytes);
  if (!memory) throw std::bad_alloc();
  --allocations_left;
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
#endif

namespace {

// A folder of this test's own as $TMPDIR.
class OwnPlace {
 public:
  OwnPlace() {
    std::string name = (fs::temp_directory_path() / "process-test-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    folder_ = name;
    if (char const* const old = std::getenv("TMPDIR")) old_ = old;
    setenv("TMPDIR", name.c_str(), 1);
  }
  ~OwnPlace() {
    old_.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", old_.c_str(), 1);
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  fs::path const& path() const { return folder_; }
  fs::path place() const { return folder_ / ("kernelcast-" + std::to_string(geteuid())); }
  bool empty() const { return fs::is_empty(folder_); }

 private:
  fs::path folder_;
  std::string old_;
};

// A child that does this, says so, and then waits to be ended.
class Child {
 public:
  explicit Child(std::function<void()> const& work) {
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    pid_ = fork();
    REQUIRE(pid_ != -1);
    if (pid_ == 0) {
      work();
      char const done = 1;
      if (write(ends[1], &done, 1) != 1) _exit(1);
      for (;;) pause();
    }
    close(ends[1]);
    char done = 0;
    REQUIRE(read(ends[0], &done, 1) == 1);
    close(ends[0]);
  }
  ~Child() {
    if (pid_ > 0) end(SIGKILL);
  }
  int end(int signal) {  // the signal that ended it
    int status = 0;
    kill(pid_, signal);
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  pid_t pid_;
};

void make_content(TemporaryFolder const& folder) {
  fs::create_directories(folder.path() / "a" / "b");
  for (char const* const name : {"x", "a/y", "a/b/z"}) write_file(folder.file(name), "content");
  fs::create_directory_symlink("/", folder.path() / "a" / "root");
}

}  // namespace

TEST_CASE("a temporary folder goes with everything that was made for it") {
  OwnPlace const own;
  {
    TemporaryFolder const first, second;
    make_content(first);
    CHECK(first.path() != second.path());
    CHECK(fs::status(first.path()).permissions() == fs::perms::owner_all);
  }
  CHECK(own.empty());
}

#ifndef KERNELCAST_SANITIZED
TEST_CASE("a temporary folder goes where memory is short, too") {
  OwnPlace const own;
  std::size_t refused = 0;
  for (bool made = false; !made && refused < 1000;) {
    allocations_left = refused;
    try {
      TemporaryFolder const folder;
      made = true;
      allocations_left = ~std::size_t{0};
      make_content(folder);
      allocations_left = 0;
    } catch (std::bad_alloc const&) {
      ++refused;
    }
    allocations_left = ~std::size_t{0};
    CHECK(own.empty());
  }
  CHECK(refused > 2);
  CHECK(refused < 1000);
}
#endif

TEST_CASE("a signal removes temporary folders") {
  for (int const number : {SIGTERM, SIGINT, SIGHUP}) {
    OwnPlace const own;
    Child child([number] {
      signal(number, SIG_DFL);  // nohup has it ignored
      clean_up_at_signals();
      make_content(*new TemporaryFolder);
      new TemporaryFolder;
    });
    CHECK_FALSE(own.empty());
    CHECK(child.end(number) == number);
    CHECK(own.empty());
    CHECK(fs::exists("/etc"));  // links are not followed
  }
}

TEST_CASE("a signal that is ignored stays so") {
  OwnPlace const own;
  Child child([] {
    signal(SIGHUP, SIG_IGN);
    clean_up_at_signals();
    new TemporaryFolder;
    raise(SIGHUP);
  });
  CHECK_FALSE(own.empty());
  CHECK(child.end(SIGTERM) == SIGTERM);
  CHECK(own.empty());
}

TEST_CASE("a signal ends what a program has started") {
  OwnPlace const own;
  bool const killed = GENERATE(false, true);  // then it cannot end more than the program itself
  char const* const started = killed ? "echo started >&9; exec sleep 1000" : "echo started >&9; sleep 1000 & wait";
  int ends[2];
  REQUIRE(pipe(ends) == 0);  // inherited by all: its end is read when none is left
  pid_t const child = fork();
  REQUIRE(child != -1);
  if (child == 0) {
    close(ends[0]);
    if (dup2(ends[1], 9) == 9) close(ends[1]);
    clean_up_at_signals();
    TemporaryFolder const folder;
    run_process({"/bin/sh", "-c", started}, 1000);
    _exit(1);
  }
  close(ends[1]);
  char text[8] = {};
  REQUIRE(read(ends[0], text, sizeof text) == 8);
  kill(child, killed ? SIGKILL : SIGTERM);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK(read(ends[0], text, sizeof text) == 0);
  close(ends[0]);
  CHECK(own.empty() == !killed);
}

TEST_CASE("what a killed process left is removed by the next one") {
  OwnPlace const own;
  Child child([] { make_content(*new TemporaryFolder); });
  child.end(SIGKILL);
  CHECK_FALSE(own.empty());
  SECTION("that makes a folder") {
    TemporaryFolder const folder;
    CHECK(std::distance(fs::directory_iterator(own.place()), {}) == 2);  // it and its lock
  }
  SECTION("that looks for it") {
    remove_abandoned();
    CHECK(own.empty());
  }
}

TEST_CASE("folders of a living process stay") {
  OwnPlace const own;
  Child child([] { make_content(*new TemporaryFolder); });
  remove_abandoned();
  CHECK(std::distance(fs::directory_iterator(own.place()), {}) == 2);
  child.end(SIGKILL);
  remove_abandoned();
  CHECK(own.empty());
}

TEST_CASE("a child does not remove the folder of its parent") {
  OwnPlace const own;
  TemporaryFolder folder;
  pid_t const child = fork();
  REQUIRE(child != -1);
  if (child == 0) {
    folder.~TemporaryFolder();
    clean_up_at_signals();
    raise(SIGTERM);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(fs::is_directory(folder.path()));
}

TEST_CASE("a place that belongs to others is not used") {
  OwnPlace const own;
  SECTION("a link") {
    fs::create_directory_symlink("/", own.place());
  }
  SECTION("a folder that others can write to") {
    fs::create_directory(own.place());
    fs::permissions(own.place(), fs::perms::all);
  }
  TemporaryFolder const folder;
  CHECK(folder.path().parent_path() == own.path());
  CHECK(fs::status(folder.path()).permissions() == fs::perms::owner_all);
}

TEST_CASE("a folder that cannot be made is an error") {
  OwnPlace const own;
  setenv("TMPDIR", (own.path() / "none").c_str(), 1);
  CHECK_THROWS_AS(TemporaryFolder(), Error);
}

TEST_CASE("a process that failed because a disk is full is not one that refused its input") {
  OwnPlace const own;
  ProcessResult failed;
  failed.exit_code = 1;
  failed.errors = "fatal error: error in backend: IO failure on output stream: No space left on device\n";
  try {
    require_space(failed);
    FAIL("nothing was thrown");
  } catch (Error const& error) {
    CHECK(error.status() == Status::io);
    CHECK(error.where().file == own.path());
    CHECK(error.hint().find("TMPDIR") != std::string::npos);
  }
  failed.errors = "a.c:1:1: error: expected ';'\n";
  CHECK_NOTHROW(require_space(failed));
  // Without words: the folder is full by itself.
  setenv("TMPDIR", "/proc/self", 1);  // a file system without blocks
  CHECK_THROWS_AS(require_space(failed), Error);
}

TEST_CASE("a file is abandoned when its lock is not held, and only then") {
  OwnPlace const own;
  auto const path = (own.path() / "file").string();
  CHECK_FALSE(remove_abandoned_file(path));
  write_file(path, "");
  int const held = open(path.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(flock(held, LOCK_EX) == 0);
  CHECK_FALSE(remove_abandoned_file(path));
  close(held);
  fs::create_symlink(path, path + "-link");
  CHECK_FALSE(remove_abandoned_file(path + "-link"));
  CHECK(remove_abandoned_file(path));
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE("a temporary file is moved to its name, or goes") {
  OwnPlace const own;
  auto const place = (own.path() / "place").string(), target = (own.path() / "target").string();
  {
    TemporaryFile const dropped(place);
    write_file(dropped.path(), "dropped");
  }
  CHECK(fs::is_empty(place));
  write_file(target, "old");
  TemporaryFile made(place);
  write_file(made.path(), "new");
  CHECK(fs::status(made.path()).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(read_file(target) == "old");
  made.move_to(target);
  CHECK(read_file(target) == "new");
  CHECK(fs::is_empty(place));

  Child child([&] { new TemporaryFile(place); });
  remove_abandoned(place);
  CHECK_FALSE(fs::is_empty(place));
  SECTION("killed") {
    child.end(SIGKILL);
    TemporaryFile const next(place);
    CHECK(std::distance(fs::directory_iterator(place), {}) == 1);
  }
  SECTION("ended by a signal") {
    Child other([&] {
      clean_up_at_signals();
      new TemporaryFile(place);
    });
    CHECK(std::distance(fs::directory_iterator(place), {}) == 2);
    CHECK(other.end(SIGTERM) == SIGTERM);
    CHECK(std::distance(fs::directory_iterator(place), {}) == 1);
  }
}
