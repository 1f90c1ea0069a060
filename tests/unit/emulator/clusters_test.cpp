// Groups of a cluster: who they are, their barrier, and each other's shared memory.
#include "catch.hpp"
#include "emulator/tensor_map.hpp"
#include "harness.hpp"

using namespace kernelcast::emu;
using namespace kernelcast::emu::test;

namespace {

struct ClusterBench : Bench {
  std::uint64_t out = 0;
  ClusterBench(std::string const& body, Dim3 grid, Dim3 cluster, std::uint32_t threads = 64,
               std::string const& directives = "", std::string const& parameters = "")
      : Bench(
            ".visible .entry k(.param .u64 po" + parameters + ") " + directives +
            " {\n .reg .b32 %r<24>; .reg .b64 %q<16>; .reg .pred %p, %done;\n .shared .align 128 .b8 sm[1024]; .shared "
            ".align 8 .b64 bar;\n ld.param.u64 %q0, [po]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, "
            "%ctaid.y; mov.u32 %r3, %nctaid.x; mad.lo.u32 %r3, %r2, %r3, %r1; mov.u32 %r4, %ntid.x; mad.lo.u32 %r4, "
            "%r3, %r4, %r0; mul.wide.u32 %q1, %r4, 4; add.u64 %q1, %q1, %q0;\n" +
            body + " ret;\n}\n") {
    launch.grid = grid;
    launch.cluster = cluster;
    launch.block = {threads, 1, 1};
    out = buffer("out", std::uint64_t{4} * grid.count() * threads);
  }
  std::vector<std::uint32_t> result(std::span<Observer* const> observers = {}) {
    run(observers);
    INFO((outcome.finding ? outcome.finding->message : ""));
    REQUIRE(!outcome.finding);
    return read<std::uint32_t>(out);
  }
  std::string message() {
    run();
    return outcome.finding ? outcome.finding->message : "";
  }
};

std::string const cluster_barrier = " barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";

}  // namespace

TEST_CASE("groups of a cluster have ranks, of the launch or of what the kernel requires") {
  std::string const body =
      " mov.u32 %r5, %cluster_ctarank; mov.u32 %r6, %cluster_nctarank; mov.u32 %r7, %clusterid.x; mov.u32 %r8, "
      "%clusterid.y; mov.u32 %r9, %cluster_ctaid.x; mov.u32 %r10, %cluster_ctaid.y; mov.u32 %r11, %nclusterid.x;\n"
      " shl.b32 %r6, %r6, 4; shl.b32 %r7, %r7, 8; shl.b32 %r8, %r8, 12; shl.b32 %r9, %r9, 16; shl.b32 %r10, %r10, 20; "
      "shl.b32 %r11, %r11, 24;\n or.b32 %r5, %r5, %r6; or.b32 %r5, %r5, %r7; or.b32 %r5, %r5, %r8; or.b32 %r5, %r5, "
      "%r9; "
      "or.b32 %r5, %r5, %r10; or.b32 %r5, %r5, %r11; st.global.b32 [%q1], %r5;\n";
  for (bool const by_launch : {true, false}) {
    ClusterBench bench(body, {6, 4, 1}, by_launch ? Dim3{3, 2, 1} : Dim3{}, 1,
                       by_launch ? "" : ".explicitcluster .reqnctapercluster 3, 2, 1");
    auto const result = bench.result();
    for (std::uint32_t y = 0; y < 4; ++y)
      for (std::uint32_t x = 0; x < 6; ++x)
        REQUIRE(result[y * 6 + x] ==
                (x % 3 + 3 * (y % 2) | 6u << 4 | x / 3 << 8 | y / 2 << 12 | x % 3 << 16 | y % 2 << 20 | 2u << 24));
  }
}

