// Inputs of others: limits of size and depth, parsers in a process of their own.
#include "base/process/input.hpp"
#include "error_of.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <sstream>

#include "base/process/process.hpp"
#include "catch.hpp"

using namespace kernelcast;

namespace {

// "status:line:column text", or "done".
std::string refusal(auto const& call) {
  auto const error = error_of(call);
  if (error.status() == Status::done) return "done";
  return std::to_string(static_cast<int>(error.status())) + ':' + std::to_string(error.where().line) + ':' +
         std::to_string(error.where().column) + ' ' + error.what();
}

std::string nesting(std::string const& toml) {
  return refusal([&] { refuse_deep_nesting(toml, "f.toml"); });
}

std::string times(std::size_t n, std::string const& text) {
  std::string out;
  while (n-- > 0) out += text;
  return out;
}

std::string const too_deep = "nested more than 64 levels deep";

}  // namespace

TEST_CASE("an input is read to its limit and no further") {
  std::istringstream whole(std::string(1000, 'x')), more(std::string(1001, 'x'));
  CHECK(read_all(whole, "f", 1000) == std::string(1000, 'x'));
  CHECK(refusal([&] { read_all(more, "f", 1000); }) == "3:0:0 more than 0 MiB");
  CHECK(refusal([&] { read_file("/dev/zero", 1 << 20); }) == "3:0:0 more than 1 MiB");
}

TEST_CASE("depth of TOML is counted where it is and nowhere else") {
  CHECK(nesting("") == "done");
  CHECK(nesting("a" + times(64, ".a") + " = 1\n") == "done");
  CHECK(nesting("# deep\na" + times(65, ".a") + " = 1\n") == "3:2:130 " + too_deep);
  CHECK(nesting("[a" + times(63, ".a") + "]\n") == "done");
  CHECK(nesting("[a" + times(64, ".a") + "]\n") == "3:1:129 " + too_deep);
  CHECK(nesting("[[a" + times(63, ".a") + "]]\n") == "3:1:128 " + too_deep);
  CHECK(nesting("a = " + times(64, "[") + times(64, "]")) == "done");
  CHECK(nesting("a = " + times(65, "[")) == "3:1:69 " + too_deep);
  CHECK(nesting("a = " + times(65, "[\n")) == "3:65:1 " + too_deep);
  CHECK(nesting("a = " + times(64, "{a = ") + "1" + times(64, "}")) == "done");
  CHECK(nesting("a = " + times(65, "{a = ")) != "done");
  // The levels of a header, a key, and what it holds add up.
  std::string const header = "[a" + times(29, ".a") + "]\n";
  CHECK(nesting(header + "b = 1\n" + times(100, "b" + times(29, ".a") + " = [[[[1]]]]\n")) == "done");
  CHECK(nesting(header + "b" + times(29, ".a") + " = " + times(6, "[")) != "done");
  CHECK(nesting(header + "\n# b\n\nb" + times(40, ".a") + " = 1") != "done");
  CHECK(nesting(header + "\n  [b" + times(40, ".a") + "]\nx = 1") == "done");
  // What follows a value begins anew.
  CHECK(nesting(times(1000, "a.b.c = [[1], [2.5, 3.5], {a.b = 1, c.d = [4]}]\n")) == "done");
  CHECK(nesting("a = [" + times(1000, "[1.5, 2.5],\n") + "]") == "done");
  CHECK(nesting(times(1000, "[[launch]]\n")) == "done");
  // Text is not a structure.
  std::string const dots = times(100, ".[{");
  CHECK(nesting("a = \"" + dots + "\\\"" + dots + "\"\n") == "done");
  CHECK(nesting("a = '" + dots + "\\'\nb = 1") == "done");
  CHECK(nesting("a = \"\"\"" + dots + "\n\"\" " + dots + "\\\"\"\"\"\n") == "done");
  CHECK(nesting("a = '''" + dots + "\n" + dots + "'''\n") == "done");
  CHECK(nesting("a = 1 # " + dots + "\n") == "done");
  CHECK(nesting("a = \"" + dots + "\nb" + times(65, ".c")) == "3:2:130 " + too_deep);
  CHECK(nesting("a = '''" + dots) == "done");
  CHECK(nesting("a = \"\\") == "done");
}

TEST_CASE("a child returns what was made there, or throws it") {
  CHECK(in_child("parser", "f.xml", [] { return std::string("a\0b", 3); }) == std::string("a\0b", 3));
  CHECK(in_child("parser", "f.xml", [] { return std::string(); }).empty());
  CHECK(in_child("parser", "f.xml", [] { return std::string(1 << 20, 'x'); }).size() == 1 << 20);
  auto const error = error_of([] {
    in_child("parser", "f.xml",
             []() -> std::string { throw Error(Status::unavailable, Where{"g.xml", 7, 3}, "it is wrong", "mend it"); });
  });
  CHECK(error.status() == Status::unavailable);
  CHECK(error.text("p") == "g.xml:7:3: error: it is wrong\nhint: mend it\n");
}

