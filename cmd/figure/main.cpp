// figure: draw the suite's CSV, or make a page of it.
#include <filesystem>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "base/version/version.hpp"
#include "pictures/figure/figure.hpp"
#include "pictures/report/report.hpp"
#include "records/cli/cli.hpp"
#include "records/device/device.hpp"

using namespace kernelcast;

namespace {

constexpr std::string_view report_kind = "report";

struct Options {
  std::string kind, format, title, devdb;
  std::vector<std::string> where;
  int width_px = 0, height_px = 0;
  bool list = false;
};

std::map<std::string, figure::Format> const formats{{"svg", figure::Format::svg},
                                                    {"png", figure::Format::png},
                                                    {"pdf", figure::Format::pdf},
                                                    {"gnuplot", figure::Format::gnuplot},
                                                    {"gp", figure::Format::gnuplot}};

// What --format names; without it the ending of the file's name decides, as -o plan.png. Empty: neither says.
std::string format_name(Options const& options, cli::Streams const& io) {
  if (!options.format.empty() || io.to_standard_output()) return options.format;
  auto const path = std::filesystem::path(io.output_path());
  auto ending = path.extension().string();
  if (!std::filesystem::is_regular_file(path) && std::filesystem::exists(path)) return {};  // as /dev/stdout
  std::ranges::transform(ending, ending.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return ending.empty() ? ending : ending.substr(1);
}

figure::Format format_of(Options const& options, cli::Streams const& io) {
  auto const name = format_name(options, io);
  auto const found = formats.find(name.empty() ? "svg" : name);
  if (found != formats.end()) return found->second;
  if (name == "html")
    throw Error(Status::usage, fmt::format("figure {} draws a picture, not a page", options.kind),
                "svg, png or pdf; figure report writes a page of all records");
  throw Error(Status::usage, fmt::format("no format '{}' to write '{}' in", name, io.output_path()),
              "name the file .svg, .png or .pdf (.html for figure report, .gp for gnuplot's script), or give --format");
}

void check_report_format(Options const& options, cli::Streams const& io) {
  auto const name = format_name(options, io);
  if (name.empty() || name == "html" || name == "htm") return;
  throw Error(Status::usage, fmt::format("figure report writes HTML, not '{}'", name),
              "name the file .html; figure --list names the kinds of picture");
}

void write_report(Options const& options, cli::Streams& io) {
  check_report_format(options, io);
  if (!options.where.empty() || options.width_px > 0 || options.height_px > 0)
    throw Error(Status::usage, "figure report has no --where, --width or --height",
                "a page has all rows and adapts to its window");
  report::Inputs inputs;
  for (auto const& path : io.inputs()) {
    auto csv = io.csv(path);
    inputs.read(csv);
  }
  auto const database = device::load(device::find_database(options.devdb));
  io.output() << report::page(inputs, database, {options.title, version_and_commit()});
}

void write_list(std::ostream& out) {
  for (auto const& kind : figure::kinds())
    out << fmt::format("{:<16} {} ({} rows)\n", kind.name, kind.summary, kind.input().name());
  out << fmt::format("{:<16} {}\n", report_kind, "an HTML page about what all rows together tell (see figure(1))");
}

std::vector<record::Layout const*> columns(Options const& options) {
  if (options.kind == report_kind) return report::inputs();
  return options.kind.empty() ? figure::inputs() : std::vector{&figure::kind(options.kind).input()};
}

void run(Options const& options, cli::Streams& io) {
  if (options.list) return write_list(io.output());
  if (options.kind.empty())
    throw Error(Status::usage, "which kind of figure?", "figure --list names them: figure ranking ranking.csv");
  if (options.kind == report_kind) return write_report(options, io);
  auto const& kind = figure::kind(options.kind);
  auto const format = format_of(options, io);
  figure::Rows rows(
      io.inputs(), [&](std::string const& path) { return io.csv(path); }, figure::Rows::selection_of(options.where));
  figure::Script script;
  script.title = options.title;
  kind.draw(rows, script);
  if (options.width_px > 0) script.width_px = options.width_px;
  if (options.height_px > 0) script.height_px = options.height_px;
  io.output() << figure::render(script, format);
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  app.add_option("KIND", options->kind, "what to draw; --list names the kinds");
  app.add_flag("--list", options->list, "name the kinds and the records they read");
  app.add_option(
         "--format", options->format,
         "svg, png, pdf, or gnuplot: the script, with its data; html for report; default: the ending of -o's file, "
         "else svg")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"svg", "png", "pdf", "gnuplot", "html"}));
  app.add_option("--title", options->title, "the figure's title instead of its own")->type_name("TEXT");
  tool.list("--where", options->where,
            "draw only rows with this value; several of one column are alternatives, of several columns all must hold",
            "COLUMN=VALUE");
  app.add_option("--width", options->width_px, "width in pixels")->type_name("N")->check(CLI::Range(100, 20000));
  app.add_option("--height", options->height_px, "height in pixels")->type_name("N")->check(CLI::Range(100, 20000));
  cli::database_option(app, options->devdb, "of report: the device database, for names, peaks and sources of devices");
  tool.columns([options] { return columns(*options); });
  tool.run([options](cli::Streams& io) { run(*options, io); });
}

}  // namespace

int main(int argc, char** argv) {
  cli::About const about{
      .name = "figure",
      .summary = "draw records as SVG, PNG or PDF, or make a page of them",
      .description =
          "Reads rows of one of the suite's records and draws them with gnuplot. Kind report takes several records and "
          "makes one HTML page of them: which device is the fastest, by how much, and why. A picture or page is "
          "complete or not written at all.",
      .input = figure::inputs(),
      .output = {},
      .statuses = {{Status::unavailable, "gnuplot is not installed"}},
      .see_also = {"rank(1)", "perfcast(1)", "gnuplot(1)"},
      .examples = {
          {"figure report -o app.html kernels.csv projections.csv ranking.csv", "all that was found, as a page"},
          {"miniemu saxpy.cl … | perfcast | rank | figure ranking -o saxpy.svg", "one kernel on all devices"},
          {"rank --assign p.csv | figure schedule -o plan.png", "who runs what when"}}};
  return cli::tool_main(argc, argv, about, declare);
}
