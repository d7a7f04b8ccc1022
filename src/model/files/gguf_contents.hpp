// A GGUF file taken apart: metadata, and tensors under the format's own names and in its own order.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "model/files/gguf_metadata.hpp"
#include "model/model_weights.hpp"

namespace cudal1 {

struct GgufContents {
  GgufMetadata metadata;
  std::map<std::string, WeightTensor> tensors;  //!< "blk.0.attn_q.weight"; views into the file's bytes
};

//! Versions 2 and 3, little-endian. Throws Error, beginning with `file`, for whatever is cut off, too large, there
//! twice, overlapping or of a type that is not supported.
GgufContents read_gguf(std::span<const std::byte> bytes, const std::string& file);

}  // namespace cudal1
