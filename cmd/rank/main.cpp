// rank: which device runs a kernel fastest, by how much, and how good that choice was.
#include <memory>

#include "models/rank_rows.hpp"
#include "records/command.hpp"
#include "records/interval.hpp"
#include "records/projection.hpp"
#include "records/ranking.hpp"

using namespace kernelcast;

namespace {

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<model::RankRows>();
  auto& app = tool.app();
  auto* const measured = app.add_option("--measured", options->measured,
                                        "compare with the measured times in this file (columns kernel, case or size, "
                                        "device, time_s): how much the choice of each model loses")
                             ->type_name("FILE");
  app.add_flag("--summary", options->summary,
               "with --measured: one row per model with the means, and the trivial rankings beside")
      ->needs(measured);
  auto* const scores =
      app.add_flag(
             "--scores", options->scores,
             "with --measured: errors, order, choice and intervals of each model, of trivial ones beside, over all "
             "times, as the mean over the suites, and by the groups of --by")
          ->needs(measured);
  auto* const comparisons = app.add_flag("--comparisons", options->comparisons,
                                         "with --measured: each projected time beside the measured one, for figure")
                                ->needs(measured);
  comparisons->excludes(scores);
  auto* const calibrate =
      app.add_option("--calibrate", options->calibrate,
                     "with --measured: what the device database has of such residuals, intervals or ratios; or their "
                     "coverage of kernels, devices and architectures that were left out when they were made")
          ->type_name("WHAT")
          ->check(CLI::IsMember({"intervals", "ratios", "coverage"}))
          ->needs(measured)
          ->excludes(scores)
          ->excludes(comparisons);
  app.add_option("--source", options->source, "with --calibrate: the text of the column source")
      ->type_name("TEXT")
      ->default_val("measured")
      ->needs(calibrate);
  tool.list("--made-from", options->made_from, "with --calibrate: files that the column hash is of", "FILES")
      ->needs(calibrate);
  tool.list(
      "--by", options->by,
      "what the ranking is by: time, cost, which needs --prices, or energy, at most: the stated board power over "
      "the time; the rows have all three then; with --scores: groups to score, too: suite, program, part (columns "
      "of the measured times), device, architecture, limiter, regime",
      "ORDER|GROUPS");
  app.add_option("--prices", options->prices,
                 "prices of an hour of the devices (columns device, gpus_per_instance, price_per_hour, currency, "
                 "provider, region, as_of): the ranking has the cost of a run and the energy that it takes at most")
      ->type_name("FILE")
      ->excludes(measured);
  cli::database_option(app, options->devdb,
                       "the device database that tells when an order is decided and, with --measured, other names "
                       "of devices and their peaks (default: the installed one)");
  auto* const share =
      app.add_flag("--share", options->share, "split each kernel over its devices, in parts proportional to 1/time");
  auto* const assign = app.add_flag("--assign", options->assign,
                                    "place all kernels on the devices so that the last one ends as early as possible");
  auto* const total = app.add_flag("--total", options->total,
                                   "add up the times of all kernels and configurations of each case first: which "
                                   "device runs the whole program fastest");
  app.add_option("--total-as", options->total_as,
                 "with --total: add up all cases, too, and call the sum so; for rows of one application")
      ->type_name("CASE")
      ->needs(total);
  auto* const each_kernel = app.add_flag(
      "--each-kernel", options->each_kernel,
      "with --total: a sum of each kernel, of all its configurations, the longest kernel first; a region of OpenMP or "
      "OpenACC is one, whatever a compiler made of it; with --commands the launches of each, too");
  each_kernel->needs(total);
  auto* const commands =
      app.add_option("--commands", options->commands,
                     "with --total: what the application asks of its device, in order, as miniemu --attach --commands "
                     "writes it: the total is the time that all of it takes where streams and copies overlap, and "
                     "kernel sum the time of all commands one after the other")
          ->type_name("FILE")
          ->needs(total);
  app.add_flag("--vendors-apart", options->vendors_apart,
               "with --total: a device's sum is whole where it has every kernel that devices of its vendor have, as an "
               "application may launch others on those of another")
      ->needs(total)
      ->excludes(commands);
  app.add_option("--host", options->host,
                 "with --commands: the host's own time between the calls counts as measured on the machine of the run, "
                 "not at all (none, the default), or so many times as it was measured")
      ->type_name("measured|none|FACTOR")
      ->needs(commands);
  app.add_option("--link", options->link,
                 "with --commands: what attaches each device to its host, such as 'PCIe 4.0 x8' or NVLink-C2C, or the "
                 "bytes a second that copies of pinned memory reach; default: the device's own, in a slot that may be "
                 "narrower")
      ->type_name("LINK")
      ->needs(commands);
  app.add_option("--system", options->system,
                 "with --commands: the system that the application's devices are in, by its name in devdb/systems or a "
                 "file of its links, as partsim --emit system writes it: copies between them go over its links, "
                 "otherwise through the host")
      ->type_name("NAME")
      ->needs(commands);
  app.add_flag("--undecided", options->undecided,
               "write only what is not decided: of each kernel and case whose choice is open the fastest device and "
               "those that may be as fast, for --only of miniemu and akemu")
      ->excludes(measured)
      ->excludes(share)
      ->excludes(assign);
  auto* const configurations =
      app.add_flag("--configurations", options->configurations,
                   "rank the cases of each kernel and device instead of the devices of each case: which variant is the "
                   "fastest; with --measured how good that order is, beside a random one and that by occupancy")
          ->excludes(share)
          ->excludes(assign);
  app.add_option("--top", options->top, "with --configurations: only so many of each kernel and device")
      ->type_name("N")
      ->needs(configurations)
      ->excludes(measured);
  app.add_flag("--portable", options->portable,
               "with --configurations: rank the cases of each kernel by what they lose over the devices")
      ->needs(configurations)
      ->excludes(measured);
  tool.list("--prefer", options->prefer,
            "rank times of several models together: of each kernel, case and device that of the model that comes first "
            "here and has one",
            "MODELS")
      ->excludes(scores)
      ->excludes(comparisons);
  share->excludes(measured)->excludes(assign);
  assign->excludes(measured);
  tool.run([options](cli::Streams& io) { model::rank_rows(*options, io); });
}

}  // namespace

