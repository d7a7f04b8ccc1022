// Commands as others are shown them: where files lay on one machine is nobody's business.
#pragma once

#include <string>

namespace cudal1 {

//! Files that are named from the root, a home or a folder above lose their folders.
std::string shared_command(const std::string& command);

}  // namespace cudal1
