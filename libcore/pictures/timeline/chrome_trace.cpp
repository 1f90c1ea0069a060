#include <cmath>
#include <ostream>
#include <stdexcept>
#include <utility>

#include "pictures/timeline/timeline.hpp"
#include "records/table/table.hpp"

namespace kernelcast::timeline {
namespace {

void append_arguments(std::string& out, Arguments const& arguments) {
  out += ",\"args\":{";
  for (bool first = true; auto const& [name, value] : arguments) {
    if (!std::exchange(first, false)) out += ',';
    out += record::json_string(name) + ':' + record::json_string(value);
  }
  out += '}';
}

}  // namespace

ChromeTrace::ChromeTrace(std::ostream& out) : out_(&out) {
  *out_ << "{\"traceEvents\":[";
}

void ChromeTrace::begin(char phase, std::uint64_t process, std::uint64_t thread, std::string_view name) {
  line_ = first_ ? "\n" : ",\n";
  first_ = false;
  line_ += "{\"ph\":\"";
  line_ += phase;
  line_ += "\",\"pid\":" + std::to_string(process) + ",\"tid\":" + std::to_string(thread) +
           ",\"name\":" + record::json_string(name);
}

void ChromeTrace::name_process(std::uint64_t process, std::string_view name) {
  begin('M', process, 0, "process_name");
  append_arguments(line_, {{"name", std::string(name)}});
  *out_ << line_ << '}';
}

void ChromeTrace::name_thread(std::uint64_t process, std::uint64_t thread, std::string_view name) {
  begin('M', process, thread, "thread_name");
  append_arguments(line_, {{"name", std::string(name)}});
  *out_ << line_ << '}';
}

void ChromeTrace::span(std::uint64_t process, std::uint64_t thread, std::string_view name, double start_us,
                       double duration_us, Arguments const& arguments) {
  if (!std::isfinite(start_us) || !std::isfinite(duration_us) || duration_us < 0)
    throw std::logic_error("a span of a timeline needs a finite start and a duration that is not negative");
  begin('X', process, thread, name);
  line_ += ",\"ts\":" + record::number_text(start_us) + ",\"dur\":" + record::number_text(duration_us);
  if (!arguments.empty()) append_arguments(line_, arguments);
  *out_ << line_ << '}';
}

void ChromeTrace::counter(std::uint64_t process, std::string_view name, double at_us, double value) {
  begin('C', process, 0, name);
  line_ += ",\"ts\":" + record::number_text(at_us) + ",\"args\":{\"value\":" + record::number_text(value) + '}';
  *out_ << line_ << '}';
}

void ChromeTrace::finish() {
  *out_ << "\n],\"displayTimeUnit\":\"ns\"}\n";
  out_->flush();
}

}  // namespace kernelcast::timeline
