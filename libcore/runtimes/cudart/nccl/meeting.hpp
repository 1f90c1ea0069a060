// The ranks of a communicator, in whatever processes of this machine they are.
//
// Method: a folder in shared memory, named by the communicator's id, that whoever makes the id makes. A rank arrives by
// leaving a file there; a message is a file, which is whole from the moment that it has its name, and is waited for. A
// process that has ended without leaving is noticed.
// Limits: what a killed process leaves stays until the machine starts anew.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast::nccl {

class Meeting {
 public:
  static std::string new_id();  // empty where no folder can be made
  static bool is_id(std::string_view);
  static void end(std::string const& id);  // by whom made it

  Meeting(std::string const& id, int size);

  bool arrive(int rank) const;
  // Whether all are there; false, and said on standard error: one has ended, or none came for ten minutes.
  bool wait_for_all() const;

  // By name, without a place; false where there is no memory.
  bool leave(std::string const& name, std::span<std::byte const> head, std::span<std::byte const> body) const;
  // What `rank` leaves there, when it does; none where its process ended before.
  std::optional<std::vector<std::byte>> take(std::string const& name, int rank) const;
  void remove(std::string const& name) const;

 private:
  template <class Done>
  bool wait(Done done, int rank) const;
  bool has_ended(int rank) const;

  std::string folder_;
  int size_;
};

}  // namespace kernelcast::nccl
