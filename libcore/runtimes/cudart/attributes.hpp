// Values of cudaDeviceGetAttribute for a device, by the numbers of cudaDeviceAttr; cudaDeviceProp has the same figures.
//
// Figures of one device come from the database; those of its compute capability from [cuda] "Technical Specifications
// per Compute Capability". What neither says is 0.
#pragma once

#include <optional>

#include "kernels/cuda/abi.hpp"
#include "records/device/device.hpp"

namespace kernelcast::cudart {

// Empty where there is no attribute of this number. `index`: which of the application's devices it is.
std::optional<int> value_of(Attribute, device::Device const&, int index = 0);
// 16 bytes, of no other of the application's devices.
void write_uuid(device::Device const&, int index, char* uuid);

}  // namespace kernelcast::cudart
