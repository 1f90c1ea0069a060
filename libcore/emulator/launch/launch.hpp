// What to run: a kernel with its sizes and arguments, from the command line or from a launch file.
//
// Problem: describe one launch, or hundreds that share buffers, so that they can be repeated without a host program.
// Method: text (`buf:f32:1048576:random`, `i32:${1 << k}`) is parsed into a Plan: buffers, and calls in order with all
// loops unrolled. run() compiles, checks every argument against the kernel's signature, fills the buffers, emulates the
// requested groups, and gives one `kernel` record per distinct configuration.
// Limits: scalars are integers and floats, or short vectors of them.
//
// Texts that come from the command line are refused with Status::usage, those of a launch file with
// Status::bad_data and their place in it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/diag/diag.hpp"
#include "emulator/check/check.hpp"
#include "emulator/emu.hpp"
#include "emulator/image.hpp"
#include "kernels/frontend/frontend.hpp"
#include "records/block.hpp"
#include "records/kernel.hpp"
#include "records/line.hpp"
#include "records/table/selection.hpp"

namespace kernelcast::launch {

// ---------------------------------------------------------------- texts

// A piece of text and where it stands; `where.line` is 0 for the command line.
struct Text {
  std::string text;
  Where where;
  std::string line;  // the whole line of the launch file
};
Error refuse(Text const&, std::string const& message, std::string hint);

// What texts may name: the variables of `for`, which are integers, and the parameters of a launch file.
using Value = std::variant<std::int64_t, double, std::string>;
using Variables = std::map<std::string, Value, std::less<>>;

// Integer expressions: decimal and 0x numbers, variables, + - * / % << >> & | ^ and parentheses with C's precedence;
// division truncates. Refuses overflow, division by zero, shifts outside 0..62, unknown names and those of no integer.
std::int64_t evaluate(std::string_view expression, Variables const&, Text const& place);
// Replaces every ${expression} by its value, and ${name} by the value of whatever type. Refuses more than 16 MiB.
Text substitute(Text const&, Variables const&);

enum class Element : std::uint8_t { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, f16 };
unsigned size_bytes(Element);
std::string_view name(Element);
bool is_float(Element);

enum class Fill : std::uint8_t { zero, random, iota, file, start, uninit, memory };

// `f32:1048576:random`; the count may be an expression such as 1024*1024. A file holds the elements' bytes, little
// endian, and is exactly as long as the buffer; a relative path is taken from the launch file's folder. `uninit` is
// zero too, but counts as never written: CheckOptions::uninit. `start=PATH` is a file of the first bytes; zeros follow.
struct Buffer {
  std::string name;
  Element element = Element::f32;
  std::uint64_t count = 0;
  Fill fill = Fill::zero;
  std::span<std::byte const> content;  // of Fill::memory, which no text says: the caller's, as long as the buffer
  std::string path;
  // Where it lay when its contents were made; 0: unset. Aligned 8-byte words of such buffers, and of arguments as
  // bytes (hex:), that point into one of them are made to point to the same place here.
  std::uint64_t at = 0;
  Text origin;
  std::uint64_t bytes() const { return count * size_bytes(element); }
};
Buffer parse_buffer(std::string name, Text const&, std::string const& folder = {});

// An image, a texture or a surface: `image2d:rgba8:640x480:random`, `texture1d:r32f,linear,wrap,normalized:256:iota`.
// Its texels are a buffer of the plan, of the element type of one channel, so that it is filled, dumped and compared
// as one.
struct Image {
  std::string name;
  emu::Image shape;      // its address is known once there is a Memory
  emu::Sampler sampler;  // of a texture: with what it is read where the kernel names no sampler
  std::size_t buffer = 0;
  bool shares_buffer = false;  // the buffer is another's: buffer=NAME
};

// Element `i` of a random buffer depends on the seed, the buffer's number and i alone. Floats are multiples of 2^-24 in
// [0, 1), doubles multiples of 2^-53; integers have 31 random bits, or as many as fit in a shorter type.
void fill_random(Element, std::uint64_t seed, std::uint64_t number, std::span<std::byte> out);

struct Argument {
  enum class Kind : std::uint8_t { value, shared, buffer, null, image, sampler };
  Kind kind = Kind::value;
  Element element = Element::i32;
  std::vector<std::byte> value;    // one or several elements
  bool raw = false;                // hex:BYTES: of whatever type the kernel has there
  std::uint64_t shared_bytes = 0;  // local:BYTES
  bool or_null = false;            // null:BYTES: shared memory, or a null pointer where the kernel has no such argument
  std::size_t buffer = 0;          // index into Plan::buffers, ::images or ::samplers
  std::uint64_t offset_bytes = 0;  // into a buffer: NAME+BYTES of a launch file
  Text origin;
};

// "1024,16" -> {1024, 16, 1}, and how many were given.
struct Size {
  emu::Dim3 size;
  unsigned dimensions = 0;
};
Size parse_size(Text const&, std::uint32_t least = 1);

// ---------------------------------------------------------------- plans

struct Call {
  Text kernel;
  Size global;             // work-items, or groups when in_groups
  bool in_groups = false;  // --grid
  std::optional<Size> local;
  std::optional<Size> cluster;             // groups of a cluster
  std::optional<Size> offset;              // what OpenCL's global ids begin at
  std::uint64_t dynamic_shared_bytes = 0;  // CUDA's third launch parameter
  std::vector<Argument> arguments;
  // Texture, surface and sampler references of the module, by name; they stay bound until another launch binds them.
  std::vector<std::pair<Text, Argument>> bindings;
  Text origin;
};

// What a launch file leaves open (`[parameters]`), in the file's order: a name, and a value of the default's type.
struct Parameter {
  std::string name;
  Value value;
};
using Parameters = std::vector<Parameter>;

struct Plan {
  frontend::Request request;
  Parameters parameters;  // as they were set
  std::vector<Buffer> buffers;
  std::vector<Image> images;
  std::vector<emu::Sampler> samplers;
  std::vector<Call> calls;
  std::map<std::size_t, std::string> touched_before;  // of the row of a call, where the launch file says it
  std::string runs_on;                                // of a variant: its target
  std::string case_name;    // the launch file's stem and what was set, joined by _; empty: <global>/<local>
  bool lazy_files = false;  // contents are read where they are touched: the files do not change meanwhile
};

struct CommandLine {
  std::string path = {};
  std::string kernel = {};  // may be empty where the file has only one
  std::string global = {}, grid = {}, local = {};
  std::vector<std::string> arguments = {};
  std::vector<std::string> bindings = {};  // NAME=ARG
  std::uint64_t dynamic_shared_bytes = 0;
  std::vector<std::string> options = {};  // for the compiler
  std::vector<std::string> sets = {};     // of a launch file: NAME=VALUE or the name of a set
};
bool is_launch_file(std::string_view path);  // .toml; anything else is a kernel
// What a command line requests: the launch file that it names, which alone gives sizes and arguments, or one launch
// of a kernel. Throws Error(usage) where both or neither do.
Plan plan_of(CommandLine const&);

// Reads a launch file. Beside the keys of miniemu(1): `grid` (groups) for `global`, `offset` (of OpenCL's global ids),
// `shared` (bytes, dynamic), [images] beside [buffers], `bind = { tex = "img" }` for texture references, [[link]] with
// file and options for further OpenCL C sources of the program, `touched_before` of a launch that was captured from an
// application (the column), and `each`, a list of launches made in turn for every
// value of the enclosing launch's `for`:
//   for = { k = [0, 192] }                            k = 0, 1, … 191
//   for = { k = { from = 1, to = 64, times = 2 } }    k = 1, 2, 4, … 32; or step = 2; `to` is not reached
//   for = { i = [0, 4], k = [0, 8] }                  nested, the first one outermost
// `options` of the command line go before the file's own. `sets` choose among what the file leaves open, the later ones
// winning: NAME=VALUE one parameter, NAME all that [set.NAME] says.
Plan read_launch_file(std::string const& path, std::vector<std::string> const& options = {},
                      std::vector<std::string> const& sets = {});

// Points of a sweep, each a value for every name.
struct Points {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> values;
};
// What is to be run of a launch file besides it as it is.
struct Sweep {
  // Of [sweep], or of `table`, without those that `where` leaves out: what each point sets besides `sets`, which fix a
  // parameter that they name. Without either one point, which sets nothing.
  std::vector<std::vector<std::string>> points;
  // Of [variants]: at each point, the code for one target, and what it sets besides.
  struct Variant {
    std::string target;
    std::vector<std::string> sets;
  };
  std::vector<Variant> variants;
};
// None where it is one run.
std::optional<Sweep> read_sweep(std::string const& path, std::vector<std::string> const& sets,
                                Points const* table = nullptr);

// ---------------------------------------------------------------- running

// Which groups of a launch are emulated. What this has unless it is set is the default of all programs and of the
// library.
struct GroupChoice {
  enum class Kind : std::uint8_t {
    spread,      // as many as it takes, from all over the grid: spread.hpp
    even,        // `count`, at even distances, beginning with group 0
    neighbours,  // the first `count` of the grid
    all,
    only  // those of `only`, which no text says
  };
  Kind kind = Kind::spread;
  std::uint64_t count = 1;
  std::vector<std::uint64_t> only = {};  // linear numbers, ascending
};
GroupChoice parse_groups(std::string_view);  // "spread", "first", "all", a number, or "resident:" and a number
std::string text_of(GroupChoice const&);     // what parse_groups() reads
// For all kinds but `spread`, which needs the counts of the groups.
std::vector<std::uint64_t> choose_groups(GroupChoice const&, std::uint64_t total);

// A file to write or to compare a buffer with: `N=FILE`, `N=FILE:tolerance`, N a number from 0 or the buffer's name in
// the launch file or in the kernel.
struct BufferFile {
  std::string buffer, path;
  double tolerance = 0;
  std::string text;
};
BufferFile parse_dump(std::string const&);
BufferFile parse_check(std::string const&);

// What a run reports: Report::rows always have the launches, their counters only with `kernel`.
enum class Emit : std::uint8_t { kernel, trace, lines, blocks };

class Compilations;  // compilations.hpp
class TraceOutput;   // trace_observer.hpp
class Watcher;       // below
class Buffers;       // below

struct RunOptions {
  Emit emit = Emit::kernel;
  std::vector<std::string> machine_targets;  // sm_86: a row of each, with the slots of its machine code
  Compilations* compilations = nullptr;      // of earlier runs; a run with a watcher, who may change them, has its own
  Watcher* watcher = nullptr;                // counts in place of the counters of the records, which then stay 0
  TraceOutput* trace = nullptr;              // for Emit::trace; rows are written while the kernels run, by one thread
  unsigned trace_width = 32;                 // lanes of a wavefront, 32 or 64
  GroupChoice groups;
  std::string only_kernel;  // -k with a launch file: run all launches, report this kernel
  // Report launches of these kernels and cases; those after the last one are not run, unless something else asks for
  // them.
  record::Selection const* only = nullptr;
  std::uint64_t seed = 1;
  unsigned threads = 1;
  emu::Limits limits;
  std::function<void()> begins;                                           // when all is ready for the first launch
  std::function<void(std::size_t ended, std::size_t launches)> progress;  // between launches, twice a second at most
  emu::CheckOptions check_options;
  bool goes_on = false;  // after findings: those that do not end a launch are in Report::finding
  std::function<void(emu::Finding const&)> on_finding;  // called with each before run() throws or returns
  std::uint64_t max_memory_bytes = std::uint64_t{16} << 30;
  std::uint32_t stack_bytes = 64 * 1024;              // emu::Launch::stack_bytes
  std::uint64_t heap_bytes = std::uint64_t{8} << 20;  // what malloc() in kernels may give at a time
  std::function<void(std::string_view)> print;        // takes what printf in kernels prints
  std::vector<BufferFile> dumps, checks;
  std::function<void(Buffers const&)> ends;  // when all launches have ended, without a finding that ends the run
};

struct Times {
  double compile_s = 0;    // the frontend, PTX parsing included
  double decode_s = 0;     // PTX made ready to run
  double buffers_s = 0;    // allocation and contents
  double emulation_s = 0;  // the groups
};

struct Report {
  std::vector<record::Kernel> rows;  // in the order of first launch
  std::vector<double> emulation_s;   // per row
  std::vector<record::Line> lines;
  std::vector<record::Block> blocks;
  std::uint64_t warp_instructions = 0;
  Times times;
  std::vector<std::string> notes;
  std::vector<std::string> check_notes;  // of --check-races: equal stores, portability
  std::optional<Error> finding;          // with RunOptions::goes_on; further ones as Error::further
  bool stopped = false;  // by Limits::stop: rows are of the configurations whose launches until then have ended
};

// Throws Error: what frontend::compile throws; usage or bad_data for arguments and sizes that do not fit the kernel;
// finding for what the emulator and the checks find (all of them: Error::further) and for a buffer that differs from
// its file, all unless RunOptions::goes_on lets them pass; limit for --max-steps, --timeout and
// --max-memory.
Report run(Plan, RunOptions const&);

// ---------------------------------------------------------------- parts of run(), for other users of plans

// The buffers of a plan in device memory, filled.
class Buffers {
 public:
  Buffers(Plan const&, std::uint64_t seed, emu::Memory&);
  std::uint64_t address(std::size_t buffer) const { return addresses_[buffer]; }
  std::uint64_t handle(Argument const&) const;  // of an image or a sampler
  std::span<std::byte> bytes(std::size_t buffer) const;
  // Makes the aligned 8-byte words that point into where a buffer lay (Buffer::at) point to the same place in it here.
  // The first byte lies `misaligned` bytes behind an aligned one.
  void move_pointers(std::span<std::byte> content, std::uint64_t misaligned = 0) const;
  std::size_t find(BufferFile const&) const;  // throws Error(usage)
  Plan const& plan() const { return *plan_; }

