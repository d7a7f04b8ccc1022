// The functions of cuda_functions.txt, and programs that call them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cudal1 {

struct CudaFunction {
  std::string result, name;
  std::vector<std::string> arguments;  //!< types
};

//! Lines "result(arguments) [with T = types]: names"; lines that begin with a space go on, those with # say something.
std::vector<CudaFunction> read_cuda_functions(const std::filesystem::path& file);

//! A kernel `k` that calls each of them and checks the type of its result.
std::string program_calling(const std::vector<CudaFunction>& functions);

}  // namespace cudal1
