// Which kernels, cases and devices to look at: a table that names them, such as what rank --undecided writes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/csv/csv.hpp"
#include "records/table/schema.hpp"

namespace kernelcast::record {

struct Selected {
  std::string kernel, case_name, device;
  static Schema<Selected> const& schema();
};

class Selection {
 public:
  explicit Selection(csv::Reader&);  // all rows; throws Error(bad_data) with the place

  bool has(std::string const& kernel, std::string const& case_name) const;
  bool has(std::string const& kernel, std::string const& case_name, std::string const& device) const;
  std::vector<std::string> devices() const;  // of all kernels, each once

 private:
  std::map<std::pair<std::string, std::string>, std::set<std::string>> devices_;
};

}  // namespace kernelcast::record
