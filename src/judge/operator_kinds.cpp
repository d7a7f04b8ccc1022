#include "judge/operator_kinds.hpp"

#include <algorithm>
#include <initializer_list>

namespace cudal1 {
namespace {

bool is_one_of(std::string_view op, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), op) != names.end();
}

//! "max_pool2d_with_indices", "adaptive_max_pool1d" and their like.
bool takes_the_largest_of_windows(std::string_view op) { return op.find("max_pool") != std::string_view::npos; }

}  // namespace

bool gives_whole_numbers(std::string_view op) {
  return is_one_of(
      op, {"floor", "ceil", "round", "trunc", "sign", "sgn", "floor_divide", "arange", "zeros", "ones", "zeros_like",
           "ones_like", "eye", "one_hot", "bernoulli", "randint", "randint_like", "randperm", "geometric"});
}

bool chooses(std::string_view op) {
  return takes_the_largest_of_windows(op) || gives_places(op) ||
         is_one_of(op, {"clamp",
                        "clamp_min",
                        "clamp_max",
                        "where",
                        "maximum",
                        "minimum",
                        "amax",
                        "amin",
                        "aminmax",
                        "fmax",
                        "fmin",
                        "relu",
                        "relu_",
                        "relu6",
                        "hardtanh",
                        "abs",
                        "neg",
                        "gather",
                        "index",
                        "index_select",
                        "index_copy",
                        "index_fill",
                        "take",
                        "take_along_dim",
                        "cat",
                        "concat",
                        "stack",
                        "hstack",
                        "vstack",
                        "dstack",
                        "embedding",
                        "flip",
                        "fliplr",
                        "flipud",
                        "rot90",
                        "roll",
                        "masked_fill",
                        "masked_scatter",
                        "masked_select",
                        "scatter",
                        "select_scatter",
                        "slice_scatter",
                        "diagonal_scatter",
                        "clone",
                        "contiguous",
                        "constant_pad_nd",
                        "pad",
                        "reflection_pad1d",
                        "reflection_pad2d",
                        "reflection_pad3d",
                        "replication_pad1d",
                        "replication_pad2d",
                        "replication_pad3d",
                        "tril",
                        "triu",
                        "diag",
                        "diag_embed",
                        "select",
                        "slice",
                        "repeat",
                        "repeat_interleave",
                        "tile",
                        "to",
                        "_to_copy",
                        "copy",
                        "im2col",
                        "unfold",
                        "pixel_shuffle",
                        "pixel_unshuffle",
                        "channel_shuffle",
                        "upsample_nearest1d",
                        "upsample_nearest2d",
                        "upsample_nearest3d",
                        "meshgrid"});
}

bool gives_places(std::string_view op) {
  return takes_the_largest_of_windows(op) ||
         is_one_of(op, {"argmax", "argmin", "argsort", "sort", "topk", "max", "min", "kthvalue", "median", "nanmedian",
                        "mode", "cummax", "cummin", "nonzero", "argwhere"});
}

bool computes_in_whole_numbers(std::string_view op) {
  return is_one_of(op, {"add", "sub", "rsub", "mul", "sum", "cumsum", "square", "mm", "bmm", "matmul", "linear",
                        "addmm", "baddbmm", "addmv", "mv", "dot"});
}

bool multiplies_matrices(std::string_view op) {
  return op.find("conv") != std::string_view::npos ||
         is_one_of(op, {"mm", "bmm", "matmul", "linear", "addmm", "baddbmm", "addmv", "mv"});
}

bool steps(std::string_view op) {
  return op.starts_with("fake_quantize") ||
         is_one_of(op, {"floor", "ceil", "round", "trunc", "frac", "sign", "sgn", "heaviside", "remainder", "fmod",
                        "floor_divide", "hardshrink", "threshold"});
}

}  // namespace cudal1
