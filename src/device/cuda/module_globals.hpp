// The variables a program keeps in device and constant memory. The compiler lets pass only those that no code seems to
// write; this looks whether that is so.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>
#include <vector>

namespace cudal1::cuda {

class ModuleGlobals {
 public:
  ModuleGlobals() = default;
  //! Remembers what a module that was just loaded holds.
  ModuleGlobals(CUmodule module, const std::string& cubin);

  //! The device must be idle. Throws DeviceError(forbidden) naming a variable that changed.
  void check_unchanged() const;

 private:
  struct Variable {
    std::string name;
    CUdeviceptr address = 0;
    std::vector<std::byte> content;
  };
  std::vector<Variable> variables_;
};

}  // namespace cudal1::cuda
