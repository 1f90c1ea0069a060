// Lint over devdb/: units, ranges, relations between columns, a source for every figure; and the papers' own figures.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "catch.hpp"
#include "devdb.hpp"
#include "records/device/device.hpp"
#include "records/table/table.hpp"

using namespace kernelcast;
using record::FieldType;

namespace {

device::Device const& device_named(char const* id) {
  return database().find(id);
}

// The names before the colons of "column: reason; column: reason".
std::map<std::string, std::string> assumptions(std::string const& text) {
  std::map<std::string, std::string> out;
  std::stringstream in(text);
  for (std::string item; std::getline(in, item, ';');) {
    auto const colon = item.find(':');
    auto const begin = item.find_first_not_of(' ');
    if (colon == std::string::npos) {
      out[item] = "";
      continue;
    }
    out[item.substr(begin, colon - begin)] = item.substr(colon + 1);
  }
  return out;
}

bool filled(record::Device const& d, record::ColumnDefinition const& column) {
  auto const* const field = reinterpret_cast<char const*>(&d) + column.offset;
  switch (column.type) {
    case FieldType::text:
      return !reinterpret_cast<std::string const*>(field)->empty();
    case FieldType::optional_number:
      return reinterpret_cast<std::optional<double> const*>(field)->has_value();
    case FieldType::optional_integer:
      return reinterpret_cast<std::optional<std::uint64_t> const*>(field)->has_value();
    default:
      return true;
  }
}

// Which source column speaks for a column; empty for identity and for what is derived inside the row.
std::string source_of(std::string const& column) {
  auto const starts = [&](char const* prefix) { return column.starts_with(prefix); };
  if (starts("src_") || column == "assumed" || column == "notes") return "";
  if (starts("automatch_") || starts("perdome_")) return "src_models";
  if (starts("throughput_") || column == "vliw_slots") return "src_throughput";
  if (column == "measured_bandwidth_bytes_per_s") return "src_measured";
  if (column == "link") return "src_link";
  if (column.ends_with("_latency_s")) return "src_latency";
  if (starts("l1_") || starts("l2_") || starts("l3_")) return "src_cache";
  if (starts("max_") || starts("registers_") || starts("shared_") || column == "global_access_rule")
    return "src_limits";
  for (char const* peak : {"compute_units", "clock_", "lanes", "peak_", "memory_", "tdp_w"})
    if (starts(peak)) return "src_peak";
  return "";
}

}  // namespace

TEST_CASE("devdb: the columns of every record end in their units") {
  for (record::Layout const* layout : std::initializer_list<record::Layout const*>{
           &record::Device::schema(), &record::OccupancyRule::schema(), &record::PipeRule::schema(),
           &record::ConstantRule::schema(), &record::LibraryRule::schema(), &record::Alias::schema()})
    for (auto const& column : layout->columns()) {
      INFO(layout->name() << "." << column.name);
      auto const ending = suffix(column.unit);
      CHECK(column.name.size() > ending.size());
      CHECK(column.name.substr(column.name.size() - ending.size()) == ending);
    }
}

TEST_CASE("devdb: every figure has a source, or is marked as an assumption") {
  auto const& columns = record::Device::schema().columns();
  for (auto const& d : database().devices()) {
    auto const assumed = assumptions(d.assumed);
    for (auto const& column : columns) {
      INFO(d.device << "." << column.name);
      auto const source = source_of(column.name);
      if (source.empty() || !filled(d, column)) continue;
      auto const* const definition = record::Device::schema().find(source);
      REQUIRE(definition != nullptr);
      CHECK((filled(d, *definition) || assumed.count(column.name) == 1));
    }
    for (auto const& [name, reason] : assumed) {
      INFO(d.device << " assumes '" << name << "'");
      auto const* const column = record::Device::schema().find(name);
      REQUIRE(column != nullptr);
      CHECK(filled(d, *column));  // what is not there cannot be an assumption
      CHECK(reason.size() > 4);
    }
  }
  for (auto const& d : database().devices()) {
    INFO(d.device);
    std::set<std::pair<record::Pipe, record::Station>> seen;
    for (auto const& pipe : d.pipes) {
      CHECK(pipe.source.size() > 10);
      CHECK(seen.insert({pipe.pipe, pipe.station}).second);
    }
    // All of the arithmetic has a place, or none.
    for (auto const pipe : record::values_of<record::Pipe>) {
      bool const elsewhere =
          pipe == record::Pipe::memory || pipe == record::Pipe::tensor || pipe >= record::Pipe::issue;
      if (!d.pipes.empty() && !elsewhere) CHECK(std::ranges::count(d.pipes, pipe, &record::PipeRule::pipe) > 0);
    }
    CHECK(d.pipes.empty() == (d.kind == "cpu"));
  }
  for (auto const& d : database().devices())
    for (auto const& rule : d.matrix) {
      INFO(d.device << ' ' << rule.kind);
      CHECK(rule.source.size() > 10);
      // Twice the rate where half of a factor is zero, and no sparse kind without the dense one.
      if (!rule.kind.ends_with("/sparse")) continue;
      auto const* const dense = d.matrix_rule(rule.kind.substr(0, rule.kind.size() - 7));
      REQUIRE(dense);
      if (rule.flop_per_cycle && dense->flop_per_cycle) CHECK(*rule.flop_per_cycle == 2 * *dense->flop_per_cycle);
    }
  for (auto const& r : database().rules()) {
    INFO(r.target);
    CHECK(r.source.size() > 10);
    for (auto const& [name, reason] : assumptions(r.assumed)) {
      CHECK(record::OccupancyRule::schema().find(name) != nullptr);
      CHECK(reason.size() > 4);
    }
  }
}

