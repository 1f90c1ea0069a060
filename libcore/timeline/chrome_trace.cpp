#include <cmath>
#include <ostream>
#include <stdexcept>

#include "record/table.hpp"
#include "timeline/timeline.hpp"

namespace kernelcast::timeline {
namespace {

void append_string(std::string& out, std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  out += '"';
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += "\\u00";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_arguments(std::string& out, Arguments const& arguments) {
  out += ",\"args\":{";
  for (bool first = true; auto const& [name, value] : arguments) {
    if (!first) out += ',';
    first = false;
    append_string(out, name);
    out += ':';
    append_string(out, value);
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
  line_ += "\",\"pid\":" + std::to_string(process) + ",\"tid\":" + std::to_string(thread) + ",\"name\":";
  append_string(line_, name);
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
