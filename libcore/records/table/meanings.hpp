// What columns that many records have mean.
#pragma once

namespace kernelcast::record::meaning {

inline constexpr auto kernel = "name of the kernel function";
inline constexpr auto size = "problem size or launch of the kernel";
inline constexpr auto launch = "the launch file's stem and what --set chose, or <global>/<local> sizes in work-items";
inline constexpr auto device = "slug of the device in the device database";
inline constexpr auto model = "the model that made the projection";
inline constexpr auto low = "lower end of the interval that holds the time";
inline constexpr auto high = "upper end of the interval that holds the time";

}  // namespace kernelcast::record::meaning
