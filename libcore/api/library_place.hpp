// Where the suite lies when it is a library in somebody else's program.
#pragma once

namespace kernelcast::api {

// Once per process, before the device database or the frontend is asked for anything.
void find_own_place();

}  // namespace kernelcast::api
