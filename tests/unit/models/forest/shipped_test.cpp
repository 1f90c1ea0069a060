// The forests that are shipped: which is chosen, what is said beside it, and the features of operators.
#include <fstream>

#include <fmt/format.h>

#include "base/csv/csv.hpp"
#include "base/diag/diag.hpp"
#include "catch.hpp"
#include "error_of.hpp"
#include "models/forest/study/operators.hpp"
#include "models/forest/study/shipped.hpp"
#include "records/table/table.hpp"

using namespace kernelcast;
using namespace kernelcast::forest;

namespace {

record::ShippedForest shipped(std::string const& device, std::string const& data_set, std::string const& features) {
  record::ShippedForest out;
  out.device = device;
  out.data_set = data_set;
  out.file = data_set + "-" + device + ".json.zst";
  out.samples = 10;
  out.case_factor = 1.2;
  out.case_trivial = "kernel";
  out.case_trivial_factor = 1.5;
  out.unseen_factor = 4;
  out.unseen_trivial = "rate";
  out.unseen_trivial_factor = 3;
  out.features = features;
  return out;
}

std::vector<record::ShippedForest> const index_of_two = {shipped("a", "first", "x;y"), shipped("a", "second", "y;z"),
                                                         shipped("b", "first", "x;y")};

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the columns decide between the forests of a device") {
  CHECK(choose(index_of_two, "a", {"kernel", "y", "x"}).data_set == "first");
  CHECK(choose(index_of_two, "a", {"z", "y"}).data_set == "second");
  CHECK(choose(index_of_two, "b", {"x", "y", "z"}).device == "b");
  CHECK(error_of([] { choose(index_of_two, "a", {"x", "y", "z"}); }).status() == Status::usage);
  CHECK(error_of([] { choose(index_of_two, "c", {"x", "y"}); }).status() == Status::unavailable);
  auto const lacking = error_of([] { choose(index_of_two, "b", {"x", "z"}); });
  CHECK(lacking.status() == Status::bad_data);
  CHECK(contains(lacking.what(), "lacks 'y'"));
}

TEST_CASE("a forest that a trivial prediction beats is said to be so, and only that one") {
  auto const row = index_of_two.front();
  auto const known = trust(row, 2, 0), unknown = trust(row, 0, 1), both = trust(row, 2, 1);
  CHECK(contains(known, "2 rows"));
  CHECK_FALSE(contains(known, "no better"));
  CHECK(contains(unknown, "no better than the trivial prediction 'rate'"));
  CHECK((contains(both, "1.20") && contains(both, "4.00") && contains(both, "no better")));
}

TEST_CASE("a kernel counts as seen by its whole name, whatever slashes name and case have") {
  CHECK(seen({"a/1/2", "b/c/3"}, {"a", "b/c", "b", "c", "a/1/2"}) == std::set<std::string>{"a", "b", "b/c"});
}

TEST_CASE("features of operators are those of all of NeuSight's rows") {
  std::string const path = KERNELCAST_SOURCE_DIR "/bench-suites/mangrove/data/neusight_features.csv";
  std::ifstream in(path);
  REQUIRE(in);
  csv::Reader csv(in, path);
  record::Reader<record::OperatorFeature> rows(csv);
  auto const& columns = record::OperatorFeature::schema().columns();
  std::size_t count = 0;
  for (record::OperatorFeature row; rows.next(row); ++count) {
    auto const derived = operator_features(row.kernel, row.case_name);
    for (auto const& column : columns) {
      if (column.type != record::FieldType::number) continue;
      auto const value = [&](record::OperatorFeature const& of) {
        return *reinterpret_cast<double const*>(reinterpret_cast<char const*>(&of) + column.offset);
      };
      INFO(row.kernel << " " << row.case_name << " " << column.name);
      REQUIRE(value(derived) == Approx(value(row)).epsilon(1e-8));  // the table has nine digits
    }
  }
  CHECK(count == 1608);
}

TEST_CASE("sizes that are not an operator's are refused") {
  for (auto const* sizes :
       {"", "B1", "B0_H3", "B1_H3_", "B1_H3_K2", "B1_B2", "H_B1", "B1H3", "B-1_H3", "B1_H2147483649"})
    CHECK(error_of([&] { operator_features("tanh", sizes); }).status() == Status::bad_data);
  CHECK(error_of([&] { operator_features("linear", "B1_H3"); }).status() == Status::bad_data);
  auto const unknown = error_of([&] { operator_features("linaer", "B1_H3"); });
  CHECK(contains(unknown.hint(), "linear"));
}
