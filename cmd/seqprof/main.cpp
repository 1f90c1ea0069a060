// seqprof: what a sequential C, C++ or Fortran kernel does, independent of any device.
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "records/cli/cli.hpp"
#include "records/device/device.hpp"
#include "sequential/driver/report.hpp"
#include "sequential/driver/request.hpp"

using namespace kernelcast;

namespace {

struct Options {
  seq::Request request;
  std::string case_name, devdb;
  std::vector<std::string> flags, link_flags, granularities, devices;
  std::string dependences = "raw";
  std::uint64_t sample = 1;
  std::string sync;
  bool report = false;
};

seq::Request request_of(Options const& options) {
  auto request = options.request;
  request.compile_flags = fmt::format("{}", fmt::join(options.flags, " "));
  request.link_flags = fmt::format("{}", fmt::join(options.link_flags, " "));
  request.target.all_dependences = options.dependences == "all";
  auto& settings = request.settings;
  settings.case_name =
      options.case_name.empty() ? fmt::format("{}", fmt::join(request.arguments, " ")) : options.case_name;
  settings.sample = options.sample;
  settings.sync_of_source = options.sync == "source";
  if (!options.sync.empty() && !settings.sync_of_source) settings.sync = std::stoull(options.sync);
  if (!options.granularities.empty()) settings.granularities_bytes = seq::granularities(options.granularities);
  return request;
}

void run(Options const& options, cli::Streams& io) {
  for (auto const& file : options.request.files) io.note_input_file(file);
  auto const request = request_of(options);
  auto const rows = seq::profile(request);
  if (auto const note = seq::sync_note(request, rows); !note.empty()) io.note(note);
  if (auto const note = seq::sampling_note(rows); !note.empty()) io.note(note);
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

CLI::Validator sync_value() {
  return {[](std::string& text) {
            bool const digits = !text.empty() && text.size() < 19 && text.find_first_not_of("0123456789") == text.npos;
            return digits || text == "source" ? std::string() : "neither a whole number nor source: " + text;
          },
          ""};
}

void declare(cli::Tool& tool, std::vector<std::string> const& arguments) {
  auto const options = std::make_shared<Options>();
  options->request.arguments = arguments;
  auto& app = tool.app();
  app.add_option("files", options->request.files,
                 "C, C++ and Fortran sources, LLVM code, objects; or one program that seqprof-cc has linked")
      ->type_name("FILE");
  auto* const kernel = app.add_option("--kernel", options->request.target.kernel,
                                      "the function to profile, with all that it calls (default main)");
  kernel->type_name("FUNCTION");
  app.add_option("--region", options->request.target.region,
                 "profile what runs between seqprof_begin(\"MARKER\") and seqprof_end(\"MARKER\") instead")
      ->type_name("MARKER")
      ->excludes(kernel);
  app.add_option("--cflags", options->flags, "options for the compiler, such as \"-O2 -Iinclude -DN=512\"")
      ->type_name("FLAGS")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--ldflags", options->link_flags, "options for the linker")
      ->type_name("FLAGS")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--dependences", options->dependences,
                 "raw: reads wait for writes (default); all: writes wait for earlier reads and writes, too")
      ->type_name("KIND")
      ->check(CLI::IsMember({"raw", "all"}));
  app.add_flag("--invocations", options->request.target.invocations,
               "also write what each call of the kernel adds; calls then run one after another");
  tool.list("--granularity", options->granularities,
            "sizes of the blocks between which stack distances are counted (default 8; 64 and 128 are lines)", "BYTES");
  app.add_option("--sample", options->sample,
                 "follow the stack distances of one block in R only; everything else stays exact")
      ->type_name("R")
      ->check(CLI::Range(1, 4096));
  app.add_option("--sync", options->sync,
                 "the number of global synchronizations, instead of counting them from the loops; source: as many as "
                 "calls of seqprof_sync() and OpenMP's barriers are passed")
      ->type_name("N|source")
      ->check(sync_value());
  app.add_option("--case", options->case_name, "what the column case says (default: the program's arguments)")
      ->type_name("TEXT");
  app.add_flag("--report", options->report,
               "write what it means in words: parallelism, which loops can run in parallel, what bounds each device");
  tool.list("--device", options->devices, "with --report: only these devices", "NAME");
  cli::database_option(app, options->devdb, "with --report: the device database");
  app.add_option("--keep", options->request.keep, "also write the LLVM code that is measured to this file")
      ->type_name("FILE");
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
          "Compiles C or C++ sources with clang-19, or Fortran with flang, measures one function of the program while "
          "it runs, and writes "
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
                   {"seqprof --kernel lud --report lud.c -- 512", "which loops can run in parallel, in words"},
                   {"seqprof --kernel lud --sync source lud_omp.c -- 512 | execcost",
                    "with the barriers of a source with OpenMP's directives"}}};
  return cli::tool_main(argc, argv, about, [&](cli::Tool& tool) { declare(tool, arguments); });
}
