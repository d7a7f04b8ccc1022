#include "graph/inputs.hpp"

#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/random.hpp"
#include "base/result.hpp"
#include "graph/aten_call.hpp"
#include "graph/generator.hpp"
#include "graph/leaf_json.hpp"
#include "graph/safetensors.hpp"
#include "graph/torch_errors.hpp"

namespace cudal1 {
namespace {

// One seed serves all leaves of a task; inputs, weights and states must not be the same numbers.
enum class Stream : std::uint64_t { inputs = 0x1d, weights = 0x3b, fresh_weights = 0x57, states = 0x71 };

Random random_for(Stream stream, std::uint64_t seed) {
  return Random(Random(seed).next() ^ (static_cast<std::uint64_t>(stream) << 32));
}

at::Tensor empty_leaf(const TensorMeta& meta, at::Device device) {
  return at::empty_strided(meta.sizes, meta.strides,
                           at::TensorOptions().device(device).dtype(to_scalar_type(meta.dtype)));
}

void fill(at::Tensor& tensor, const Draw& draw, const at::Generator& generator) {
  switch (draw.kind) {
    case Draw::Kind::normal:
      tensor.normal_(draw.a, draw.b, generator);
      return;
    case Draw::Kind::uniform:
      tensor.uniform_(draw.a, draw.b, generator);
      return;
    case Draw::Kind::integers:
      tensor.random_(static_cast<std::int64_t>(draw.a), static_cast<std::int64_t>(draw.b), generator);
      return;
    case Draw::Kind::bernoulli:
      tensor.bernoulli_(draw.a, generator);
      return;
    case Draw::Kind::constant:
      tensor.fill_(draw.a);
      return;
  }
}

at::Tensor drawn(const TensorMeta& meta, const Draw& draw, at::Device device, const at::Generator& generator) {
  at::Tensor tensor = empty_leaf(meta, device);
  fill(tensor, draw, generator);
  return tensor;
}

//! Masks, labels and fixed numbers mean something; continuous values may look otherwise.
bool may_be_derived(const Value& value, const LeafSource& leaf) {
  if (leaf.recipe_output >= 0) return false;
  const bool is_continuous = leaf.draw.kind == Draw::Kind::normal || leaf.draw.kind == Draw::Kind::uniform;
  return value.kind == ValueKind::input && is_floating(value.meta.dtype) && is_continuous;
}

double mean_of(const Draw& draw) { return draw.kind == Draw::Kind::normal ? draw.a : 0.5 * (draw.a + draw.b); }

//! Sums of numbers of one sign are so large that errors of their terms drown in the rounding of the sum.
bool has_mostly_one_sign(const Draw& draw) {
  const double width = draw.kind == Draw::Kind::normal ? draw.b : 0.5 * (draw.b - draw.a);
  return std::abs(mean_of(draw)) > 0.5 * width;
}

//! Large, but not so large that a matrix product of two such inputs leaves fp16: with K = 1024 its standard
//! deviation is 16 * 16 * 32 = 8192, an eighth of fp16's largest number.
double scale_of(DType dtype) { return dtype == DType::f16 ? 16.0 : 64.0; }

double smallest_normal(DType dtype) {
  if (dtype == DType::f16) return std::ldexp(1.0, -14);
  return std::ldexp(1.0, dtype == DType::f64 ? -1022 : -126);
}

constexpr std::int64_t elements_a_spike = 1000;
// Shorter dimensions have no tail that a loop over vectors could forget.
constexpr std::int64_t shortest_with_tail = 16, fewest_at_the_end = 4;

at::Tensor random_places(const at::Tensor& tensor, std::int64_t count, const at::Generator& generator) {
  const at::TensorOptions options = at::TensorOptions().device(tensor.device());
  const at::Tensor where = at::randint(0, tensor.numel(), {count}, generator, options.dtype(at::kLong));
  return at::zeros({tensor.numel()}, options.dtype(at::kBool)).index_fill_(0, where, true).view(tensor.sizes());
}

//! Some of the elements that come last along a dimension, and the very last one, become large and positive: what is
//! left out of a sum or a largest element is mostly there.
void spike_the_last(at::Tensor& tensor, const at::Tensor& native, const at::Generator& generator) {
  for (std::int64_t d = 0; d < tensor.dim(); ++d) {
    if (tensor.size(d) < shortest_with_tail) continue;
    at::Tensor last = tensor.select(d, tensor.size(d) - 1);
    const at::Tensor chosen =
        random_places(last, std::max(fewest_at_the_end, last.numel() / elements_a_spike), generator);
    chosen.view(-1).slice(0, chosen.numel() - 1).fill_(true);
    last.copy_(native.select(d, tensor.size(d) - 1).abs().mul(100.0).where(chosen, last));
  }
}

//! One element in a thousand, at least one, a hundred times as large, and some at the ends.
void add_spikes(at::Tensor& tensor, const at::Generator& generator) {
  if (tensor.numel() == 0) return;
  const at::Tensor native = tensor.clone();
  const at::Tensor chosen =
      random_places(tensor, std::max<std::int64_t>(1, tensor.numel() / elements_a_spike), generator);
  tensor.copy_(native.mul(100.0).where(chosen, native));
  spike_the_last(tensor, native, generator);
}

// Equal along the last dimension (vectors: in runs), but not from row to row: the reference's error on one number alone
// would be a poor yardstick.
constexpr std::int64_t run_length = 256;

void make_constant(at::Tensor& tensor) {
  if (tensor.numel() == 0 || tensor.dim() == 0) return;
  if (tensor.dim() > 1) {
    tensor.copy_(tensor.narrow(-1, 0, 1).clone().expand_as(tensor));
    return;
  }
  const at::Tensor position = at::arange(tensor.size(0), at::TensorOptions(tensor.device()).dtype(at::kLong));
  tensor.copy_(tensor.index_select(0, position.sub(position.remainder(run_length))));
}

void derive(at::Tensor& tensor, DType dtype, const Draw& draw, Distribution distribution,
            const at::Generator& generator) {
  switch (distribution) {
    case Distribution::native:
      return;
    case Distribution::scaled:
      tensor.mul_(scale_of(dtype));
      return;
    case Distribution::tiny:
      tensor.mul_(std::ldexp(1.0, -10));
      return;
    case Distribution::constant:
      make_constant(tensor);
      return;
    case Distribution::spiked:
      add_spikes(tensor, generator);
      return;
    case Distribution::negative:
      tensor.abs_().neg_();
      return;
    case Distribution::centred:
      tensor.sub_(mean_of(draw));
      return;
    case Distribution::denormal:  // native values lie around 1, so these lie around the smallest normal number
      tensor.mul_(smallest_normal(dtype));
      return;
  }
}

//! Of the leaves that may look otherwise: inputs, and what inputs are computed from.
std::vector<Draw> derivable_draws(const Task& task) {
  std::vector<Draw> draws;
  const auto add = [&](const OpGraph& graph, const std::vector<LeafSource>& leaves) {
    for (const LeafSource& leaf : leaves)
      if (may_be_derived(graph.values[leaf.value], leaf)) draws.push_back(leaf.draw);
  };
  add(task.graph, task.leaves);
  if (task.input_recipe) add(task.input_recipe->graph, task.input_recipe->leaves);
  return draws;
}

void draw_leaves(const OpGraph& graph, const std::vector<LeafSource>& leaves, Distribution distribution, Random& random,
                 at::Device device, TensorTable& table) {
  for (const LeafSource& leaf : leaves) {
    const Value& value = graph.values[leaf.value];
    if (value.kind != ValueKind::input || leaf.recipe_output >= 0) continue;
    const at::Generator generator = make_generator(device, random.next());
    at::Tensor tensor = drawn(value.meta, leaf.draw, device, generator);
    if (may_be_derived(value, leaf)) derive(tensor, value.meta.dtype, leaf.draw, distribution, generator);
    table[leaf.value] = std::move(tensor);
  }
}

void compute_inputs(const Task& task, Distribution distribution, Random& random, at::Device device,
                    TensorTable& table) {
  const InputRecipe& recipe = *task.input_recipe;
  TensorTable drawn_leaves(recipe.graph.values.size());
  draw_leaves(recipe.graph, recipe.leaves, distribution, random, device, drawn_leaves);
  const std::vector<at::Tensor> outputs = Executor(recipe.graph, {.device = device}).run(drawn_leaves).outputs;
  for (const LeafSource& leaf : task.leaves) {
    if (leaf.recipe_output < 0) continue;
    const Value& value = task.graph.values[leaf.value];
    const at::Tensor& computed = outputs.at(static_cast<std::size_t>(leaf.recipe_output));
    if (!computed.sizes().equals(value.meta.sizes) || computed.scalar_type() != to_scalar_type(value.meta.dtype))
      throw Error(fmt::format("the input \"{}\" is computed as {}{}, not as {}", value.name,
                              c10::toString(computed.scalar_type()), c10::str(computed.sizes()),
                              to_string(value.meta)));
    table[leaf.value] = empty_leaf(value.meta, device);
    table[leaf.value].copy_(computed);
  }
}

at::Tensor stored(const StoredTensor& content, const TensorMeta& meta, at::Device device) {
  at::Tensor tensor = empty_leaf(meta, device);
  if (content.bytes.empty()) return tensor;
  // from_blob wants a mutable pointer; the mapping is only read.
  void* bytes = const_cast<std::byte*>(content.bytes.data());
  std::vector<std::byte> aligned;
  if (reinterpret_cast<std::uintptr_t>(bytes) % static_cast<std::uintptr_t>(size_in_bytes(meta.dtype)) != 0) {
    aligned.assign(content.bytes.begin(), content.bytes.end());
    bytes = aligned.data();
  }
  tensor.copy_(at::from_blob(bytes, meta.sizes, at::TensorOptions().dtype(to_scalar_type(meta.dtype))));
  return tensor;
}

//! Other weights of the same distribution: the file's elements in another order.
void permute_elements(at::Tensor& tensor, std::uint64_t seed) {
  const at::Tensor order =
      at::randperm(tensor.numel(), make_generator(at::kCPU, seed), at::TensorOptions().dtype(at::kLong));
  tensor.copy_(tensor.reshape({-1}).index_select(0, order.to(tensor.device())).view(tensor.sizes()));
}

//! Draws or reads the leaves of one kind that are not inputs. Without a file of fresh values, fresh ones of a file are
//! its own in another order.
void draw_constants(const Task& task, ValueKind kind, Random random, bool fresh, at::Device device,
                    TensorTable& table) {
  table.resize(std::max(table.size(), task.graph.values.size()));
  const bool permute = fresh && task.fresh_weights_file.empty();
  const std::filesystem::path& path = fresh && !permute ? task.fresh_weights_file : task.weights_file;
  std::optional<SafetensorsFile> file;
  if (!path.empty()) file.emplace(path);
  for (const LeafSource& leaf : task.leaves) {
    const Value& value = task.graph.values[leaf.value];
    if (value.kind != kind) continue;
    const std::uint64_t seed = random.next();
    if (leaf.file_key.empty()) {
      table[leaf.value] = drawn(value.meta, leaf.draw, device, make_generator(device, seed));
      continue;
    }
    const StoredTensor* content = file ? file->find(leaf.file_key) : nullptr;
    if (!content || content->meta.dtype != value.meta.dtype || content->meta.sizes != value.meta.sizes)
      throw Error(fmt::format("{}: the tensor \"{}\" has gone or changed", path.string(), leaf.file_key));
    table[leaf.value] = stored(*content, value.meta, device);
    if (permute) permute_elements(table[leaf.value], seed);
  }
}

}  // namespace

std::string_view to_string(Distribution distribution) {
  if (distribution == Distribution::native) return "native";
  return derived_distribution_names().at(static_cast<std::size_t>(distribution) - 1);
}

std::vector<Distribution> distributions_of(const Task& task) {
  std::vector<Distribution> offered{Distribution::native};
  const std::vector<Draw> draws = derivable_draws(task);
  if (draws.empty()) return offered;
  const auto excluded = [&](Distribution candidate) {
    return std::ranges::any_of(task.leaves, [&](const LeafSource& leaf) {
      return std::ranges::find(leaf.excluded_distributions, to_string(candidate)) != leaf.excluded_distributions.end();
    });
  };
  for (const Distribution candidate :
       {Distribution::scaled, Distribution::tiny, Distribution::constant, Distribution::spiked, Distribution::negative,
        Distribution::centred, Distribution::denormal})
    if (!excluded(candidate)) offered.push_back(candidate);
  // Where values below zero make no sense, centred ones make none; where they lie around zero already, they do.
  if (excluded(Distribution::negative) || !std::ranges::any_of(draws, has_mostly_one_sign))
    std::erase(offered, Distribution::centred);
  return offered;
}

void draw_inputs(const Task& task, Distribution distribution, std::uint64_t seed, at::Device device,
                 TensorTable& table) {
  table.resize(std::max(table.size(), task.graph.values.size()));
  Random random = random_for(Stream::inputs, seed);
  with_torch_errors("drawing inputs", [&] {
    draw_leaves(task.graph, task.leaves, distribution, random, device, table);
    if (task.input_recipe) compute_inputs(task, distribution, random, device, table);
  });
}

void draw_weights(const Task& task, std::uint64_t seed, bool fresh, at::Device device, TensorTable& table) {
  const Random random = random_for(fresh ? Stream::fresh_weights : Stream::weights, seed);
  with_torch_errors("drawing weights", [&] { draw_constants(task, ValueKind::weight, random, fresh, device, table); });
}

void draw_states(const Task& task, std::uint64_t seed, at::Device device, TensorTable& table) {
  const Random random = random_for(Stream::states, seed);
  with_torch_errors("drawing states", [&] { draw_constants(task, ValueKind::state, random, false, device, table); });
}

TensorTable draw_constants(const Task& task, Random& random, bool fresh, at::Device device) {
  TensorTable table(task.graph.values.size());
  draw_weights(task, random.next(), fresh, device, table);
  draw_states(task, random.next(), device, table);
  return table;
}

}  // namespace cudal1
