#include "random_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace cudal1::testing {
namespace {

using nlohmann::json;
using Shape = std::vector<std::int64_t>;

struct Made {
  std::string name;
  Shape shape;
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {
    const std::size_t inputs = 1 + below(3);
    for (std::size_t i = 0; i < inputs; ++i) add_input();
    const std::size_t nodes = 3 + below(6);
    while (made_.nodes.size() < nodes) add_node();
    made_.task.output(values_.back().name);
    for (std::size_t i = inputs; i + 1 < values_.size(); ++i)
      if (below(6) == 0) made_.task.output(values_[i].name);
  }

  RandomTask take() { return std::move(made_); }

 private:
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
  template <class T>
  const T& any(const std::vector<T>& from) {
    return from[below(from.size())];
  }
  //! Later values more often, so that chains grow.
  const Made& any_value() { return values_[std::max(below(values_.size()), below(values_.size()))]; }

  void add_input() {
    Shape shape(1 + below(3));
    for (std::int64_t& size : shape) size = any(Shape{1, 2, 3, 4, 6, 8, 12});
    const std::string name = fmt::format("x{}", values_.size());
    json more = json::object();
    if (shape.size() == 2 && below(3) == 0) more["strides"] = {1, shape[0]};
    if (shape.size() == 2 && below(4) == 0) more["strides"] = {2 * shape[1] + 4, 2};
    made_.task.input(name, shape, more);
    values_.push_back({name, shape});
  }

  void add(const std::string& op, const json& args, Shape shape, const json& kwargs = json::object()) {
    const std::string name = fmt::format("n{}", made_.nodes.size() + 1);
    made_.task.node(name, "aten::" + op, args, {{"kwargs", kwargs}});
    made_.nodes.push_back(name);
    values_.push_back({name, std::move(shape)});
  }

  void add_node() {
    switch (below(9)) {
      case 0:
      case 1:
        return add_unary();
      case 2:
      case 3:
        return add_binary();
      case 4:
        return add_view();
      case 5:
        return add_move();
      case 6:
        return add_scan();
      default:
        return add_reduction();
    }
  }

  void add_unary() {
    const Made x = any_value();
    add(any(std::vector<std::string>{"relu", "tanh", "neg", "abs", "sigmoid", "gelu"}), {x.name}, x.shape);
  }

  void add_binary() {
    for (int attempt = 0; attempt < 20; ++attempt) {
      const Made x = any_value(), y = any_value();
      Shape result(std::max(x.shape.size(), y.shape.size()), 1);
      bool fits = true;
      for (std::size_t i = 0; i < result.size(); ++i) {
        const std::int64_t a = i < x.shape.size() ? x.shape[x.shape.size() - 1 - i] : 1;
        const std::int64_t b = i < y.shape.size() ? y.shape[y.shape.size() - 1 - i] : 1;
        fits = fits && (a == b || a == 1 || b == 1);
        result[result.size() - 1 - i] = std::max(a, b);
      }
      if (fits)
        return add(any(std::vector<std::string>{"add.Tensor", "mul.Tensor", "minimum", "maximum"}), {x.name, y.name},
                   result);
    }
  }