int main(int argc, char** argv) {
  cli::About const about{
      .name = "rank",
      .summary = "rank devices by projected kernel time",
      .description =
          "Reads projections of any models, several kernels, cases and models at once, and writes for each "
          "of them the devices from the fastest to the slowest. A difference counts as decided where it exceeds "
          "what the ratios of measured times have missed the projected ones by. Rows without a time are left "
          "out and counted on standard error.",
      .input = {&record::Projection::schema(), &record::Command::schema(), &record::Price::schema()},
      .output = {&record::Ranking::schema(), &record::PricedRanking::schema(), &record::Assessment::schema(),
                 &record::AssessmentSummary::schema(), &record::ConfigurationRanking::schema(),
                 &record::Portability::schema(), &record::ConfigurationScore::schema(), &record::Share::schema(),
                 &record::Assignment::schema(), &record::Interval::schema(), &record::Ratio::schema(),
                 &record::Coverage::schema()},
      .statuses = {},
      .see_also = {"perfcast(1)", "miniemu(1)"},
      .examples = {
          {"miniemu mmul.cl -k mmul -g 1024,1024 -l 16,16 | perfcast | rank --format table",
           "which device runs this kernel fastest, as a table"},
          {"miniemu lu.toml | perfcast | rank --total", "which device runs all launches of a program fastest"},
          {"miniemu sweep.toml | perfcast --device a100 | rank --configurations --top 10", "the variants to try first"},
          {"miniemu --attach --commands c.csv -o k.csv -- ./app; perfcast k.csv | rank --total --commands c.csv",
           "the same of an application, where its streams and copies overlap"},
          {"rank --prices prices.csv --by cost p.csv", "which device costs least for a run"},
          {"rank --measured times.csv --summary p.csv", "how good the choices of each model were"}}};
  return cli::tool_main(argc, argv, about, declare);
}
