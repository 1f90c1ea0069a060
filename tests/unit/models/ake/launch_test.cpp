// Reading traces: what is kept, whatever the order of the groups, and what is refused, with its place.
#include <sstream>

#include "catch.hpp"
#include "error_of.hpp"
#include "models/ake/projection.hpp"
#include "records/table/table.hpp"

using namespace kernelcast;
using namespace kernelcast::model::ake;

namespace {

std::string const header =
    "kind,kernel,case,block,groups_total,registers_ptx,registers_sm75,vgprs_gfx6,vgprs_gfx90a,vgprs_gfx1030,gprs_"
    "cypress,"
    "shared_bytes,pc,class,dst,src,space,bytes_per_lane,group,warp,seq,mask,addresses,width,opcode,source,line\n";
std::string const head = "launch,k,c,64,8,,,,,,,,,,,,,,,,,,,32,,,\n";
std::string const instructions =
    "inst,k,,0,,,,,,,,,0,memory,1,,global,4,,,,,,,ld.global.f32,k.cl,1\n"
    "inst,k,,0,,,,,,,,,1,fp32,2,1,,,,,,,,,add.f32,k.cl,1\n"
    "inst,k,,1,,,,,,,,,2,control,,,,,,,,,,,ret,k.cl,1\n";

std::string execution(unsigned group, unsigned warp, unsigned seq, unsigned block, std::string const& addresses = "") {
  std::ostringstream out;
  out << "exec,,," << block << ",,,,,,,,,,,,,,," << group << "," << warp << "," << seq << ",ffffffff," << addresses
      << ",,,,\n";
  return out.str();
}

std::string group(unsigned number) {
  std::string out;
  for (unsigned warp = 0; warp < 2; ++warp)
    out += execution(number, warp, 0, 0, std::to_string(4096 * number + 128 * warp) + "+4");
  for (unsigned warp = 0; warp < 2; ++warp) out += execution(number, warp, 1, 1);
  return out;
}

std::vector<Launch> launches(std::string const& text, std::size_t keep) {
  std::istringstream in(text);
  csv::Reader csv(in, "t.csv");
  record::TraceStream rows(csv);
  LaunchReader reader(rows, [&](record::Trace const&) { return keep; });
  std::vector<Launch> out;
  for (Launch l; reader.next(l);) {
    CHECK(l.kernel->blocks.size() == 2);
    l.kernel = nullptr;  // lives as long as the reader
    out.push_back(std::move(l));
  }
  return out;
}

// The error's text; empty when there is none.
std::string refusal(std::string const& body) {
  auto const error = error_of([&] { launches(header + body, 4); });
  if (error.status() == Status::done) return {};
  CHECK(error.status() == Status::bad_data);
  return error.text("akemu");
}

}  // namespace

TEST_CASE("the groups of the lowest numbers are kept, in whatever order they come") {
  auto const forwards = launches(header + head + instructions + group(0) + group(1) + group(2) + group(3), 2);
  auto const backwards = launches(header + head + instructions + group(3) + group(1) + group(0) + group(2), 2);
  for (auto const* const l : {&forwards, &backwards}) {
    REQUIRE(l->size() == 1);
    REQUIRE((*l)[0].groups.size() == 2);
    CHECK((*l)[0].groups[0].number == 0);
    CHECK((*l)[0].groups[1].number == 1);
    CHECK((*l)[0].groups[1].warps[1].rows.size() == 2);
    REQUIRE((*l)[0].groups[1].warps[1].parts.size() == 1);
    CHECK((*l)[0].groups[1].warps[1].parts[0].first == 4096 + 128);
  }
}

TEST_CASE("a block of more than 65536 memory instructions") {
  std::size_t const count = 65537;
  std::string rows = "inst,k,,1,,,,,,,,,0,control,,,,,,,,,,,ret,k.cl,1\n", addresses = "0+4";
  for (std::size_t i = 0; i < count; ++i) rows += "inst,k,,0,,,,,,,,,1,memory,,1,global,4,,,,,,,st.global.f32,k.cl,1\n";
  for (std::size_t i = 1; i < count; ++i) addresses += ";";
  addresses += "128+4";
  auto const read = launches(header + "launch,k,c,32,1,,,,,,,,,,,,,,,,,,,32,,,\n" + rows +
                                 execution(0, 0, 0, 0, addresses) + execution(0, 0, 1, 1),
                             1);
  auto const& parts = read.at(0).groups.at(0).warps.at(0).parts;
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].item == 0);
  CHECK(parts[1].item == count - 1);
}

