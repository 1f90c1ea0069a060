#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "records/device.hpp"
#include "records/kernel.hpp"
#include "records/measurement.hpp"
#include "records/partition.hpp"
#include "records/phases.hpp"
#include "records/profile.hpp"
#include "records/projection.hpp"
#include "records/ranking.hpp"
#include "records/table/table.hpp"
#include "records/trace.hpp"

using namespace kernelcast;
using namespace kernelcast::record;

namespace {

template <class R>
std::vector<R> read(std::string const& text) {
  std::istringstream in(text);
  return read_rows<R>(in, "in.csv");
}

template <class R>
std::string refusal(std::string const& text) {
  try {
    read<R>(text);
  } catch (Error const& error) {
    CHECK(error.status() == Status::bad_data);
    return error.text("t");
  }
  return "none";
}

std::string line(std::string const& text, std::size_t number) {
  std::istringstream in(text);
  std::string out;
  for (std::size_t i = 0; i <= number; ++i) std::getline(in, out);
  return out;
}

double random_double(std::mt19937_64& random) {
  for (;;) {
    std::uint64_t const bits = random();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) return value;
  }
}

}  // namespace

TEST_CASE("the kernel record has the columns of the contract, in its order") {
  auto const names = Kernel::schema().column_names();
  std::string joined;
  for (auto const& name : names) joined += name + ",";
  CHECK(joined.find("kernel,case,launches,grid_x,grid_y,grid_z,block_x,block_y,block_z,groups_total,groups_emulated,"
                    "shared_bytes,registers_ptx,registers_sm75,vgprs_gfx6,vgprs_gfx90a,vgprs_gfx1030,gprs_cypress,"
                    "vliw_ops_per_bundle,spread_pct,inst_total,inst_fp32,inst_fp64,inst_fp16,inst_int_add,") == 0);
  CHECK_THAT(joined, Contains("inst_sync,inst_other,issues_fp32_w16,issues_fp32_w32,issues_fp32_w64,issues_fp64_w16,"));
  CHECK_THAT(joined, Contains("issues_other_w64,branches,divergent_branches_w32,divergent_branches_w64,"
                              "global_load_bytes,global_store_bytes,shared_load_bytes,shared_store_bytes,"
                              "local_load_bytes,local_store_bytes,param_bytes,const_bytes,texture_bytes,"
                              "global_load_tx_w16_s32,global_load_tx_w16_s64,global_load_tx_w16_s128,"));
  CHECK_THAT(joined, Contains("global_store_tx_w64_s128,global_load_cc13_32,global_load_cc13_64,global_load_cc13_128,"
                              "global_store_cc13_32,global_store_cc13_64,global_store_cc13_128,global_footprint_bytes,"
                              "shared_load_passes_w16_b16,shared_load_passes_w16_b32,shared_load_passes_w16_b32x8,"));
  CHECK_THAT(joined, Contains("shared_store_passes_w64_b32x8,atomics_global,atomics_shared,atomic_max_same_address,"
                              "barriers,global_load_rounds,"));
  // 19 identity and registers, spread, total, 13 classes, 13 x 3 issues, 3 branches, 9 volumes, 2 x 9 transactions,
  // 2 x 3 half-warp segments, footprint, 2 x 9 passes, 4; then what the contract does not ask for: rounds, 12 pipes and
  // their code, 32 of one group, the target and its registers, the sampling error, allocated memory, what was touched
  // before, 4 pipes of AMD's, warps, registers and memory of AMD's, a library's call, matrix products, whose code it
  // is, registers by target, shared memory and phases of a group, whether code was fetched, the source's line.
  CHECK(names.size() == 19 + 2 + 13 + 39 + 3 + 9 + 18 + 6 + 1 + 18 + 4 + 1 + 13 + 33 + 2 + 2 + 1 + 4 + 1 + 2 + 2 + 2 +
                            1 + 3 + 1 + 1 + 2);
  CHECK(joined.ends_with(
      ",touched_before,slots_scalar,slots_scalar_memory,slots_shared,slots_wait,warp_lanes,registers_"
      "matrix,scratch_bytes,library,library_flop,matrix_flop,runs_on,registers,group_shared_loads,group_"
      "shared_stores,group_phases,group_local_stores,code_fetched,source_line,source_text,"));
}

