// Computes what Hugging Face's transformers is compared with: transformer_driver JOB.json, one object on standard
// output.
//   {"job": "logits", "model": FOLDER or GGUF file, "path": "torch" | "decoder",
//    "dtype": "f32" | "bf16" | "f16" | "as_file", "sequence": [ids], "out": FILE}           writes (T, V) floats;
//    with "adapter": FOLDER as well, beside the weights in "torch" and merged into them in "decoder"
//   {"job": "generate", "model": FOLDER, "dtype": …, "prompts": [[ids]], "new_tokens": n, "slots": n}   greedily
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/result.hpp"
#include "folder_weights.hpp"
#include "model/files/lora_adapter.hpp"
#include "model/files/open_model.hpp"
#include "model/sampling/sampling_engine.hpp"
#include "model/transformer/cpu/cpu_decoder.hpp"
#include "model/transformer/lora.hpp"
#include "model/transformer/transformer.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

at::ScalarType tensor_type(const std::string& dtype) {
  return dtype == "bf16" ? at::kBFloat16 : dtype == "f16" ? at::kHalf : at::kFloat;
}

CpuWeights decoder_weights(const std::string& dtype) {
  return dtype == "bf16"  ? CpuWeights::bf16
         : dtype == "f16" ? CpuWeights::f16
         : dtype == "f32" ? CpuWeights::f32
                          : CpuWeights::as_file;
}

void write_floats(const std::string& path, const float* values, std::size_t count) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values), static_cast<std::streamsize>(count * sizeof(float)));
  if (!file) throw Error(fmt::format("cannot write {}", path));
}

json write_decoder_logits(const ModelWeights& weights, const json& job) {
  const std::string adapter = job.value("adapter", "");
  const auto with_adapter = adapter.empty() ? nullptr : merged(weights, load_lora_adapter(adapter), adapter);
  CpuDecoder decoder(with_adapter ? *with_adapter : weights,
                     {.weights = decoder_weights(job.at("dtype")), .slots = 1, .slot_capacity = 1});
  const std::vector<std::int32_t> sequence = job.at("sequence");
  const std::vector<float> logits = decoder.all_logits(sequence);
  write_floats(job.at("out"), logits.data(), logits.size());
  return {{"weight_bytes", decoder.weight_bytes()}};
}

json write_torch_logits(const ModelWeights& weights, const json& job) {
  const at::NoGradGuard no_gradients;
  Transformer model(weights, {.dtype = tensor_type(job.at("dtype"))});
  if (const std::string adapter = job.value("adapter", ""); !adapter.empty()) {
    model.add_adapter(adapter, load_lora_adapter(adapter));
    model.use_adapter(adapter);
  }
  const std::vector<std::vector<std::int32_t>> sequences = {job.at("sequence")};
  const at::Tensor logits = model.forward(pack_tokens(sequences)).to(at::kFloat).contiguous();
  write_floats(job.at("out"), logits.const_data_ptr<float>(), static_cast<std::size_t>(logits.numel()));
  return json::object();
}

json write_logits(const ModelWeights& weights, const json& job) {
  return job.at("path") == "decoder" ? write_decoder_logits(weights, job) : write_torch_logits(weights, job);
}

json generate(const ModelWeights& weights, const json& job) {
  std::vector<SamplingRequest> requests;
  std::size_t longest = 0;
  for (const json& prompt : job.at("prompts")) {
    requests.push_back({.prompt = prompt, .parameters = {.temperature = 0.0F}, .new_tokens = job.at("new_tokens")});
    requests.back().repetition.longest_period = 0;
    longest = std::max(longest, requests.back().prompt.size());
  }
  const std::int64_t capacity = static_cast<std::int64_t>(longest) + job.at("new_tokens").get<std::int64_t>();
  const auto start = Clock::now();
  CpuDecoder decoder(weights, {decoder_weights(job.at("dtype")), job.at("slots"), capacity, job.value("threads", 0)});
  const double load_seconds = seconds_since(start);
  SamplingEngine engine(decoder, [](std::int32_t) { return std::string_view(); });
  double first_token_seconds = 0.0;
  const auto run_start = Clock::now();
  const std::vector<Sample> samples = engine.run(requests, nullptr, [&](std::size_t, std::int64_t, const DrawnToken&) {
    if (first_token_seconds == 0.0) first_token_seconds = seconds_since(run_start);
  });
  json result = {{"seconds", seconds_since(run_start)},
                 {"load_seconds", load_seconds},
                 {"first_token_seconds", first_token_seconds},
                 {"kernels", cpu_kernels().name}};
  for (const Sample& sample : samples) {
    json ids = json::array();
    for (const DrawnToken& token : sample.tokens) ids.push_back(token.id);
    result["texts"].push_back(std::move(ids));
  }
  return result;
}

std::unique_ptr<ModelWeights> weights_of(const std::filesystem::path& model) {
  if (std::filesystem::is_directory(model)) return std::make_unique<FolderWeights>(model);
  return open_model(model);
}

int run(const char* job_file) {
  const json job = json::parse(read_file(job_file));
  const auto weights = weights_of(job.at("model").get<std::string>());
  const json result = job.at("job") == "logits" ? write_logits(*weights, job) : generate(*weights, job);
  fmt::print("{}\n", result.dump());
  return 0;
}

}  // namespace
}  // namespace cudal1

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: transformer_driver JOB.json\n", stderr);
    return 2;
  }
  try {
    return cudal1::run(arguments[1]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "transformer_driver: {}\n", error.what());
    return 1;
  }
}
