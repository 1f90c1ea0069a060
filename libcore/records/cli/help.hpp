// --help, and the same facts as scdoc for the man pages.
#pragma once

#include <string>

#include "records/cli/cli.hpp"

namespace kernelcast::cli {

std::string help_text(CLI::App const& app, About const& about);
std::string options_scdoc(CLI::App const& app);
std::string columns_scdoc(About const& about);
std::string statuses_scdoc(About const& about);

// All option names as the user types them, for "did you mean".
std::vector<std::string> option_names(CLI::App const& app);

}  // namespace kernelcast::cli
