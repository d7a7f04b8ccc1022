// A file system, network and temporary folders of its own for a child, where the kernel lets us make them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cudal1 {

//! Does bubblewrap work here (installed, and the kernel lets us make namespaces)? Tried once.
bool bubblewrap_works();

//! What to put in front of a command: everything can be read but home and temporary folders, which are empty except for
//! `visible`; nothing can be written but below `writable` and /proc. Only where it works.
std::vector<std::string> bubblewrap_arguments(const std::vector<std::filesystem::path>& visible,
                                              const std::vector<std::filesystem::path>& writable = {});

}  // namespace cudal1
