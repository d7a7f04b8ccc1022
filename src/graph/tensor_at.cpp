#include "graph/tensor_at.hpp"

#include <ATen/ops/from_blob.h>

#include "graph/aten_call.hpp"

namespace cudal1 {

at::Tensor tensor_at(void* address, const TensorMeta& meta, at::Device device) {
  return at::for_blob(address, meta.sizes)
      .strides(meta.strides)
      .options(at::TensorOptions(device).dtype(to_scalar_type(meta.dtype)))
      .target_device(device)  // else the driver is asked whose address this is
      .make_tensor();
}

}  // namespace cudal1
