// How every program must behave, whatever it computes: one list of checks, run for each table in tools/.
//
//   conduct TABLE CHECK      with BIN and SOURCE in the environment; README.md describes tables and checks
#include <cstdlib>
#include <iostream>

#include "checks.hpp"

namespace {

using namespace conduct;

int run_check(fs::path const& path, std::string const& name) {
  Bench const bench(read_table(path));
  for (auto const& check : checks_of_programs())
    if (name == check.name) return check.run(bench), 0;
  for (auto const& check : checks_of_csv_input()) {
    if (name != check.name) continue;
    if (!bench.table().reads_csv()) throw Failure{"this program reads no CSV"};
    return check.run(bench), 0;
  }
  throw Failure{"no such check: " + name};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || !std::getenv("BIN") || !std::getenv("SOURCE")) {
    std::cerr << "conduct: run this by ctest\n";
    return 2;
  }
  setenv("PATH", (std::string(std::getenv("BIN")) + ":" + std::getenv("PATH")).c_str(), 1);
  for (char const* name : {"LC_ALL", "LANG", "NO_COLOR"}) unsetenv(name);
  try {
    return run_check(argv[1], argv[2]);
  } catch (Skip const& skip) {
    std::cout << "kernelcast-skipped: " << skip.why << '\n';
    return 0;
  } catch (Failure const& failure) {
    std::cout << failure.text;
  } catch (std::exception const& error) {
    std::cout << error.what() << '\n';
  }
  return 1;
}
