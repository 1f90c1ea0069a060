#include "pictures/figure/figure.hpp"

#include "base/process/process.hpp"

namespace kernelcast::figure {
namespace {

constexpr double time_limit_s = 120;

std::string_view terminal(Format format) {
  switch (format) {
    case Format::svg:
      return "svg noenhanced";
    case Format::png:
      return "pngcairo noenhanced";
    default:
      return "pdfcairo noenhanced";
  }
}

std::string whole_script(Script const& script, std::string const& terminal, std::string const& output) {
  std::string text = "# gnuplot 5.2 or newer\n";
  if (!terminal.empty()) text += terminal + '\n';
  if (!output.empty()) text += "set output " + quote(output, output.size()) + '\n';
  return text + "set encoding utf8\n" + script.body() + "unset output\n";
}

}  // namespace

std::string render(Script const& script, Format format) {
  if (format == Format::gnuplot)
    return whole_script(script,
                        fmt::format("set terminal svg noenhanced size {},{}", script.width_px, script.height_px), "");
  auto const gnuplot = find_program("gnuplot");
  if (gnuplot.empty())
    throw Error(Status::unavailable, "gnuplot is not installed",
                "install gnuplot-nox, or write the script with --format gnuplot and draw it elsewhere");
  TemporaryFolder const folder;
  auto const picture = folder.file("picture"), file = folder.file("figure.gp");
  // pdfcairo measures in inches; 96 px to the inch, as SVG has it.
  auto const size = format == Format::pdf
                        ? fmt::format("{}in,{}in", number(script.width_px / 96.), number(script.height_px / 96.))
                        : fmt::format("{},{}", script.width_px, script.height_px);
  write_file(file, whole_script(script, fmt::format("set terminal {} size {}", terminal(format), size), picture));
  auto const result = run_process({gnuplot, file}, time_limit_s);
  if (result.timed_out)
    throw Error(Status::limit, fmt::format("gnuplot did not end within {} s", time_limit_s), "draw fewer rows");
  if (!result.succeeded())
    throw Error(Status::bad_data, "gnuplot refuses the figure: " + result.errors,
                "--format gnuplot writes the script, to be tried by hand");
  return read_file(picture);
}

}  // namespace kernelcast::figure
