// The work-group memory of shim.cl's collective functions: one value of up to 8 bytes for each of a group's 32 warps.
// C, because OpenCL C allows no work-group variable outside a kernel; address space 3 is PTX's .shared.
static __attribute__((address_space(3))) long scratch[32];
__attribute__((always_inline)) __attribute__((address_space(3))) long *kernelcast_scratch(void) { return scratch; }