TEST_CASE("groups of a cluster read, write and update each other's shared memory") {
  // Each work-item stores for the next group, adds to the one after, and reads what it was given.
  std::string const body =
      " mov.u32 %r5, sm; shl.b32 %r6, %r0, 2; add.u32 %r5, %r5, %r6; mov.u32 %r7, %cluster_ctarank; mov.u32 %r8, "
      "%cluster_nctarank; add.u32 %r9, %r7, 1; rem.u32 %r9, %r9, %r8; add.u32 %r10, %r7, 2; rem.u32 %r10, %r10, %r8;\n"
      " st.shared.u32 [%r5], 1000; st.shared.u32 [%r5+512], 0;\n" +
      cluster_barrier +
      " mapa.shared::cluster.u32 %r11, %r5, %r9; mapa.shared::cluster.u32 %r12, %r5, %r10;\n mul.lo.u32 %r13, %r7, "
      "100; "
      "add.u32 %r13, %r13, %r0; st.shared::cluster.u32 [%r11+512], %r13; red.shared::cluster.add.u32 [%r12], %r7;\n" +
      cluster_barrier +
      " ld.shared.u32 %r14, [%r5+512]; ld.shared.u32 %r15, [%r5]; cvt.u64.u32 %q2, %r5; cvta.shared.u64 %q2, %q2; "
      "mapa.u64 %q3, %q2, %r9; ld.u32 %r16, [%q3]; getctarank.shared::cluster.u32 %r17, %r11;\n setp.ne.u32 %p, %r17, "
      "%r9; @%p trap;\n mad.lo.u32 %r14, %r15, 10000, %r14; add.u32 %r14, %r14, %r16; st.global.u32 [%q1], %r14;\n" +
      cluster_barrier;
  for (std::uint32_t const size : {2u, 4u, 8u}) {
    ClusterBench bench(body, {16, 1, 1}, {size, 1, 1});
    auto const result = bench.result();
    for (std::uint32_t group = 0; group < 16; ++group)
      for (std::uint32_t item = 0; item < 64; ++item) {
        std::uint32_t const rank = group % size, before = (rank + size - 1) % size, two = (rank + 2 * size - 2) % size;
        std::uint32_t const next = 1000 + ((rank + 1) % size + 2 * size - 2) % size;
        INFO("size " << size << " group " << group << " item " << item);
        REQUIRE(result[group * 64 + item] == (1000 + two) * 10000 + before * 100 + item + next);
      }
  }
}

TEST_CASE("a group arrives at an mbarrier of another group, which waits for it") {
  std::string const body =
      " mov.u32 %r5, bar; mov.u32 %r7, %cluster_ctarank; setp.ne.u32 %p, %r0, 0; @%p bra ready; "
      "mbarrier.init.shared.b64 "
      "[%r5], 2;\nready:\n" +
      cluster_barrier +
      " setp.ne.u32 %p, %r0, 0; @%p bra wait;\n mapa.shared::cluster.u32 %r6, %r5, 0; mbarrier.arrive.release.cluster."
      "shared::cluster.b64 _, [%r6];\nwait:\n setp.ne.u32 %p, %r7, 0; @%p bra done;\nagain:\n mbarrier.try_wait.parity."
      "shared::cta.b64 %done, [%r5], 0; @!%done bra again;\n st.global.u32 [%q1], 7;\ndone:\n" +
      cluster_barrier;
  ClusterBench bench(body, {4, 1, 1}, {2, 1, 1});
  auto const result = bench.result();
  for (std::uint32_t i = 0; i < result.size(); ++i) REQUIRE(result[i] == (i / 64 % 2 == 0 ? 7 : 0));
}

TEST_CASE("a tile goes to several groups of a cluster") {
  TensorMap map;
  map.element = TensorMap::Element::u32;
  map.dims[0] = 64;
  map.box[0] = 64;
  map.steps[0] = 1;
  std::string const body =
      " mov.u32 %r5, bar; mov.u32 %r7, %cluster_ctarank; setp.ne.u32 %p, %r0, 0; @%p bra ready; "
      "mbarrier.init.shared.b64 "
      "[%r5], 1; setp.eq.u32 %p, %r7, 1; @%p bra ready; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 256;\n"
      "ready:\n" +
      cluster_barrier +
      " setp.ne.u32 %p, %r0, 0; @%p bra wait; setp.ne.u32 %p, %r7, 2; @%p bra wait;\n mov.b16 %h, 13; add.u64 %q4, "
      "%q0, "
      "4096;\n cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
      "[sm], "
      "[%q4, {0}], [%r5], %h;\nwait:\n setp.eq.u32 %p, %r7, 1; @%p bra done;\nagain:\n "
      "mbarrier.try_wait.parity.shared::"
      "cta.b64 %done, [%r5], 0; @!%done bra again;\n shl.b32 %r6, %r0, 2; mov.u32 %r8, sm; add.u32 %r8, %r8, %r6; "
      "ld.shared.u32 %r9, [%r8]; st.global.u32 [%q1], %r9;\ndone:\n" +
      cluster_barrier;
  ClusterBench bench(" .reg .b16 %h;\n" + body, {4, 1, 1}, {4, 1, 1});
  std::uint64_t const data = bench.memory.add("data", 256);
  for (std::uint32_t i = 0; i < 64; ++i) {
    std::uint32_t const value = 3 * i + 1;
    std::memcpy(bench.memory.bytes(data).data() + 4 * i, &value, 4);
  }
  map.address = data;
  std::uint64_t const large = bench.memory.add("large", 8192);
  std::memcpy(bench.memory.bytes(large).data() + 4096, &map, sizeof map);
  std::memcpy(bench.launch.parameters.data(), &large, 8);
  bench.out = large;
  auto const result = bench.result();
  for (std::uint32_t i = 0; i < 256; ++i) REQUIRE(result[i] == (i / 64 == 1 ? 0 : 3 * (i % 64) + 1));
}

