#include "records/partition.hpp"

namespace kernelcast::record {

namespace {

constexpr auto partition_meaning = "name of the division of the code";
constexpr auto processors_meaning = "slugs of the processors joined by +";
constexpr auto rates_meaning =
    "where the times per operation and per byte of each processor come from: perdome (its Table 1), measured or peak "
    "(bandwidth of the device database), given (on the command line)";

}  // namespace

Schema<Partition> const& Partition::schema() {
  static auto const schema =
      Schema<Partition>("partition", "how a code is divided over the processors of a system")
          .column("partition", &Partition::partition, Unit::none, partition_meaning)
          .optional_column("system", &Partition::system, Unit::none, processors_meaning)
          .may_be_empty()
          .optional_column("intensity", &Partition::intensity, Unit::none, "operations per byte of the whole code")
          .optional_column("intensity_cpu", &Partition::intensity_cpu, Unit::none,
                           "operations per byte of what the first processor gets; 0: it is unused")
          .optional_column("intensity_gpu", &Partition::intensity_gpu, Unit::none,
                           "operations per byte of what the second processor gets; 0: it is unused")
          .optional_column("flops_cpu", &Partition::flops_cpu, Unit::count, "operations of the first processor")
          .optional_column("bytes_cpu", &Partition::bytes_cpu, Unit::bytes, "memory traffic of the first processor")
          .optional_column("flops_gpu", &Partition::flops_gpu, Unit::count, "operations of the second processor")
          .optional_column("bytes_gpu", &Partition::bytes_gpu, Unit::bytes, "memory traffic of the second processor")
          .optional_column("flops_each", &Partition::flops_each, Unit::none,
                           "operations of each processor in the order of the system, joined by ;")
          .may_be_empty()
          .optional_column("bytes_each", &Partition::bytes_each, Unit::none,
                           "memory traffic in bytes of each processor in the order of the system, joined by ;")
          .may_be_empty()
          .optional_column("link_bytes", &Partition::link_bytes, Unit::bytes,
                           "bytes that cross the link between the processors")
          .optional_column("link_intensity", &Partition::link_intensity, Unit::none,
                           "operations of the whole code per byte that crosses the link");
  return schema;
}

Schema<Bound> const& Bound::schema() {
  static auto const schema =
      Schema<Bound>("bound", "upper bound of the performance of a divided code")
          .column("partition", &Bound::partition, Unit::none, partition_meaning)
          .column("system", &Bound::system, Unit::none, processors_meaning)
          .column("bound_flop_per_s", &Bound::bound_flop_per_s, Unit::flop_per_s,
                  "operations per second that this division cannot exceed")
          .column("limiter", &Bound::limiter, Unit::none,
                  "the term that ends last: a processor's slug and compute or memory; +link where the link's time adds "
                  "to it")
          .column("relative_to_best", &Bound::relative_to_best, Unit::none,
                  "bound over that of the best division of a freely divisible code of this intensity")
          .column("intensity", &Bound::intensity, Unit::none, "operations per byte of the whole code")
          .column("intensity_cpu", &Bound::intensity_cpu, Unit::none,
                  "operations per byte of the first processor's part; 0: unused; empty: it moves no bytes")
          .column("intensity_gpu", &Bound::intensity_gpu, Unit::none,
                  "operations per byte of the second processor's part; 0: unused; empty: it moves no bytes")
          .optional_column("flops_shares", &Bound::flops_shares, Unit::none,
                           "part of the operations that each processor does, in the order of the system, joined by ;")
          .may_be_empty()
          .optional_column("bytes_shares", &Bound::bytes_shares, Unit::none,
                           "part of the bytes that each processor moves, in the order of the system, joined by ;")
          .may_be_empty()
          .optional_column("power_w", &Bound::power_w, Unit::watts,
                           "sum of the thermal design powers of the processors in use; empty when one is not known")
          .optional_column(
              "flop_per_j", &Bound::flop_per_j, Unit::none,
              "operations per joule at the bound while every processor in use draws its thermal design power")
          .optional_column("rates", &Bound::rates, Unit::none, rates_meaning)
          .may_be_empty();
  return schema;
}

Schema<Optimum> const& Optimum::schema() {
  static auto const schema =
      Schema<Optimum>("optimum", "the best division of a freely divisible code, one row per processor")
          .column("system", &Optimum::system, Unit::none, processors_meaning)
          .column("intensity", &Optimum::intensity, Unit::none, "operations per byte of the whole code")
          .column("bound_flop_per_s", &Optimum::bound_flop_per_s, Unit::flop_per_s,
                  "min(sum of the peaks, intensity x sum of the bandwidths)")
          .column("limiter", &Optimum::limiter, Unit::none, "what binds at the optimum")
          .among({Limiter::compute, Limiter::memory})
          .column("device", &Optimum::device, Unit::none, "slug of the processor of this row")
          .column("flops_share", &Optimum::flops_share, Unit::none, "x*: its part of the operations")
          .column("flops_share_low", &Optimum::flops_share_low, Unit::none,
                  "least part of the operations that keeps the bound; equal to x* where compute binds")
          .column("flops_share_high", &Optimum::flops_share_high, Unit::none,
                  "largest part of the operations that keeps the bound")
          .column("bytes_share", &Optimum::bytes_share, Unit::none, "y*: its part of the bytes")
          .column("bytes_share_low", &Optimum::bytes_share_low, Unit::none,
                  "least part of the bytes that keeps the bound; equal to y* where memory binds")
          .column("bytes_share_high", &Optimum::bytes_share_high, Unit::none,
                  "largest part of the bytes that keeps the bound")
          .column("data_partition_flop_per_s", &Optimum::data_partition_flop_per_s, Unit::flop_per_s,
                  "bound of the perfect data partition (p-DP): every processor runs the whole code on a part of the "
                  "data")
          .column("gain_over_data_partition_pct", &Optimum::gain_over_data_partition_pct, Unit::percent,
                  "what the optimum gains over p-DP")
          .column("best_single_device", &Optimum::best_single_device, Unit::none, "the processor that is fastest alone")
          .column("single_flop_per_s", &Optimum::single_flop_per_s, Unit::flop_per_s, "its bound alone")
          .column("gain_over_single_pct", &Optimum::gain_over_single_pct, Unit::percent,
                  "what the optimum gains over it")
          .column("rates", &Optimum::rates, Unit::none, rates_meaning);
  return schema;
}

}  // namespace kernelcast::record
