// How a program ends when an exception leaves it.
//
// Problem: memory can be refused anywhere: before main, in a thread, in a destructor, while the message is made that
// says so. The C++ run-time then aborts the process, and unfinished files stay behind. Method: a terminate handler, and
// messages that need no memory. Only for programs of the suite: libraries in the processes of others do not change how
// these end.
#pragma once

#include <string_view>

namespace kernelcast {

// Exit status of a defect in the program itself, outside of the documented ones (EX_SOFTWARE).
inline constexpr int internal_error = 70;

// For catch (...) of a main: says on standard error what the exception says, and returns the exit status.
int report_exception(std::string_view program) noexcept;

// From its construction on, an exception that nothing catches ends the process with a message and its exit status if it
// says that memory or a thread was refused; any other aborts the process as before. `clean_up` is called first; it may
// be called while other threads run, and must not allocate. To be the first object with static storage of a program
// (init_priority 101): constructors of others may run out of memory, too.
struct EndsInOrder {
  explicit EndsInOrder(void (*clean_up)() = nullptr) noexcept;
};

}  // namespace kernelcast
