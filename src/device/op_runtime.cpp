#include "device/op_runtime.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/files.hpp"

namespace cudal1 {
namespace {

MakeOpRuntime open_plugin() {
  const auto path = executable_directory() / "libcudal1_ops.so";
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw DeviceError(Status::unsupported, fmt::format("op steps need the LibTorch plug-in: {}", ::dlerror()), true);
  auto make = reinterpret_cast<MakeOpRuntime>(::dlsym(library, make_op_runtime_symbol));
  if (!make) throw DeviceError(Status::unsupported, fmt::format("{} is not our plug-in", path.string()), true);
  return make;
}

MakeOpRuntime plugin() {
  static const MakeOpRuntime make = open_plugin();
  return make;
}

}  // namespace

void open_op_library() { plugin(); }

std::unique_ptr<OpRuntime> make_op_runtime(const Plan& plan, const OpRuntimeOptions& options) try {
  return std::unique_ptr<OpRuntime>(plugin()(plan, options));
} catch (const DeviceError&) {
  throw;
} catch (const std::exception& error) {
  throw DeviceError(Status::unsupported, fmt::format("op steps cannot be set up: {}", error.what()), true);
}

}  // namespace cudal1
