// Where the suite is installed, for its library in another program.
#pragma once

namespace kernelcast::api {

// Once per process, before the device database or the frontend is used.
void find_own_place();

}  // namespace kernelcast::api