TEST_CASE("the columns of the other records stand as in the contract") {
  CHECK(rows_text<Projection>({}) ==
        "kernel,case,device,model,time_s,time_low_s,time_high_s,limiter,status,reason,t_compute_s,t_global_s,"
        "t_shared_s,occupancy,bandwidth_source,t_launch_s\n");
  CHECK(rows_text<Ranking>({}) ==
        "model,kernel,case,rank,device,time_s,relative_time,decided,limiter,time_low_s,time_high_s\n");
  CHECK(rows_text<Assessment>({}) ==
        "model,kernel,case,chosen_device,best_device,selection_penalty_pct,relative_error_pct\n");
  CHECK(rows_text<Share>({}) == "model,kernel,case,device,share\n");
  CHECK(line(rows_text<Assignment>({}), 0).rfind("kernel,case,device,start_s,end_s", 0) == 0);
}

TEST_CASE("an input needs the columns of the contract and no others") {
  auto const required = [](Layout const& layout) {
    std::string names;
    for (auto const& column : layout.columns())
      if (column.required) names += (names.empty() ? "" : ",") + column.name;
    return names;
  };
  CHECK(required(Projection::schema()) == "kernel,case,device,time_s");
  CHECK(required(Ranking::schema()) == "model,kernel,case,rank,device,time_s,relative_time,decided");
  CHECK(required(Assignment::schema()) == "kernel,case,device,start_s,end_s");
  CHECK(required(Profile::schema()) == "kernel,case,invocation,quantity,granularity_bytes,low,high,count");
  CHECK(required(Trace::schema()) ==
        "kind,kernel,case,block,groups_total,registers_ptx,registers_sm75,vgprs_gfx6,vgprs_gfx90a,vgprs_gfx1030,"
        "gprs_cypress,shared_bytes,pc,class,dst,src,space,bytes_per_lane,group,warp,seq,mask,addresses");
  CHECK(required(Bound::schema()) ==
        "partition,system,bound_flop_per_s,limiter,relative_to_best,intensity,intensity_cpu,intensity_gpu");
}

TEST_CASE("every quantity's column ends in its unit and every column says what it means") {
  for (Layout const* layout : std::initializer_list<Layout const*>{
           &Kernel::schema(), &Projection::schema(), &Ranking::schema(), &Assessment::schema(),
           &AssessmentSummary::schema(), &Share::schema(), &Assignment::schema(), &Measured::schema()})
    for (auto const& column : layout->columns()) {
      INFO(layout->name() << "." << column.name);
      auto const ending = suffix(column.unit);
      CHECK(column.name.size() > ending.size());
      CHECK(column.name.substr(column.name.size() - ending.size()) == ending);
      CHECK(column.meaning.size() > 10);
    }
}

TEST_CASE("columns are found by name in any order, optional ones may be absent, unknown ones pass through") {
  std::istringstream in(
      "note,time_s,model,reason,status,limiter,time_high_s,time_low_s,device,size,kernel,\"n,b\"\n"
      "x,0.5,m,,ok,global,1,,d,64,k,\"p\"\"q\"\n");
  csv::Reader rows(in, "in.csv");
  Reader<Projection> reader(rows);
  CHECK(reader.extra_names() == std::vector<std::string>{"note", "n,b"});
  CHECK(reader.has("time_s"));
  CHECK_FALSE(reader.has("occupancy"));
  Projection p;
  REQUIRE(reader.next(p));
  CHECK(p.case_name == "64");
  CHECK(p.time_s == 0.5);
  CHECK_FALSE(p.time_low_s);
  CHECK_FALSE(p.occupancy);
  CHECK(reader.where("case").column == 25);
  std::ostringstream out;
  Writer<Projection> writer(out, Format::csv, nullptr, reader.extra_names());
  writer.write(p, reader.extras());
  CHECK(line(out.str(), 1) == "k,64,d,m,0.5,,1,global,ok,,,,,,,,x,\"p\"\"q\"");
}

