#include "emulator/observe/amd_code.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/ptx/cfg.hpp"
#include "kernels/ptx/matrix.hpp"

namespace kernelcast::emu {

namespace {

using amdgcn::Amount;
using amdgcn::Conserved;
using ptx::no_block;
using ptx::Op;
using record::Pipe;

// How much a line's equation counts. Some arithmetic differs between the libraries of the two compilers.
// Loads of whole wavefronts often have another line than in the PTX: that of the instruction before them.
// Barriers are as many as each compiler wants around the loads of a product's factors; the product itself is done once.
constexpr double weight_of_product = 16, weight_of_access = 4, weight_of_arithmetic = 2, weight_of_scalar_access = 1,
                 weight_of_integer_product = 0.5, weight_of_occurrence = 0.1;

double weight(Conserved work) {
  if (work == Conserved::none) return weight_of_occurrence;
  if (work == Conserved::matrix) return weight_of_product;
  if (work == Conserved::integer_product) return weight_of_integer_product;
  return work >= Conserved::fp16 ? weight_of_arithmetic : weight_of_access;
}

Amount arithmetic(ptx::Instruction const& i) {
  double const amount = i.is(Op::fma, Op::mad) ? 2 : 1;
  if (!i.is(Op::add, Op::sub, Op::mul, Op::fma, Op::mad)) return {};
  if (i.has("f32")) return {Conserved::fp32, amount};
  if (i.has("f64")) return {Conserved::fp64, amount};
  if (i.has("f16")) return {Conserved::fp16, amount};
  if (i.has("f16x2")) return {Conserved::fp16, 2 * amount};
  if (i.is(Op::mul, Op::mad) && (i.has("s32") || i.has("u32"))) return {Conserved::integer_product, 1};
  return {};
}

double bytes_of(ptx::Instruction const& i) {
  static constexpr std::pair<std::string_view, unsigned> types[] = {
      {"b8", 1},  {"u8", 1},  {"s8", 1},  {"b16", 2}, {"u16", 2}, {"s16", 2}, {"b32", 4},  {"u32", 4},
      {"s32", 4}, {"f32", 4}, {"b64", 8}, {"u64", 8}, {"s64", 8}, {"f64", 8}, {"b128", 16}};
  for (auto const& [name, bytes] : types)
    if (i.has(name)) return bytes * i.elements();
  return 0;
}

// `warps`: of a wavefront of the code.
Amount conserved_by(ptx::Instruction const& i, double warps) {
  if (auto const product = ptx::matrix_product(i)) return {Conserved::matrix, warps * product->flop};
  if (i.accesses_parameter()) return {};
  if (i.is_atomic()) return {Conserved::atomic, 1};
  if (i.is_barrier()) return {Conserved::barrier, 1};
  if (i.is_image_access()) return {Conserved::image, 1};
  if (!i.is_memory()) return arithmetic(i);
  bool const shared = i.space() == ptx::StateSpace::shared;
  if (i.space() == ptx::StateSpace::local) return {};
  if (i.is_load()) return {shared ? Conserved::shared_load : Conserved::load, bytes_of(i)};
  return {shared ? Conserved::shared_store : Conserved::store, bytes_of(i)};
}

struct Said {
  double value, weight;
};

double median(std::vector<Said>& values) {
  std::ranges::sort(values, {}, &Said::value);
  double all = 0, so_far = 0;
  for (auto const& v : values) all += v.weight;
  for (auto const& v : values)
    if ((so_far += v.weight) * 2 >= all) return v.value;
  return values.back().value;
}

class Solving {
 public:
  Solving(Program const& program, amdgcn::Code const& code, std::span<std::uint64_t const> entries)
      : program_(program), code_(code), entries_(entries), cfg_(cfg_of(code)) {
    for (auto const& block : code.blocks)
      for (auto const& i : block.instructions)
        private_buffers_ = private_buffers_ || i.opcode().starts_with("global_") || i.opcode().starts_with("flat_");
  }

  AmdSlots run() {
    AmdSlots out;
    if (code_.blocks.empty() || entries_.empty()) return out;
    note_classes();
    note_program();
    note_code(out);
    note_equations();
    solve();
    count(out);
    return out;
  }

 private:
  static constexpr std::size_t no_class = static_cast<std::size_t>(-1);