TEST_CASE("what is wrong in a cluster is found") {
  std::string const store = " mov.u32 %r5, sm; mapa.shared::cluster.u32 %r6, %r5, 1; st.shared::cluster.u32 [%r6+";
  CHECK_THAT(ClusterBench(store + "2048], %r0;\n", {2, 1, 1}, {2, 1, 1}).message(),
             Contains("shared store of 4 bytes"));
  CHECK_THAT(ClusterBench(store + "0], %r0;\n", {2, 1, 1}, {1, 1, 1}).message(), Contains("shared store of 4 bytes"));
  CHECK_THAT(ClusterBench(" setp.eq.u32 %p, %r0, 0; @%p bra other;\n bar.sync 1, 128;\nother:\n" + cluster_barrier,
                          {2, 1, 1}, {2, 1, 1})
                 .message(),
             Contains("wait"));
  CHECK_THROWS_WITH(ClusterBench("", {3, 1, 1}, {2, 1, 1}).message(), Contains("cannot be cut into clusters"));
  CHECK_THROWS_WITH(ClusterBench("", {32, 1, 1}, {32, 1, 1}).message(), Contains("a cluster of 32 groups"));
}

TEST_CASE("observers hear of the groups of clusters that were asked for") {
  struct Groups : Observer {
    std::vector<std::uint64_t> begun;
    void group_begin(std::uint64_t group) override { begun.push_back(group); }
    std::unique_ptr<Observer> fork() const override { return std::make_unique<Groups>(); }
    void join(Observer const& other) override {
      auto const& o = static_cast<Groups const&>(other);
      begun.insert(begun.end(), o.begun.begin(), o.begun.end());
    }
  } groups;
  ClusterBench bench(cluster_barrier + " st.global.u32 [%q1], 1;\n", {8, 1, 1}, {2, 1, 1});
  Observer* const observers[] = {&groups};
  std::uint64_t const some[] = {2, 7};
  bench.outcome = kernelcast::emu::run(*bench.program, bench.launch, bench.memory, some, observers, {}, 1);
  std::ranges::sort(groups.begun);
  CHECK(groups.begun == std::vector<std::uint64_t>{2, 7});
  auto const result = bench.read<std::uint32_t>(bench.out);
  for (std::uint32_t g = 0; g < 8; ++g) CHECK(result[g * 64] == (g / 2 == 1 || g / 2 == 3 ? 1 : 0));
}

