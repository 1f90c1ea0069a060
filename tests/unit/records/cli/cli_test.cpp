#include "records/cli/cli.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/process/process.hpp"
#include "catch.hpp"
#include "records/cli/help.hpp"
#include "records/cli/output_file.hpp"
#include "records/cli/stdio.hpp"
#include "records/ranking.hpp"

// What a program does as a process is tested for every program in tests/conduct; here are the parts.

using namespace kernelcast;
using namespace kernelcast::cli;
namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  std::string operator/(std::string const& name) const { return folder_.file(name); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

 private:
  TemporaryFolder folder_;
};

struct Ran {
  int status = 0;
  std::vector<std::string> devices;
  unsigned threads = 0;
  std::uint64_t seed = 0;
  std::vector<std::string> inputs;
};

About const about{.name = "probe",
                  .summary = "a program for tests",
                  .description = {},
                  .input = {},
                  .output = {&record::Share::schema()},
                  .statuses = {{Status::finding, "it found something"}},
                  .see_also = {},
                  .examples = {}};

Ran call(std::vector<std::string> arguments, std::function<Status(Streams&)> body = {}) {
  Ran ran;
  arguments.insert(arguments.begin(), "probe");
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  auto devices = std::make_shared<std::vector<std::string>>();
  ran.status = tool_main(static_cast<int>(argv.size()), argv.data(), about, [&](Tool& tool) {
    tool.list("--device", *devices, "only these devices", "NAME");
    tool.run([&ran, devices, body](Streams& io) {
      ran.devices = *devices;
      ran.threads = io.threads();
      ran.seed = io.seed();
      ran.inputs = io.inputs();
      return body ? body(io) : Status::done;
    });
  });
  return ran;
}

}  // namespace

TEST_CASE("a list option is repeated or comma-separated, never variadic") {
  auto const ran = call({"--device", "a,b", "--device", "c", "d.csv"});
  CHECK(ran.status == 0);
  CHECK(ran.devices == std::vector<std::string>{"a", "b", "c"});
  CHECK(ran.inputs == std::vector<std::string>{"d.csv"});
}

TEST_CASE("common options arrive, defaults hold") {
  auto const ran = call({"--seed=5", "--threads", "3"});
  CHECK(ran.seed == 5);
  CHECK(ran.threads == 3);
  CHECK(ran.inputs == std::vector<std::string>{"-"});
  CHECK(call({}).threads >= 1);
  CHECK(call({"--", "-x"}).inputs == std::vector<std::string>{"-x"});
}

TEST_CASE("the body's status, errors and defects become exit statuses") {
  CHECK(call({}, [](Streams&) { return Status::finding; }).status == 1);
  for (Status const status : {Status::finding, Status::bad_data, Status::io, Status::unavailable, Status::limit})
    CHECK(call({}, [=](Streams&) -> Status { throw Error(status, "on purpose", "nothing"); }).status ==
          static_cast<int>(status));
  CHECK(call({}, [](Streams&) -> Status { throw std::bad_alloc(); }).status == 6);
  CHECK(call({}, [](Streams&) -> Status { throw std::logic_error("on purpose"); }).status == 70);
  CHECK(call({"--no-such"}).status == 2);
}

TEST_CASE("rows go to the file of -o, and not when the body fails or finds nothing to say") {
  Folder const folder;
  auto const write = [](Streams& io) {
    auto rows = io.writer<record::Share>();
    rows.write({"m", "k", "c", "d", 0.25});
    rows.finish();
    return Status::finding;
  };
  CHECK(call({"-o", folder / "out"}, write).status == 1);  // a finding is a result: its rows are kept
  CHECK(read_file(folder / "out") == "model,kernel,case,device,share\nm,k,c,d,0.25\n");
  CHECK(call({"-o", folder / "other"}, [&](Streams& io) -> Status {
          write(io);
          throw Error(Status::bad_data, "on purpose");
        }).status == 3);
  CHECK(folder.files() == 1);
}

