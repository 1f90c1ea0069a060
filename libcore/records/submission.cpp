#include "records/submission.hpp"

#include "records/table/meanings.hpp"

namespace kernelcast::record {

Schema<ClusterPartition> const& ClusterPartition::schema() {
  using R = ClusterPartition;
  static auto const schema =
      Schema<R>("cluster_partition", "the partitions of a Slurm cluster, one row for each kind of GPU")
          .column("partition", &R::partition, Unit::none, "its name, as of sinfo")
          .column("device", &R::device, Unit::none, "its GPU: id, marketing name or alias of the device database")
          .optional_column("gres", &R::gres, Unit::none, "what the job asks for, such as gpu:a100:1; gpu:1 when empty")
          .may_be_empty()
          .optional_column("options", &R::options, Unit::none, "further options of sbatch, as a shell takes them")
          .may_be_empty();
  return schema;
}

Schema<Submission> const& Submission::schema() {
  using R = Submission;
  static auto const schema =
      Schema<R>("submission", "when a job would end on each partition, the first end first")
          .column("partition", &R::partition, Unit::none, "name of the partition")
          .column("device", &R::device, Unit::none, meaning::device)
          .column("start_s", &R::start_s, Unit::seconds, "until the job would start, by sbatch --test-only")
          .column("time_s", &R::time_s, Unit::seconds, "projected time of the program's kernels and copies")
          .column("time_low_s", &R::time_low_s, Unit::seconds, meaning::low)
          .column("time_high_s", &R::time_high_s, Unit::seconds, meaning::high)
          .column("end_s", &R::end_s, Unit::seconds, "until the job would end: start_s + time_s")
          .column("command", &R::command, Unit::none, "what submits the job, for a shell")
          .column("reason", &R::reason, Unit::none, "why a time or a start is not known")
          .may_be_empty();
  return schema;
}

}  // namespace kernelcast::record
