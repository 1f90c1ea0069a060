// Decisions on where launches go, from files as the layer writes them.
#include "runtimes/advise/steering.hpp"

#include <fstream>
#include <string>

#include "base/process/process.hpp"
#include "catch.hpp"
#include "devdb.hpp"
#include "launches.hpp"
#include "runtimes/advise/count.hpp"
#include "runtimes/attach/spool.hpp"

using namespace kernelcast;
using attach::Decision;
using attach::rank_of;

namespace {

// So much arithmetic that compute units are what counts.
constexpr auto busy_ptx = R"(.version 6.3
.target sm_75
.address_size 64
.visible .entry busy(.param .f32 x) {
  .reg .pred %p<2>;
  .reg .b32 %r<2>;
  .reg .f32 %f<2>;
  ld.param.f32 %f1, [x];
  mov.u32 %r1, 0;
again:
  fma.rn.f32 %f1, %f1, %f1, %f1;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p1, %r1, 500;
  @%p1 bra again;
  ret;
}
)";

advise::Outcome busy_launch() {
  TemporaryFolder const folder;
  write_file(folder.file("busy.ptx"), busy_ptx);
  auto const plan =
      uncached_plan({.path = folder.file("busy.ptx"), .global = "1048576", .local = "256", .arguments = {"f32:0.5"}});
  advise::CountOptions options;
  options.cache = false;
  advise::Outcome out;
  out.row = advise::count(plan, options).row;
  out.of = {"launch-1-0.toml", "1", 0};
  return out;
}

// Process 1 and its context; the application launches configuration 0 on the devices of `from`.
class Spool {
 public:
  Spool(std::string const& context, std::uint32_t from) {
    write_file(folder_.file("context-1-0.txt"), context);
    std::string table(attach::max_configurations * sizeof(Decision), '\0');
    reinterpret_cast<Decision*>(table.data())->from = from;
    write_file(folder_.file("steering-1"), table);
  }
  attach::SpoolReader reader() const { return attach::SpoolReader(folder_.path().string()); }
  std::uint64_t ranks() const {
    std::ifstream file(folder_.file("steering-1"), std::ios::binary);
    std::uint64_t out = 0;
    file.read(reinterpret_cast<char*>(&out), sizeof out);
    return out;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("equal devices share a place, a part of one comes behind, an unknown one has none") {
  std::string const context =
      "0 0 40 40 Tesla T4\n1 1 40 40 NVIDIA Tesla T4\n2 2.0 20 40 Tesla T4\n3 3 2 2 a processor\n";
  for (auto const& [from, goes_to] : {std::pair(0, ""), std::pair(1, ""), std::pair(2, "t4"), std::pair(3, "")}) {
    Spool const spool(context, 1u << from);
    auto const reader = spool.reader();
    advise::SteeringOptions const options{&database(), {}, {}};
    advise::Steering steering(reader, options);
    steering.look();
    CHECK(steering.decide(busy_launch()) == goes_to);
    CHECK(rank_of(spool.ranks(), 0) == 1);
    CHECK(rank_of(spool.ranks(), 1) == 1);
    CHECK(rank_of(spool.ranks(), 2) == 2);
    CHECK(rank_of(spool.ranks(), 3) == 0);
    auto const row = steering.row(busy_launch(), 5, "");
    CHECK(row.place == (from == 2 ? "2.0" : std::to_string(from)));
    CHECK((row.launches == 5 && row.launches_steered == 0 && row.to_place.empty()));
    CHECK_THAT(row.reason, Contains(from == 2   ? "not launched after the decision"
                                    : from == 3 ? "no time is projected for its own device"
                                                : "no other device of its context is projected to be faster"));
    auto const remarks = steering.remarks();
    REQUIRE(remarks.size() == 1);
    CHECK_THAT(remarks[0], Contains("'a processor'") && Contains("--device-map 3=ID"));
  }
}

TEST_CASE("devices are what a mapping says, by place, whole or part, or by name") {
  Spool const spool("0 0.0 1 2 a processor\n1 0.1 1 2 a processor\n2 1 8 8 another\n", 1);
  auto const reader = spool.reader();
  advise::SteeringOptions options{&database(), {}, {}};
  for (char const* const text : {"0=t4", "0.1=a100", "oth=c1060", "7=t4"})
    options.mappings.push_back(advise::parse_mapping(text, database()));
  advise::Steering steering(reader, options);
  CHECK(steering.decide(busy_launch()).empty());  // no device is known yet
  steering.look();
  CHECK(rank_of(spool.ranks(), 0) == 2);
  CHECK(rank_of(spool.ranks(), 1) == 1);
  CHECK(rank_of(spool.ranks(), 2) == 3);
  auto const row = steering.row(busy_launch(), 1, "");
  CHECK((row.place == "0.0" && row.device == "t4"));
  auto const remarks = steering.remarks();
  REQUIRE(remarks.size() == 1);
  CHECK_THAT(remarks[0], Contains("'7=t4'"));
}