TEST_CASE("bad cells and columns are refused with place, line and hint") {
  std::string const header = "kernel,case,device,time_s\n";
  CHECK(
      refusal<Measured>(header + "k,c,d,1.5ms\n") ==
      "in.csv:2:7: error: column 'time_s': expected a number, got '1.5ms'\n"
      "  k,c,d,1.5ms\n"
      "        ^\n"
      "hint: numbers are plain decimals in s, with a point and without a suffix; an unknown value is an empty cell\n");
  CHECK_THAT(refusal<Measured>(header + "k,c,,1\n"), Contains("in.csv:2:5: error: column 'device': empty"));
  CHECK_THAT(refusal<Measured>("kernel,case,devise,time_s\n"),
             Contains("in.csv:1:13: error: missing column 'device'") && Contains("did you mean 'device'?"));
  CHECK_THAT(refusal<Measured>("kernel,case,time_s\n"), Contains("missing column 'device'") && Contains("hint: "));
  for (std::string const bad : {"inf", "-inf", "nan", "NaN", "1e999", "0x10", "+1", "1,5", " 1", "1 ", "1e", "--1"}) {
    INFO(bad);
    CHECK(refusal<Measured>(header + "k,c,d,\"" + bad + "\"\n") != "none");
  }
  for (std::string const good : {"0", "-0", "1e-3", "-1.5", "1E5", "5e-324", "007", ".5"}) {
    INFO(good);
    CHECK(refusal<Measured>(header + "k,c,d," + good + "\n") == "none");
  }
  std::string const ranking = line(rows_text<Ranking>({}), 0) + "\n";
  CHECK_THAT(refusal<Ranking>(ranking + "m,k,c,1.5,d,1,1,yes,,,\n"),
             Contains("2:7: error: column 'rank': expected a whole"));
  CHECK_THAT(refusal<Ranking>(ranking + "m,k,c,-1,d,1,1,yes,,,\n"), Contains("expected a whole number, 0 or more"));
  CHECK_THAT(refusal<Ranking>(ranking + "m,k,c,1,d,1,1,true,,,\n"), Contains("expected yes or no"));
  std::string const measurement = line(rows_text<Measurement>({}), 0) + "\n";
  CHECK(refusal<Measurement>(measurement + "d,b,clock_hz,,,4,1,1e9,1,,,,,ok,,,,,,,\n") == "none");
  CHECK_THAT(refusal<Measurement>(measurement + "d,b,clock_hz,,,4,1,-1e9,1,,,,,ok,,,,,,,\n"),
             Contains("2:20: error: column 'working_set_bytes': expected 0 or more, got '-1e9'"));
}

TEST_CASE("numbers are written in the shortest form that reads back, whole ones without exponent") {
  CHECK(number_text(1048576) == "1048576");
  CHECK(number_text(9007199254740991.0) == "9007199254740991");
  CHECK(number_text(0.1) == "0.1");
  CHECK(number_text(1e-9) == "1e-09");
  CHECK(number_text(-2) == "-2");
  CHECK(number_text(1e300) == "1e+300");
  CHECK_THROWS_AS(number_text(std::numeric_limits<double>::infinity()), std::logic_error);
  CHECK_THROWS_AS(number_text(std::nan("")), std::logic_error);
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    double const value = i % 2 ? random_double(random) : std::ldexp(std::round(random_double(random)), 0);
    std::string const text = number_text(value);
    double again = 0;
    auto const result = std::from_chars(text.data(), text.data() + text.size(), again);
    CHECK(result.ptr == text.data() + text.size());
    CHECK(std::memcmp(&again, &value, sizeof value) == 0);
  }
}

TEST_CASE("fractions are written as std::to_chars does") {
  auto const check = [](double value) {
    if (!std::isfinite(value) || value == std::trunc(value)) return;
    std::array<char, 32> text;
    REQUIRE(number_text(value) ==
            std::string(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr));
  };
  std::mt19937_64 random(7);
  for (int i = 0; i < 30000; ++i) {
    auto const bits = random();
    check(std::bit_cast<double>(bits));
    check(std::ldexp(static_cast<double>(bits), -static_cast<int>(bits % 80)));  // near 1
    auto const short_one = static_cast<double>(bits % 100000);                   // few digits
    for (double power = 1; power < 1e20; power *= 10) check(short_one / power), check(-short_one / power);
  }
  for (double const value : {5e-324, 2.2250738585072014e-308, -2.2250738585072014e-308, 4503599627370495.5,
                             2251799813685247.75, 1e-5, 9e-5, 0.0001, 0.00012, 0.001, 123456.5})
    check(value);
}

