// Loading, finding, and refusing what is wrong in a device database.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/process/process.hpp"
#include "catch.hpp"
#include "devdb.hpp"
#include "error_of.hpp"
#include "records/device/device.hpp"

using namespace kernelcast;
namespace fs = std::filesystem;

namespace {

std::string const tree = KERNELCAST_SOURCE_DIR "/devdb";

// A copy of the database, removed at the end.
struct Copy {
  TemporaryFolder place;
  fs::path folder = place.path() / "devdb";
  Copy() { fs::copy(tree, folder, fs::copy_options::recursive); }
  void append(char const* file, std::string const& row) const {
    std::ofstream(folder / file, std::ios::app) << row << "\n";
  }
};

}  // namespace

TEST_CASE("a device is found by id, marketing name, other name and alias") {
  auto const& db = database();
  for (auto const& [name, id] : std::vector<std::pair<char const*, char const*>>{{"c1060", "c1060"},
                                                                                 {"Tesla C1060", "c1060"},
                                                                                 {"NVIDIA Tesla C1060", "c1060"},
                                                                                 {"tesla_c1060", "c1060"},
                                                                                 {"Radeon HD 7970", "hd7970"},
                                                                                 {"Tahiti", "hd7970"},
                                                                                 {"tahiti-hd7970", "hd7970"},
                                                                                 {"7970", "hd7970"},
                                                                                 {"V100", "v100"},
                                                                                 {"K40_Intel", "k40"},
                                                                                 {"knl", "xeon-phi-7210"},
                                                                                 {"A100 SXM4 40GB", "a100"},
                                                                                 {"NVIDIA H100 80GB HBM3", "h100"},
                                                                                 {"gtx-titan", "gtx-titan"}}) {
    INFO(name);
    CHECK(db.find(name).device == id);
  }
  for (auto const& d : db.devices()) {
    INFO(d.device);
    CHECK(&db.find(d.device) == &d);
    CHECK(&db.find(d.name) == &d);
  }
}

TEST_CASE("an unknown device offers near names, an ambiguous one lists its candidates") {
  auto const unknown = error_of([] { database().find("hd7971"); });
  CHECK(unknown.status() == Status::unavailable);
  CHECK_THAT(unknown.what(), Contains("no device 'hd7971'"));
  CHECK_THAT(unknown.hint(), Contains("did you mean 'hd7970'?"));
  auto const far = error_of([] { database().find("voodoo banshee"); });
  CHECK_THAT(far.hint(), Contains("c1060") && Contains("xeon-phi-7210"));
  auto const several = error_of([] { database().find("titan"); });
  CHECK(several.status() == Status::unavailable);
  CHECK_THAT(several.hint(), Contains("gtx-titan (GeForce GTX Titan)") && Contains("titan-xp (Titan Xp)"));
  CHECK(error_of([] { database().find(""); }).status() == Status::unavailable);
}

TEST_CASE("a device's own limits win over its architecture's") {
  auto const& db = database();
  CHECK(*db.find("rx480").rule.max_waves_per_cu == 32);  // Polaris: 8 waves a SIMD, gfx8 has 10
  CHECK(*db.find("r9-fury-x").rule.max_waves_per_cu == 40);
  CHECK(*db.find("b200").rule.max_waves_per_cu == 64);  // from the row of the architecture alone
  CHECK(db.find("i5-2400").rule.target.empty());
}

TEST_CASE("a curve is linear between its points, through the origin, and constant at its end") {
  device::Curve const c{{0.25, 0.5, 1}, {50e9, 80e9, 100e9}, "test"};
  CHECK(c.at(0) == 0);
  CHECK(c.at(0.125) == Approx(25e9));
  CHECK(c.at(0.25) == Approx(50e9));
  CHECK(c.at(0.375) == Approx(65e9));
  CHECK(c.at(0.75) == Approx(90e9));
  CHECK(c.at(1) == Approx(100e9));
  CHECK(c.at(2) == Approx(100e9));
  CHECK(device::Curve{}.at(0.5) == 0);
}

std::string const columns =
    "device,backend,metric,access,direction,word_bytes,occupancy,working_set_bytes,value,mad,ci_low,ci_high,samples,"
    "status,reason\n";

