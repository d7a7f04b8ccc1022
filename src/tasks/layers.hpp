// Layers of torch.nn in generated modules: each function makes one in the constructor and calls it once.
#pragma once

#include "tasks/module.hpp"

namespace cudal1 {

//! (…, in) to (…, out).
ModuleValue linear(Module& module, const ModuleValue& x, std::int64_t out, bool bias = true);
//! Over the last dimension.
ModuleValue layer_norm(Module& module, const ModuleValue& x);
ModuleValue rms_norm(Module& module, const ModuleValue& x);
//! Of (N, C, …).
ModuleValue group_norm(Module& module, const ModuleValue& x, std::int64_t groups);
//! Of (N, C, H, W), in training, as modules are constructed: it updates its running statistics.
ModuleValue batch_norm(Module& module, const ModuleValue& x);
//! Of (N, C, H, W), without weights.
ModuleValue instance_norm(Module& module, const ModuleValue& x);

struct Window {
  std::int64_t kernel = 3, stride = 1, padding = 0, groups = 1;
};
//! (N, C, L) or (N, C, H, W).
ModuleValue convolution(Module& module, const ModuleValue& x, std::int64_t out, const Window& window, bool bias);
//! (N, C, H, W), enlarged by the stride.
ModuleValue transposed_convolution(Module& module, const ModuleValue& x, std::int64_t out, const Window& window);
//! "max" or "avg" over windows that do not overlap; of (N, C, H, W).
ModuleValue pooling(Module& module, std::string_view kind, const ModuleValue& x, std::int64_t kernel);

}  // namespace cudal1
