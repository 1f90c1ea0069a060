// The verbs of `kernelcast` that are not programs of the suite; each has its own options and help.
#pragma once

#include <string>
#include <vector>

namespace kernelcast::front {

int choose(int argc, char** argv);
int devices(int argc, char** argv);
int merge(int argc, char** argv);
int submit(int argc, char** argv);

// What follows -- of a command line, which ends there then.
std::vector<std::string> take_application(int& argc, char** argv);

}  // namespace kernelcast::front