  // Of one line: what it does, and where.
  using Key = std::pair<amdgcn::Place, Conserved>;
  struct Part {
    std::size_t where = 0;  // block of the program, or of the code
    double amount = 0;
    bool narrow = false;  // for some of the active lanes alone
  };
  struct Line {
    std::vector<Part> program, code;  // in the order of the text
    bool scalar = false;              // the code has loads of whole wavefronts
  };
  struct Term {
    std::size_t of = 0;  // class
    double amount = 0;
    bool narrow = false;
  };
  struct Equation {
    double total = 0, weight = 0;
    std::vector<Term> terms;
  };
  struct Class {
    std::uint32_t first = 0;                                     // block of the code, in reverse post-order
    std::size_t above = no_class;                                // dominates it in its loop
    std::size_t before_loop = no_class;                          // of a loop's first: what dominates it outside
    bool always_entered = false;                                 // the loop, from there
    std::vector<std::pair<std::size_t, std::size_t>> equations;  // and which of its terms
    std::vector<std::size_t> sure_below;
    std::optional<double> runs;
  };

  static ptx::Cfg cfg_of(amdgcn::Code const& code) {
    std::map<std::string_view, std::uint32_t> labels;
    for (std::uint32_t b = 0; b < code.blocks.size(); ++b)
      for (auto const label : code.blocks[b].labels) labels.emplace(label, b);
    std::vector<ptx::CfgBlock> blocks(code.blocks.size());
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      auto const& last = code.blocks[b].instructions.back();
      auto const opcode = last.opcode();
      bool const ends = opcode.starts_with("s_endpgm") || opcode == "s_setpc_b64";
      auto& to = blocks[b].successors;
      if (!ends && opcode != "s_branch" && b + 1 < blocks.size()) to.push_back(b + 1);
      if (auto const at = labels.find(last.target()); at != labels.end() && std::ranges::count(to, at->second) == 0)
        to.push_back(at->second);
      blocks[b].exits = ends || to.empty();
    }
    return ptx::analyse(std::move(blocks));
  }

  // ---------------------------------------------------------------- unknowns

  void note_classes() {
    class_of_.assign(cfg_.blocks.size(), no_class);
    std::size_t steps = 0;
    for (std::uint32_t const b : cfg_.reverse_post_order) {
      std::size_t above = no_class;
      std::uint32_t const loop = cfg_.blocks[b].loop;
      std::uint32_t d = cfg_.blocks[b].dominator;
      for (; d != no_block && ++steps < max_steps; d = cfg_.blocks[d].dominator) {
        if (cfg_.blocks[d].loop != loop) continue;
        if (above == no_class) above = class_of_[d];
        if (cfg_.post_dominates(b, d)) break;
        if (loop != no_block && cfg_.loops[loop].header == d) {
          d = no_block;
          break;
        }
      }
      if (d != no_block && cfg_.blocks[d].loop == loop && class_of_[d] != no_class && cfg_.post_dominates(b, d)) {
        class_of_[b] = class_of_[d];
        continue;
      }
      class_of_[b] = classes_.size();
      auto& made = classes_.emplace_back();
      made.first = b;
      made.above = above;
      if (loop == no_block || cfg_.loops[loop].header != b) continue;
      made.above = no_class;
      std::uint32_t const outside = cfg_.blocks[b].dominator;
      if (outside == no_block) continue;
      made.before_loop = class_of_[outside];
      made.always_entered = cfg_.post_dominates(b, outside);
    }
  }

  // ---------------------------------------------------------------- lines

  // Adds to the part of this block, or begins it.
  static void add(std::vector<Part>& parts, Part const& part) {
    if (!parts.empty() && parts.back().where == part.where && parts.back().narrow == part.narrow)
      parts.back().amount += part.amount;
    else
      parts.push_back(part);
  }

  void note_program() {
    auto const& function = program_.kernel();
    double const warps = static_cast<double>(code_.resources.wavefront) / lanes_per_warp;
    std::map<std::uint32_t, std::string_view> files;
    for (auto const& [number, path] : program_.module().files) {
      std::string_view const name = path;
      files.emplace(number, name.substr(name.rfind('/') + 1));
    }
    auto const blocks = program_.blocks();
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      std::map<std::pair<amdgcn::Place, std::string_view>, double> occurrences;
      for (std::uint32_t i = blocks[b].first; i < blocks[b].last && i < function.instructions.size(); ++i) {
        auto const& instruction = function.instructions[i];
        auto const& source = instruction.source;
        if (source.line == 0) continue;
        auto const file = files.find(source.file);
        if (file == files.end()) continue;
        amdgcn::Place const place{file->second, source.line, source.column};
        if (auto const work = conserved_by(instruction, warps); work.amount > 0)
          add(with_columns_[{place, work.conserved}].program, {b, work.amount});
        ++occurrences[{place, instruction.opcode.text()}];
      }
      note_occurrences(occurrences, b, &Line::program);
    }
  }