TEST_CASE("cells that repeat from row to row are written as when they stand alone") {
  std::mt19937_64 random(5);
  std::vector<double> numbers{0, -0.0, 1, -1, 5e-324, -2.2250738585072014e-308, 0.1, 9007199254740994.0, 1e300};
  for (int i = 0; i < 200; ++i) numbers.push_back(random_double(random));
  std::vector<std::string> const words{
      "", "a", "#a", "a,b", "\"\"", "x\"y\"\"z", "\r", "a b", "a long text, with commas"};
  std::vector<Measured> rows(5000);
  for (auto& row : rows) {
    row.kernel = words[random() % words.size()] + "k";
    row.case_name = words[random() % words.size()];
    row.device = "d";
    if (random() % 8) row.time_s = numbers[random() % numbers.size()];
  }
  std::string one_by_one = line(rows_text<Measured>({}), 0) + "\n";
  for (auto const& row : rows)
    one_by_one += rows_text<Measured>({row}).substr(line(rows_text<Measured>({}), 0).size() + 1);
  CHECK((rows_text(rows) == one_by_one));
  auto const again = read<Measured>(rows_text(rows));
  REQUIRE(again.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(again[i].kernel == rows[i].kernel);
    CHECK(again[i].case_name == rows[i].case_name);
    CHECK(again[i].time_s == rows[i].time_s);
    if (rows[i].time_s) CHECK(std::signbit(*again[i].time_s) == std::signbit(*rows[i].time_s));
  }
}

TEST_CASE("whole numbers are read as the nearest double, however many digits they have") {
  for (std::string const text : {"0", "7", "007", "999999999999999", "9007199254740993", "18446744073709551616",
                                 "00000000000000000000000012", "123456789012345678901234567890"}) {
    INFO(text);
    CHECK(read<Measured>("kernel,case,device,time_s\nk,c,d," + text + "\n").front().time_s ==
          std::strtod(text.c_str(), nullptr));
  }
}

TEST_CASE("random records are read back as they were written") {
  std::mt19937_64 random(4);
  std::vector<std::string> const words{"mmul", "a,b", "\"q\"", "two\nlines", "ü", " x ", "1/2"};
  std::vector<Projection> rows;
  for (int i = 0; i < 500; ++i) {
    Projection p;
    p.kernel = words[random() % words.size()];
    p.case_name = random() % 3 ? words[random() % words.size()] : "";
    p.device = "d";
    p.model = "m";
    if (random() % 2) p.time_s = random_double(random);
    if (random() % 2) p.occupancy = random_double(random);
    rows.push_back(p);
  }
  auto const text = rows_text(rows);
  auto const again = read<Projection>(text);
  REQUIRE(again.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(again[i].kernel == rows[i].kernel);
    CHECK(again[i].case_name == rows[i].case_name);
    CHECK(again[i].time_s == rows[i].time_s);
    CHECK(again[i].occupancy == rows[i].occupancy);
  }
  CHECK(rows_text(again) == text);
}

TEST_CASE("every column of the kernel record has a field of its own") {
  auto const& columns = Kernel::schema().columns();
  std::ostringstream in;
  csv::Writer header(in);
  header.row(Kernel::schema().column_names());
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < columns.size(); ++i) cells.push_back(std::to_string(1000 + i));
  header.row(cells);
  CHECK(rows_text(read<Kernel>(in.str())) == in.str());
}

TEST_CASE("a class of instructions is one line of a list: names, arrays and columns follow") {
  static_assert(InstructionClass::fp32 == InstructionClass{} && name(InstructionClass::sync) == "sync");
  static_assert(count_of<InstructionClass> == index_of(InstructionClass::other) + 1);
  static_assert(has_unit(InstructionClass::convert) && !has_unit(InstructionClass::memory));
  static_assert(!value_named<InstructionClass>("barrier"));
  Kernel kernel;
  Device device;
  CHECK(kernel.inst.all.size() == count_of<InstructionClass>);
  CHECK(device.throughput.all.size() == unit_class_count);
  for (InstructionClass const c : values_of<InstructionClass>) {
    std::string const text(name(c));
    CAPTURE(text);
    CHECK(value_named<InstructionClass>(text) == c);
    auto const* const count = Kernel::schema().find("inst_" + text);
    REQUIRE(count);
    CHECK(reinterpret_cast<char*>(&kernel) + count->offset == reinterpret_cast<char*>(&kernel.inst[c]));
    for (unsigned const width : width_lanes) CHECK(Kernel::schema().find(fmt::format("issues_{}_w{}", text, width)));
    auto const* const throughput = Device::schema().find("throughput_" + text);
    CHECK((throughput != nullptr) == (has_unit(c) || c == InstructionClass::sync));
    if (has_unit(c))
      CHECK(reinterpret_cast<char*>(&device) + throughput->offset == reinterpret_cast<char*>(&device.throughput[c]));
  }
}

namespace {

struct Painted {
  RegisterScope scope = RegisterScope::lane;
  std::optional<AccessRule> rule;
  LimiterName limiter;