  void add_view() {
    const Made x = any_value();
    const std::size_t rank = x.shape.size();
    if (rank == 0) return add("unsqueeze", {x.name, 0}, {1});
    const std::size_t dim = below(rank);
    Shape shape = x.shape;
    switch (below(5)) {
      case 0: {
        std::vector<std::size_t> order(rank);
        std::iota(order.begin(), order.end(), 0);
        std::ranges::shuffle(order, random_);
        for (std::size_t i = 0; i < rank; ++i) shape[i] = x.shape[order[i]];
        return add("permute", {x.name, order}, shape);
      }
      case 1: {
        if (shape[dim] < 2) return;
        const std::int64_t start = std::int64_t(below(std::size_t(shape[dim] - 1))), step = 1 + std::int64_t(below(2));
        const std::int64_t size = (shape[dim] - start + step - 1) / step;
        const std::int64_t end = shape[dim];
        shape[dim] = size;
        return add("slice.Tensor", {x.name, dim, start, end, step}, shape);
      }
      case 2: {
        const std::int64_t index = std::int64_t(below(std::size_t(shape[dim])));
        shape.erase(shape.begin() + std::ptrdiff_t(dim));
        return add("select.int", {x.name, dim, index}, shape);
      }
      case 3: {
        const std::int64_t count = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
        Shape result;
        std::int64_t left = count;
        while (left > 1 && result.size() < 3) {
          std::vector<std::int64_t> divisors;
          for (std::int64_t d = 2; d <= left; ++d)
            if (left % d == 0) divisors.push_back(d);
          result.push_back(any(divisors));
          left /= result.back();
        }
        if (left > 1 || result.empty()) result.push_back(left);
        return add("reshape", {x.name, result}, result);
      }
      default:
        shape.insert(shape.begin() + std::ptrdiff_t(dim), 1);
        return add("unsqueeze", {x.name, dim}, shape);
    }
  }

  void add_move() {
    const Made x = any_value();
    if (x.shape.empty()) return;
    const std::size_t dim = below(x.shape.size());
    Shape shape = x.shape;
    switch (below(6)) {
      case 0:
        return add("flip", {x.name, {dim}}, shape);
      case 1:
        return add("roll", {x.name, {1 + below(3)}, {dim}}, shape);
      case 2: {
        const std::string relu = fmt::format("n{}", made_.nodes.size() + 1);
        add("relu", {x.name}, x.shape);
        shape[dim] *= 2;
        return add("cat", {{relu, x.name}, dim}, shape);
      }
      case 3:
        shape.back() += 3;
        return add("constant_pad_nd", {x.name, {1, 2}, 0.5}, shape);
      case 4: {
        if (shape[dim] > 6) return;
        shape[dim] *= 2;
        return add("repeat_interleave.self_int", {x.name, 2, dim}, shape);
      }
      default:
        if (shape.size() > 2) return;
        shape.insert(shape.begin(), 2);
        return add("stack", {{x.name, x.name}, 0}, shape);
    }
  }

  void add_scan() {
    const Made x = any_value();
    if (!x.shape.empty()) add("cumsum", {x.name, below(x.shape.size())}, x.shape);
  }

  void add_reduction() {
    const Made x = any_value();
    if (x.shape.empty()) return;
    const std::size_t dim = below(x.shape.size());
    if (below(2) == 0) {
      if (below(2) == 0) return add("softmax.int", {x.name, dim}, x.shape);
      return add("layer_norm", {x.name, Shape{x.shape.back()}}, x.shape);
    }
    Shape shape = x.shape;
    const bool keep = below(2) == 0;
    if (keep)
      shape[dim] = 1;
    else
      shape.erase(shape.begin() + std::ptrdiff_t(dim));
    add(any(std::vector<std::string>{"sum.dim_IntList", "mean.dim", "amax"}), {x.name, {dim}, keep}, shape);
  }

  std::mt19937_64 random_;
  RandomTask made_;
  std::vector<Made> values_;
};

}  // namespace

RandomTask random_task(std::uint64_t seed) { return Generator(seed).take(); }

std::string random_fusion(const RandomTask& task, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::size_t begin = random() % task.nodes.size(), end = random() % task.nodes.size();
  if (seed % 3 == 0) begin = 0, end = task.nodes.size() - 1;
  if (begin > end) std::swap(begin, end);
  std::string line = "//! fuse";
  for (std::size_t i = begin; i <= end; ++i) line += " " + task.nodes[i];
  constexpr const char* parameters[] = {
      "vector=1", "vector=2", "items=2", "threads=across",  "threads=along",         "split=2",
      "lanes=4",  "lanes=64", "keep=no", "split=4 lanes=2", "threads=across lanes=2"};
  if (random() % 2 == 0) line += fmt::format(" : {}", parameters[random() % std::size(parameters)]);
  return line + "\n";
}

}  // namespace cudal1::testing
