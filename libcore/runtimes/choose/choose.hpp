// One question, one answer: miniemu, perfcast and rank run as a shell would run them, each with files between them, and
// what came out is said in some lines.
#pragma once

#include <string>
#include <vector>

#include "records/cli/cli.hpp"

namespace kernelcast::choose {

// The options of kernelcast-choose(1), by their names.
struct Choose {
  std::string devdb, prices, by = "time", html, files, host, link, system;
  std::string rows, commands, torch, subject;  // what was recorded already, or a function that makes a model
  std::vector<std::string> devices;
  std::vector<std::string> application;  // what follows --
  unsigned top = 0;
  bool explain = false;
  CLI::App const* app = nullptr;
};

// Writes the answer, or with --format of its app the ranking. Returns the status of what ran; throws Error(usage,
// unavailable, bad_data, io).
Status run(Choose const&, cli::Streams&);

// What follows -- of a command line, which ends there then.
std::vector<std::string> take_application(int& argc, char** argv);

// The path of a program of the suite: beside this one, else on PATH; empty where it is in neither.
std::string program_named(std::string const& name);

}  // namespace kernelcast::choose