  static Schema<Painted> const& schema() {
    static auto const schema = Schema<Painted>("painted")
                                   .column("scope", &Painted::scope, Unit::none, "which")
                                   .among({RegisterScope::lane, RegisterScope::wave})
                                   .column("rule", &Painted::rule, Unit::none, "how")
                                   .column("limiter", &Painted::limiter, Unit::none, "why")
                                   .may_be_empty()
                                   .among({Limiter::memory_wait, Limiter::launch});
    return schema;
  }
};

}  // namespace

TEST_CASE("a column of an enumeration reads and writes its names, and no others") {
  std::string const header = "scope,rule,limiter\n";
  std::string const text = header + "wave,cc1x-segments,memory wait\nlane,,\nlane,amd64,of others\n";
  auto const rows = read<Painted>(text);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].scope == RegisterScope::wave);
  CHECK(rows[0].rule == AccessRule::cc1x_segments);
  CHECK(rows[0].limiter == Limiter::memory_wait);
  CHECK_FALSE(rows[1].rule);
  CHECK(rows[1].limiter.empty());
  CHECK(rows[2].limiter.text() == "of others");
  CHECK(rows_text(rows) == text);
  auto const json = nlohmann::json::parse(rows_text(rows, Format::json));
  CHECK(json[0]["scope"] == "wave");
  CHECK(json[1]["rule"].is_null());
  CHECK(json[1]["limiter"].is_null());

  CHECK(refusal<Painted>(header + "lane,amd46,\n") ==
        "in.csv:2:6: error: column 'rule': expected cc1x-segments, lines128, sectors32 or amd64, got 'amd46'\n"
        "  lane,amd46,\n       ^\nhint: did you mean 'amd64'?\n");
  CHECK_THAT(refusal<Painted>(header + "group,,\n"), Contains("expected lane or wave, got 'group'"));
  CHECK_THAT(refusal<Painted>(header + ",,\n"), Contains("column 'scope': empty, but a value is needed"));

  std::ostringstream columns;
  describe<Painted>(columns);
  CHECK_THAT(columns.str(), Contains("painted,scope,,yes,which: lane or wave\n"));
  CHECK_THAT(columns.str(), Contains("\"how: cc1x-segments, lines128, sectors32 or amd64\""));
  CHECK_THAT(columns.str(), Contains("why: memory wait or launch\n"));
}

TEST_CASE("a row repeated holds the totals of so many launches, and what they share once") {
  Kernel one;
  one.launches = 3;
  one.groups_total = 12;
  one.groups_emulated = 2;
  one.block_x = 64;
  one.shared_bytes = 512;
  one.registers_ptx = 9;
  one.vliw_ops_per_bundle = 2.5;
  one.spread_pct = 1.5;
  one.sampling_error_pct = 0.5;
  one.allocated_bytes = 1024;
  one.touched_before = "20:512;21:1.5";
  one.inst_total = 100;
  one.inst[InstructionClass::fp16] = 7;
  one.issues[InstructionClass::fp64][2] = 11;
  one.global_load_tx[2][0] = 13;
  one.shared_store_passes[0][1] = 17;
  one.global_footprint_bytes = 4096;
  one.atomic_max_same_address = 5;
  one.barriers = 19;
  one.global_load_rounds = 23;
  auto many = one;
  repeat(many, 4);
  CHECK(many.launches == 12);
  CHECK(many.groups_total == 48);
  CHECK(many.inst_total == 400);
  CHECK(many.inst[InstructionClass::fp16] == 28);
  CHECK(many.issues[InstructionClass::fp64][2] == 44);
  CHECK(many.global_load_tx[2][0] == 52);
  CHECK(many.shared_store_passes[0][1] == 68);
  CHECK(many.barriers == 76);
  CHECK(many.global_load_rounds == 92.0);
  CHECK(many.groups_emulated == 2);
  CHECK(many.block_x == 64);
  CHECK(many.shared_bytes == 512);
  CHECK(many.registers_ptx == 9);
  CHECK(many.vliw_ops_per_bundle == 2.5);
  CHECK(many.spread_pct == 1.5);
  CHECK(many.sampling_error_pct == 0.5);
  CHECK(many.allocated_bytes == 1024);
  CHECK(many.touched_before == "20:2048;21:6");
  CHECK(many.global_footprint_bytes == 4096);
  CHECK(many.atomic_max_same_address == 5);

  Kernel unknown;
  repeat(unknown, 4);
  CHECK(!unknown.global_load_rounds);
}

