#include "tasks/layers.hpp"

#include <fmt/format.h>

#include <cmath>

namespace cudal1 {
namespace {

using nlohmann::ordered_json;

//! What torch.nn draws: uniform up to one over the root of how many numbers each result adds up.
Draw fan_in_draw(std::int64_t fan_in) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in));
  return {Draw::Kind::uniform, -bound, bound};
}

// A norm is constructed with ones and zeros. The task draws others, so that a program that leaves them out is found.
constexpr Draw about_one{Draw::Kind::normal, 1.0, 0.1}, about_zero{Draw::Kind::normal, 0.0, 0.1};

std::vector<ModuleLeaf> norm_weights(std::int64_t size) {
  return {{"weight", DType::f32, {size}, about_one}, {"bias", DType::f32, {size}, about_zero}};
}

ModuleValue call(Module& module, const ModuleLayer& layer, const ModuleValue& x, const std::string& node, Shape sizes) {
  return module.statement(fmt::format("self.{}({{0}})", layer.attribute), {x}, node, std::move(sizes));
}

//! Arguments from the end that an operator would take anyway are not written.
void drop_defaults(ordered_json& args, const ordered_json& defaults) {
  while (!args.empty() && args.size() <= defaults.size() && args.back() == defaults[args.size() - 1])
    args.erase(args.size() - 1);
}

ordered_json each(std::size_t dimensions, std::int64_t value) { return std::vector<std::int64_t>(dimensions, value); }

ordered_json convolution_args(const ModuleValue& x, const ModuleLayer& layer, const Window& window, bool bias) {
  const std::size_t d = x.sizes.size() - 2;
  ordered_json args = ordered_json::array({x.name, layer.weights[0].name});
  args.push_back(bias ? ordered_json(layer.weights[1].name) : ordered_json(nullptr));
  args.insert(args.end(), {each(d, window.stride), each(d, window.padding), each(d, 1), ordered_json(window.groups)});
  drop_defaults(args, {"", "", nullptr, each(d, 1), each(d, 0), each(d, 1), 1});
  return args;
}

std::string window_text(const Window& window, bool bias) {
  std::string text = fmt::format("{}", window.kernel);
  if (window.stride != 1) text += fmt::format(", stride={}", window.stride);
  if (window.padding != 0) text += fmt::format(", padding={}", window.padding);
  return bias ? text : text + ", bias=False";
}

}  // namespace

ModuleValue linear(Module& module, const ModuleValue& x, std::int64_t out, bool bias) {
  const std::int64_t in = x.sizes.back();
  std::vector<ModuleLeaf> weights{{"weight", DType::f32, {out, in}, fan_in_draw(in)}};
  if (bias) weights.push_back({"bias", DType::f32, {out}, fan_in_draw(in)});
  const std::string in_text = module.size_text(in), out_text = module.size_text(out);
  const ModuleLayer layer = module.layer(
      "linear", fmt::format("nn.Linear({}, {}{})", in_text, out_text, bias ? "" : ", bias=False"), weights);
  ordered_json args = ordered_json::array({x.name, layer.weights[0].name});
  if (bias) args.push_back(layer.weights[1].name);
  Shape sizes = x.sizes;
  sizes.back() = out;
  return call(module, layer, x, module.node("aten::linear", args), sizes);
}

ModuleValue layer_norm(Module& module, const ModuleValue& x) {
  const std::int64_t size = x.sizes.back();
  const ModuleLayer layer =
      module.layer("norm", fmt::format("nn.LayerNorm({})", module.size_text(size)), norm_weights(size));
  const std::string name =
      module.node("aten::layer_norm", ordered_json::array({x.name, ordered_json::array({size}), layer.weights[0].name,
                                                           layer.weights[1].name, 1e-5, false}));
  return call(module, layer, x, name, x.sizes);
}

ModuleValue rms_norm(Module& module, const ModuleValue& x) {
  const std::int64_t size = x.sizes.back();
  const ModuleLayer layer = module.layer("norm", fmt::format("nn.RMSNorm({})", module.size_text(size)),
                                         {{"weight", DType::f32, {size}, about_one}});
  const std::string name =
      module.node("aten::rms_norm", ordered_json::array({x.name, ordered_json::array({size}), layer.weights[0].name}));
  return call(module, layer, x, name, x.sizes);
}

ModuleValue group_norm(Module& module, const ModuleValue& x, std::int64_t groups) {
  const std::int64_t channels = x.sizes[1];
  const ModuleLayer layer = module.layer(
      "norm", fmt::format("nn.GroupNorm({}, {})", groups, module.size_text(channels)), norm_weights(channels));
  const std::string name =
      module.node("aten::group_norm",
                  ordered_json::array({x.name, groups, layer.weights[0].name, layer.weights[1].name, 1e-5, false}));
  return call(module, layer, x, name, x.sizes);
}

