// Which version of kernelcast this is, and which commit it was built from.
//
// CMakeLists.txt at the root states the version; everything else reads it here. The commit is looked up whenever the
// tree is built (cmake/Commit.cmake). It is in a library of its own, `version_commit`, which only the programs link: a
// new commit compiles one generated file and links the programs again, nothing else.
#pragma once

#include <string>
#include <string_view>

namespace kernelcast {

std::string_view version();  // "1.2.3"

// "1a2b3c4d5e6f", with "-dirty" after it where tracked files had changed; empty where neither git nor a release
// archive tells. Link `version_commit`.
std::string_view commit();

// "1.2.3 (1a2b3c4d5e6f)", or "1.2.3" where the commit is unknown. Link `version_commit`.
std::string version_and_commit();

}  // namespace kernelcast