  void note_occurrences(std::map<std::pair<amdgcn::Place, std::string_view>, double> const& occurrences,
                        std::size_t block, std::vector<Part> Line::* parts) {
    std::map<amdgcn::Place, double> least;
    for (auto const& [key, n] : occurrences) {
      auto const [at, is_new] = least.try_emplace(key.first, n);
      if (!is_new) at->second = std::min(at->second, n);
    }
    for (auto const& [place, n] : least) add(with_columns_[{place, Conserved::none}].*parts, {block, n});
  }

  void note_code(AmdSlots& out) {
    narrow_.resize(code_.blocks.size());
    for (std::size_t b = 0; b < code_.blocks.size(); ++b) {
      bool narrow = false;
      std::map<std::pair<amdgcn::Place, std::string_view>, double> occurrences;
      for (auto const& i : code_.blocks[b].instructions) {
        if (i.widens()) narrow = false;
        narrow_[b].push_back(narrow);
        ++out.instructions;
        if (i.at.line > 0) {
          for (auto const opcode : {i.opcode(), i.second()})
            if (auto const work = amdgcn::conserved_by(opcode);
                work.amount > 0 && amdgcn::private_bytes(opcode, private_buffers_) == 0) {
              auto& line = with_columns_[{i.at, work.conserved}];
              add(line.code, {b, work.amount, narrow});
              line.scalar = line.scalar || amdgcn::pipe_of(opcode) == Pipe::scalar_memory;
            }
          auto const pipe = amdgcn::pipe_of(i.opcode());
          if (pipe == Pipe::tensor)
            if (auto const product = amdgcn::matrix_product(i))
              add(with_columns_[{i.at, Conserved::matrix}].code, {b, product->flop, narrow});
          if (!narrow && pipe != Pipe::wait) ++occurrences[{i.at, i.opcode()}];
        }
        if (i.narrows()) narrow = true;
      }
      note_occurrences(occurrences, b, &Line::code);
    }
    choose_columns();
    for (auto const& block : code_.blocks)
      for (auto const& i : block.instructions) out.matched += is_known(i.at);
  }

  // nvcc's columns are not clang's: then lines alone.
  void choose_columns() {
    std::size_t with = 0, all = 0;
    for (auto const& [key, line] : with_columns_)
      if (key.second == Conserved::none && !line.code.empty()) {
        ++all;
        with += !line.program.empty();
      }
    columns_ = 2 * with >= all;
    if (columns_) {
      lines_ = std::move(with_columns_);
      return;
    }
    for (auto& [key, line] : with_columns_) {
      auto& joined = lines_[{without_column(key.first), key.second}];
      joined.program.insert(joined.program.end(), line.program.begin(), line.program.end());
      joined.code.insert(joined.code.end(), line.code.begin(), line.code.end());
      joined.scalar = joined.scalar || line.scalar;
    }
    for (auto& [key, line] : lines_)
      for (auto* const parts : {&line.program, &line.code}) {
        std::ranges::sort(*parts, {}, [](Part const& p) { return std::pair(p.where, p.narrow); });
        std::vector<Part> sums;
        // Occurrences of several columns are those of one.
        for (auto const& part : *parts)
          if (key.second == Conserved::none && !sums.empty() && sums.back().where == part.where)
            sums.back().amount = std::min(sums.back().amount, part.amount);
          else
            add(sums, part);
        *parts = std::move(sums);
      }
  }

  static amdgcn::Place without_column(amdgcn::Place place) {
    place.column = 0;
    return place;
  }

  Line const* line_of(amdgcn::Place const& place, Conserved work) const {
    auto const at = lines_.find({columns_ ? place : without_column(place), work});
    return at == lines_.end() ? nullptr : &at->second;
  }

  bool is_known(amdgcn::Place const& place) const {
    Line const* const line = place.line > 0 ? line_of(place, Conserved::none) : nullptr;
    return line && !line->program.empty();
  }

  double entries_of(std::size_t block) const {
    return block < entries_.size() ? static_cast<double>(entries_[block]) : 0;
  }

  // ---------------------------------------------------------------- equations