TEST_CASE("lanes whose phase another group has completed go on, however many others of their group test in vain") {
  // Warps 0 to 7 test mbarriers 0 to 7, which are too many to wait for; warp 8 waits for 8, at an earlier place than
  // warp 9, which waits for 9. That the other group completes; then warp 9 completes all the others.
  std::string const body =
      " mov.u32 %r5, sm; shr.u32 %r6, %r0, 5; shl.b32 %r7, %r6, 3; add.u32 %r7, %r7, %r5; and.b32 %r8, %r0, 31;\n"
      " setp.ne.u32 %p, %r8, 0; @%p bra ready; mbarrier.init.shared.b64 [%r7], 1;\nready:\n" +
      cluster_barrier +
      " setp.ge.u32 %p, %r6, 8; @%p bra single;\nmany:\n mbarrier.try_wait.parity.shared.b64 %done, [%r7], 0; @!%done "
      "bra many;\n bra done;\nsingle:\n setp.ne.u32 %p, %r8, 0; @%p bra done; setp.eq.u32 %p, %r6, 9; @%p bra last;\n"
      "earlier:\n mbarrier.try_wait.parity.shared.b64 %done, [%r7], 0; @!%done bra earlier;\n bra done;\nlast:\n"
      " mov.u32 %r9, %cluster_ctarank; xor.b32 %r9, %r9, 1; mapa.shared::cluster.u32 %r10, %r7, %r9;\n"
      " mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10];\nlater:\n"
      " mbarrier.try_wait.parity.shared.b64 %done, [%r7], 0; @!%done bra later;\n mov.u32 %r11, 0;\ncomplete:\n"
      " mbarrier.arrive.shared.b64 _, [%r5]; add.u32 %r5, %r5, 8; add.u32 %r11, %r11, 1; setp.lt.u32 %p, %r11, 9; @%p "
      "bra complete;\ndone:\n st.global.u32 [%q1], 7;\n" +
      cluster_barrier;
  ClusterBench bench(body, {4, 1, 1}, {2, 1, 1}, 320);
  CHECK(bench.result() == std::vector<std::uint32_t>(4 * 320, 7));
}

TEST_CASE("a generic address of the own shared memory is taken where one of shared memory is asked for") {
  // Of a group with a rank, too: some kernels hand over pointers where PTX asks for .shared::cta.
  std::string const body =
      " mov.u64 %q2, sm; cvta.shared.u64 %q2, %q2; mul.wide.u32 %q3, %r0, 4; add.u64 %q2, %q2, %q3; add.u32 %r5, %r3, "
      "40;\n st.shared::cta.u32 [%q2], %r5; ld.shared.u32 %r6, [%q2]; st.global.u32 [%q1], %r6;\n";
  for (std::uint32_t const size : {1u, 2u}) {
    ClusterBench bench(body, {4, 1, 1}, {size, 1, 1});
    auto const result = bench.result();
    for (std::uint32_t i = 0; i < result.size(); ++i) REQUIRE(result[i] == i / 64 + 40);
  }
  std::string outside = body;
  outside.replace(outside.find("40;"), 3, "40; add.u64 %q2, %q2, 4096;");
  CHECK_THAT(ClusterBench(outside, {1, 1, 1}, {1, 1, 1}).message(), Contains("shared store of 4 bytes at offset 4096"));
}

TEST_CASE("groups of a cluster that wait for mbarriers which none completes are a deadlock") {
  std::string const wait = " setp.eq.u32 %p, %r0, 0; @%p mbarrier.init.shared::cta.b64 [bar], 1;\n" + cluster_barrier +
                           "again:\n mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], 0; @!%done bra again;\n";
  CHECK_THAT(ClusterBench(wait, {4, 1, 1}, {2, 1, 1}).message(),
             Contains("deadlock: waits for ever for phase 0 of the mbarrier at offset 1024 of shared memory"));
  // Sleeping between the tests, as libcu++'s barrier does, changes nothing.
  std::string sleeps = wait;
  sleeps.replace(sleeps.find("@!%done bra again"), 17,
                 "@%done bra over; nanosleep.u32 20; fence.acq_rel.cta; bra again");
  sleeps += "over:\n";
  for (std::uint32_t const size : {1u, 2u})
    CHECK_THAT(ClusterBench(sleeps, {4, 1, 1}, {size, 1, 1}).message(),
               Contains("deadlock: waits for ever for phase 0 of the mbarrier"));
  // One waits at the cluster's barrier for the other.
  CHECK_THAT(
      ClusterBench(" setp.eq.u32 %p, %r0, 0; @%p mbarrier.init.shared::cta.b64 [bar], 1; bar.sync 0;\n mov.u32 %r5, "
                   "%cluster_ctarank; setp.eq.u32 %p, %r5, 1; @%p bra last;\n"
                   "again:\n mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], 0; @!%done bra again;\nlast:\n" +
                       cluster_barrier,
                   {2, 1, 1}, {2, 1, 1})
          .message(),
      Contains("deadlock: waits for ever for phase 0 of the mbarrier"));
}

