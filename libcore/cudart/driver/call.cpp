#include "cudart/driver/call.hpp"

namespace kernelcast::driver {

Code of_runtime(Code code) {
  if (cudart::driver_name(code)) return code;
  return code == Code::invalid_device_function || code == Code::invalid_symbol ? Code::symbol_not_found
                                                                               : Code::invalid_value;
}

}  // namespace kernelcast::driver