  void note_equations() {
    for (auto const& [key, line] : lines_) {
      if (line.program.empty() || line.code.empty()) continue;
      double const counts = line.scalar ? weight_of_scalar_access : weight(key.second);
      bool const one_by_one = line.program.size() == line.code.size() && line.code.size() > 1;
      if (one_by_one) {
        for (std::size_t i = 0; i < line.code.size(); ++i)
          add_equation(counts, {&line.program[i], 1}, {&line.code[i], 1});
        continue;
      }
      add_equation(counts, line.program, line.code);
    }
  }

  void add_equation(double weight, std::span<Part const> program, std::span<Part const> code) {
    Equation made;
    made.weight = weight;
    for (auto const& part : program) made.total += part.amount * entries_of(part.where);
    for (auto const& part : code) {
      std::size_t const c = class_of_[part.where];
      if (c == no_class) continue;
      auto const same =
          std::ranges::find_if(made.terms, [&](Term const& t) { return t.of == c && t.narrow == part.narrow; });
      if (same == made.terms.end())
        made.terms.push_back({c, part.amount, part.narrow});
      else
        same->amount += part.amount;
    }
    for (std::size_t t = 0; t < made.terms.size(); ++t)
      classes_[made.terms[t].of].equations.emplace_back(equations_.size(), t);
    equations_.push_back(std::move(made));
  }

  // What an equation says of one of its classes; of those that are not known yet all run equally often, unless this one
  // is a loop that has more of the line's copies than the others.
  std::optional<double> said_by(Equation const& equation, std::size_t term) const {
    Term const& own = equation.terms[term];
    double rest = equation.total, unknown = own.amount;
    bool most = true;
    for (std::size_t t = 0; t < equation.terms.size(); ++t) {
      auto const& other = equation.terms[t];
      if (t == term || other.narrow) continue;
      auto const& c = classes_[other.of];
      if (c.runs)
        rest -= *c.runs * other.amount;
      else if (is_another_loop(own.of, other.of))
        most = most && own.amount > other.amount, unknown += other.amount;
      else
        unknown += other.amount, most = false;
    }
    rest = std::max(0.0, rest);
    double const rounds_before = entered(own.of);
    if (most && unknown > own.amount && rounds_before > 0)
      return std::floor(rest / own.amount / rounds_before + 1e-9) * rounds_before;
    return rest / unknown;
  }

  bool is_another_loop(std::size_t a, std::size_t b) const {
    auto const of = [&](std::size_t c) { return cfg_.blocks[classes_[c].first].loop; };
    return of(a) != no_block && of(a) != of(b);
  }

  // How often the loop of a class is entered, as far as it is known.
  double entered(std::size_t c) const {
    std::uint32_t const loop = cfg_.blocks[classes_[c].first].loop;
    if (loop == no_block) return 0;
    auto const& header = classes_[class_of_[cfg_.loops[loop].header]];
    return header.before_loop == no_class ? 0 : classes_[header.before_loop].runs.value_or(0);
  }

  // Whether more than occurrences tell.
  bool is_sure(std::size_t c) const {
    return c == 0 || std::ranges::any_of(classes_[c].equations, [&](auto const& own) {
             auto const& e = equations_[own.first];
             return e.weight > weight_of_occurrence && !e.terms[own.second].narrow;
           });
  }

  // No more often than the nearest that dominates it and is sure, no less than those that are and that it dominates.
  double bounded(std::size_t c, double runs) const {
    auto const& own = classes_[c];
    for (std::size_t const d : own.sure_below) runs = std::max(runs, classes_[d].runs.value_or(0));
    std::size_t above = own.above;
    while (sure_[c] && above != no_class && !sure_[above]) above = classes_[above].above;
    if (above != no_class) runs = std::min(runs, classes_[above].runs.value_or(runs));
    if (own.before_loop != no_class && own.always_entered)
      runs = std::max(runs, classes_[own.before_loop].runs.value_or(0));
    return std::max(0.0, runs);
  }

  // Of each class that is not sure, those that are with none between that is.
  void note_sure() {
    for (std::size_t c = 0; c < classes_.size(); ++c) sure_.push_back(is_sure(c));
    std::size_t steps = 0;
    for (std::size_t d = 0; d < classes_.size(); ++d)
      for (std::size_t above = classes_[d].above; sure_[d] && above != no_class && !sure_[above] && ++steps < max_steps;
           above = classes_[above].above)
        classes_[above].sure_below.push_back(d);
  }

