// The source lines that execute the most instructions, and what is unfavourable about them.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/diag/names.hpp"
#include "pictures/report/sections.hpp"

namespace kernelcast::report {

namespace {

constexpr std::size_t shown_lines = 15;
constexpr double worth_a_note = 1.05;

// What the line costs beyond what it would at best.
std::string remark(record::Line const& line) {
  std::string out;
  auto const add = [&](std::string const& text) { out += (out.empty() ? "" : "; ") + text; };
  if (line.global_tx_ideal > 0 && line.global_tx_w32_s32 > worth_a_note * line.global_tx_ideal)
    add(fmt::format("{:.3g} times the transactions of coalesced accesses",
                    line.global_tx_w32_s32 / line.global_tx_ideal));
  if (line.shared_passes_ideal > 0 && line.shared_passes_w32_b32 > worth_a_note * line.shared_passes_ideal)
    add(fmt::format("bank conflicts: {:.3g} times the passes", line.shared_passes_w32_b32 / line.shared_passes_ideal));
  if (line.branches > 0 && line.divergent_branches_w32 > 0)
    add(fmt::format("{} of the branches divergent", percent(line.divergent_branches_w32 / line.branches)));
  if (line.local_bytes > 0) add(quantity(line.local_bytes, "B") + " of private memory");
  if (line.atomics > 0) add(quantity(line.atomics, "atomics"));
  return out;
}

}  // namespace

Html lines_section(Page const& page) {
  std::vector<record::Line const*> lines;
  for (auto const& line : page.inputs.lines)
    if (line.share_pct > 0) lines.push_back(&line);
  if (lines.empty()) return {};
  // Of several kernels the shares are of each kernel's own instructions: instructions compare across all.
  std::ranges::sort(lines, {}, [](auto const* l) {
    return std::tuple(-l->inst_total, std::string_view(l->kernel), std::string_view(l->case_name),
                      std::string_view(l->source), l->line);
  });
  double all = 0;
  for (auto const* line : lines) all += line->inst_total;
  if (all <= 0 || !std::isfinite(all)) return {};
  auto const shown = std::min(shown_lines, lines.size());
  double most = lines.front()->inst_total / all;
  Html body{
      "<div class=wide><table class=plain><caption>source lines, most instructions first</caption>\n<thead><tr><th "
      "scope=col>line"
      "</th><th scope=col>kernel</th><th scope=col class=bar aria-label=\"drawing of the shares\"></th>"
      "<th scope=col class=num>instructions</th><th scope=col class=num>global memory</th><th scope=col "
      "class=num>shared "
      "memory</th><th scope=col>to look at</th></tr></thead>\n<tbody>\n"};
  for (std::size_t i = 0; i < shown; ++i) {
    auto const& line = *lines[i];
    double const share = line.inst_total / all;
    auto const file = line.source.substr(line.source.rfind('/') + 1);
    auto const kind = line.inst_memory > 0 ? "l-dram" : line.inst_float > line.inst_integer ? "l-math" : "l-issue";
    body += markup(
        "<tr><th scope=row>{}:{}</th><td class=kernel>{}</td><td class=bar aria-hidden=true><span class={} "
        "style=\"width:{:.1f}%\"></span></td><td class=num>{}</td><td class=num>{}</td><td "
        "class=num>{}</td><td>{}</td></tr>\n",
        name(file, line.source), line.line, name(function_name(line.kernel), demangled(line.kernel)), kind,
        bar_width(share, most), percent(share),
        line.global_bytes > 0 ? quantity(line.global_bytes, "B") : std::string(),
        line.shared_bytes_moved > 0 ? quantity(line.shared_bytes_moved, "B") : std::string(), remark(line));
  }
  body += {"</tbody></table></div>\n"};
  if (lines.size() > shown) {
    double rest = 0;
    for (std::size_t i = shown; i < lines.size(); ++i) rest += lines[i]->inst_total;
    body += markup("<p class=note>{} more execute {} of the instructions.</p>\n", counted(lines.size() - shown, "line"),
                   percent(rest / all));
  }
  return section(
      "lines", "Source lines that cost most",
      "Instructions that work-items execute, the same on every device. Orange: the line accesses memory; blue: it "
      "computes.",
      body);
}

}  // namespace kernelcast::report
