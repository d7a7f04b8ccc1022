// Trains parameters with given gradients, so that they can be compared with somebody else's: adamw_driver JOB.json
//   {"rates": [of each step], "longest": of all gradients, or null, "beta1", "beta2", "epsilon",
//    "groups": [{"weight_decay", "factor", "parameters": {NAME: {"values": […], "dtype": "f32" | "bf16",
//                                                                "gradients": [[of each step]]}}}]}
// prints {NAME: [[values after each step]]}.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "train/adamw.hpp"
#include "train/gradient_clipping.hpp"

namespace {

using nlohmann::json;

at::Tensor tensor_of(const json& values, const json& parameter) {
  const at::ScalarType dtype = parameter.at("dtype") == "bf16" ? at::kBFloat16 : at::kFloat;
  return at::tensor(values.get<std::vector<float>>()).to(dtype);
}

std::vector<float> values_of(const at::Tensor& parameter) {
  const at::Tensor values = parameter.detach().to(at::kFloat).contiguous();
  return {values.const_data_ptr<float>(), values.const_data_ptr<float>() + values.numel()};
}

json trained(const json& job) {
  std::vector<cudal1::ParameterGroup> groups;
  std::map<std::string, at::Tensor> parameters;
  std::map<std::string, json> said;
  for (const json& group : job.at("groups")) {
    cudal1::ParameterGroup& made = groups.emplace_back();
    made.weight_decay = group.at("weight_decay");
    made.learning_rate_factor = group.at("factor");
    for (const auto& [name, parameter] : group.at("parameters").items()) {
      parameters[name] = made.parameters[name] = tensor_of(parameter.at("values"), parameter).requires_grad_(true);
      said[name] = parameter;
    }
  }
  cudal1::AdamW optimiser(std::move(groups), {job.at("beta1"), job.at("beta2"), job.at("epsilon")});
  json after;
  for (std::size_t step = 0; step < job.at("rates").size(); ++step) {
    for (auto& [name, parameter] : parameters)
      parameter.mutable_grad() = tensor_of(said[name].at("gradients").at(step), said[name]);
    at::Tensor norm;
    if (!job.at("longest").is_null())
      norm = cudal1::clip_by_global_norm(optimiser.gradients(), job.at("longest").get<double>());
    optimiser.step(job.at("rates").at(step).get<double>(), norm);
    for (const auto& [name, parameter] : parameters) after[name].push_back(values_of(parameter));
  }
  return after;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    fmt::print("{}\n", trained(json::parse(cudal1::read_file(argv[1]))).dump());
  } catch (const std::exception& problem) {
    fmt::print(stderr, "{}\n", problem.what());
    return 1;
  }
}