TEST_CASE("a group that asks for other groups' work gets none, as does its cluster") {
  std::string const body =
      " .shared .align 16 .b8 answer[16]; .reg .b128 %b;\n setp.eq.u32 %p, %r0, 0; mov.u32 %r5, 0xffffffff;\n"
      " @%p mbarrier.init.shared::cta.b64 [bar], 1; @%p st.shared.v4.b32 [answer], {%r5, %r5, %r5, %r5};\n"
      " @%p mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;\n" +
      cluster_barrier +
      " mov.u32 %r6, %cluster_ctarank; add.u32 %r6, %r6, %r0; setp.eq.u32 %p, %r6, 0;\n"
      " @%p "
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 "
      "[answer], [bar];\nagain:\n mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], 0; @!%done bra again;\n"
      " ld.shared.b128 %b, [answer]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p, %b;\n"
      " selp.u32 %r5, 1, 2, %p; clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r7, %r8, %r9, _}, %b;\n"
      " clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r10, %b;\n"
      " or.b32 %r5, %r5, %r7; or.b32 %r5, %r5, %r8; or.b32 %r5, %r5, %r9; or.b32 %r5, %r5, %r10; st.global.b32 [%q1], "
      "%r5;\n";
  for (Dim3 const cluster : {Dim3{1, 1, 1}, Dim3{2, 1, 1}, Dim3{2, 2, 1}}) {
    ClusterBench bench(body, {4, 2, 1}, cluster);
    CHECK(bench.result() == std::vector<std::uint32_t>(8 * 64, 2));
  }
}

// Kernels of pairs: with the lowest bit of its rank cleared a variable's address is that of the even group's.
TEST_CASE("a pair of groups reaches the memory of its first one by clearing a bit of the address") {
  std::string const stores =
      " setp.eq.u32 %p, %r0, 99; @%p tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\n"
      " setp.eq.u32 %p, %r0, 0; mov.u32 %r5, %cluster_ctarank; mov.u32 %r6, sm; and.b32 %r7, %r6, 0xfeffffff;\n"
      " and.b32 %r8, %r5, 1; mad.lo.u32 %r7, %r8, 4, %r7; add.u32 %r9, %r5, 100;\n" +
      cluster_barrier + " @%p st.shared::cluster.b32 [%r7], %r9;\n" + cluster_barrier;
  std::string const loads =
      " and.b32 %r10, %r0, 1; mad.lo.u32 %r10, %r10, 4, %r6; ld.shared.b32 %r11, [%r10]; st.global.b32 [%q1], %r11;\n";
  ClusterBench bench(stores + loads, {8, 1, 1}, {4, 1, 1}, 2);
  auto const result = bench.result();
  for (std::uint32_t group = 0; group < 8; ++group)
    for (std::uint32_t item = 0; item < 2; ++item)
      CHECK(result[2 * group + item] == (group % 2 ? 0 : 100 + group % 4 + item));
  // Its own memory by name, by its generic address, by mapa; and alone, where there is no other group.
  std::string const own =
      " setp.eq.u32 %p, %r0, 99; @%p tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;\n"
      " mov.u32 %r5, %cluster_ctarank; mov.u64 %q2, sm; cvta.shared.u64 %q2, %q2; mov.u32 %r6, sm; "
      "mapa.shared::cluster.u32 "
      "%r7, %r6, %r5; getctarank.shared::cluster.u32 %r8, %r6; setp.ne.u32 %p, %r8, %r5;\n"
      " st.shared.b32 [sm], 7; ld.b32 %r9, [%q2]; st.shared.b32 [sm+4], %r9; ld.shared::cluster.b32 %r10, [%r7+4];\n"
      " selp.u32 %r11, 1000, 0, %p; add.u32 %r10, %r10, %r11; st.global.b32 [%q1], %r10;\n";
  for (std::uint32_t const size : {1u, 2u}) {
    ClusterBench alone(own, {2, 1, 1}, {size, 1, 1}, 1);
    CHECK(alone.result() == std::vector<std::uint32_t>{7, 7});
  }
}

