// What the single checks share: the launch that runs, and where findings go.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "emulator/check/check.hpp"
#include "emulator/check/facts.hpp"

namespace kernelcast::emu {

class Reporter {
 public:
  explicit Reporter(unsigned max_findings, bool stops = true) : max_findings_(max_findings), stops_(stops) {}
  // For groups run side by side: any report throws Inconclusive.
  static Reporter inconclusive() { return Reporter(0); }
  void begin(Program const& program, Launch const& launch) {
    program_ = &program;
    launch_ = &launch;
  }
  void begin_group(std::uint64_t group) { group_ = group; }

  // Not found before at these two instructions: worth a message.
  bool is_new(Finding::Kind, std::uint32_t instruction, std::uint32_t other_instruction) const;
  // A finding about a work-item of the running group; throws Stop at the last one that is wanted, unless it is a note.
  // One that was found before, at the same two instructions, is let pass. `hint` takes the place of the kind's.
  void report(Finding::Kind, std::uint32_t work_item, std::uint32_t instruction, std::uint32_t other_instruction,
              std::string message, std::string hint = {});

  // What another has found and this one has not.
  void add(Reporter const&);

  // For messages.
  std::string work_item(std::uint32_t linear) const;   // "work-item (1, 0, 0)"
  std::string work_group(std::uint64_t linear) const;  // "work-group (1, 0, 0)"
  // "reduce.cl:12", or "PTX line 40"; with the column, where it is known, "reduce.cl:12:5".
  std::string place(std::uint32_t instruction, bool with_column = false) const;
  std::vector<Finding> const& findings() const { return found_.findings; }
  std::vector<Finding> const& notes() const { return notes_.findings; }
  std::uint64_t group() const { return group_; }

 private:
  Program const* program_ = nullptr;
  Launch const* launch_ = nullptr;
  std::uint64_t group_ = 0;
  using Key = std::tuple<Program const*, Finding::Kind, std::uint32_t, std::uint32_t>;
  Key key_of(Finding::Kind, std::uint32_t instruction, std::uint32_t other_instruction) const;

  static constexpr std::size_t max_notes = 100;
  unsigned max_findings_;
  bool stops_ = true;
  struct Found {
    std::vector<Finding> findings;
    std::vector<Key> keys;  // of each
  };
  Found found_, notes_;
  std::set<Key> reported_;
};

// "shared load of 4 bytes at offset 8 of ...": as the emulator words its own findings.
std::string describe_access(MemoryAccess const&, Memory const&, std::uint64_t address);

}  // namespace kernelcast::emu
