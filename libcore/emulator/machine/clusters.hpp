// Clusters of several groups: they run together and reach each other's shared memory. Internal to emu.
//
// Problem: groups of a cluster wait for each other, at barriers of the cluster and for mbarriers that another one
// completes.
// Method: each group of a cluster has a machine of its own; they take turns on one thread, in the order of their ranks,
// until all are through. Clusters run one after the other. A barrier of the cluster opens when every group of it waits
// there or has ended.
// An address in another group's shared memory has the group's rank, plus one, in bits 24 to 31: outside all windows of
// accesses, so that the slow path finds the group (access_slow.cpp).
// Limits: arriving at the barrier counts when the group waits. A cluster that waits for a later one never ends.
// Observers hear nothing of accesses to another group's shared memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emulator/machine/machine.hpp"

namespace kernelcast::emu {

class Clusters {
 public:
  Clusters(Program const&, Launch const&, Memory&, std::span<Observer* const>, Budget&, Dim3 size);
  // All clusters that the groups belong to, in ascending order; observers hear of these groups only. Throws Fault,
  // Stop.
  void run(std::span<std::uint64_t const> groups);
  void join();  // what groups did goes to the observers; once, after run(), also when it threw
  std::string take_printed();
  std::uint64_t warp_instructions() const;

 private:
  struct Member {
    std::vector<std::unique_ptr<Observer>> forks;
    std::vector<Observer*> observers;
    std::unique_ptr<Machine> observed, silent;  // made when first needed
    std::string printed;
  };
  Machine& machine_of(std::uint32_t rank, bool observed);
  std::uint64_t group_of(std::uint64_t cluster, std::uint32_t rank) const;
  std::uint64_t cluster_of_group(std::uint64_t group) const;
  void run_cluster(std::uint64_t cluster, std::span<std::uint64_t const> observed);

  Program const& program_;
  Launch const& launch_;
  Memory& memory_;
  std::span<Observer* const> observers_;
  Budget& budget_;
  Machine::Cluster cluster_;
  std::vector<Member> members_;
  std::string printed_;
};

}  // namespace kernelcast::emu