TEST_CASE("a tile for a pair of groups completes bytes of the mbarrier of that group which the address names") {
  for (std::uint32_t const named : {0u, 1u}) {
    INFO("the barrier of rank " << named);
    TensorMap map;
    map.element = TensorMap::Element::u32;
    map.dims[0] = 32;
    map.box[0] = 32;
    map.steps[0] = 1;
    std::string const body =
        " setp.eq.u32 %p, %r0, 0; @%p mbarrier.init.shared::cta.b64 [bar], 1;\n ld.param.u64 %q3, [pm];\n"
        " mov.u32 %r5, %cluster_ctarank; mov.u32 %r6, sm; mov.u32 %r7, bar; " +
        std::string(named == 0 ? "and.b32 %r8, %r7, 0xfeffffff;\n" : "or.b32 %r8, %r7, 0x1000000;\n") +
        cluster_barrier + " setp.eq.u32 %done, %r5, " + std::to_string(named) +
        "; and.pred %done, %done, %p; @%done mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;\n" +
        cluster_barrier +
        " add.u32 %r9, %r5, %r0; setp.eq.u32 %p, %r9, 0; mov.b16 %h0, 3;\n @%p cp.async.bulk.tensor.1d.cta_group::2."
        "shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r6], [%q3, {0}], [%r8], %h0;\n"
        " setp.ne.u32 %p, %r5, " +
        std::to_string(named) +
        "; @%p bra over;\nagain:\n mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], 0; @!%done bra "
        "again;\nover:\n" +
        cluster_barrier + " mad.lo.u32 %r9, %r0, 4, %r6; ld.shared.b32 %r9, [%r9]; st.global.b32 [%q1], %r9;\n";
    ClusterBench bench(" .reg .b16 %h0;\n" + body, {2, 1, 1}, {2, 1, 1}, 32, "", ", .param .u64 pm");
    std::vector<std::uint32_t> values(32);
    for (std::uint32_t i = 0; i < 32; ++i) values[i] = 1000 + i;
    map.address = bench.memory.add("tensor", 128);
    std::ranges::copy(std::as_bytes(std::span(values)), bench.memory.bytes(map.address).begin());
    std::vector<std::uint8_t> bytes(sizeof map);
    std::memcpy(bytes.data(), &map, sizeof map);
    bench.buffer("map", bytes);
    auto const result = bench.result();
    for (std::uint32_t i = 0; i < 64; ++i) CHECK(result[i] == 1000 + i % 32);
  }
}

TEST_CASE("st.async and red.async reach the shared memory of another group, whose mbarrier hears of the bytes") {
  // Each group sends to the next one of its cluster: words 4 t and 4 t + 1 of work-item t, and adds 3 to word 1000 %
  // 256.
  std::string const body =
      " setp.ne.u32 %p, %r0, 0; @%p bra ready; mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 "
      "_, [bar], "
      "640; mov.u32 %r5, 7; st.shared.b32 [sm+1020], %r5;\nready:\n" +
      cluster_barrier +
      " mov.u32 %r5, %cluster_ctarank; mov.u32 %r6, %cluster_nctarank; add.u32 %r5, %r5, 1; rem.u32 %r5, %r5, %r6;\n"
      " mov.u32 %r6, sm; mapa.shared::cluster.u32 %r7, %r6, %r5; mov.u32 %r6, bar; mapa.shared::cluster.u32 %r8, %r6, "
      "%r5;\n"
      " shl.b32 %r9, %r0, 3; add.u32 %r9, %r9, %r7; mul.lo.u32 %r10, %r4, 3; add.u32 %r11, %r10, 1;\n"
      " st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r9], {%r10, %r11}, [%r8];\n"
      " setp.gt.u32 %p, %r0, 31; @%p bra wait;\n mov.u32 %r12, 3;\n"
      " red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r7+1020], %r12, "
      "[%r8];\nwait:\n"
      " mbarrier.try_wait.parity.shared.b64 %done, [bar], 0; @!%done bra wait;\n"
      " shl.b32 %r13, %r0, 3; mov.u32 %r14, sm; add.u32 %r13, %r13, %r14; ld.shared.v2.b32 {%r15, %r16}, [%r13]; "
      "add.u32 %r15, "
      "%r15, %r16; ld.shared.b32 %r17, [sm+1020]; shl.b32 %r17, %r17, 20; add.u32 %r15, %r15, %r17; st.global.b32 "
      "[%q1], "
      "%r15;\n" +
      cluster_barrier;
  ClusterBench bench(body, {8, 1, 1}, {4, 1, 1});
  auto const result = bench.result();
  for (std::uint32_t group = 0; group < 8; ++group)
    for (std::uint32_t t = 0; t < 64; ++t) {
      std::uint32_t const sender = group / 4 * 4 + (group + 3) % 4, item = 64 * sender + t;
      REQUIRE(result[64 * group + t] == 6 * item + 1 + ((7 + 32 * 3) << 20));
    }
}

