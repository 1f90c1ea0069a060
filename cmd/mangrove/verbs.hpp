// The programs behind `mangrove VERB`; each has its own options and help.
#pragma once

#include <span>
#include <string_view>

namespace kernelcast::mangrove {

struct Verb {
  std::string_view name, summary;
  int (*main)(int argc, char** argv);
};
std::span<Verb const> verbs();

int collect(int argc, char** argv);
int train(int argc, char** argv);
int predict(int argc, char** argv);
int validate(int argc, char** argv);
int importance(int argc, char** argv);
int export_model(int argc, char** argv);
int forests(int argc, char** argv);
int operators(int argc, char** argv);

}  // namespace kernelcast::mangrove