TEST_CASE("devdb: ids are slugs, kinds and rules are known, figures are in range") {
  for (auto const& d : database().devices()) {
    INFO(d.device);
    CHECK(d.device.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos);
    CHECK((d.kind == "gpu" || d.kind == "cpu"));
    CHECK((d.kind == "gpu") == !d.occupancy_target.empty());
    CHECK((d.kind == "gpu") == d.global_access_rule.has_value());
    REQUIRE(d.compute_units);
    REQUIRE(d.clock_hz);
    CHECK(*d.clock_hz > 5e8);
    CHECK(*d.clock_hz < 6e9);
    CHECK(*d.clock_hz >= d.clock_base_hz.value_or(0));
    CHECK(*d.clock_hz <= std::max(d.clock_boost_hz.value_or(0), d.clock_base_hz.value_or(0)));
    if (d.clock_boost_hz && d.clock_base_hz) CHECK(*d.clock_boost_hz >= *d.clock_base_hz);
    REQUIRE(d.peak_bandwidth_bytes_per_s);
    CHECK(*d.peak_bandwidth_bytes_per_s > 1e10);
    CHECK(*d.peak_bandwidth_bytes_per_s < 1e13);
    if (d.measured_bandwidth_bytes_per_s) {
      CHECK(*d.measured_bandwidth_bytes_per_s < *d.peak_bandwidth_bytes_per_s);
      CHECK(*d.measured_bandwidth_bytes_per_s > 0.4 * *d.peak_bandwidth_bytes_per_s);
    }
    if (d.l2_bandwidth_bytes_per_s) CHECK(*d.l2_bandwidth_bytes_per_s > *d.peak_bandwidth_bytes_per_s);
    if (d.global_latency_s) {
      CHECK(*d.global_latency_s > 2e-7);
      CHECK(*d.global_latency_s < 1e-6);
    }
    if (d.l3_bandwidth_bytes_per_s && d.l2_bandwidth_bytes_per_s)
      CHECK(*d.l3_bandwidth_bytes_per_s < *d.l2_bandwidth_bytes_per_s);
    double faster = 5e-9;
    for (auto const& latency : {d.l1_latency_s, d.l2_latency_s, d.l3_latency_s, d.global_latency_s}) {
      if (!latency) continue;
      CHECK(*latency > faster);
      faster = *latency;
    }
    if (d.l2_parts) CHECK((*d.l2_parts > 1 && d.l2_bytes));
    if (d.shared_fraction) CHECK((*d.shared_fraction > 0 && *d.shared_fraction <= 1));
    if (d.tdp_w) CHECK((*d.tdp_w >= 30 && *d.tdp_w <= 1400));
    for (auto const& t : d.throughput)
      if (t) CHECK((*t >= 0 && *t <= 1024));
  }
}

TEST_CASE("devdb: lanes, throughputs, clocks and peaks agree") {
  for (auto const& d : database().devices()) {
    INFO(d.device);
    REQUIRE((d.lanes && d.lanes_per_cu && d.peak_fp32_flop_per_s));
    CHECK(*d.lanes == *d.lanes_per_cu * *d.compute_units);
    double const per_clock = 2 * *d.throughput[record::InstructionClass::fp32] * static_cast<double>(*d.compute_units);
    double const at_base = per_clock * d.clock_base_hz.value_or(0), at_boost = per_clock * d.clock_boost_hz.value_or(0);
    // The stated peak is at the base or at the boost clock; vendors round it, and the W7800's two figures differ by 1
    // %.
    double const off =
        std::min(std::abs(at_base / *d.peak_fp32_flop_per_s - 1), std::abs(at_boost / *d.peak_fp32_flop_per_s - 1));
    CHECK(off < 0.012);
    if (d.kind == "gpu") CHECK(*d.throughput[record::InstructionClass::fp32] == static_cast<double>(*d.lanes_per_cu));
    // Double precision: exceptions are flagged in the notes (Titan's mode, Titan Xp and W7800's conflicting figures).
    if (d.kind == "gpu" && d.throughput[record::InstructionClass::fp64] && d.peak_fp64_flop_per_s) {
      double const ratio = *d.peak_fp64_flop_per_s / *d.peak_fp32_flop_per_s;
      bool const flagged = d.device == "gtx-titan" || d.device == "titan-xp" || d.device == "rx7900xtx";
      CHECK((flagged || std::abs(*d.throughput[record::InstructionClass::fp64] /
                                     *d.throughput[record::InstructionClass::fp32] / ratio -
                                 1) < 0.02));
      if (flagged) CHECK(!d.notes.empty());
    }
  }
}

