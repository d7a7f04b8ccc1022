// The files of gpus/, which are part of the program.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace cudal1::vgpu {

//! Text of gpus/NAME.json by NAME, as it was when the program was built.
const std::map<std::string, std::string_view>& embedded_gpu_files();

//! A name without '/' or ".json" is one of those; anything else is a file. Throws Error, with the names there are.
struct GpuFile {
  std::string text;
  std::string shown;  //!< how errors call it
};
GpuFile read_gpu_file(const std::string& name_or_path);

}  // namespace cudal1::vgpu
