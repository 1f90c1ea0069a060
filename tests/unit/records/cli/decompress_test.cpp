// Compressed input beside what was compressed, by the commands gzip and zstd; skipped where they are not installed.
#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "base/process/input.hpp"
#include "base/process/process.hpp"
#include "catch.hpp"
#include "error_of.hpp"
#include "records/cli/stdio.hpp"

using namespace kernelcast;
using cli::InputBuffer;

namespace {

std::string text_of(std::size_t lines, std::mt19937& random) {
  std::string out;
  for (std::size_t i = 0; i < lines; ++i)
    out += std::to_string(random() % 1000) + ",matmul," + std::to_string(i) + "\n";
  return out;
}

// None: the command is not there.
std::string compressed(std::string const& command, std::string const& text) {
  TemporaryFolder const folder;
  std::ofstream(folder.file("in")) << text;
  if (std::system((command + " -c <" + folder.file("in") + " >" + folder.file("out") + " 2>/dev/null").c_str()) != 0)
    return {};
  std::ifstream in(folder.file("out"));
  return {std::istreambuf_iterator<char>(in), {}};
}

// What arrives of bytes that a pipe brings in pieces.
std::string read_back(std::string const& bytes, std::size_t piece) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::thread writer([&, to = ends[1]] {
    for (std::size_t i = 0; i < bytes.size(); i += piece)
      if (write(to, bytes.data() + i, std::min(piece, bytes.size() - i)) < 0) break;
    close(to);
  });
  std::string out;
  Error const error = error_of([&] {
    InputBuffer buffer(ends[0], "rows", true);
    std::istream in(&buffer);
    in.exceptions(std::ios::badbit);
    for (int c; (c = buffer.sbumpc()) != EOF;) out += static_cast<char>(c);
  });
  writer.join();
  if (error.status() != Status::done) throw error;
  return out;
}

void check(std::string const& command) {
  signal(SIGPIPE, SIG_IGN);
  std::mt19937 random(1952);
  auto const text = text_of(40000, random), more = text_of(10, random);
  auto const bytes = compressed(command, text);
  if (bytes.empty()) SKIP_BECAUSE("the command is not installed");
  for (std::size_t const piece : {std::size_t{1}, std::size_t{3}, std::size_t{4096}, bytes.size()})
    CHECK(read_back(bytes, piece) == text);
  CHECK(read_back(bytes + compressed(command, more), 1000) == text + more);
  CHECK(read_back(compressed(command, ""), 1).empty());
  // Cut anywhere behind the first bytes it says so.
  for (int i = 0; i < 40; ++i) {
    std::size_t const length = 4 + random() % (bytes.size() - 4);
    INFO("cut at " << length);
    Error const error = error_of([&] { read_back(bytes.substr(0, length), 500); });
    CHECK(error.status() == Status::bad_data);
    CHECK(std::string(error.what()).find("ends too early") != std::string::npos);
  }
  // Damaged anywhere it is an error, or, where nothing of the content was hit, the content.
  for (int i = 0; i < 40; ++i) {
    auto damaged = bytes;
    std::size_t const at = 4 + random() % (bytes.size() - 4);
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
    INFO("damaged at " << at);
    std::string out;
    Error const error = error_of([&] { out = read_back(damaged, 5000); });
    CHECK((error.status() == Status::bad_data || out == text));
  }
}

}  // namespace

TEST_CASE("input that gzip has compressed arrives as it was, whatever the pieces") {
  check("gzip");
}

TEST_CASE("input that zstd has compressed arrives as it was, whatever the pieces") {
  check("zstd -q");
}

TEST_CASE("what only begins as compressed data does is text") {
  for (auto const& text : {std::string("\x1f"), std::string("(\xb5"), std::string("(row"), std::string()})
    CHECK(read_back(text, 1) == text);
}