TEST_CASE("devdb: a device's limits are those of its architecture, or the notes say why not") {
  for (auto const& d : database().devices()) {
    if (d.kind != "gpu") continue;
    record::OccupancyRule const* rule = nullptr;
    for (auto const& r : database().rules())
      if (r.target == d.occupancy_target) rule = &r;
    REQUIRE(rule != nullptr);
    auto const same = [&](auto const& own, auto const& theirs, char const* column) {
      INFO(d.device << "." << column);
      if (!own || own == theirs) return;
      bool const said = d.notes.find("8 waves/SIMD") != std::string::npos ||
                        d.notes.find("limits of the chip") != std::string::npos ||
                        d.notes.find("limits of the OpenCL driver") != std::string::npos;
      CHECK((said && *own < *theirs));
    };
    same(d.wave_width, rule->wave_width, "wave_width");
    same(d.max_waves_per_cu, rule->max_waves_per_cu, "max_waves_per_cu");
    same(d.max_threads_per_cu, rule->max_threads_per_cu, "max_threads_per_cu");
    same(d.max_groups_per_cu, rule->max_groups_per_cu, "max_groups_per_cu");
    same(d.max_group_size, rule->max_group_size, "max_group_size");
    same(d.registers_per_cu, rule->registers_per_cu, "registers_per_cu");
    same(d.max_registers_per_item, rule->max_registers_per_item, "max_registers_per_item");
    same(d.shared_per_cu_bytes, rule->shared_per_cu_bytes, "shared_per_cu_bytes");
    same(d.shared_per_group_bytes, rule->shared_per_group_bytes, "shared_per_group_bytes");
    CHECK(*d.rule.max_waves_per_cu * *d.rule.wave_width == *d.rule.max_threads_per_cu);
  }
}

TEST_CASE("devdb: curves are positive, and below the peak") {
  int curves = 0;
  for (auto const& d : database().devices())
    for (auto const* const c : {&d.global_read, &d.global_write, &d.global_copy, &d.shared_read, &d.shared_write}) {
      INFO(d.device);
      if (c->empty()) continue;
      curves += d.like.empty();
      CHECK(c->source.size() > 10);
      bool const global = c != &d.shared_read && c != &d.shared_write;
      double const shared_peak =
          static_cast<double>(*d.compute_units * *d.shared_banks) * 4 * *d.shared_passes_per_cu_cycle * *d.clock_hz;
      for (double const b : c->bandwidth_bytes_per_s) {
        CHECK(b > 0);
        CHECK(b <= (global ? *d.peak_bandwidth_bytes_per_s : shared_peak));
      }
    }
  // Reads and writes of global memory: of 17 devices of [shoc], where those of shared memory are doubtful, and of 13
  // others, of these copies, too; copies of six of BabelStream, of one reads; all five of an H100.
  CHECK(curves == 60 + 13 + 6 + 1 + 5);
}

TEST_CASE("devdb: the errata of the papers' tables are corrected") {
  CHECK(*device_named("hd5870").peak_bandwidth_bytes_per_s == 153.6e9);  // [panwar] Table I prints 264 and 154
  CHECK(*device_named("hd7970").peak_bandwidth_bytes_per_s == 264e9);
  CHECK(*device_named("c1060").peak_fp32_flop_per_s == Approx(622e9).epsilon(0.001));  // prints 933
  CHECK(*device_named("titan-x-pascal").l2_bytes == 3 * 1024 * 1024);                  // [ake] says 4 MB
  CHECK(*device_named("k20").clock_base_hz == 706e6);                                  // [automatch] says 732
}

TEST_CASE("devdb: Table I of [panwar]") {
  struct Row {
    char const* device;
    std::uint64_t units;
    double gflops;
    std::uint64_t banks;
    record::AccessRule rule;
  };
  for (auto const& row : std::vector<Row>{{"hd5870", 20, 2720, 32, record::AccessRule::amd64},
                                          {"hd7970", 32, 3790, 32, record::AccessRule::amd64},
                                          {"c1060", 30, 622, 16, record::AccessRule::cc1x_segments},
                                          {"c2050", 14, 1030, 32, record::AccessRule::lines128}}) {
    auto const& d = device_named(row.device);
    INFO(row.device);
    CHECK(*d.compute_units == row.units);
    CHECK(*d.peak_fp32_flop_per_s / 1e9 == Approx(row.gflops).epsilon(0.001));
    CHECK(*d.shared_banks == row.banks);
    CHECK(d.global_access_rule == row.rule);
  }
}

