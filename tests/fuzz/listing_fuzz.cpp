// Machine code as nvdisasm lists it.
#include "fuzz.hpp"
#include "models/ake/sass.hpp"

namespace kernelcast::fuzz {

void run_input(std::string_view input) {
  model::ake::read_listing(input, "fuzz");
}

}  // namespace kernelcast::fuzz
