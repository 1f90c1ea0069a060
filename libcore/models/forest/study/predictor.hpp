// A model's predictions of many rows of features, each for one or several devices.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/forest/model.hpp"
#include "models/forest/study/tables.hpp"
#include "records/forest.hpp"

namespace kernelcast::forest {

class Predictor {
 public:
  // For a model of several devices: `devices` by name, or none for all of the table. Throws Error: usage when the model
  // needs projections, bad_data when they are of other models, unavailable for another device than the model's.
  Predictor(Model const&, DeviceTable const&, std::vector<std::string> const& devices,
            std::vector<Content> const& projections, unsigned threads);

  // Takes a row; `passed` goes with it to what it comes to.
  void add(FeatureRow const& row, std::vector<std::string> const& passed);
  bool full() const { return tasks_.size() >= block; }
  // Predicts what was taken since the last time; visits it in order.
  using Visit = std::function<void(record::ForestProjection const&, std::vector<std::string> const& passed)>;
  void finish(Visit const& visit);

 private:
  static constexpr std::size_t block = 8192;
  struct Task {
    record::ForestProjection row;
    std::vector<float> x;  // none: the row says why
    double work = 1;
    std::vector<std::string> passed;
  };
  struct Device {
    std::string name;
    Values values;
  };
  void add(FeatureRow const&, Values kernel, Device const&, std::vector<std::string> const& passed);
  void predict(std::size_t begin, std::size_t end, Scratch&);

  Model const& model_;
  unsigned threads_;
  std::vector<std::string> features_;
  std::vector<Device> devices_;
  Projections projections_;
  std::size_t per_ = 0;
  std::vector<Task> tasks_;
};

}  // namespace kernelcast::forest