TEST_CASE("two launches") {
  auto const both = launches(header + head + instructions + group(0) + head + group(5), 2);
  REQUIRE(both.size() == 2);
  CHECK(both[0].groups[0].number == 0);
  CHECK(both[1].groups[0].number == 5);
}

TEST_CASE("a trace needs no opcodes, sources and width") {
  // The columns up to `addresses`: the last four and their contents cut off.
  std::istringstream whole(header + head + instructions + group(0));
  std::string text;
  for (std::string line; std::getline(whole, line);) {
    std::size_t end = line.size();
    for (int commas = 0; commas < 4; ++commas) end = line.rfind(',', end - 1);
    text += line.substr(0, end) + '\n';
  }
  std::istringstream in(text);
  csv::Reader csv(in, "t.csv");
  record::TraceStream rows(csv);
  LaunchReader reader(rows, [](record::Trace const&) { return 1; });
  Launch launch;
  REQUIRE(reader.next(launch));
  CHECK(launch.width() == 32);
  CHECK(launch.groups.at(0).warps.size() == 2);
  CHECK(launch.kernel->blocks.at(0).at(0).type.kind == Kind::load);
}

TEST_CASE("what is wrong with a trace is said with its place") {
  CHECK(refusal(head + instructions + group(0)).empty());
  auto const starts = [](std::string const& text, std::string const& with) {
    INFO(text);
    CHECK(text.rfind(with, 0) == 0);
  };
  std::string const bad_class = "inst,k,,0,,,,,,,,,0,fp33,1,,,,,,,,,,add.f32,k.cl,1\n";
  starts(refusal(head + bad_class), "t.csv:3:21: error: column 'class': unknown class 'fp33'");
  CHECK_THAT(refusal(head + bad_class), Contains("did you mean 'fp32'?") || Contains("did you mean 'fp32' or"));
  starts(refusal(head + "inst,k,,0,,,,,,,,,0,memory,1,,globl,4,,,,,,,ld.f32,k.cl,1\n"),
         "t.csv:3:31: error: column 'space': unknown space 'globl'");
  starts(refusal("launch,k,c,64,18446744073709551615,,,,,,,,,,,,,,,,,,,32,,,\n"),
         "t.csv:2:15: error: column 'groups_total': more groups than can be run");
  starts(refusal("exek,,,0,,,,,,,,,,,,,,,0,0,0,1,,,,,\n"), "t.csv:2:1: error: column 'kind': unknown kind 'exek'");
  starts(refusal(execution(0, 0, 0, 0)), "t.csv:2:1: error: column 'kind': an exec row before any launch row");
  starts(refusal(head + instructions + execution(0, 0, 0, 7)),
         "t.csv:6:8: error: column 'block': kernel 'k' has no block 7");
  starts(refusal(head + instructions + execution(8, 0, 0, 0)),
         "t.csv:6:24: error: column 'group': the launch has 8 groups");
  starts(refusal(head + instructions + execution(0, 2, 0, 0)),
         "t.csv:6:26: error: column 'warp': a group of 64 work-items has 2");
  starts(refusal(head + instructions + execution(0, 0, 1, 0)),
         "t.csv:6:28: error: column 'seq': expected 0 for wavefront 0");
  starts(refusal(head + instructions + execution(0, 0, 0, 0, "12+")), "t.csv:6:39: error: column 'addresses'");
  starts(refusal(head + instructions + execution(0, 0, 0, 0, "1+4;2+4")),
         "t.csv:6:39: error: column 'addresses': 2 items");
  starts(refusal(head + instructions + "exec,,,0,,,,,,,,,,,,,,,0,0,x,1,,,,,\n"),
         "t.csv:6:28: error: column 'seq': expected an integer");
  // Cut after a whole row, and in the middle of one.
  CHECK_THAT(refusal(head + instructions + execution(0, 0, 0, 0) + execution(0, 1, 0, 0)),
             Contains("the trace ends in the middle: wavefront 0 of group 0 does not come to its end"));
  CHECK_THAT(refusal(head + instructions + execution(0, 0, 0, 0) + execution(0, 0, 1, 1)),
             Contains("wavefront 1 of group 0 is missing"));
  CHECK_THAT(refusal(head + instructions), Contains("no group of kernel 'k' was executed"));
  auto const whole = execution(0, 0, 0, 0);
  CHECK_THAT(refusal(head + instructions + whole.substr(0, 20)), Contains("fields where the header has 27"));
}

