// kernelcast submit: which partition of a cluster ends this program first.
#include <memory>

#include "records/submission.hpp"
#include "runtimes/choose/choose.hpp"
#include "runtimes/choose/submit.hpp"
#include "verbs.hpp"

namespace kernelcast::front {

namespace {

void declare(cli::Tool& tool, std::vector<std::string> application) {
  auto const options = std::make_shared<kernelcast::choose::Submit>();
  options->application = std::move(application);
  auto& app = tool.app();
  app.allow_extras();
  app.add_option("--partitions", options->partitions,
                 "the cluster's partitions (columns partition, device, gres, options): a row for each kind of GPU")
      ->type_name("FILE")
      ->required();
  app.add_flag("--run", options->run, "submit the job to the partition where it ends first, instead of a table");
  cli::database_option(app, options->devdb);
  options->app = &app;
  tool.run([options](cli::Streams& io) { return kernelcast::choose::run(*options, io); });
}

}  // namespace

int submit(int argc, char** argv) {
  auto application = kernelcast::choose::take_application(argc, argv);
  cli::About const about{
      .name = "kernelcast submit",
      .summary = "which partition of a Slurm cluster ends a program first",
      .description =
          "Asks kernelcast choose how long a program takes on the device of each partition, and Slurm when a job would "
          "start there, and writes the partitions in the order of the end with the sbatch command of each; with --run "
          "the first one is submitted. Options that are not listed here are those of kernelcast choose and miniemu.",
      .operands = cli::Operands::none,
      .input = {&record::ClusterPartition::schema()},
      .output = {&record::Submission::schema()},
      .statuses = {{Status::finding, "a finding about a kernel, or that status of the program"},
                   {Status::unavailable,
                    "Slurm, or a program of the suite, is not there; no partition can run the program"}},
      .see_also = {"kernelcast-choose(1)", "kernelcast-merge(1)"},
      .examples = {{"kernelcast submit --partitions partitions.csv -- ./app input.dat", "where it ends first"},
                   {"kernelcast submit --partitions partitions.csv --run -- ./app input.dat", "and submit it there"}}};
  return cli::tool_main(argc, argv, about, [&](cli::Tool& tool) { declare(tool, application); });
}

}  // namespace kernelcast::front