TEST_CASE("measurements of a file become curves in order of occupancy") {
  Copy const copy;
  std::string const read = "c2075,cuda,global_bandwidth_bytes_per_s,coalesced,read,4,";
  std::ofstream(copy.folder / "curves/own.csv")
      << columns << read << "1,,90e9,,,,,ok,\n"
      << read << "0.25,,40e9,,,,,ok,\n"
      << read << "0.5,,80e9,,,,,ok,\n"
      << read << "0.75,,99e9,,,,,doubtful,the clock moved\n"
      << "c2075,opencl,global_bandwidth_bytes_per_s,coalesced,read,4,0.5,,85e9,,,,,ok,\n"
      << "c2075,opencl,global_bandwidth_bytes_per_s,coalesced,read,4,1,,70e9,,,,,ok,\n"
      << "c2075,cuda,global_bandwidth_bytes_per_s,coalesced,read,16,1,,95e9,,,,,ok,\n"
      << "c2075,cuda,global_bandwidth_bytes_per_s,stride2,read,4,1,,45e9,,,,,ok,\n"
      << "c2075,cuda,shared_bandwidth_bytes_per_s,coalesced,write,4,1,,500e9,,,,,ok,\n"
      << "c2075,cuda,load_latency_s,random,read,4,,1e6,7e-7,,,,,ok,\n"
      << "c2075,cuda,texture_bandwidth_bytes_per_s,coalesced,read,4,1,,,,,,,failed,no images\n";
  auto const db = device::load(copy.folder.string());
  auto const& d = db.find("c2075");
  CHECK(d.global_read.occupancy == std::vector<double>{0.25, 0.5, 1});
  CHECK(d.global_read.bandwidth_bytes_per_s == std::vector<double>{40e9, 85e9, 90e9});
  CHECK(d.global_write.empty());
  CHECK(d.shared_read.empty());
  CHECK(d.shared_write.bandwidth_bytes_per_s == std::vector<double>{500e9});
  auto const all = device::load(copy.folder.string(), device::Trust::doubtful);
  CHECK(all.find("c2075").global_read.bandwidth_bytes_per_s == std::vector<double>{40e9, 85e9, 99e9, 90e9});
  CHECK(db.find("c2050").global_read.occupancy == std::vector<double>{1});
}

TEST_CASE("words of 8 bytes make a curve where there are none of 4") {
  Copy const copy;
  std::string const read = "c2075,cuda,global_bandwidth_bytes_per_s,coalesced,read,";
  auto const curve = [&] { return device::load(copy.folder.string()).find("c2075").global_read; };
  std::ofstream(copy.folder / "curves/own.csv") << columns << read << "8,0.5,,90e9,,,,,ok,\n"
                                                << read << "8,1,,95e9,,,,,ok,\n";
  CHECK(curve().bandwidth_bytes_per_s == std::vector<double>{90e9, 95e9});
  CHECK(curve().word_bytes == 8);
  for (char const* const name : {"curves/a.csv", "curves/z.csv"}) {  // read before and after the other file
    std::ofstream(copy.folder / name) << columns << read << "4,0.5,,60e9,,,,,ok,\n";
    CHECK(curve().bandwidth_bytes_per_s == std::vector<double>{60e9});
    CHECK(curve().word_bytes == 4);
    fs::remove(copy.folder / name);
  }
}

TEST_CASE("the highest measured rate of single precision is kept") {
  Copy const copy;
  std::string const peak = "c2075,cuda,peak_flop_per_s,,,,,,";
  std::ofstream(copy.folder / "curves/own.csv") << columns.substr(0, columns.size() - 1) << ",class,variant\n"
                                                << peak << "900e9,,,,,ok,,fp32,add_mul\n"
                                                << peak << "1000e9,,,,,ok,,fp32_fma,fma\n"
                                                << peak << "5000e9,,,,,doubtful,above the peak,fp32,fma\n"
                                                << peak << "500e9,,,,,ok,,fp64,fma\n";
  auto const db = device::load(copy.folder.string());
  CHECK(db.find("c2075").measured_fp32_flop_per_s == 1000e9);
  CHECK(!db.find("k20").measured_fp32_flop_per_s);
}

