// The device database and the occupancy rules.
//
// Problem: models need facts about devices, and how many work-groups of a kernel a compute unit holds.
// Method: the facts are CSV (devdb/, see devdb/README.md), read once into memory; what was measured of a device
// (devdb/curves, rows as devprobe writes them) becomes the curves that models read; the occupancy is computed by the
// allocation rules of each architecture, whose limits are rows of devdb/occupancy.csv.
// Limits: AMD scalar registers do not bound the occupancy here (the `kernel` record does not have them); RDNA is taken
// in compute-unit mode, wavefronts of 32; clusters of compute capability 9.0 are not modelled; compute capability 2.x
// and later is taken at the shared-memory configuration that allows the most groups.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diag/diag.hpp"
#include "records/device.hpp"
#include "records/device/intervals.hpp"
#include "records/kernel.hpp"
#include "records/queue_constants.hpp"

namespace kernelcast::device {

// A measured bandwidth over occupancy: points in order of occupancy, each above 0. Words of 4 bytes, or of 8 bytes of a
// device for which no others were measured: `word_bytes`.
struct Curve {
  std::vector<double> occupancy, bandwidth_bytes_per_s;
  std::string source;
  std::vector<std::string> backend = {};  // of each point: the back end that measured it
  std::uint64_t word_bytes = 4;

  bool empty() const { return occupancy.empty(); }
  // Linear between points, through the origin below the first, constant above the last. Bytes per second.
  double at(double occupancy) const;
};

// One device with all that the database has about it.
struct Device : record::Device {
  std::vector<record::PipeRule> pipes;  // of its architecture; empty where they are not known
  // What the queue's constants are on its architecture, where they are not those of all.
  std::vector<std::pair<double record::QueueConstants::*, double>> constants;
  std::vector<record::LibraryRule> libraries;  // that hold on its architecture
  std::vector<record::MatrixRule> matrix;      // one for each kind of product that it has
  bool knows_matrix = false;                   // the database has such facts: what is not among them, it lacks
  record::OccupancyRule rule;  // limits of its architecture, with the device's own limits put in where they differ
  Curve global_read, global_write, global_copy, global_triad, shared_read, shared_write;  // coalesced
  std::optional<double> measured_fp32_flop_per_s;  // the highest of all mixes of operations
  std::optional<double> launch_delay_s;            // the shortest of all back ends
  std::optional<double> launch_s;                  // of an empty kernel as the host sees it; the shortest
  // That, else what its architecture has (constants.csv), else `otherwise`.
  double host_launch_s(double otherwise) const;
  // Between launches of next to nothing that nothing waits for: that of the smallest working set.
  std::optional<double> queued_launch_s;
  double queued_set_bytes = 0;
  // The highest that was measured of shared memory in each direction, doubtful or not.
  double highest_shared_read_bytes_per_s = 0, highest_shared_write_bytes_per_s = 0;
  Residuals residuals;  // how wrong projections onto it may be
  // The device that it is described by, if it is; the part of its memory that it has; and whether it counts where no
  // device is named: siblings.hpp.
  std::string like;
  double share = 1;
  bool listed = true;

  // The kind of product (column matrix_flop of kernels); null: it does not have it, or nothing is known.
  record::MatrixRule const* matrix_rule(std::string_view kind) const;
  // Of the fastest instruction for dense products "f16/f32", factors and sums; none: not known, or there is none.
  std::optional<double> matrix_flop_per_cycle(std::string_view types) const;