  std::optional<double> said_of(std::size_t c) const {
    std::vector<Said> values;
    for (bool const narrow : {false, true}) {
      for (auto const& [equation, term] : classes_[c].equations) {
        auto const& e = equations_[equation];
        if (e.terms[term].narrow != narrow) continue;
        if (auto const value = said_by(e, term)) values.push_back({*value, e.weight});
      }
      if (!values.empty()) return median(values);
    }
    return std::nullopt;
  }

  void solve() {
    double const wavefronts = entries_of(0);
    note_sure();
    for (std::size_t c = 0; c < classes_.size(); ++c) {
      auto& own = classes_[c];
      if (c == 0 && own.before_loop == no_class && cfg_.blocks[0].loop == no_block) {
        own.runs = wavefronts;
        continue;
      }
      double fallback = wavefronts;
      if (own.above != no_class) fallback = classes_[own.above].runs.value_or(fallback);
      if (own.before_loop != no_class) fallback = classes_[own.before_loop].runs.value_or(fallback);
      own.runs = bounded(c, said_of(c).value_or(fallback));
    }
    for (unsigned sweep = 0; sweep < max_sweeps; ++sweep) {
      bool changed = false;
      for (std::size_t c = 1; c < classes_.size(); ++c) {
        auto& own = classes_[c];
        auto const before = own.runs;
        auto const said = said_of(c);
        double const next = bounded(c, said.value_or(*before));
        changed = changed || std::abs(next - *before) > 1e-9 * (1 + *before);
        own.runs = next;
      }
      if (!changed) break;
    }
  }

  // ---------------------------------------------------------------- slots

  // Of the times that an access under a mask is issued, those that some lane takes part in.
  double requests(amdgcn::Instruction const& i, double runs) const {
    auto const work = amdgcn::conserved_by(i.opcode());
    if (work.amount == 0 || i.at.line == 0) return runs;
    Line const* const line = line_of(i.at, work.conserved);
    if (!line || line->program.empty()) return runs;
    double total = 0, amount = 0;
    for (auto const& part : line->program) total += part.amount * entries_of(part.where);
    for (auto const& part : line->code) amount += part.amount;
    return std::min(runs, total / amount);
  }

  void count(AmdSlots& out) const {
    out.blocks = code_.blocks.size();
    for (std::size_t b = 0; b < code_.blocks.size(); ++b) {
      std::size_t const c = class_of_[b];
      if (c == no_class) continue;
      double const runs = *classes_[c].runs;
      bool const is_found = c == 0 || !classes_[c].equations.empty();
      out.by_rules += !is_found;
      for (std::size_t i = 0; i < code_.blocks[b].instructions.size(); ++i) {
        auto const& instruction = code_.blocks[b].instructions[i];
        auto const pipe = amdgcn::pipe_of(instruction.opcode());
        if (runs > 0) out.counts.code_slots += 1;
        double const asked =
            narrow_[b][i] && (pipe == Pipe::memory || pipe == Pipe::shared) ? requests(instruction, runs) : runs;
        out.counts.slots[pipe] += asked;
        out.counts.slots[Pipe::issue] += runs - asked;
        if (double const bytes = amdgcn::private_bytes(instruction.opcode(), private_buffers_); bytes > 0)
          (instruction.opcode().find("_load_") != std::string_view::npos ? out.private_loads : out.private_stores) +=
              asked * std::max(1.0, bytes / 4);
        if (pipe != Pipe::tensor || runs == 0) continue;
        if (auto const product = amdgcn::matrix_product(instruction))
          out.counts.matrix_flop[product->kind] += runs * product->flop;
      }
    }
  }

  static constexpr std::size_t max_steps = std::size_t{1} << 24;
  static constexpr unsigned max_sweeps = 20;

  Program const& program_;
  amdgcn::Code const& code_;
  std::span<std::uint64_t const> entries_;
  ptx::Cfg cfg_;
  std::vector<std::size_t> class_of_;  // [block of the code]
  std::vector<Class> classes_;         // what dominates another comes first
  std::map<Key, Line> with_columns_, lines_;
  bool columns_ = true;
  bool private_buffers_ = false;           // buffer_… access private memory
  std::vector<std::vector<bool>> narrow_;  // [block of the code][instruction]
  std::vector<Equation> equations_;
  std::vector<bool> sure_;  // [class]
};

}  // namespace

AmdSlots amd_slots(Program const& program, amdgcn::Code const& code, std::span<std::uint64_t const> entries) {
  return Solving(program, code, entries).run();
}

}  // namespace kernelcast::emu
