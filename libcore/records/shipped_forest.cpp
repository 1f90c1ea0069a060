#include "records/shipped_forest.hpp"

#include "records/table/meanings.hpp"

namespace kernelcast::record {

Schema<ShippedForest> const& ShippedForest::schema() {
  using R = ShippedForest;
  constexpr char const* trivial_meaning =
      "the best trivial predictor there: median (time of the other samples), kernel (median of the kernel's other "
      "cases) or rate (median time per work, times the work)";
  static auto const schema =
      Schema<R>("shipped_forest", "a forest of the device database, and how far its held-out predictions were off")
          .column("device", &R::device, Unit::none, meaning::device)
          .column("data_set", &R::data_set, Unit::none, "what it was trained on, see devdb/forests/README.md")
          .column("file", &R::file, Unit::none, "the model, beside the index")
          .column("kernels", &R::kernels, Unit::count, "kernels that it was trained on")
          .column("samples", &R::samples, Unit::count, "measured times that it was trained on")
          .column("trees", &R::trees, Unit::count, "trees")
          .column("seed", &R::seed, Unit::none, "seed of the training")
          .column("unseen", &R::unseen, Unit::none, "what was left out together for unseen_factor: kernel or program")
          .column("case_factor", &R::case_factor, Unit::none,
                  "mean factor between prediction and measurement, each configuration predicted by all others")
          .column("case_trivial", &R::case_trivial, Unit::none, trivial_meaning)
          .column("case_trivial_factor", &R::case_trivial_factor, Unit::none, "the same factor of that predictor")
          .column("unseen_factor", &R::unseen_factor, Unit::none,
                  "mean factor, all of a kernel or program predicted by the others")
          .column("unseen_trivial", &R::unseen_trivial, Unit::none, trivial_meaning)
          .column("unseen_trivial_factor", &R::unseen_trivial_factor, Unit::none, "the same factor of that predictor")
          .column("features", &R::features, Unit::none, "columns that it reads, joined by ;")
          .column("source", &R::source, Unit::none, "who measured")
          .column("license", &R::license, Unit::none, "of the measurements")
          .column("features_xxh3_64", &R::features_hash, Unit::none, "hash of the features that it was trained on")
          .column("targets_xxh3_64", &R::targets_hash, Unit::none, "hash of the times that it was trained on");
  return schema;
}

}  // namespace kernelcast::record
