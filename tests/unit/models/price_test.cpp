#include "models/price.hpp"

#include "catch.hpp"
#include "devdb.hpp"

using namespace kernelcast;
using model::RankBy;

namespace {

record::Projection projection(std::string device, double time_s, double spread = 1) {
  record::Projection p;
  p.kernel = "total";
  p.device = std::move(device);
  p.model = "m";  // of which no ratios are known: intervals decide
  p.time_s = time_s;
  p.time_low_s = time_s / spread;
  p.time_high_s = time_s * spread;
  return p;
}

record::Price price(std::string device, double per_hour, std::uint64_t gpus = 1, std::string currency = "USD") {
  record::Price p;
  p.device = std::move(device);
  p.price_per_hour = per_hour;
  p.gpus_per_instance = gpus;
  p.currency = std::move(currency);
  return p;
}

model::Prices prices(std::vector<record::Price> const& rows) {
  model::Prices out;
  for (auto const& row : rows) REQUIRE_FALSE(out.add(row, database()));
  return out;
}

}  // namespace

TEST_CASE("the cost of a run is the time by the price of the instance, of the cheapest offer") {
  auto const known = prices({price("a100", 40, 8), price("A100 SXM4 40GB", 3.6), price("h100", 36), price("a100", 7)});
  auto const ranked = model::rank_priced({projection("a100", 10), projection("h100", 5), projection("k20", 1)},
                                         RankBy::cost, known, database());
  REQUIRE(ranked.rows.size() == 2);
  CHECK(ranked.left_out == std::vector<std::string>{"k20"});
  CHECK(ranked.rows[0].device == "a100");
  CHECK(*ranked.rows[0].cost == Approx(10 * 3.6 / 3600));
  CHECK(*ranked.rows[0].gpus_per_instance == 1);
  CHECK(ranked.rows[1].device == "h100");
  CHECK(*ranked.rows[1].cost == Approx(5 * 36. / 3600));
  CHECK(ranked.rows[1].rank == 2);
  CHECK(ranked.rows[0].relative_time == 10);  // over the fastest, which has no price
  CHECK(ranked.rows[0].time_s == 10);
}

TEST_CASE("the order of costs is decided by intervals of costs") {
  // Times 1 and 3 within a factor of 1.5 do not overlap; at 2.5 times the price costs 2.5 and 3 do.
  auto const known = prices({price("h100", 2.5), price("a100", 1)});
  std::vector<record::Projection> const times{projection("h100", 1, 1.5), projection("a100", 3, 1.5)};
  CHECK(model::rank_priced(times, RankBy::time, known, database()).rows.front().decided);
  auto const by_cost = model::rank_priced(times, RankBy::cost, known, database()).rows;
  CHECK(by_cost.front().device == "h100");
  CHECK_FALSE(by_cost.front().decided);
  CHECK(*by_cost.front().time_high_s == 1.5);  // of the time, not the cost
}

TEST_CASE("energy is bounded by the board power") {
  double const watts = *database().find("h100").tdp_w;
  auto const ranked =
      model::rank_priced({projection("h100", 2), projection("gh200", 1)}, RankBy::energy, {}, database());
  REQUIRE(ranked.rows.size() == 1);  // no source states the power of a GH200 alone
  CHECK(*ranked.rows[0].energy_j == Approx(2 * watts));
  CHECK_FALSE(ranked.rows[0].cost);
}

TEST_CASE("without an order of its own the rows are those of rank()") {
  std::vector<record::Projection> const times{projection("h100", 2), projection("a100", 0.7), projection("k20", 0.7)};
  auto const plain = model::rank(times);
  auto const priced = model::rank_priced(times, RankBy::time, {}, database()).rows;
  REQUIRE(plain.size() == priced.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    CHECK(plain[i].device == priced[i].device);
    CHECK(plain[i].rank == priced[i].rank);
    CHECK(plain[i].time_s == priced[i].time_s);
    CHECK(plain[i].relative_time == priced[i].relative_time);
    CHECK(plain[i].decided == priced[i].decided);
  }
}

TEST_CASE("prices that cannot be compared are refused") {
  model::Prices p;
  record::Price unknown = price("h100", 1, 1, "CHF");
  unknown.price_per_hour.reset();
  CHECK_FALSE(p.add(unknown, database()));
  CHECK_FALSE(p.of("h100"));
  CHECK(p.add(price("h100", 0), database())->column == "price_per_hour");
  CHECK(p.add(price("h100", 1, 0), database())->column == "gpus_per_instance");
  CHECK_FALSE(p.add(price("h100", 1), database()));
  CHECK(p.add(price("a100", 1, 1, "EUR"), database())->column == "currency");
  CHECK_FALSE(p.add(price("tpu", 1), database()));
  CHECK(p.unknown() == std::vector<std::string>{"tpu"});
}
