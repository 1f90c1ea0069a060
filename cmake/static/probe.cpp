// Can a program be linked statically here? It uses what those that are need.
#include <csv.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <string>
#include <thread>

int main(int argc, char** argv) {
  std::string text = fmt::format("{} {:.3g} {}", argc, 0.5 * argc, argv[0]);
  csv_parser parser;
  csv_init(&parser, 0);
  csv_free(&parser);
  std::thread([&] { text += fmt::format("{:016x}", XXH3_64bits(text.data(), text.size())); }).join();
  return text.empty();
}
