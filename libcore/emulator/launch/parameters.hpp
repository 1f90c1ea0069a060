// The parameters of a launch file while it is read: declared with defaults, then chosen by the command line.
#pragma once

#include "emulator/launch/launch.hpp"

namespace kernelcast::launch {

class Choice {
 public:
  explicit Choice(std::string path) : path_(std::move(path)) {}  // of the launch file, for messages

  // Throws Error(bad_data) where no expression could use the name.
  void declare(std::string name, Value, Text const& place);
  void declare_set(std::string const& name, Text const& place);
  // Throws Error(bad_data) where there is no such parameter, or its default has another type. An integer may be an
  // expression, and a string hold ${…}, of any parameters: both mean what these are in the end.
  void add_to_set(std::string const& set, std::string const& parameter, Value, Text const& place);

  // NAME=VALUE or the name of a set; later ones win. Throws Error(usage) where the file has no such name.
  void choose(std::string const& text);

  // In the order of their declaration. Throws Error where a parameter depends on itself, and what evaluate() and
  // substitute() throw.
  Parameters values();

 private:
  struct Assignment {
    std::size_t parameter;
    Value value;
    Text place;
  };
  struct Entry {
    std::string name;
    std::size_t type;  // Value::index() of the default
    Value given;       // of an integer perhaps an expression
    Text place;
    bool resolving = false, resolved = false;
  };
  Value fitting(Entry const&, Value, Text const& place) const;
  Error unknown(Text const& place, std::string_view what, std::string const& name) const;
  void resolve(Entry&);

  std::string path_;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t, std::less<>> index_;
  std::map<std::string, std::vector<Assignment>, std::less<>> sets_;
  std::vector<std::string> names_, set_names_;
  std::size_t assignments_ = 0;
  Variables known_;
};

}  // namespace kernelcast::launch
