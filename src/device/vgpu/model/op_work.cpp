#include "device/vgpu/model/op_work.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "graph/operator_name.hpp"

namespace cudal1::vgpu {
namespace {

using Names = std::set<std::string, std::less<>>;
using Metas = std::span<const TensorMeta>;

const Names views{"t",        "transpose", "view",       "permute",          "expand",       "expand_as",
                  "slice",    "select",    "unsqueeze",  "squeeze",          "narrow",       "alias",
                  "detach",   "unbind",    "split",      "split_with_sizes", "chunk",        "diagonal",
                  "unfold",   "numpy_T",   "mT",         "as_strided",       "view_as",      "movedim",
                  "swapaxes", "real",      "lift_fresh", "unsafe_split",     "broadcast_to", "tensor_split",
                  "moveaxis"};
//! Views where the elements lie right, copies where they do not.
const Names views_of_contiguous{"reshape", "flatten", "contiguous", "unflatten", "reshape_as", "ravel"};

const std::map<std::string, std::string, std::less<>> class_of_name = [] {
  std::map<std::string, std::string, std::less<>> classes;
  const auto add = [&](const std::string& op_class, std::initializer_list<const char*> names) {
    for (const char* name : names) classes[name] = op_class;
  };
  add("strided_copy",
      {"clone", "reshape", "flatten", "contiguous", "unflatten", "reshape_as", "ravel", "flip", "roll"});
  add("reduction", {"sum", "mean", "prod", "amax", "amin", "norm", "linalg_vector_norm", "logsumexp", "var", "std",
                    "any", "all", "count_nonzero", "std_mean", "var_mean", "frobenius_norm", "nansum"});
  add("reduction_with_index", {"max", "min", "argmax", "argmin", "aminmax"});
  add("softmax", {"softmax", "log_softmax", "_softmax", "_log_softmax", "_safe_softmax", "softmin"});
  add("normalisation", {"layer_norm", "native_layer_norm", "rms_norm", "_fused_rms_norm", "group_norm",
                        "native_group_norm", "instance_norm", "local_response_norm"});
  add("batch_norm", {"batch_norm", "native_batch_norm", "cudnn_batch_norm", "_native_batch_norm_legit_no_training"});
  add("matmul", {"mm", "addmm", "bmm", "baddbmm", "linear", "matmul", "mv", "addmv", "dot", "vdot", "addbmm", "einsum",
                 "bilinear", "tensordot", "inner", "chain_matmul", "linalg_multi_dot", "ger", "outer"});
  add("convolution", {"convolution", "_convolution", "conv1d", "conv2d", "conv3d", "cudnn_convolution",
                      "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "conv_tbc"});
  add("pooling", {"max_pool1d", "max_pool2d", "max_pool3d", "max_pool2d_with_indices", "max_pool3d_with_indices",
                  "avg_pool1d", "avg_pool2d", "avg_pool3d", "adaptive_avg_pool1d", "adaptive_avg_pool2d",
                  "adaptive_avg_pool3d", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_max_pool1d",
                  "adaptive_max_pool2d", "adaptive_max_pool3d"});
  add("attention", {"scaled_dot_product_attention", "_scaled_dot_product_flash_attention",
                    "_scaled_dot_product_efficient_attention", "_scaled_dot_product_cudnn_attention"});
  add("scan", {"cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"});
  add("gather", {"embedding", "gather", "index", "index_select", "scatter", "scatter_add", "index_put", "index_add",
                 "take", "take_along_dim", "masked_select", "grid_sampler", "nonzero", "embedding_bag"});
  add("sort", {"sort", "topk", "argsort", "msort", "kthvalue", "median", "unique"});
  add("loss",
      {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "nll_loss", "nll_loss_nd", "cross_entropy_loss", "kl_div",
       "binary_cross_entropy", "binary_cross_entropy_with_logits", "triplet_margin_loss", "hinge_embedding_loss",
       "cosine_embedding_loss", "margin_ranking_loss", "soft_margin_loss", "cosine_similarity"});
  add("recurrent", {"lstm", "gru", "rnn_tanh", "rnn_relu", "lstm_cell", "gru_cell"});
  add("pointwise", {"add",
                    "sub",
                    "mul",
                    "div",
                    "rsub",
                    "neg",
                    "abs",
                    "exp",
                    "exp2",
                    "expm1",
                    "log",
                    "log1p",
                    "log2",
                    "log10",
                    "sqrt",
                    "rsqrt",
                    "square",
                    "pow",
                    "reciprocal",
                    "sin",
                    "cos",
                    "tan",
                    "tanh",
                    "sinh",
                    "cosh",
                    "asin",
                    "acos",
                    "atan",
                    "atan2",
                    "erf",
                    "erfc",
                    "sigmoid",
                    "logit",
                    "relu",
                    "relu6",
                    "leaky_relu",
                    "elu",
                    "selu",
                    "celu",
                    "gelu",
                    "silu",
                    "mish",
                    "softplus",
                    "softsign",
                    "hardtanh",
                    "hardsigmoid",
                    "hardswish",
                    "hardshrink",
                    "softshrink",
                    "threshold",
                    "prelu",
                    "log_sigmoid",
                    "tanhshrink",
                    "clamp",
                    "clamp_min",
                    "clamp_max",
                    "minimum",
                    "maximum",
                    "fmod",
                    "remainder",
                    "floor",
                    "ceil",
                    "round",
                    "trunc",
                    "frac",
                    "sign",
                    "where",
                    "eq",
                    "ne",
                    "lt",
                    "le",
                    "gt",
                    "ge",
                    "logical_and",
                    "logical_or",
                    "logical_not",
                    "bitwise_and",
                    "bitwise_or",
                    "bitwise_xor",
                    "bitwise_not",
                    "isnan",
                    "isinf",
                    "masked_fill",
                    "fill",
                    "lerp",
                    "addcmul",
                    "addcdiv",
                    "to",
                    "_to_copy",
                    "copy",
                    "cat",
                    "stack",
                    "concat",
                    "repeat",
                    "zeros",
                    "ones",
                    "full",
                    "zeros_like",
                    "ones_like",
                    "full_like",
                    "arange",
                    "tril",
                    "triu",
                    "constant_pad_nd",
                    "pad",
                    "glu",
                    "dropout",
                    "native_dropout",
                    "bernoulli",
                    "rand",
                    "randn",
                    "rand_like",
                    "randn_like",
                    "randint",
                    "randint_like",
                    "normal",
                    "normal_functional",
                    "uniform",
                    "exponential",
                    "geometric",
                    "cauchy",
                    "log_normal",
                    "scalar_tensor",
                    "nan_to_num",
                    "pixel_shuffle",
                    "floor_divide",
                    "upsample_nearest2d",
                    "upsample_bilinear2d",
                    "repeat_interleave"});
  return classes;
}();

double elements(const TensorMeta& meta) { return static_cast<double>(meta.numel()); }
std::int64_t dimension(const TensorMeta& meta, std::int64_t from_the_end) {
  const auto rank = static_cast<std::int64_t>(meta.sizes.size());
  return rank < from_the_end ? 1 : meta.sizes[static_cast<std::size_t>(rank - from_the_end)];
}

//! What is read of it: an expanded tensor has fewer bytes than elements, and never more than those.
double bytes_of(const TensorMeta& meta) {
  double distinct = 1;
  for (std::size_t i = 0; i < meta.sizes.size(); ++i)
    if (meta.strides.size() != meta.sizes.size() || meta.strides[i] != 0)
      distinct *= static_cast<double>(meta.sizes[i]);
  return distinct * static_cast<double>(size_in_bytes(meta.dtype));
}

double sum_of_bytes(Metas metas) {
  double sum = 0;
  for (const TensorMeta& meta : metas) sum += bytes_of(meta);
  return sum;
}

//! A product has the columns of its left factor for a sum: for mm, bmm and linear the last dimension of the first
//! input, for those that add to a third tensor that of the second.
double matmul_flops(const std::string& name, Metas inputs, Metas outputs) {
  const bool adds = name == "addmm" || name == "baddbmm" || name == "addmv" || name == "addbmm";
  const std::size_t left = adds ? 1 : 0;
  if (inputs.size() <= left || outputs.empty()) return 0;
  if (name == "ger" || name == "outer") return elements(outputs[0]);
  return 2 * elements(outputs[0]) * static_cast<double>(dimension(inputs[left], 1));
}

struct Convolution {
  bool transposed = false, depthwise = false;
  int spatial = 2;
};

//! conv2d and its kin say it in their name, convolution in its seventh argument.
Convolution convolution_of(const Node& node, const std::string& name, Metas inputs) {
  Convolution made;
  made.transposed = name.find("transpose") != std::string::npos;
  if ((name == "convolution" || name == "_convolution") && node.args.size() > 6)
    if (const bool* flag = std::get_if<bool>(&node.args[6])) made.transposed = *flag;
  const TensorMeta& weight = inputs[1];
  made.spatial = static_cast<int>(weight.sizes.size()) - 2;
  const std::int64_t channels = inputs[0].sizes.size() > 1 ? inputs[0].sizes[1] : 1;
  made.depthwise = weight.sizes.size() > 2 && weight.sizes[1] == 1 && channels > 1;
  return made;
}

double convolution_flops(const Convolution& convolution, Metas inputs, Metas outputs) {
  const TensorMeta& weight = inputs[1];
  const double products = elements(weight) / static_cast<double>(std::max<std::int64_t>(weight.sizes[0], 1));
  return 2 * products * elements(convolution.transposed ? inputs[0] : outputs[0]);
}

std::string class_of(const Convolution& convolution) {
  if (convolution.depthwise) return "convolution_depthwise";
  if (convolution.transposed) return convolution.spatial >= 3 ? "convolution_transposed_3d" : "convolution_transposed";
  return convolution.spatial >= 3 ? "convolution_3d" : "convolution";
}

//! Queries times keys, then weights times values.
double attention_flops(Metas inputs, Metas outputs) {
  if (inputs.size() < 3 || outputs.empty()) return 0;
  const double keys = static_cast<double>(dimension(inputs[1], 2));
  const double width = static_cast<double>(dimension(inputs[0], 1) + dimension(inputs[2], 1));
  const double queries = elements(inputs[0]) / static_cast<double>(std::max<std::int64_t>(dimension(inputs[0], 1), 1));
  return 2 * queries * keys * width;
}

//! Every weight meets every row of every time step once; the first input is (steps, batch, features) or batch first.
void add_recurrent(Metas inputs, OpWork& work) {
  if (inputs.empty() || inputs[0].sizes.size() < 2) return;
  double weights = 0, matrices = 0;
  for (const TensorMeta& meta : inputs.subspan(1)) {
    if (meta.sizes.size() != 2) continue;
    weights += elements(meta);
    ++matrices;  // two a layer: for its input and for its state
  }
  const double rows = elements(inputs[0]) / static_cast<double>(std::max<std::int64_t>(dimension(inputs[0], 1), 1));
  work.flops = 2 * weights * rows;
  work.repeats = std::max(1.0, matrices / 2) * static_cast<double>(std::max(inputs[0].sizes[0], inputs[0].sizes[1]));
}

bool is_training(const Node& node) {
  // batch_norm(input, weight, bias, mean, variance, training, …)
  const bool* training = node.args.size() > 5 ? std::get_if<bool>(&node.args[5]) : nullptr;
  return training && *training;
}

//! What can be said from the name, and is then refined by the shapes.
std::string class_by_name(const Node& node, const std::string& name, Metas inputs) {
  const bool in_place = !inputs.empty() && inputs[0].is_contiguous();
  if (views.contains(name) || (views_of_contiguous.contains(name) && in_place)) return "view";
  if (name == "clone" && in_place) return "pointwise";
  const auto found = class_of_name.find(name);
  if (found == class_of_name.end()) return "other";
  if (found->second == "batch_norm" && is_training(node)) return "batch_norm_train";
  if (found->second == "reduction_with_index" && inputs.size() > 1) return "pointwise";  // max of two tensors
  return found->second;
}

}  // namespace

OpWork work_of(const Node& node, std::span<const TensorMeta> inputs, std::span<const TensorMeta> outputs) {
  const std::string name(base_name(node.op));
  OpWork work;
  work.op_class = class_by_name(node, name, inputs);
  if (work.op_class == "view") return work;
  work.bytes_read = sum_of_bytes(inputs);
  work.bytes_written = sum_of_bytes(outputs);
  if (work.op_class == "matmul") work.flops = matmul_flops(name, inputs, outputs);
  if (work.op_class == "attention") work.flops = attention_flops(inputs, outputs);
  if (work.op_class == "recurrent") add_recurrent(inputs, work);
  if (work.op_class == "convolution" && inputs.size() > 1 && !outputs.empty() && !inputs[1].sizes.empty()) {
    const Convolution convolution = convolution_of(node, name, inputs);
    work.op_class = class_of(convolution);
    work.flops = convolution_flops(convolution, inputs, outputs);
  }
  // Only the rows that are asked for are read of a table.
  if (work.op_class == "gather" && !inputs.empty())
    work.bytes_read = std::min(work.bytes_read, work.bytes_written + bytes_of(inputs.back()));
  return work;
}

}  // namespace cudal1::vgpu