  // How many times slower than stated its shared memory is taken to be. One unit serves loads and stores, at rates
  // that differ by less than a half on all devices but those with a defect: beyond a factor of two the loop that
  // measures does not explain the slower figure, and the unit is as slow in what mixes both.
  double shared_slowdown() const;
};

// What a work-group needs. Registers per work-item in the device's own unit (32-bit; vec4 of 128 bits on Evergreen).
struct KernelResources {
  std::uint64_t registers = 0;  // 0: unknown, registers do not bound
  std::uint64_t shared_bytes = 0;
};

struct Occupancy {
  std::uint64_t groups_per_cu = 0;  // 0: the group does not fit
  std::uint64_t waves_per_group = 0;
  double occupancy = 0;  // resident wavefronts / the most a compute unit holds
  std::string bound;     // what bounds it: waves, groups, registers, shared; several joined by "+"
  std::string misfit;    // where groups_per_cu is 0: a message that names the limit
};

// [cuda-occupancy], [llvm-amdgpu], [multi2sim]: see devdb/occupancy.csv for the sources of each row.
// Throws Error(bad_data) when the rule lacks a limit that the computation needs; it names the column.
Occupancy occupancy(record::OccupancyRule const& rule, KernelResources const& resources, std::uint64_t group_size);
inline Occupancy occupancy(Device const& device, KernelResources const& resources, std::uint64_t group_size) {
  return occupancy(device.rule, resources, group_size);
}

// What a kernel takes of a device's registers, per work-item and in the device's unit.
struct KernelRegisters {
  std::optional<std::uint64_t> count;  // none: nothing is known, and they do not bound the occupancy
  std::string_view source;             // the column of the record that says so; a literal
  std::vector<std::string> notes;      // what was assumed
  double spillable = 0;                // `count` over what it may be less, so that a work-group fits; 0: any number
};

// The column of the device's own compiler, else live ranges of the PTX, four to one register of 128 bits; at most what
// the device has for a work-item, the rest is spilled.
KernelRegisters registers_for(record::RegisterCounts const& kernel, Device const& device);
// The occupancy with them. Where registers alone keep a work-group from fitting and they can be spilled, as many as
// needed are: `count` is lowered.
Occupancy occupancy(Device const& device, KernelRegisters& registers, std::uint64_t shared_bytes,
                    std::uint64_t group_size);

// What a work-group has of a compute unit; waves_per_group is 0 where that was not found.
struct Placement {
  KernelRegisters registers;
  Occupancy occupancy;
};

// Whether code for a target (record::Kernel::runs_on) runs on the device: sm_90a on sm_90 alone, sm_100f on the later
// ones of its family, too, any other on devices of that target or vendor.
bool runs_on(std::string_view target, Device const&);
// Whether a row is what an application launches on devices of another vendor: it has nothing to say of this device.
bool is_for_others(std::string_view runs_on, Device const&);

// Why the device refuses such a launch, empty where it does not: work-items of a group, groups of the grid, shared
// memory and registers of a group, and allocated memory, in this order. Limits that the database does not know refuse
// nothing. It needs no rate of the device: models ask this first. `placement`, a new one, gets what it finds on the
// way.
std::string refusal(record::Kernel const&, Device const&, Placement& placement);

// Which measurements count: those whose status is ok, or doubtful ones too.
enum class Trust : std::uint8_t { ok, doubtful };

// What a launch itself costs, for models that leave it out.
struct LaunchCost {
  bool of_device = false;  // what the database has measured from submission to start
  double seconds = 0;      // besides
  // Instead of both: what the host sees where the database knows it, else these seconds.
  std::optional<double> of_host;
  std::map<std::string, double, std::less<>> of;  // seconds of single devices instead, by id

  // Seconds of one launch; none where nothing is asked for, or the database does not know it.
  // `queued`: the host is ahead, and this is what a launch costs then where the database does not know it.
  std::optional<double> on(Device const&, std::optional<double> queued = {}) const;
  bool unknown_on(Device const& device) const {
    return of_device && !device.launch_delay_s && !of.contains(device.device);
  }
};
inline constexpr char const* launch_cost_unknown = "launch_delay_s not known: nothing added";
// Why a kind of products has no time: the device lacks the instruction, the database its rate.
std::string no_matrix_unit(std::string_view kind);
std::string no_matrix_rate(std::string_view kind);

class DeviceDatabase {
 public:
  std::vector<Device> const& devices() const { return devices_; }  // in the order of devices.csv
  std::vector<record::OccupancyRule> const& rules() const { return rules_; }
  std::vector<record::Alias> const& aliases() const { return aliases_; }
  std::vector<record::HostLink> const& host_links() const { return host_links_; }
  std::string const& path() const { return path_; }

  // By id, marketing name, alternative name or alias, whatever the letters' case and blanks. Throws Error(unavailable)
  // for an unknown name (with near ones) and for one that several devices have (with the candidates).
  Device const& find(std::string_view name) const;

  // Those that `names` find, once each, or without names all that `otherwise` holds of; in the order of devices().
  std::vector<Device const*> choose(std::vector<std::string> const& names,
                                    std::function<bool(Device const&)> const& otherwise) const;

  // Constants of the queue that architectures have of their own, one row for each target.
  std::vector<record::ConstantRule> const& constants() const { return constants_; }
  // Another value for one that an architecture has; false: it has none.
  bool set_constant(std::string_view target, std::string_view constant, double value);

 private:
  friend DeviceDatabase load(std::string const& path, Trust trust);
  std::string path_;
  std::vector<Device> devices_;
  std::vector<record::OccupancyRule> rules_;
  std::vector<record::Alias> aliases_;
  std::vector<record::HostLink> host_links_;
  std::vector<record::ConstantRule> constants_;
};

// As of --launch-cost: "0", "device" or seconds, and for single devices NAME=SECONDS, joined by commas, the later ones
// win. Throws Error: usage for anything else, unavailable for a name that is no device's.
LaunchCost launch_cost_named(std::string_view text, DeviceDatabase const&, LaunchCost unless_named = {});

// Reads a devdb folder: devices.csv, occupancy.csv, and where present siblings.csv, slices.csv, aliases.csv, pipes.csv,
// constants.csv, matrix.csv, libraries.csv, host_links.csv, intervals.csv, ratios.csv and curves/*.csv (in order of
// their names); and the user's own devices (siblings.hpp). Throws Error(io) when devices.csv cannot be opened,
// Error(bad_data) for anything wrong in a file.
DeviceDatabase load(std::string const& path, Trust trust = Trust::ok);

// The folder to read: `option` (--devdb) when not empty, else $KERNELCAST_DEVDB, else ../share/kernelcast/devdb beside
// the running program, else the source tree's when the program still lies in its build tree. Throws Error(io) when
// there is none.
std::string find_database(std::string const& option);

inline bool is_gpu(Device const& device) {
  return device.kind == "gpu" && device.listed;
}

}  // namespace kernelcast::device