TEST_CASE("another kernel of the same name has instructions of its own, behind its launch") {
  std::string const other =
      "inst,k,,0,,,,,,,,,0,int_add,1,,,,,,,,,,add.s32,k.cl,1\n"
      "inst,k,,1,,,,,,,,,1,control,,,,,,,,,,,ret,k.cl,1\n";
  std::string const rows =
      execution(0, 0, 0, 0) + execution(0, 1, 0, 0) + execution(0, 0, 1, 1) + execution(0, 1, 1, 1);
  std::istringstream in(header + head + instructions + group(0) + head + other + rows + head + instructions + group(0));
  csv::Reader csv(in, "t.csv");
  record::TraceStream stream(csv);
  LaunchReader reader(stream, [](record::Trace const&) { return std::size_t{1}; });
  std::vector<std::size_t> sizes;
  for (Launch l; reader.next(l);) sizes.push_back(l.kernel->blocks.at(0).size());
  CHECK(sizes == std::vector<std::size_t>{2, 1, 2});
  CHECK(
      refusal(head + instructions + execution(0, 0, 0, 0, "4096+4") + other).find("come again between its exec rows") !=
      std::string::npos);
}

TEST_CASE("what items say besides addresses: mbarriers, barriers, products") {
  std::string const code =
      "inst,k,,0,,,,,,,,,0,sync,,1,shared,,,,,,,,mbarrier.arrive.shared.b64,k.cl,1\n"
      "inst,k,,0,,,,,,,,,1,memory,,1,shared,16,,,,,,,cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes,"
      "k.cl,1\n"
      "inst,k,,0,,,,,,,,,2,sync,1,1,shared,,,,,,,,mbarrier.try_wait.parity.shared.b64,k.cl,1\n"
      "inst,k,,0,,,,,,,,,3,sync,,1,barrier,,,,,,,,bar.sync,k.cl,1\n"
      "inst,k,,0,,,,,,,,,4,special,,1,product,,,,,,,,tcgen05.mma.cta_group::1.kind::f16,k.cl,1\n"
      "inst,k,,1,,,,,,,,,5,control,,,,,,,,,,,ret,k.cl,1\n";
  std::string const copy = "ffffffff@g0+16|ffffffff@0+16|1@72+0";
  // Wavefront 1 arrives at 64, copies for 72; wavefront 0 then tests both, in two rows.
  std::string const body = execution(0, 1, 0, 0, "1@64+0;" + copy + ";;" + std::to_string(3 + 16 * 64) + "+0") +
                           execution(0, 0, 0, 0, "1@72+0;;72+0") + execution(0, 0, 1, 0, ";;64+0;;1@1048576+0") +
                           execution(0, 0, 2, 1) + execution(0, 1, 1, 1);
  auto const groups = launches(header + head + code + body, 1).at(0).groups;
  auto const& first = groups.at(0).warps.at(0).events;
  auto const& second = groups[0].warps.at(1).events;
  REQUIRE(second.size() == 3);
  CHECK((second[0].item == 0 && second[0].event.object == 0 && second[0].event.count == 1));
  CHECK((second[1].item == 1 && second[1].event.object == 1 && second[1].event.count == 1));
  CHECK((second[2].item == 3 && second[2].event.object == 3 && second[2].event.count == 2));
  REQUIRE(first.size() == 4);
  CHECK((first[0].row == 0 && first[0].event.object == 1 && first[0].event.count == 2));
  CHECK((first[1].row == 0 && first[1].event.object == 1 && first[1].event.count == 2));  // its own, and the copy
  CHECK((first[2].row == 1 && first[2].event.object == 0 && first[2].event.count == 1));
  CHECK((first[3].row == 1 && first[3].event.count == 1048576));
  CHECK(refusal(head + "inst,k,,0,,,,,,,,,0,shift,,1,,,,,,,,,cp.async.bulk.shared::cluster.global,k.cl,1\n")
            .find("is an access to memory, of class shift") != std::string::npos);
  // The lanes of a copy engine may be any of the wavefront, those of others may not.
  CHECK(refusal(head + code + execution(0, 0, 0, 0, "3ffffffff@64+0")).find("lanes that do not execute") !=
        std::string::npos);
  CHECK(refusal(head + code + execution(0, 0, 0, 0, ";1ffffffff@64+0")).find("lanes that do not execute") !=
        std::string::npos);
  CHECK(refusal(head + code + execution(0, 0, 0, 0, ";;;;1@99999999+0")).find("a product of 99999999 operations") !=
        std::string::npos);
}