TEST_CASE("a child that crashes, hangs or takes too much is an error about its file") {
  auto const with = [](auto const& work, ChildLimits limits = {}) {
    return refusal([&] { in_child("parser", "f.xml", work, limits); });
  };
  auto const crash = [](int number) {
    return [number]() -> std::string {
      raise(number);
      return "done";
    };
  };
  for (int const number : {SIGSEGV, SIGABRT, SIGKILL, SIGPIPE})
    CHECK(with(crash(number)) == "3:1:1 parser crashes on this file");
  CHECK(with([]() -> std::string { std::_Exit(0); }) == "3:1:1 parser crashes on this file");
  CHECK(with([]() -> std::string { throw 1; }) == "3:1:1 parser crashes on this file");
  auto const greedy = []() -> std::string {
    bool const got = mmap(nullptr, std::size_t{1} << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
    return got ? "got it" : throw Error(Status::limit, "no memory");
  };
  CHECK(with(greedy, {std::uint64_t{64} << 20, 60}) == "6:0:0 no memory");
  CHECK(with(greedy, {std::uint64_t{4} << 30, 60}) == "done");
  auto const hangs = []() -> std::string {
    for (;;) pause();
  };
  CHECK(with(hangs, {std::uint64_t{1} << 30, 0.05}) == "3:1:1 parser comes to no end with this file");
}

TEST_CASE("a child that reads the machine has no file to blame") {
  auto const crash = []() -> std::string {
    raise(SIGSEGV);
    return "done";
  };
  CHECK(refusal([&] { in_child("hwloc", "", crash); }) == "4:0:0 hwloc crashes on this machine");
  auto const hangs = []() -> std::string {
    for (;;) pause();
  };
  CHECK(refusal([&] { in_child("hwloc", "", hangs, {std::uint64_t{1} << 30, 0.05}); }) ==
        "4:0:0 hwloc comes to no end with this machine");
}

TEST_CASE("memory that a child lacks is no fault of its file") {
  CHECK_THROWS_AS(in_child("parser", "f.xml", []() -> std::string { throw std::bad_alloc(); }), std::bad_alloc);
}

TEST_CASE("a named pipe is refused before it is opened") {
  TemporaryFolder const folder;
  auto const pipe = folder.file("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(refusal([&] { refuse_named_pipe(pipe); }) == "4:0:0 a named pipe, which may never be written to");
  CHECK(refusal([&] { refuse_named_pipe(folder.path().string()); }) == "done");
  CHECK(refusal([&] { refuse_named_pipe(folder.file("none")); }) == "done");
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  CHECK(refusal([&] { refuse_named_pipe("/dev/fd/" + std::to_string(ends[0])); }) == "done");
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("names in a folder") {
  TemporaryFolder const folder;
  CHECK(names_in(folder.path().string()).empty());
  for (char const* const name : {"b", ".a", "c d"}) write_file(folder.file(name), "");
  auto names = names_in(folder.path().string());
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{".a", "b", "c d"});
  CHECK(refusal([&] { names_in(folder.file("none")); }) == "4:0:0 cannot list the folder: No such file or directory");
  std::error_code error;
  CHECK(names_in(folder.file("none"), error).empty());
  CHECK(error == std::errc::no_such_file_or_directory);
}

TEST_CASE("programs that are started have limits") {
  auto const said = [](std::string const& command) { return run_process({"/bin/sh", "-c", command}, 60).output; };
  CHECK(said("ulimit -v") == std::to_string(process_memory_bytes() >> 10) + "\n");
  CHECK(said("ulimit -c") == "0\n");
  CHECK(said("ulimit -f") == std::to_string(process_file_bytes >> 9) + "\n");
  CHECK(run_process({"/bin/sh", "-c", "kill -9 $$"}, 60).exit_code == 137);
  CHECK(run_process({"/bin/sh", "-c", "cat; echo out; echo err >&2; exit 3"}, 60).exit_code == 3);
  CHECK(run_process({"/bin/sh", "-c", "echo err >&2"}, 60).errors == "err\n");
  CHECK(refusal([] { run_process({"/no/such/program"}, 60); }) == "4:0:0 cannot start it: No such file or directory");
  CHECK(run_process({"/bin/sh", "-c", "sleep 1000"}, 0.05).timed_out);
}