 private:
  Plan const* plan_;
  emu::Memory* memory_;
  std::vector<std::uint64_t> addresses_, images_, samplers_;
  std::map<std::uint64_t, std::size_t> placed_;  // by where they lay
};

// Empty where equal: |a − b| <= tolerance · max(1, |b|), b from the file.
std::string compare(Buffer const&, std::span<std::byte const> have, std::span<std::byte const> want, double tolerance);

// What a call binds by name. Throws Error where the module has no such reference.
void bind_references(Call const&, ptx::Module const&, Buffers const&, emu::Memory&);

// A call checked against a kernel and laid out as its parameter block.
struct Bound {
  emu::Launch launch;
  emu::Dim3 global;                // work-items
  std::uint64_t shared_bytes = 0;  // static and dynamic
};
Bound bind(Call const&, frontend::KernelInfo const&, ptx::Function const&, std::uint32_t static_shared_bytes,
           Buffers const&);

// ---------------------------------------------------------------- observers

// One launch of a run.
struct LaunchView {
  std::string const& kernel;
  std::string const& case_name;
  emu::Program const& program;
  emu::Launch const& launch;
  std::uint64_t shared_bytes;             // of a group, static and dynamic
  std::span<std::uint64_t const> groups;  // that are emulated; with GroupChoice::Kind::spread none before they were
  Buffers const& buffers;
};

// Sees every launch of a run, and may count what it executes with an observer of its own.
class Watcher {
 public:
  virtual ~Watcher() = default;
  // Before anything is made of them: the module may be replaced, buffers and arguments added.
  virtual void compiled(frontend::Compiled&, Plan&) {}
  virtual emu::Observer* begin(LaunchView const&) = 0;  // null: this launch is not observed
  virtual void end(LaunchView const&) = 0;              // it has ended without a finding
};

}  // namespace kernelcast::launch
