#include "records/command.hpp"

namespace kernelcast::record {

Schema<Command> const& Command::schema() {
  using C = Command;
  static auto const schema =
      Schema<C>("command", "what an application asks of its device, in the order of its calls")
          .column("process", &C::process, Unit::none, "of the application, by its number")
          .may_be_empty()
          .column("command", &C::number, Unit::count, "number in the process, from 1")
          .column("kind", &C::kind, Unit::none,
                  "a kernel, a call of a library, a copy between host and device, a fill, a function of the host's, "
                  "the host waiting, or an operation of several devices together")
          .column("stream", &C::stream, Unit::none, "the stream's number, 0 the default one; empty: all of them")
          .may_be_empty()
          .column("after", &C::after, Unit::none, "numbers of the commands that it waits for, with ; between them")
          .may_be_empty()
          .column("kernel", &C::kernel, Unit::none, "name of the kernel function or the library's function")
          .may_be_empty()
          .column("case", &C::case_name, Unit::none,
                  "the case of its kernel row; of an operation of several devices: how many")
          .may_be_empty()
          .column("bytes", &C::bytes, Unit::bytes,
                  "copied or filled; of a kernel: of the host's pinned memory that it is given pointers to")
          .column("host_waits", &C::host_waits, Unit::none, "whether the call returns when it is done")
          .column("host_s", &C::host_s, Unit::seconds,
                  "what the host itself has computed since its last call, on the machine of the run")
          .optional_column("memory", &C::memory, Unit::none,
                           "of a copy between host and device: the host's memory; managed: moved by a kernel's faults")
          .may_be_empty()
          .optional_column("on_device", &C::device, Unit::none,
                           "the application's number of the device, from 0; of a copy between two: where it goes to")
          .optional_column("from_device", &C::from_device, Unit::none,
                           "of a copy from one device to another: where it comes from")
          .optional_column("graph", &C::graph, Unit::none,
                           "of what a graph has started: the number of that launch in the process, from 1; else 0")
          .optional_column("interface", &C::interface, Unit::none, "by which the application asks for it")
          .optional_column("runs_on", &C::runs_on, Unit::none,
                           "as of kernels: the vendor on whose devices the application asks for this; empty: on all")
          .may_be_empty();
  return schema;
}

}  // namespace kernelcast::record