TEST_CASE("the shortest delay of a launch is kept") {
  Copy const copy;
  std::ofstream(copy.folder / "curves/own.csv")
      << columns << "c2075,cuda,launch_s,,,,,,1e-6,,,,,ok,\n"
      << "c2075,cuda,launch_delay_s,,,,,,9e-6,,,,,ok,\n"
      << "c2075,opencl,launch_delay_s,,,,,,8e-6,,,,,ok,\n"
      << "c2075,cpu,launch_delay_s,,,,,,2e-6,,,,,doubtful,the clock moved\n"
      << "c2075,cpu,launch_delay_s,,,,,,-1e-6,,,,,doubtful,a value of -1e-06 cannot be\n"
      << "c2075,cpu,launch_delay_s,,,,,,,,,,,doubtful,the value is not finite\n";
  CHECK(device::load(copy.folder.string()).find("c2075").launch_delay_s == 8e-6);
  CHECK(device::load(copy.folder.string(), device::Trust::doubtful).find("c2075").launch_delay_s == 2e-6);
  CHECK(!device::load(copy.folder.string()).find("k20").launch_delay_s);
}

TEST_CASE("what is wrong in a database is refused at its place") {
  auto const tried = [](char const* file, std::string const& row) {
    Copy const copy;
    copy.append(file, row);
    return error_of([&] { device::load(copy.folder.string()); });
  };
  auto const alias = tried("aliases.csv", "mine,card,gtx1081");
  CHECK(alias.status() == Status::bad_data);
  CHECK_THAT(alias.what(), Contains("no device 'gtx1081'"));
  CHECK_THAT(alias.hint(), Contains("gtx1080"));
  CHECK(alias.where().line > 1);
  auto const point = [&](std::string const& metric, std::string const& rest) {
    return tried("curves/c1060.csv", "c1060,opencl," + metric + ",coalesced,read,4," + rest + ",,,,,,,");
  };
  std::string const global = "global_bandwidth_bytes_per_s";
  CHECK_THAT(point(global, "1,,1,,,,,ok").what(), Contains("twice"));
  CHECK_THAT(point(global, "1.5,,1,,,,,ok").what(), Contains("at most 1"));
  CHECK_THAT(point(global, "0.5,,0,,,,,ok").what(), Contains("above 0"));
  CHECK_THAT(point(global, "0.5,,,,,,,ok").what(), Contains("above 0"));
  CHECK_THAT(point(global, "0.5,,1,,,,,fine").what(),
             Contains("expected ok, doubtful, failed or unsupported, got 'fine'"));
  CHECK_THAT(point("global_bandwidth", "0.5,,1,,,,,ok").what(), Contains("no metric 'global_bandwidth'"));
  CHECK_THAT(point("global_bandwidth_byte_per_s", "0.5,,1,,,,,ok").hint(), Contains(global));
  CHECK(error_of([] { device::load("/nonexistent"); }).status() == Status::io);
}

TEST_CASE("a device that cannot be is refused at its cell") {
  std::ifstream in(tree + "/devices.csv");
  std::string header, row;
  std::getline(in, header);
  std::getline(in, row);
  REQUIRE(row.starts_with("c1060,NVIDIA,Tesla C1060,,GT200,gpu,sm_13,cc1.2-1.3,30,"));
  auto const tried = [&](std::string const& was, std::string const& is) {
    auto changed = "mine" + row.substr(row.find(','));
    changed.replace(changed.find(was), was.size(), is);
    Copy const copy;
    copy.append("devices.csv", changed);
    auto const error = error_of([&] { device::load(copy.folder.string()); });
    CHECK(error.status() == Status::bad_data);
    return fmt::format("{} {}", error.where().column, error.what());
  };
  CHECK(tried(",30,", ",0,") == "52 column 'compute_units': must be above 0");
  CHECK_THAT(tried(",102400000000,", ",0,"), Contains("'peak_bandwidth_bytes_per_s': must be above 0"));
  CHECK(tried(",gpu,", ",GPU,") == "32 column 'kind': 'GPU' is none of gpu, cpu");
  CHECK_THAT(tried("cc1x-segments", "segments"),
             Contains("expected cc1x-segments, lines128, sectors32 or amd64, got 'segments'"));
  CHECK_THAT(tried("cc1.2-1.3", "cc1.9"), Contains("no row 'cc1.9' in occupancy.csv"));
}