TEST_CASE("an output file replaces the old one at once, keeps its mode and follows a link") {
  Folder const folder;
  std::ofstream(folder / "target") << "old";
  chmod((folder / "target").c_str(), 0640);
  fs::create_symlink(folder / "target", folder / "link");
  auto const until = GENERATE(OutputFile::Until::unnamed, OutputFile::Until::named);
  {
    OutputFile file(folder / "link", until);
    file.stream() << "new";
    CHECK(read_file(folder / "target") == "old");
    file.commit();
  }
  CHECK(read_file(folder / "target") == "new");
  CHECK(fs::is_symlink(folder / "link"));
  struct stat info{};
  REQUIRE(stat((folder / "target").c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 0640);
  {
    OutputFile abandoned(folder / "target", until);
  }
  CHECK(read_file(folder / "target") == "new");
  CHECK(folder.files() == 2);
}

TEST_CASE("an output file is made where a link leads, and what others have opened is not replaced") {
  Folder folder;
  fs::create_directory(folder / "inner");
  fs::create_symlink("../made", folder / "inner/link");
  OutputFile through(folder / "inner/link");
  through.stream() << "new";
  through.commit();
  CHECK(fs::is_symlink(folder / "inner/link"));
  CHECK(read_file(folder / "made") == "new");

  int const log = open((folder / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  REQUIRE(log > 2);
  REQUIRE(write(log, "old ", 4) == 4);
  {
    OutputFile direct("/dev/fd/" + std::to_string(log));
    direct.stream() << "new";
    direct.commit();
  }
  CHECK(close(log) == 0);  // it was not closed by the output file
  CHECK(read_file(folder / "log") == "old new");
  CHECK(named_descriptor("/dev/stdout") == 1);
  CHECK(named_descriptor("/dev/fd/12") == 12);
  CHECK(named_descriptor("/dev/fd/") == -1);
  CHECK(named_descriptor("/dev/fd/1x") == -1);
  CHECK(named_descriptor("stdout") == -1);
}

TEST_CASE("a killed process leaves no output for ever, and a living one keeps what it writes") {
  Folder const folder;
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  pid_t const child = fork();
  REQUIRE(child != -1);
  if (child == 0) {
    auto* const file = new OutputFile(folder / "target", OutputFile::Until::named);
    file->stream() << "half";
    file->stream().flush();
    if (write(ends[1], "x", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char done = 0;
  REQUIRE(read(ends[0], &done, 1) == 1);
  close(ends[0]);
  close(ends[1]);
  auto const until = GENERATE(OutputFile::Until::unnamed, OutputFile::Until::named);
  CHECK(folder.files() == 1);
  {
    OutputFile file(folder / "target", until);
    file.stream() << "whole";
    file.commit();
  }
  CHECK(folder.files() == 2);  // the living one's is still there
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK(folder.files() == 2);
  {
    OutputFile const next(folder / "target", until);
  }
  CHECK(folder.files() == 1);
  CHECK(read_file(folder / "target") == "whole");
}

TEST_CASE("a published output is complete for as far as it goes, and is written on") {
  Folder const folder;
  auto const until = GENERATE(OutputFile::Until::unnamed, OutputFile::Until::named);
  OutputFile file(folder / "target", until);
  file.stream() << "one\n";
  CHECK(folder.files() == (until == OutputFile::Until::named));
  CHECK(file.waits());
  file.publish();
  CHECK_FALSE(file.waits());
  CHECK(read_file(folder / "target") == "one\n");
  file.stream() << "two\n";
  file.publish();
  CHECK(read_file(folder / "target") == "one\ntwo\n");
  CHECK(folder.files() == 1);
  file.commit();
}

TEST_CASE("a name that is as long as it can be is written, too") {
  Folder const folder;
  std::string const name(255, 'n');
  for (auto const until : {OutputFile::Until::unnamed, OutputFile::Until::named}) {
    OutputFile file(folder / name, until);
    file.stream() << "new";
    file.commit();
    CHECK(folder.files() == 1);
  }
}

TEST_CASE("a write that fails says why") {
  int const full = open("/dev/full", O_WRONLY);
  OutputBuffer buffer(full, "the disk");
  std::ostream out(&buffer);
  out.exceptions(std::ios::badbit);
  std::string const text(1 << 20, 'x');
  CHECK_THROWS_WITH(out << text, Contains("cannot write the disk: No space left"));
  close(full);
}

TEST_CASE("input passes through unchanged and its hash is XXH3") {
  Folder const folder;
  std::string text;
  for (int i = 0; i < 300000; ++i) text += static_cast<char>('a' + i % 26);
  std::ofstream(folder / "in") << text;
  InputBuffer buffer(open((folder / "in").c_str(), O_RDONLY), "in", true);
  std::ostringstream out;
  out << &buffer;
  CHECK(out.str() == text);
  CHECK(buffer.hash().bytes() == text.size());
  ContentHash in_pieces;
  for (std::size_t i = 0; i < text.size(); i += 777)
    in_pieces.add(text.data() + i, std::min<std::size_t>(777, text.size() - i));
  CHECK(in_pieces.hex() == buffer.hash().hex());
  CHECK(ContentHash().hex() == "2d06800538d394c2");  // XXH3_64bits of nothing, from its specification
}

TEST_CASE("help groups the options, wraps at 80 columns and lists the exit statuses") {
  CLI::App app;
  std::string value;
  app.add_option("--long-name", value, std::string(30, 'w') + " " + std::string(30, 'v') + " end")->type_name("FILE");
  auto const text = help_text(app, about);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
  CHECK_THAT(text, Contains("Usage: probe [OPTION]...\na program for tests\n"));
  CHECK_THAT(text, Contains("--long-name FILE"));
  CHECK_THAT(text, Contains("\n  1                       it found something\n"));
  CHECK_THAT(options_scdoc(app), Contains("*--long-name* _FILE_\n\t"));
  CHECK_THAT(statuses_scdoc(about), Contains("*1*\n\tit found something\n"));
}
