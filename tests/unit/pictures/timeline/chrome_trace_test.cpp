// The trace against nlohmann's JSON parser: whole, escaped, every field where the format has it.
#include <limits>
#include <sstream>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "pictures/timeline/timeline.hpp"

using namespace kernelcast;

namespace {

nlohmann::json events(std::ostringstream const& out) {
  return nlohmann::json::parse(out.str()).at("traceEvents");
}

}  // namespace

TEST_CASE("an empty timeline is a valid trace") {
  std::ostringstream out;
  timeline::ChromeTrace(out).finish();
  CHECK(events(out).empty());
}

TEST_CASE("spans carry process, thread, start and duration in microseconds") {
  std::ostringstream out;
  timeline::ChromeTrace trace(out);
  trace.name_process(3, "gpu3");
  trace.name_thread(3, 7, "copy engine");
  trace.span(3, 7, "halo", 1.5, 0.25, {{"bytes", "65536"}, {"to", "gpu \"4\""}});
  trace.counter(3, "warps", 2, 48);
  trace.finish();
  auto const all = events(out);
  REQUIRE(all.size() == 4);
  CHECK(all[0]["ph"] == "M");
  CHECK(all[0]["args"]["name"] == "gpu3");
  CHECK(all[1]["name"] == "thread_name");
  CHECK(all[1]["tid"] == 7);
  CHECK(all[2]["ph"] == "X");
  CHECK(all[2]["pid"] == 3);
  CHECK(all[2]["ts"] == 1.5);
  CHECK(all[2]["dur"] == 0.25);
  CHECK(all[2]["args"]["to"] == "gpu \"4\"");
  CHECK(all[3]["args"]["value"] == 48);
}

TEST_CASE("names may hold anything") {
  std::ostringstream out;
  timeline::ChromeTrace trace(out);
  std::string const name = "a\\b\"c\nd\te\x01 \xc3\xa9";
  trace.span(0, 0, name, 0, 0);
  trace.finish();
  CHECK(events(out)[0]["name"] == name);
}

TEST_CASE("a span that cannot be drawn is an error of the caller") {
  std::ostringstream out;
  timeline::ChromeTrace trace(out);
  CHECK_THROWS_AS(trace.span(0, 0, "x", 0, -1), std::logic_error);
  CHECK_THROWS_AS(trace.span(0, 0, "x", std::numeric_limits<double>::infinity(), 1), std::logic_error);
}
