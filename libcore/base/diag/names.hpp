// Names of functions as their authors wrote them.
#pragma once

#include <string>
#include <string_view>

namespace kernelcast {

// "void ns::scale<float>(float*)" of "_ZN2ns5scaleIfEEvPT_"; other names as they are.
std::string demangled(std::string const& name);

// The same without result, parameters and "(anonymous namespace)::": "ns::scale<float>". Names that are not mangled as
// they are.
std::string function_name(std::string const& name);

// The same without arguments of its template: "ns::scale".
std::string name_in_source(std::string const& name);

// Of the kernel "step:12#2", the second that a compiler made of a region of OpenMP or OpenACC, the region: "step:12".
// Of any other kernel its name.
std::string region_of_kernel(std::string const& name);

}  // namespace kernelcast
