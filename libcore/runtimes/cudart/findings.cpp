#include "runtimes/cudart/findings.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include "emulator/cluster.hpp"
#include "runtimes/cudart/errors.hpp"

namespace kernelcast::cudart {

namespace {

constexpr std::size_t max_places = 1000, max_texts = 1000;

}  // namespace

std::string text_of(emu::Finding const& f, std::string const& message) {
  auto const id = [](emu::Dim3 const& d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); };
  auto const source = f.source.empty() ? fmt::format("line {} of its PTX", f.at.line) : f.source;
  return fmt::format("kernel '{}', {}: {}; thread {} of block {}", f.kernel, source, message, id(f.local_id),
                     id(f.group_id));
}

Findings::Findings(Options const& options, emu::Memory const& memory) : goes_on_(options.goes_on) {
  auto checks = options.checks;
  checks.stops = !goes_on_;
  if (checks.any()) checks_.emplace(checks, memory);
  if (!options.spool.empty()) spool_.emplace(options.spool);
}

emu::Checks* Findings::check(emu::Program const& program, emu::Launch const& launch) {
  if (!checks_) return nullptr;
  if (launch.cooperative || (emu::runs_together(program, launch) && !checks_->follows_clusters())) {
    report(fmt::format("kernel '{}' is launched {}: it is not checked", program.kernel().name,
                       launch.cooperative ? "cooperatively" : "in clusters"));
    return nullptr;
  }
  checks_->begin(program, launch);
  return &*checks_;
}

std::string Findings::named(emu::Finding const& finding, std::string const& message) const {
  return text_of(finding, fmt::format("launch {}: {}", launches_, message));
}

void Findings::add(char const* kind, std::vector<emu::Finding> const& all, std::size_t& known) {
  for (; known < all.size(); ++known)
    if (texts_.size() < max_texts) texts_.push_back({kind, named(all[known], all[known].message)});
}

bool Findings::launched(emu::Outcome const& outcome) {
  if (!goes_on_ && !checks_) return false;
  if (process_ != getpid()) {
    process_ = getpid();
    places_.clear();
    texts_.clear();
  }
  ++launches_;
  auto const before = texts_.size();
  auto places = passed_over_.take();
  bool const passed = !places.empty();
  for (auto& place : places) place.finding.message = fmt::format("launch {}: {}", launches_, place.finding.message);
  emu::add_places(places_, std::move(places));
  if (places_.size() > max_places) places_.resize(max_places);
  auto const by_checks = known_findings_;
  if (checks_) {
    add("check", checks_->findings(), known_findings_);
    add("equal", checks_->notes(), known_equal_);
  }
  if (outcome.ending == emu::Ending::finding && by_checks == known_findings_)
    texts_.push_back({"ended", named(*outcome.finding, outcome.finding->message)});
  if (passed || texts_.size() > before) publish();
  return spool_ && outcome.ending == emu::Ending::finding;
}

void Findings::publish() const {
  if (!spool_) return;
  std::string out;
  for (auto const& place : places_)
    out += fmt::format("passed {} {}\n", place.times, text_of(place.finding, message_of(place)));
  for (auto const& [kind, text] : texts_) out += fmt::format("{} 1 {}\n", kind, text);
  spool_->publish(fmt::format("findings-{}-0.txt", process_), out);
}

}  // namespace kernelcast::cudart
