// seqprof: what a sequential C or C++ kernel does, independent of any device.
#include <bit>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/cli.hpp"
#include "device/device.hpp"
#include "process/process.hpp"
#include "seq/driver/compile.hpp"
#include "seq/driver/execute.hpp"
#include "seq/driver/report.hpp"

using namespace kernelcast;

namespace {

struct Options {
  std::string kernel = "main", case_name, devdb, keep;
  std::vector<std::string> files, flags, link_flags, granularities, devices;
  std::uint64_t sample = 1;
  std::int64_t sync = -1;
  bool report = false;
  std::vector<std::string> arguments;  // of the program
};

std::vector<std::string> words_of(std::vector<std::string> const& texts) {
  std::vector<std::string> words;
  for (auto const& text : texts)
    for (std::size_t at = 0; at < text.size();) {
      auto const end = std::min(text.find(' ', at), text.size());
      if (end > at) words.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  return words;
}

seq::Settings settings_of(Options const& options) {
  seq::Settings settings;
  settings.case_name =
      options.case_name.empty() ? fmt::format("{}", fmt::join(options.arguments, " ")) : options.case_name;
  settings.sample = options.sample;
  if (options.sync >= 0) settings.sync = static_cast<std::uint64_t>(options.sync);
  if (options.granularities.empty()) return settings;
  settings.granularities_bytes.clear();
  for (auto const& text : options.granularities) {
    auto const bytes = std::strtoull(text.c_str(), nullptr, 10);
    if (!std::has_single_bit(bytes) || bytes < 8 || bytes > 4096)
      throw Error(Status::usage, fmt::format("--granularity: '{}' is no power of two from 8 to 4096", text),
                  "8 is a word, 64 the line of most CPUs, 128 that of NVIDIA's GPUs");
    settings.granularities_bytes.push_back(bytes);
  }
  return settings;
}

// The instrumented program, made from sources and bitcode.
std::string build(Options const& options, cli::Streams& io, TemporaryFolder const& scratch) {
  auto const tools = seq::find_compiler_tools();
  seq::Link link;
  link.kernel = options.kernel;
  link.others = words_of(options.link_flags);
  link.program = scratch.file("program");
  link.keep = options.keep;
  for (auto const& file : options.files) {
    io.note_input(file, read_file(file));
    link.cxx |= seq::is_cxx(file);
    if (!seq::is_source(file) && !seq::is_bitcode(file)) {
      link.others.insert(link.others.begin(), file);
      continue;
    }
    link.bitcode.push_back(scratch.file(fmt::format("{}.bc", link.bitcode.size())));
    seq::compile(tools, file, words_of(options.flags), link.bitcode.back());
  }
  if (link.bitcode.empty())
    throw Error(Status::usage, "there is no source among the files",
                "name files that end in .c, .cpp, .cc, .bc or .ll");
  seq::link_instrumented(tools, link);
  return link.program;
}

void run(Options const& options, cli::Streams& io) {
  auto const settings = settings_of(options);
  if (options.files.empty())
    throw Error(Status::usage, "there is nothing to profile", "name sources, then -- and the program's arguments");
  TemporaryFolder const scratch;
  bool const built = options.files.size() == 1 && seq::is_program(options.files.front());
  auto const program = built ? std::filesystem::absolute(options.files.front()).string() : build(options, io, scratch);
  auto const rows = seq::execute(program, options.arguments, settings);
  if (options.sample > 1) io.note(fmt::format("stack distances are estimated from one block in {}", options.sample));
  if (options.report) {
    auto const database = device::load(device::find_database(options.devdb));
    std::vector<device::Device> chosen;
    for (auto const& name : options.devices) chosen.push_back(database.find(name));
    io.output() << seq::report(rows, options.devices.empty() ? database.devices() : chosen);
    return;
  }
  auto out = io.writer<record::Profile>();
  for (auto const& row : rows) out.write(row);
  out.finish();
}

void declare(cli::Tool& tool, std::vector<std::string> const& arguments) {
  auto const options = std::make_shared<Options>();
  options->arguments = arguments;
  auto& app = tool.app();
  app.add_option("files", options->files,
                 "C and C++ sources, LLVM code, objects; or one program that seqprof-cc has linked")
      ->type_name("FILE");
  app.add_option("--kernel", options->kernel, "the function to profile, with all that it calls (default main)")
      ->type_name("FUNCTION");
  app.add_option("--cflags", options->flags, "options for the compiler, such as \"-O2 -Iinclude -DN=512\"")
      ->type_name("FLAGS")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--ldflags", options->link_flags, "options for the linker")
      ->type_name("FLAGS")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  tool.list("--granularity", options->granularities,
            "sizes of the blocks between which stack distances are counted (default 8; 64 and 128 are lines)", "BYTES");
  app.add_option("--sample", options->sample,
                 "follow the stack distances of one block in R only; everything else stays exact")
      ->type_name("R")
      ->check(CLI::Range(1, 4096));
  app.add_option("--sync", options->sync, "the number of global synchronizations, instead of counting them")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--case", options->case_name, "what the column case says (default: the program's arguments)")
      ->type_name("TEXT");
  app.add_flag("--report", options->report,
               "write what it means in words: parallelism, which loops can run in parallel, what bounds each device");
  tool.list("--device", options->devices, "with --report: only these devices", "NAME");
  app.add_option("--devdb", options->devdb, "with --report: the device database")->type_name("DIR");
  app.add_option("--keep", options->keep, "also write the LLVM code that is measured to this file")->type_name("FILE");
  tool.run([options](cli::Streams& io) { run(*options, io); });
}

}  // namespace

int main(int argc, char** argv) {
  // What stands behind -- belongs to the program.
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--") {
      arguments.assign(argv + i + 1, argv + argc);
      argc = i;
    }
  cli::About const about{
      .name = "seqprof",
      .summary = "profile a sequential kernel",
      .description =
          "Compiles C or C++ sources with clang-19, measures one function of the program while it runs, and writes "
          "what "
          "it does, independent of any device: floating-point operations and the chains of dependent ones, how far "
          "apart in memory references lie, which loops carry dependences. What the program prints goes to standard "
          "error.",
      .operands = cli::Operands::none,
      .input = {},
      .output = {&record::Profile::schema()},
      .statuses = {{Status::finding, "the program crashed, failed, or never called the kernel"},
                   {Status::unavailable, "clang-19 or its plug-in is missing, or the program has threads"},
                   {Status::limit, "more iterations, dependent operations or memory than can be counted"}},
      .see_also = {"execcost(1)", "rank(1)", "kernelcast-models(7)"},
      .examples = {{"seqprof --kernel lud lud.c -- 512 | execcost | rank", "which device is worth porting to"},
                   {"seqprof --kernel lud --report lud.c -- 512", "which loops can run in parallel, in words"}}};
  return cli::tool_main(argc, argv, about, [&](cli::Tool& tool) { declare(tool, arguments); });
}