TEST_CASE("what a launch costs may differ by device") {
  auto const cost = device::launch_cost_named("device,5e-6,RTX 3080=2e-6,t4=0", database());
  CHECK(cost.on(database().find("rtx3080")) == 2e-6);
  CHECK_FALSE(cost.on(database().find("t4")));  // nothing is added
  CHECK(cost.on(database().find("a100")) == 5e-6);
  auto const measured = device::launch_cost_named("device,k20=1e-6", database());
  CHECK(measured.on(database().find("k20")) == 1e-6);
  CHECK_FALSE(measured.unknown_on(database().find("k20")));
  CHECK(error_of([] { device::launch_cost_named("5e-6,nothing=1e-6", database()); }).status() == Status::unavailable);
  for (char const* const text : {"", "5us", "t4=", "t4=2", "5e-6,"})
    CHECK(error_of([&] { device::launch_cost_named(text, database()); }).status() == Status::usage);
}

TEST_CASE("a pipe needs a throughput that devices have") {
  auto const tried = [&](std::string const& row) {
    Copy const copy;
    copy.append("pipes.csv", row);
    auto const error = error_of([&] { device::load(copy.folder.string()); });
    CHECK(error.status() == Status::bad_data);
    return error.text("test");
  };
  CHECK_THAT(tried("sm_70,fp32,fp32,memory,1,a manual"), Contains("no device has a throughput of memory"));
  CHECK_THAT(tried("sm_70,fp32,fp32,fp32,0,a manual"), Contains("column 'results': must be above 0"));
  CHECK_THAT(tried("sm_70,fp31,fp32,fp32,1,a manual"), Contains("'fp31'"));
  Copy const copy;
  fs::remove(copy.folder / "pipes.csv");
  CHECK(device::load(copy.folder.string()).find("a100").pipes.empty());
}

TEST_CASE("an architecture has constants of its own by name") {
  auto const tried = [&](std::string const& row) {
    Copy const copy;
    copy.append("constants.csv", row);
    auto const error = error_of([&] { device::load(copy.folder.string()); });
    CHECK(error.status() == Status::bad_data);
    return error.text("test");
  };
  CHECK_THAT(tried("sm_70,load_cycle,1,a manual"), Contains("the queue has no constant 'load_cycle'"));
  CHECK_THAT(tried("sm_70,load_cycles,-1,a manual"), Contains("column 'value': must not be below 0"));
  auto const value = [](device::Device const& device, double record::QueueConstants::* constant) {
    record::QueueConstants out;
    for (auto const& [own, figure] : device.constants) out.*own = figure;
    return out.*constant;
  };
  auto copy = device::load(tree);
  CHECK(value(copy.find("t4"), &record::QueueConstants::load_cycles) == 3);
  CHECK(value(copy.find("a40"), &record::QueueConstants::load_cycles) == 2);
  CHECK(copy.set_constant("sm_75", "load_cycles", 4));
  CHECK(value(copy.find("t4"), &record::QueueConstants::load_cycles) == 4);
  CHECK_FALSE(copy.set_constant("sm_86", "load_cycles", 4));
}

TEST_CASE("the database is found by option, environment, and from the build tree") {
  ::unsetenv("KERNELCAST_DEVDB");
  CHECK(fs::equivalent(device::find_database(""), tree));  // this test runs in a build tree
  Copy const copy;
  CHECK(device::find_database(copy.folder.string()) == copy.folder.string());
  ::setenv("KERNELCAST_DEVDB", copy.folder.c_str(), 1);
  CHECK(device::find_database("") == copy.folder.string());
  CHECK(device::find_database(tree) == tree);
  ::setenv("KERNELCAST_DEVDB", "/nonexistent", 1);
  CHECK_THAT(error_of([] { device::find_database(""); }).text("t"), Contains("KERNELCAST_DEVDB"));
  ::unsetenv("KERNELCAST_DEVDB");
  CHECK_THAT(error_of([] { device::find_database("/nonexistent"); }).text("t"), Contains("--devdb"));
}