TEST_CASE("devdb: Table I of [automatch] and Table 1 of [perdome]") {
  struct Row {
    char const* device;
    double cores, gflops, slow_gbs, fast_gbs, barrier_us;
  };
  for (auto const& row : std::vector<Row>{{"i5-2400", 4, 80, 18.88, 285, 0.2},
                                          {"i7-4700", 4, 132, 11.5, 349, 0.44},
                                          {"c2075", 448, 403.2, 87.92, 2117, 7.22},
                                          {"k20", 2496, 1023.36, 129.73, 2018, 6.5},
                                          {"k20x", 2688, 1128.96, 160.1, 2424, 6.5}}) {
    auto const& d = device_named(row.device);
    INFO(row.device);
    CHECK(*d.automatch_cores == row.cores);
    CHECK(*d.automatch_cores * *d.automatch_flop_per_s / 1e9 == Approx(row.gflops));
    CHECK(*d.automatch_slow_bytes_per_s / 1e9 == Approx(row.slow_gbs));
    CHECK(*d.automatch_fast_bytes_per_s / 1e9 == Approx(row.fast_gbs));
    CHECK(*d.automatch_barrier_s * 1e6 == Approx(row.barrier_us));
    CHECK(*d.automatch_flop_per_s * *d.automatch_cores < *d.peak_fp64_flop_per_s);
    CHECK(d.assumed.find("automatch_") == std::string::npos);
  }
  // The ratio of fast to slow bandwidth of ARC3 is 24, not about 15 as the text says.
  CHECK(*device_named("c2075").automatch_fast_bytes_per_s / *device_named("c2075").automatch_slow_bytes_per_s ==
        Approx(24).epsilon(0.01));
  CHECK(*device_named("i7-2600k").perdome_flop_s == Approx(73.5e-12));
  CHECK(*device_named("i3-2100t").perdome_byte_s == Approx(73e-12));
  CHECK(*device_named("gtx-titan").perdome_flop_s == Approx(0.4e-12));
  CHECK(*device_named("gtx750").perdome_byte_s == Approx(14.8e-12));
  int with = 0;
  for (auto const& d : database().devices()) with += d.perdome_flop_s.has_value();
  CHECK(with == 4);
}

TEST_CASE("devdb: the columns of [automatch] Table I for every device, derived ones marked") {
  for (auto const& d : database().devices()) {
    INFO(d.device);
    bool const measured = d.src_models.starts_with("[automatch]");
    auto const assumed = assumptions(d.assumed);
    for (auto const& column : record::Device::schema().columns()) {
      if (!column.name.starts_with("automatch_")) continue;
      INFO(column.name);
      bool const none = column.name == "automatch_flop_per_s" &&
                        d.throughput[record::InstructionClass::fp64] == 0;  // no double precision
      CHECK(filled(d, column) != none);
      if (filled(d, column)) CHECK((measured || assumed.count(column.name) == 1));
    }
    CHECK(*d.automatch_fast_bytes_per_s > *d.automatch_slow_bytes_per_s);
    CHECK(*d.automatch_fast_latency_s < *d.automatch_slow_latency_s);
    CHECK(*d.automatch_barrier_s < 1e-5);
  }
}

TEST_CASE("devdb: a device that is written reads back the same") {
  std::ostringstream out;
  record::Writer<record::Device> writer(out, record::Format::csv);
  for (auto const& d : database().devices()) writer.write(d);
  writer.finish();
  std::ifstream file(KERNELCAST_SOURCE_DIR "/devdb/devices.csv", std::ios::binary);
  std::istringstream again(out.str());
  csv::Reader rows(again, "written"), first(file, "devices.csv");
  CHECK(rows.header() == first.header());
  record::Reader<record::Device> reader(rows);
  std::ostringstream twice;
  record::Writer<record::Device> second(twice, record::Format::csv);
  std::size_t count = 0;
  for (record::Device d; reader.next(d); ++count) second.write(d);
  second.finish();
  CHECK(count == database().devices().size());
  CHECK(twice.str() == out.str());
}

TEST_CASE("devdb: aliases name every device of the other data sets once") {
  std::set<std::pair<std::string, std::string>> seen;
  for (auto const& a : database().aliases()) {
    INFO(a.data_set << " " << a.name);
    CHECK(seen.emplace(a.data_set, a.name).second);
    CHECK(database().find(a.name).device.size() > 1);
  }
  CHECK(seen.size() >= 30);
}
