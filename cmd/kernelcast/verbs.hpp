// The verbs of `kernelcast` that are not programs of the suite; each has its own options and help.
#pragma once

namespace kernelcast::front {

int choose(int argc, char** argv);
int devices(int argc, char** argv);
int merge(int argc, char** argv);
int submit(int argc, char** argv);

}  // namespace kernelcast::front
