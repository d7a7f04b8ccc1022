#include "device/cuda/module_globals.hpp"

#include <fmt/format.h>

#include "compile/cubin.hpp"
#include "device/cuda/driver.hpp"

namespace cudal1::cuda {
namespace {

std::vector<std::byte> read(CUdeviceptr address, std::size_t bytes, const std::string& name) {
  std::vector<std::byte> content(bytes);
  check(driver().cuMemcpyDtoH(content.data(), address, bytes), fmt::format("read the variable '{}'", name));
  return content;
}

}  // namespace

ModuleGlobals::ModuleGlobals(CUmodule module, const std::string& cubin) {
  for (const std::string& name : module_variables(cubin)) {
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    check(driver().cuModuleGetGlobal(&address, &bytes, module, name.c_str()),
          fmt::format("find the variable '{}'", name));
    if (bytes > 0) variables_.push_back({name, address, read(address, bytes, name)});
  }
}

void ModuleGlobals::check_unchanged() const {
  for (const Variable& variable : variables_)
    if (read(variable.address, variable.content.size(), variable.name) != variable.content)
      throw DeviceError(
          Status::forbidden,
          fmt::format("the program wrote to its variable '{}', which outlives a call; use a `buffer`", variable.name),
          false);
}

}  // namespace cudal1::cuda
