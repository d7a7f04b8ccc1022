// Tensors in a safetensors file, by name: how this process and the Python bridge hand them to each other.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>

namespace cudal1 {

using NamedTensors = std::map<std::string, at::Tensor>;

//! Throws Error with the path and the reason.
void save_tensors(const NamedTensors& tensors, const std::filesystem::path& path);
NamedTensors load_tensors(const std::filesystem::path& path);

}  // namespace cudal1
