// What a program leaves behind when a signal ends it: nothing.
//
// Problem: temporary files and compilers that still run must not outlive a program that Ctrl-C, a batch system or a
// closed terminal ends.
// Method: paths and process groups are noted in plain memory; a handler kills the groups, removes the paths and lets
// the signal end the program as it would have without a handler. A process that fork() made removes only what it noted
// itself.
// Limits: SIGKILL and crashes run no handler. What they leave is found by its lock, later (TemporaryFolder and
// cli::OutputFile).
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <string>

namespace kernelcast {

// Sets the handler for SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU and SIGXFSZ; those that are ignored stay so.
// For programs: a library in another program's process leaves signals alone.
void clean_up_at_signals();

// From here on the first SIGINT or SIGTERM ends nothing: the program ends its work and says what it has. The next one
// ends it at once. Those that are ignored stay so.
void stop_at_signals();
// The signal that asks to stop; 0: none.
std::atomic<int> const& stop_signal();

// Kills and removes what this process noted: for one that ends at once. Safe in a signal handler.
void remove_what_is_noted();

// Removes what is noted and ends this process by that signal. Safe in a signal handler.
void end_by_signal(int number);

// Removes a file, or a folder with all that it holds, to 64 levels below it; symbolic links are removed, not
// followed. Takes no memory; safe in a signal handler. True when nothing of that name is left.
bool remove_tree(char const* path);

// A file, or a folder with all that it holds, that a signal removes as long as this object lives; after it a lock file,
// and the folder that holds both, if nothing else is in it.
class RemovedAtSignal {
 public:
  RemovedAtSignal() = default;
  ~RemovedAtSignal() { forget(); }
  RemovedAtSignal(RemovedAtSignal const&) = delete;
  RemovedAtSignal& operator=(RemovedAtSignal const&) = delete;
  // In place of what was noted. Does nothing where very many are noted already.
  void note(std::string const& path, std::string const& lock = {}, std::string const& place = {});
  void forget();

 private:
  int slot_ = -1;
};

// A process group that a signal kills, as long as this object lives.
class KilledAtSignal {
 public:
  explicit KilledAtSignal(pid_t group);
  ~KilledAtSignal();
  KilledAtSignal(KilledAtSignal const&) = delete;
  KilledAtSignal& operator=(KilledAtSignal const&) = delete;

 private:
  int slot_ = -1;
};

// No signal comes between what this object's life encloses: making something, and noting it.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(SignalsBlocked const&) = delete;
  SignalsBlocked& operator=(SignalsBlocked const&) = delete;

 private:
  sigset_t before_;
};

}  // namespace kernelcast
