// Devices that are described by how they differ from another one: rows with a column `like`.
//
// Problem: most devices that people ask about share their chip or its architecture with one that is described in full,
// and users have devices of their own. Method: a table with any of the columns of devices.csv, and two more: `like`
// names the device that everything else is taken from, `share` says which part of its memory, second-level cache and
// bandwidth this one has (a slice of a device). What follows from units and clocks is computed: lanes, peaks, the
// automatch_ columns; measurements are scaled by what they measure, and marked as assumed.
// Limits: a figure that does not scale so must be given.
#pragma once

#include <string>
#include <vector>

#include "records/device/device.hpp"

namespace kernelcast::device {

enum class Origin : std::uint8_t {
  database,  // a file of the database: its devices are listed like others
  slices,    // the same, but they are used only where they are named
  user       // a row may change a device that is there, where it is like itself
};

// Adds the rows of a file to `devices`, with their occupancy rules from `rules`. Throws Error(bad_data) with file, line
// and column; Error(io) when it cannot be opened.
void read_siblings(std::string const& path, Origin origin, std::vector<record::OccupancyRule> const& rules,
                   std::vector<Device>& devices);

// Curves and other measurements of those that have none of their own, when all files have been read.
void measure_siblings(std::vector<Device>& devices);

// The user's files: of KERNELCAST_DEVDB_ADD (--devdb-add), paths joined by ':', after devices.csv of the user's
// configuration folder, $XDG_CONFIG_HOME/kernelcast (default ~/.config/kernelcast), where it exists.
std::vector<std::string> user_files();

}  // namespace kernelcast::device