ModuleValue batch_norm(Module& module, const ModuleValue& x) {
  const std::int64_t channels = x.sizes[1];
  const std::vector<ModuleLeaf> states{{"running_mean", DType::f32, {channels}, {Draw::Kind::constant, 0.0}},
                                       {"running_var", DType::f32, {channels}, {Draw::Kind::constant, 1.0}},
                                       {"num_batches_tracked", DType::i64, {}, {Draw::Kind::constant, 0.0}}};
  const ModuleLayer layer = module.layer("norm", fmt::format("nn.BatchNorm2d({})", module.size_text(channels)),
                                         norm_weights(channels), states);
  const std::string &mean = layer.states[0].name, &variance = layer.states[1].name, &count = layer.states[2].name;
  module.node("aten::add_.Tensor", ordered_json::array({count, 1}), {}, {count});
  const std::string name = module.node("aten::batch_norm",
                                       ordered_json::array({x.name, layer.weights[0].name, layer.weights[1].name, mean,
                                                            variance, true, 0.1, 1e-5, false}),
                                       {}, {mean, variance});
  return call(module, layer, x, name, x.sizes);
}

ModuleValue instance_norm(Module& module, const ModuleValue& x) {
  const ModuleLayer layer =
      module.layer("norm", fmt::format("nn.InstanceNorm2d({})", module.size_text(x.sizes[1])), {});
  const std::string name = module.node(
      "aten::instance_norm", ordered_json::array({x.name, nullptr, nullptr, nullptr, nullptr, true, 0.1, 1e-5, false}));
  return call(module, layer, x, name, x.sizes);
}

ModuleValue convolution(Module& module, const ModuleValue& x, std::int64_t out, const Window& window, bool bias) {
  const std::size_t dimensions = x.sizes.size() - 2;
  const std::int64_t in = x.sizes[1];
  Shape weight{out, in / window.groups}, sizes{x.sizes[0], out};
  std::int64_t fan_in = in / window.groups;
  for (std::size_t i = 2; i < x.sizes.size(); ++i) {
    weight.push_back(window.kernel);
    fan_in *= window.kernel;
    sizes.push_back((x.sizes[i] + 2 * window.padding - window.kernel) / window.stride + 1);
  }
  std::vector<ModuleLeaf> weights{{"weight", DType::f32, weight, fan_in_draw(fan_in)}};
  if (bias) weights.push_back({"bias", DType::f32, {out}, fan_in_draw(fan_in)});
  const std::string in_text = module.size_text(in), out_text = module.size_text(out);
  // A depthwise convolution has as many groups as channels, under the same name.
  const std::string groups =
      window.groups == 1 ? ""
                         : fmt::format(", groups={}", window.groups == in ? in_text : std::to_string(window.groups));
  const ModuleLayer layer = module.layer(
      "conv", fmt::format("nn.Conv{}d({}, {}, {}{})", dimensions, in_text, out_text, window_text(window, bias), groups),
      weights);
  const std::string name =
      module.node(fmt::format("aten::conv{}d", dimensions), convolution_args(x, layer, window, bias));
  return call(module, layer, x, name, sizes);
}

ModuleValue transposed_convolution(Module& module, const ModuleValue& x, std::int64_t out, const Window& window) {
  const std::int64_t in = x.sizes[1];
  const Draw draw = fan_in_draw(out * window.kernel * window.kernel);
  const std::string in_text = module.size_text(in), out_text = module.size_text(out);
  const ModuleLayer layer = module.layer(
      "conv", fmt::format("nn.ConvTranspose2d({}, {}, {})", in_text, out_text, window_text(window, true)),
      {{"weight", DType::f32, {in, out, window.kernel, window.kernel}, draw}, {"bias", DType::f32, {out}, draw}});
  ordered_json args = ordered_json::array(
      {x.name, layer.weights[0].name, layer.weights[1].name, each(2, window.stride), each(2, window.padding)});
  drop_defaults(args, {"", "", nullptr, each(2, 1), each(2, 0)});
  const std::string name = module.node("aten::conv_transpose2d.input", args);
  const auto enlarged = [&](std::int64_t size) {
    return (size - 1) * window.stride - 2 * window.padding + window.kernel;
  };
  return call(module, layer, x, name, {x.sizes[0], out, enlarged(x.sizes[2]), enlarged(x.sizes[3])});
}

ModuleValue pooling(Module& module, std::string_view kind, const ModuleValue& x, std::int64_t kernel) {
  const std::string name =
      module.node(fmt::format("aten::{}_pool2d", kind), ordered_json::array({x.name, each(2, kernel)}));
  return module.statement(fmt::format("F.{}_pool2d({{0}}, {})", kind, kernel), {x}, name,
                          {x.sizes[0], x.sizes[1], x.sizes[2] / kernel, x.sizes[3] / kernel});
}

}  // namespace cudal1
