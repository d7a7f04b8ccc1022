#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace cudal1 {

//! `--gpu`: whose times the virtual GPU predicts, one of those that are known or a file.
void add_gpu_option(CLI::App& command, std::string& gpu);

}  // namespace cudal1
