// The files of prompts/, which are part of the program.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace cudal1 {

//! Text of prompts/NAME by NAME ("full.md"), as it was when the program was built.
const std::map<std::string, std::string_view>& embedded_prompt_files();

//! Throws Error where there is no such file: a fault of the build.
std::string_view prompt_file(const std::string& name);

}  // namespace cudal1
