// perfcast: how long a kernel takes on every GPU of the device database, and what limits it there.
#include <memory>

#include "models/project_rows.hpp"
#include "records/explanation.hpp"
#include "records/kernel.hpp"
#include "records/projection.hpp"
#include "records/queue.hpp"

using namespace kernelcast;

namespace {

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<model::ProjectRows>();
  auto& app = tool.app();
  cli::database_option(app, options->devdb);
  tool.list("--device", options->devices,
            "only these devices, by id, marketing name or alias; every GPU of the database when not given", "NAME");
  app.add_option("--model", options->model,
                 "queue (default), panwar, or trivial: what a model has to beat, such as distinct bytes over bandwidth")
      ->type_name("MODEL")
      ->check(CLI::IsMember({"queue", "panwar", "trivial"}));
  app.add_option(
         "--caches", options->caches,
         "what caches hold when the first launch begins: program (default), what the application has left there "
         "by column touched_before, else nothing; cold, nothing; warm, what a launch before like it has left; of "
         "queue")
      ->type_name("STATE")
      ->check(CLI::IsMember({"program", "cold", "warm"}));
  app.add_option("--launches", options->launches,
                 "alone (default), each waited for by the host; back-to-back: the host is ahead, and of a launch's "
                 "cost counts what the execution before does not hide; or graph: those of a row are nodes of a CUDA "
                 "graph, and each after the first costs the constant graph_node_s; of queue")
      ->type_name("HOW")
      ->check(CLI::IsMember({"alone", "back-to-back", "graph"}));
  app.add_flag("--constants", options->constants_only,
               "list the constants of queue, with their units and sources, and do nothing else");
  tool.list("--constant", options->constants,
            "another value for a constant of queue, to see what depends on it; "
            "NAME@TARGET for one that an architecture has of its own",
            "NAME=VALUE");
  app.add_option("--calibrate", options->calibrate,
                 "times that were measured on a device of yours (columns kernel, case, device, time_s), of kernels "
                 "among the input: what a launch costs there, its bandwidth and its clock, each from three times or "
                 "more, and its intervals from those of 19 kernels or more; of queue")
      ->type_name("FILE");
  app.add_option("--clock", options->clock,
                 "usual (default; what the database says a kernel runs at), base, boost or so many "
                 "hertz")
      ->type_name("CLOCK");
  app.add_flag(
      "--explain", options->explain,
      "write what the time consists of: stations, queue, latency, launches, or the terms of panwar, as a table "
      "unless --format says otherwise");
  app.add_flag("--doubtful", options->doubtful,
               "also use measurements of the database that are marked doubtful; the reason stands beside them");
  auto* const delay =
      app.add_flag("--launch-delay", options->launch_delay,
                   "add to every launch what the database has measured from its submission to its start, to compare "
                   "with times that were taken so");
  app.add_option(
         "--launch-cost", options->launch_cost,
         "what each launch costs besides: 0, device (the same as --launch-delay) or so many seconds; unless "
         "given what hosts have seen of the device's launches, or 5e-6, and 0 with panwar; rtx3080=2e-6 for one "
         "device, joined by commas, as what it costs depends on the host")
      ->type_name("COST")
      ->excludes(delay);
  options->app = &app;
  tool.run([options](cli::Streams& io) { model::project_rows(*options, io); });
}

}  // namespace

int main(int argc, char** argv) {
  cli::About const about{
      .name = "perfcast",
      .summary = "project kernels onto devices",
      .description =
          "Reads what kernels do, as miniemu counts it, and writes how long they take on every GPU of the device "
          "database and what limits them there. The default model is a queue: work-groups that are resident on a "
          "compute "
          "unit wait for their own results and take turns at its pipes, caches and memory; launches cost a constant. A "
          "device that cannot run a kernel, or about which too little is known, gets a row without a time that says "
          "why. Transfers between host and device are not part of the models.",
      .input = {&record::Kernel::schema()},
      .output = {&record::Projection::schema(), &record::Stations::schema(), &record::Explanation::schema(),
                 &record::Constant::schema()},
      .statuses = {{Status::unavailable, "no such device in the database, or a name that may be several"}},
      .see_also = {"miniemu(1)", "rank(1)", "kernelcast-models(7)"},
      .examples = {
          {"miniemu mmul.cl -k mmul -g 1024,1024 -l 16,16 | perfcast | rank", "which device runs this kernel fastest"},
          {"perfcast --device c1060,hd7970 --explain k.csv", "why two devices take as long as they do"}}};
  return cli::tool_main(argc, argv, about, declare);
}
