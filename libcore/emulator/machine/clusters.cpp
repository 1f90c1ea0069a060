#include "emulator/machine/clusters.hpp"

#include <algorithm>

#include "base/diag/diag.hpp"
#include "emulator/cluster.hpp"

namespace kernelcast::emu {

namespace {

std::string text_of(Dim3 const& d) {
  return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " + std::to_string(d.z);
}

constexpr std::uint64_t max_groups = 16;       // what devices have at most
constexpr unsigned max_idle_rounds = 1 << 12;  // in which no group did more than wait, before they are stuck

}  // namespace

Dim3 cluster_of(Program const& program, Launch const& launch) {
  Dim3 size = launch.cluster;
  auto const& directives = program.kernel().directives;
  if (auto const required = directives.find("reqnctapercluster"); size.count() == 1 && required != directives.end()) {
    auto const at = [&](std::size_t i) {
      return i < required->second.size()
                 ? static_cast<std::uint32_t>(std::min<std::uint64_t>(required->second[i], 1024))
                 : 1;
    };
    size = {at(0), at(1), at(2)};
  }
  Dim3 const& grid = launch.grid;
  std::string const kernel = "kernel '" + std::string(program.kernel().name) + "'";
  if (size.count() == 0 || std::max({size.x, size.y, size.z}) > max_groups || size.count() > max_groups)
    throw Error(Status::usage, kernel + ": a cluster of " + std::to_string(size.count()) + " groups",
                "clusters have 1 to 16 groups");
  if (grid.x % size.x != 0 || grid.y % size.y != 0 || grid.z % size.z != 0)
    throw Error(Status::usage,
                kernel + ": a grid of " + text_of(grid) + " groups cannot be cut into clusters of " + text_of(size),
                "each dimension of the grid must be a multiple of the cluster's");
  return size;
}

bool runs_together(Program const& program, Launch const& launch) {
  if (launch.cooperative || launch.cluster.count() > 1) return true;
  auto const& directives = program.kernel().directives;
  auto const required = directives.find("reqnctapercluster");
  return required != directives.end() && std::ranges::any_of(required->second, [](auto n) { return n > 1; });
}

Clusters::Clusters(Program const& program, Launch const& launch, Memory& memory, std::span<Observer* const> observers,
                   Budget& budget, Dim3 size)
    : program_(program), launch_(launch), memory_(memory), observers_(observers), budget_(budget) {
  cluster_.size = size;
  cluster_.members.resize(size.count());
  members_.resize(size.count());
}

std::uint64_t Clusters::group_of(std::uint64_t cluster, std::uint32_t rank) const {
  Dim3 const &grid = launch_.grid, &size = cluster_.size;
  std::uint64_t const across = grid.x / size.x, down = grid.y / size.y;
  std::uint64_t const x = cluster % across * size.x + rank % size.x;
  std::uint64_t const y = cluster / across % down * size.y + rank / size.x % size.y;
  std::uint64_t const z = cluster / across / down * size.z + rank / size.x / size.y;
  return (z * grid.y + y) * grid.x + x;
}

std::uint64_t Clusters::cluster_of_group(std::uint64_t group) const {
  Dim3 const &grid = launch_.grid, &size = cluster_.size;
  std::uint64_t const x = group % grid.x / size.x, y = group / grid.x % grid.y / size.y,
                      z = group / grid.x / grid.y / size.z;
  return (z * (grid.y / size.y) + y) * (grid.x / size.x) + x;
}

Machine& Clusters::machine_of(std::uint32_t rank, bool observed) {
  Member& member = members_[rank];
  std::unique_ptr<Machine>& machine = observed ? member.observed : member.silent;
  if (machine) return *machine;
  if (observed)
    for (Observer const* o : observers_) member.observers.push_back(member.forks.emplace_back(o->fork()).get());
  std::span<Observer* const> const observers =
      observed ? std::span<Observer* const>(member.observers) : std::span<Observer* const>();
  machine = std::make_unique<Machine>(program_, launch_, memory_, observers, budget_, false);
  machine->join(cluster_, rank);
  return *machine;
}

void Clusters::run(std::span<std::uint64_t const> groups) {
  std::vector<std::uint64_t> clusters;
  for (std::uint64_t const group : groups) clusters.push_back(cluster_of_group(group));
  std::ranges::sort(clusters);
  clusters.erase(std::unique(clusters.begin(), clusters.end()), clusters.end());
  std::vector<std::uint64_t> observed(groups.begin(), groups.end());
  std::ranges::sort(observed);
  for (std::uint64_t const cluster : clusters) run_cluster(cluster, observed);
}

void Clusters::run_cluster(std::uint64_t cluster, std::span<std::uint64_t const> observed) {
  std::size_t const count = members_.size();
  std::vector<std::uint64_t> groups;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    groups.push_back(group_of(cluster, rank));
    cluster_.members[rank] = &machine_of(rank, std::ranges::binary_search(observed, groups[rank]));
  }
  // All begin before any runs: a group may write into the shared memory of one whose turn is still to come.
  for (std::size_t rank = 0; rank < count; ++rank)
    cluster_.members[rank]->begin(std::span(groups).subspan(rank, 1), TurnLength::short_turns);
  std::vector<bool> done(count);
  unsigned idle_rounds = 0;
  for (bool going = true; going;) {
    going = false;
    bool all_wait = true, all_idle = true;
    for (std::size_t rank = 0; rank < count; ++rank) {
      if (done[rank]) continue;
      Machine& machine = *cluster_.members[rank];
      done[rank] = machine.turn();
      members_[rank].printed += machine.take_printed();
      all_idle = all_idle && !done[rank] && (machine.waits_for_cluster() || machine.idle() || machine.only_waited());
      if (done[rank]) continue;
      going = true;
      all_wait = all_wait && machine.waits_for_cluster();
    }
    idle_rounds = all_idle && !all_wait ? idle_rounds + 1 : 0;
    if (idle_rounds > 0)
      for (std::size_t rank = 0; rank < count; ++rank)
        if (!done[rank]) cluster_.members[rank]->test_again(idle_rounds == max_idle_rounds);
    if (going && all_wait)
      for (std::size_t rank = 0; rank < count; ++rank)
        if (!done[rank]) cluster_.members[rank]->open_cluster();
  }
  // Shared memory lasts until all have ended.
  for (Machine* machine : cluster_.members) machine->end();
  for (Member& member : members_) printed_ += std::exchange(member.printed, {});
}

void Clusters::join() {
  for (Member const& member : members_)
    for (std::size_t i = 0; i < member.forks.size(); ++i) observers_[i]->join(*member.forks[i]);
}

std::string Clusters::take_printed() {
  for (Member& member : members_) printed_ += std::exchange(member.printed, {});
  return std::exchange(printed_, {});
}

std::uint64_t Clusters::warp_instructions() const {
  std::uint64_t sum = 0;
  for (Member const& member : members_)
    for (Machine const* machine : {member.observed.get(), member.silent.get()})
      if (machine) sum += machine->warp_instructions();
  return sum;
}

}  // namespace kernelcast::emu
