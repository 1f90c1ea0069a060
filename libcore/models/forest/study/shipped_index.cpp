#include "models/forest/study/shipped_index.hpp"

#include <filesystem>

#include "base/diag/diag.hpp"

namespace kernelcast::forest {

std::string shipped_path(std::string const& database, std::string const& file) {
  return database + "/forests/" + file;
}

std::vector<record::ShippedForest> shipped_index(cli::Streams& io, std::string const& database) {
  auto const path = shipped_path(database, "index.csv");
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    throw Error(Status::unavailable, Where{path, 0, 0}, "this device database has no forests",
                "train one: mangrove train, then --model FILE");
  auto csv = io.csv(path);
  return record::read_rows<record::ShippedForest>(csv);
}

}  // namespace kernelcast::forest