TEST_CASE("JSON is an array of objects with null for unknown values") {
  Projection p;
  p.kernel = "a\"\\\n\x01ü";
  p.device = "d";
  p.model = "m";
  p.time_s = 1e-5;
  auto const json = nlohmann::json::parse(rows_text<Projection>({p, p}, Format::json));
  REQUIRE(json.size() == 2);
  CHECK(json[0]["kernel"] == p.kernel);
  CHECK(json[0]["time_s"] == 1e-5);
  CHECK(json[0]["time_low_s"].is_null());
  CHECK(json[0]["reason"].is_null());
  CHECK(nlohmann::json::parse(rows_text<Projection>({}, Format::json)) == nlohmann::json::array());
  Ranking r;
  r.decided = false;
  CHECK(nlohmann::json::parse(rows_text<Ranking>({r}, Format::json))[0]["decided"] == false);
}

TEST_CASE("a table is aligned and scales its units") {
  Ranking a{"panwar", "mmul", "1024", 1, "hd7970", 1.234e-5, 1, true, Limiter::compute};
  Ranking b{"panwar", "mmul", "1024", 2, "c1060", 0.5, 40519.0, false, Limiter::global};
  CHECK(rows_text<Ranking>({a, b}, Format::table) ==
        "model   kernel  case  rank  device   time_s  relative_time  decided  limiter  time_low_s  time_high_s\n"
        "panwar  mmul    1024     1  hd7970  12.3 us              1  yes      compute\n"
        "panwar  mmul    1024     2  c1060    500 ms          40519  no       global\n");
  CHECK(scaled_text(4.1e9, Unit::bytes_per_s) == "4.10 GB/s");
  CHECK(scaled_text(0.9996, Unit::seconds) == "1.00 s");
  CHECK(scaled_text(999.6e-9, Unit::seconds) == "1.00 us");
  CHECK(scaled_text(48, Unit::bytes) == "48 B");
  CHECK(scaled_text(0, Unit::seconds) == "0 s");
}

TEST_CASE("the list of columns is itself CSV") {
  std::ostringstream out;
  describe<Projection>(out);
  std::istringstream in(out.str());
  csv::Reader rows(in, "columns");
  CHECK(rows.header() == std::vector<std::string>{"record", "name", "unit", "required", "meaning"});
  std::size_t count = 0;
  while (rows.next()) {
    CHECK(rows[1] == Projection::schema().columns()[count].name);
    ++count;
  }
  CHECK(count == Projection::schema().columns().size());
}

TEST_CASE("a schema refuses a column twice and a field outside its record") {
  struct Two {
    std::string a;
    std::vector<double> outside = std::vector<double>(4);
  };
  Schema<Two> schema("two");
  schema.column("a", &Two::a, Unit::none, "first");
  CHECK_THROWS_AS(schema.column("a", &Two::a, Unit::none, "again"), std::logic_error);
  CHECK_THROWS_AS(schema.column("b", [](Two& t) -> auto& { return t.outside[1]; }, Unit::none, "x"), std::logic_error);
}

TEST_CASE("phases are read as they were written; what is none is refused") {
  Phase phase;
  phase.count = 255;
  phase.part[Work::integer] = 0.125;
  phase.part[Work::shared] = 1;
  phase.steps[Step::miss] = 3.5;
  phase.steps[Step::barrier] = 1;
  Phase other;
  other.count = 1;
  other.part[Work::fp32] = 1;
  auto const text = text_of(std::vector{phase, other});
  CHECK(text == "0/0/0.125/0/0/1/0/0/0/0/0/0/0/3.5/1:255;0/1/0/0/0/0/0/0/0/0/0/0/0/0/0:1");
  std::vector<Phase> read;
  REQUIRE(read_phases(text, read));
  REQUIRE(read.size() == 2);
  CHECK(read[0].count == 255);
  CHECK(read[0].part == phase.part);
  CHECK(read[0].steps == phase.steps);
  CHECK(read[1].part == other.part);
  for (std::string const wrong : {"1:1", "0/0/0/0/0/0/0/0/0/0/0/0/0/0/0:0", "0/0/0/0/0/0/0/0/0/0/0/0/0/0/0",
                                  "0/0/0/0/0/0/0/0/0/0/0/0/0/0/x:1", "0/0/0/0/0/0/0/0/0/0/0/0/0/0/-1:1"}) {
    INFO(wrong);
    CHECK_FALSE(read_phases(wrong, read));
  }
  read.clear();
  CHECK(read_phases("", read));
  CHECK(read.empty());
}
