// Whatever is fed to the parser is a Module or a PtxError.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "device/vgpu/ptx/parser.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    cudal1::ptx::parse({reinterpret_cast<const char*>(data), size});
  } catch (const cudal1::ptx::PtxError&) {
  }
  return 0;
}
