#pragma once

#include <fmt/format.h>

#include <string>

#include "graph/task.hpp"

namespace cudal1 {

//! y = tail(relu(exp(x)) + w), with metas as infer_metas would find them.
inline Task chain(std::int64_t elements, const std::string& dtype = "f32", const std::string& tail = "aten::neg") {
  const std::string meta = fmt::format(R"("dtype": "{}", "shape": [{}])", dtype, elements);
  const auto node = [&](const std::string& name, const std::string& op, const std::string& args) {
    return fmt::format(R"({{"name": "{}", "op": "{}", "args": [{}], "outputs": [{{{}, "strides": [1]}}]}})", name, op,
                       args, meta);
  };
  const std::string nodes = node("exp_1", "aten::exp", R"("x")") + "," + node("relu_1", "aten::relu", R"("exp_1")") +
                            "," + node("add_1", "aten::add.Tensor", R"("relu_1", "w")") + "," +
                            node("tail_1", tail, R"("add_1")");
  return parse_task(fmt::format(R"({{"format": "cudal1.graph", "version": 1, "name": "t",
    "inputs": [{{"name": "x", {0}, "draw": {{"kind": "normal"}}}}],
    "weights": [{{"name": "w", {0}, "draw": {{"kind": "normal"}}}}], "nodes": [{1}], "outputs": ["tail_1"]}})",
                                meta, nodes),
                    {});
}

}  // namespace cudal1