TEST_CASE("a request to cancel a launch is answered in every group of the cluster: nothing was cancelled") {
  for (bool const to_all : {false, true}) {
    std::string const expected = to_all ? "32" : "16";
    std::string const body =
        " setp.ne.u32 %p, %r0, 0; @%p bra ready; mbarrier.init.shared.b64 [bar], 1; "
        "mbarrier.arrive.expect_tx.shared.b64 _, "
        "[bar], " +
        expected + "; mov.u32 %r5, 0xffffffff; st.shared.v4.b32 [sm], {%r5, %r5, %r5, %r5};\nready:\n" +
        cluster_barrier +
        " @%p bra wait;\n clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes" +
        (to_all ? ".multicast::cluster::all" : "") +
        ".b128 [sm], [bar];\nwait:\n mbarrier.try_wait.parity.shared.b64 %done, [bar], 0; @!%done bra wait;\n"
        " .reg .b128 %answer; .reg .pred %cancelled; ld.shared.b128 %answer, [sm];\n"
        " clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %cancelled, %answer;\n"
        " mov.u32 %r6, 5; @%cancelled mov.u32 %r6, 6;\n"
        " clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r7, %r8, %r9, _}, %answer;\n"
        " clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r10, %answer;\n"
        " ld.shared.v4.b32 {%r11, %r12, %r13, %r14}, [sm]; or.b32 %r11, %r11, %r12; or.b32 %r11, %r11, %r13; or.b32 "
        "%r11, %r11, "
        "%r14; add.u32 %r6, %r6, %r11; add.u32 %r6, %r6, %r10; st.global.b32 [%q1], %r6;\n" +
        cluster_barrier;
    ClusterBench bench(body, {4, 1, 1}, {2, 1, 1});
    for (std::uint32_t const value : bench.result()) REQUIRE(value == 5);
  }
}

TEST_CASE("a pair of groups allocates tensor memory together, whichever of them asks first") {
  std::string const alloc = "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [sm], ",
                    free = "tcgen05.dealloc.cta_group::2.sync.aligned.b32 ";
  auto const body = [&](std::string const& second, std::string const& released) {
    return " mov.u32 %r5, %cluster_ctarank; setp.eq.u32 %p, %r5, 0; mov.u32 %r10, " + second + ";\n @%p bra first;\n" +
           cluster_barrier + "first:\n " + alloc + "64;\n ld.shared.u32 %r6, [sm]; " + alloc +
           "%r10;\n ld.shared.u32 %r7, [sm];\n setp.ne.u32 %p, %r5, 0; @%p bra last;\n" + cluster_barrier + "last:\n" +
           cluster_barrier + free + "%r6, 64; " + free + "%r7, " + released + ";\n" + cluster_barrier +
           " mad.lo.u32 %r6, %r6, 1000, %r7; st.global.b32 [%q1], %r6;\n";
  };
  ClusterBench bench(body("128", "128"), {4, 1, 1}, {2, 1, 1}, 32);
  CHECK(bench.result() == std::vector<std::uint32_t>(4 * 32, 64));
  CHECK_THAT(ClusterBench(body("%r5; add.u32 %r10, %r10, 1; shl.b32 %r10, %r10, 6", "%r10"), {2, 1, 1}, {2, 1, 1}, 32)
                 .message(),
             Contains("another number of columns of tensor memory than the other group of its pair"));
  CHECK_THAT(ClusterBench(" mov.u32 %r5, %cluster_ctarank; setp.eq.u32 %p, %r5, 1; @%p bra over;\n " + alloc +
                              "32;\n ld.shared.u32 %r6, [sm]; " + free + "%r6, 32;\nover:\n" + cluster_barrier,
                          {2, 1, 1}, {2, 1, 1}, 32)
                 .message(),
             Contains("the group ends with 32 columns of tensor memory that it has not freed"));
  CHECK_THAT(ClusterBench(" " + alloc + "32;\n", {3, 1, 1}, {3, 1, 1}, 32).message(),
             Contains("needs a cluster with an even number of groups"));
}
