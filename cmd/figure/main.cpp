// figure: draw the suite's CSV.
#include <filesystem>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "cli/cli.hpp"
#include "figure/figure.hpp"

using namespace kernelcast;

namespace {

struct Options {
  std::string kind, format, title;
  std::vector<std::string> where;
  int width_px = 0, height_px = 0;
  bool list = false;
};

std::map<std::string, figure::Format> const formats{{"svg", figure::Format::svg},
                                                    {"png", figure::Format::png},
                                                    {"pdf", figure::Format::pdf},
                                                    {"gnuplot", figure::Format::gnuplot},
                                                    {"gp", figure::Format::gnuplot}};

// What --format names; without it the ending of the file's name decides, as -o plan.png.
figure::Format format_of(std::string const& name, std::string const& path) {
  auto const ending = std::filesystem::path(path).extension().string();
  auto const found = formats.find(!name.empty() ? name : ending.empty() ? "svg" : ending.substr(1));
  return found == formats.end() ? figure::Format::svg : found->second;
}

figure::Rows::Selection selection_of(std::vector<std::string> const& conditions) {
  figure::Rows::Selection out;
  for (auto const& condition : conditions) {
    auto const at = condition.find('=');
    if (at == std::string::npos || at == 0)
      throw Error(Status::usage, fmt::format("--where takes COLUMN=VALUE, not '{}'", condition),
                  "for example --where kernel=mmul");
    out[condition.substr(0, at)].push_back(condition.substr(at + 1));
  }
  return out;
}

void write_list(std::ostream& out) {
  for (auto const& kind : figure::kinds())
    out << fmt::format("{:<16} {} ({} rows)\n", kind.name, kind.summary, kind.input().name());
}

std::vector<record::Layout const*> columns(Options const& options) {
  return options.kind.empty() ? figure::inputs() : std::vector{&figure::kind(options.kind).input()};
}

void run(Options const& options, cli::Streams& io) {
  if (options.list) return write_list(io.output());
  if (options.kind.empty())
    throw Error(Status::usage, "which kind of figure?", "figure --list names them: figure ranking ranking.csv");
  auto const& kind = figure::kind(options.kind);
  figure::Rows rows(io.inputs(), [&](std::string const& path) { return io.csv(path); }, selection_of(options.where));
  figure::Script script;
  script.title = options.title;
  kind.draw(rows, script);
  if (options.width_px > 0) script.width_px = options.width_px;
  if (options.height_px > 0) script.height_px = options.height_px;
  io.output() << figure::render(script, format_of(options.format, io.output_path()));
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  app.add_option("KIND", options->kind, "what to draw; --list names the kinds");
  app.add_flag("--list", options->list, "name the kinds and the records they read");
  app.add_option("--format", options->format,
                 "svg, png, pdf, or gnuplot: the script, with its data; default: the ending of -o's file, else svg")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"svg", "png", "pdf", "gnuplot"}));
  app.add_option("--title", options->title, "the figure's title instead of its own")->type_name("TEXT");
  tool.list("--where", options->where,
            "draw only rows with this value; several of one column are alternatives, of several columns all must hold",
            "COLUMN=VALUE");
  app.add_option("--width", options->width_px, "width in pixels")->type_name("N")->check(CLI::Range(100, 20000));
  app.add_option("--height", options->height_px, "height in pixels")->type_name("N")->check(CLI::Range(100, 20000));
  tool.columns([options] { return columns(*options); });
  tool.run([options](cli::Streams& io) { run(*options, io); });
}

}  // namespace

int main(int argc, char** argv) {
  cli::About const about{
      .name = "figure",
      .summary = "draw records as SVG, PNG or PDF",
      .description =
          "Reads rows of one of the suite's records and draws them with gnuplot. A picture is complete or "
          "not written at all.",
      .input = figure::inputs(),
      .output = {},
      .statuses = {{Status::unavailable, "gnuplot is not installed"}},
      .see_also = {"rank(1)", "perfcast(1)", "gnuplot(1)"},
      .examples = {{"miniemu saxpy.cl … | perfcast | rank | figure ranking -o saxpy.svg", "one kernel on all devices"},
                   {"rank --assign p.csv | figure schedule -o plan.png", "who runs what when"}}};
  return cli::tool_main(argc, argv, about, declare);
}
