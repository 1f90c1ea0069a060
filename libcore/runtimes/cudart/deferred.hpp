// Launches, fills and copies that wait until something reads what they leave: --execute needed.
//
// Problem: benchmarks launch a kernel again and again to have its time, and read the last result, or none.
// Method: the kernel's PTX says through which of its arguments it reads and writes (ptx::touched_pointers); what these
// point to is an allocation or a variable, whose contents have a number (contents.hpp). A launch that changes no number
// is left out. One whose numbers are known, because such a launch has run before, waits; so does one that has run some
// times already and left something new each time. A command that waits runs, with all that it depends on and in order,
// before anything reads what it writes or writes what it touches. It is dropped once all of that is overwritten or
// freed unread. Freed memory stays until nothing waits for it. What a launch has left that was made before is kept
// where it is small, and copied instead of made once more. Calls of libraries that say what they depend on
// (LibraryCall::identity) are treated alike.
// Limits: what may touch anything, or memory that the host can write without a call (managed, pinned, registered),
// never waits. A kernel is taken to stay within the allocations that its pointers lead to. What a launch that waits
// does wrong shows when it runs, or never.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "emulator/emu.hpp"
#include "kernels/cuda/abi.hpp"
#include "kernels/ptx/pointers.hpp"
#include "runtimes/cudart/allocations.hpp"
#include "runtimes/cudart/contents.hpp"
#include "runtimes/cudart/library_calls.hpp"
#include "runtimes/cudart/registry.hpp"

namespace kernelcast::cudart {

class Deferred {
 public:
  struct Launch {
    Kernel const* kernel;
    emu::Launch launch;
    std::optional<std::uint64_t> configuration;
  };
  // Runs a launch: its warp instructions; empty where it has not run whole.
  using Runner = std::function<std::optional<std::uint64_t>(Launch const&)>;

  // Not `active`: nothing waits, all runs (--execute all).
  Deferred(emu::Memory& memory, Allocations& allocations, Registry const& registry, bool active);
  void set_runner(Runner runner) { run_ = std::move(runner); }

  // True where the launch is not to run now.
  bool takes(Kernel const&, emu::Launch const&, std::optional<std::uint64_t> configuration);
  // Around a launch that does. `steps`: warp instructions; empty where it has not run whole.
  void before(Kernel const&, emu::Launch const&);
  void after(Kernel const&, emu::Launch const&, std::optional<std::uint64_t> steps);

  // The same for a call of a library, whose work can wait as long as what it is called with.
  bool takes(LibraryCall const&, std::function<void()> const& work);
  void before(LibraryCall const&);
  void after(LibraryCall const&, bool ran);

  // Of areas that are known to be there.
  void fill(Area const& to, int value);
  void copy(Area const& to, Area const& from);

  void run_all();   // what waits
  void drop_all();  // and it never runs

 private:
  struct Use {
    std::uint64_t begin = 0, bytes = 0;
    bool read = false, written = false;
  };
  struct Fill {
    Area to;
    int value;
  };
  struct Copy {
    Area to, from;
    std::vector<std::byte> data;  // of the host's memory: it may be another by then
  };
  struct Command {
    std::vector<Use> uses;
    std::vector<std::uint64_t> changes;  // what has another number behind it
    bool whole = false;                  // all of what it changes, without reading it
    std::variant<Launch, Fill, Copy, std::function<void()>> what;
    std::string text = {}, before = {};       // of a launch or a call: itself, and with what it found
    std::vector<Contents::Number> held = {};  // by each use, once it was submitted
  };
  using What = decltype(Command::what);
  using Objects = std::unordered_set<std::uint64_t>;

  std::optional<Use> object_at(void const* address) const;  // of the device alone
  // What it touches; empty where that is not known.
  using Uses = std::optional<std::vector<Use>>;
  Uses uses_of(Kernel const&, emu::Launch const&);
  Uses uses_of(LibraryCall const&) const;
  std::string text_of(Kernel const&, emu::Launch const&, Uses const&) const;
  template <class MakeWhat>
  bool takes(Uses, std::string const& text, MakeWhat const&);
  void before(Uses const&);
  void after(Uses const&, std::string const& text, std::uint64_t hashed_bytes);
  std::vector<Contents::Number> left_by(std::span<Use const>, std::uint64_t hashed_bytes, bool keep);
  void keep(Contents::Number, Use const&);
  bool restore(Command const&);
  Contents::Number filled(std::uint64_t bytes, unsigned char value);
  void remember(std::span<Use const>, std::string const& text, std::string before, std::vector<Contents::Number> const&,
                bool is_latest);
  void set_numbers(std::span<Use const>, std::span<Contents::Number const>);
  Contents::State with_part(Use const& object, Area const& to, std::string const& command);
  void submit(Command, Contents::State made);
  bool is_waited_for(std::uint64_t begin) const { return waiting_for_.contains(begin); }
  void perform(Command const&);
  void performed(Command const&, std::uint64_t hashed_bytes);
  void add(Command);
  void erase_marked(std::vector<bool> const&);
  void drop_dead(Objects overwritten);
  void settle(Objects needed, Objects changed);
  bool keeps(std::uint64_t begin, std::uint64_t bytes);  // freed, and something waits for it
  void release_freed();

  emu::Memory& memory_;
  Allocations& allocations_;
  Registry const& registry_;
  bool const active_;
  Runner run_;
  Contents contents_;
  std::map<Kernel const*, std::optional<std::vector<ptx::TouchedPointer>>> pointers_;
  // By launch and the numbers of what it touches: the numbers that it leaves. By launch: how often it left new ones.
  std::unordered_map<std::string, std::vector<Contents::Number>> outcomes_;
  std::unordered_map<std::string, unsigned> runs_;
  std::unordered_map<Contents::Number, std::vector<std::byte>> left_;  // by number: what it stands for
  std::uint64_t left_bytes_ = 0;
  std::vector<Command> waiting_;
  std::unordered_map<std::uint64_t, std::size_t> waiting_for_;  // commands that use what begins there
  std::map<std::uint64_t, std::uint64_t> freed_;                // and waited for: bytes
};

}  // namespace kernelcast::cudart
