// Log-probabilities of sampled tokens as the sampler has them, beside those that the trainer computes of the same ids:
// what they differ by is noise in the ratios of policy gradients.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "accelerator/cuda_decoder.hpp"
#include "accelerator/cuda_runtime.hpp"
#include "base/result.hpp"
#include "bench_model.hpp"
#include "model/sampling/sampling_engine.hpp"
#include "model/tokenizer/chat_form.hpp"
#include "model/tokenizer/model_tokenizer.hpp"
#include "model/transformer/cpu/cpu_decoder.hpp"
#include "results_file.hpp"
#include "train/training_step.hpp"
#include "weights_in_memory.hpp"

namespace cudal1 {
namespace {

struct Options {
  std::string model, device = "cuda", dtype = "f16", output, commit = "unknown";
  std::int64_t slots = 128, new_tokens = 300, texts_at_once = 32;
  bool tiny = false;
};

constexpr const char* questions[] = {
    "Write a CUDA kernel that adds two vectors of floats, and explain how you chose the launch configuration.",
    "What does this function do?\n\ndef f(x):\n    return [a for a in x if a % 2 == 0]",
    "Explain the difference between a mutex and a semaphore to a student.",
    "Write a Python function that computes the softmax of a list of numbers without overflowing.",
    "Rewrite this loop so that it is faster: for i in range(len(a)): total = total + a[i] * b[i]",
    "Give me three ideas for a weekend in the mountains with small children.",
    "Translate into C++: sorted(words, key=lambda w: (len(w), w))",
    "Summarise why matrix multiplication is fast on GPUs."};
constexpr auto question_count = static_cast<std::int64_t>(std::size(questions));

GpuDtype gpu_dtype(const std::string& name) {
  return name == "f32" ? GpuDtype::f32 : name == "bf16" ? GpuDtype::bf16 : GpuDtype::f16;
}

CpuWeights cpu_weights(const std::string& name) {
  return name == "f32" ? CpuWeights::f32 : name == "bf16" ? CpuWeights::bf16 : CpuWeights::f16;
}

at::ScalarType torch_dtype(const std::string& name) {
  return name == "f32" ? at::kFloat : name == "bf16" ? at::kBFloat16 : at::kHalf;
}

std::unique_ptr<SlotDecoder> decoder_of(const Options& options, const ModelWeights& weights, std::int64_t capacity) {
  if (options.device == "cuda") return make_cuda_decoder(weights, {gpu_dtype(options.dtype), options.slots, capacity});
  return std::make_unique<CpuDecoder>(weights, CpuDecoderOptions{cpu_weights(options.dtype), options.slots, capacity});
}

struct Prompts {
  std::vector<std::vector<std::int32_t>> tokens;
  std::vector<std::int32_t> end_tokens;
};

//! Questions in the model's own chat form, or random tokens where there is no tokenizer.
Prompts prompts_of(const bench::NamedWeights& model) {
  Prompts made;
  if (model.path.empty()) {
    for (std::uint64_t seed = 0; seed < std::size(questions); ++seed)
      made.tokens.push_back(random_tokens(20, model.weights->config().vocabulary, seed));
    return made;
  }
  const TokenizerData data = tokenizer_of_model(model.path, *model.weights);
  const Tokenizer tokenizer(data);
  const ChatForm form = chat_form_of(data);
  for (const char* question : questions) {
    const std::vector<ChatMessage> messages = {{ChatMessage::Role::user, question}};
    made.tokens.push_back(encode_chat(tokenizer, form, messages, true));
  }
  if (const auto id = tokenizer.find_special(end_of_turn(form))) made.end_tokens.push_back(*id);
  return made;
}

std::vector<SamplingRequest> requests_of(const Options& options, const bench::NamedWeights& model) {
  const Prompts prompts = prompts_of(model);
  const std::int64_t count = std::min(question_count, options.slots);
  std::vector<SamplingRequest> requests;
  for (std::int64_t i = 0; i < count; ++i) {
    SamplingRequest request;
    request.prompt = prompts.tokens[static_cast<std::size_t>(i)];
    request.samples = options.slots / count;
    request.seed = static_cast<std::uint64_t>(i);
    request.new_tokens = options.new_tokens;
    request.end_tokens = prompts.end_tokens;
    requests.push_back(std::move(request));
  }
  return requests;
}

std::vector<Sample> sampled(const Options& options, const ModelWeights& weights,
                            const std::vector<SamplingRequest>& requests) {
  std::int64_t capacity = 0;
  for (const SamplingRequest& request : requests)
    capacity = std::max(capacity, static_cast<std::int64_t>(request.prompt.size()) + options.new_tokens);
  const auto decoder = decoder_of(options, weights, capacity);
  return SamplingEngine(*decoder, [](std::int32_t) { return std::string_view("token"); }).run(requests);
}

//! Prompt and answer; only what was sampled counts.
TrainingText text_of(const Sample& sample, const SamplingRequest& request) {
  TrainingText text{request.prompt, std::vector<float>(request.prompt.size(), 0.0F)};
  for (const DrawnToken& token : sample.tokens) {
    text.tokens.push_back(token.id);
    text.weights.push_back(1.0F);
  }
  return text;
}

//! Of all sampled tokens, in their order.
std::vector<float> trainer_log_probabilities(const Options& options, const ModelWeights& weights,
                                             const std::vector<TrainingText>& texts) {
  const bool on_gpu = options.device == "cuda";
  Transformer model(weights, {.dtype = torch_dtype(options.dtype),
                              .device = on_gpu ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU)});
  TrainingStep step(model, {}, on_gpu ? std::make_shared<CudaRuntime>(0) : nullptr);
  std::vector<float> all;
  const auto at_once = static_cast<std::size_t>(options.texts_at_once);
  for (std::size_t first = 0; first < texts.size(); first += at_once) {
    const auto part = std::span(texts).subspan(first, std::min(at_once, texts.size() - first));
    const std::vector<float> found = step.read(step.log_probabilities(step.pack(part)));
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

struct Differences {
  double mean = 0.0, largest = 0.0;
  double outside = 0.0;  //!< share of ratios
};

Differences differences_of(const std::vector<float>& sampler, const std::vector<float>& trainer) {
  if (trainer.size() != sampler.size()) throw Error("the trainer has another number of log-probabilities");
  Differences found;
  for (std::size_t i = 0; i < sampler.size(); ++i) {
    const double difference = static_cast<double>(trainer[i]) - static_cast<double>(sampler[i]);
    const double ratio = std::exp(difference);
    found.mean += std::abs(difference);
    found.largest = std::max(found.largest, std::abs(difference));
    if (!(ratio >= 0.8 && ratio <= 1.2)) found.outside += 1.0;
  }
  found.mean /= static_cast<double>(sampler.size());
  found.outside /= static_cast<double>(sampler.size());
  return found;
}

void measure(const Options& options) {
  if (options.device == "cuda")
    if (const std::string why = why_no_cuda_decoder(); !why.empty()) throw Error(why);
  const bench::NamedWeights model = options.tiny ? bench::tiny_weights() : bench::chosen_weights(options.model);
  const std::vector<SamplingRequest> requests = requests_of(options, model);
  const std::vector<Sample> samples = sampled(options, *model.weights, requests);
  std::vector<TrainingText> texts;
  std::vector<float> sampler;
  for (const Sample& sample : samples) {
    texts.push_back(text_of(sample, requests[sample.request]));
    for (const DrawnToken& token : sample.tokens) sampler.push_back(token.policy_log_probability);
  }
  const Differences found = differences_of(sampler, trainer_log_probabilities(options, *model.weights, texts));
  const std::string gpu = options.device == "cuda" ? cuda::device_info(0).name : "none";
  const std::string dtype = options.dtype == "f16" ? "fp16" : options.dtype == "f32" ? "fp32" : "bf16";
  const nlohmann::json rows = nlohmann::json::array({bench::row(
      fmt::format("sampler against trainer log-probabilities, {}, {}", dtype,
                  model.path.empty() ? model.name : "real model"),
      found.mean, "mean difference", "mean difference at most 0.005, ratios outside [0.8, 1.2] at most 0.1%",
      found.mean <= 0.005 && found.outside <= 0.001,
      {{"model", model.name},
       {"where", gpu == "none" ? "the CPU" : gpu},
       {"sampled tokens", sampler.size()},
       {"texts", samples.size()},
       {"slots", options.slots},
       {"largest difference", found.largest},
       {"share of ratios outside [0.8, 1.2]", found.outside}})});
  bench::print(rows);
  std::printf("%s\n", rows[0]["details"].dump(2).c_str());
  if (!options.output.empty())
    bench::write_results(options.output, {"bench/generator.sh gpu", options.commit, gpu}, rows);
}

}  // namespace
}  // namespace cudal1

int main(int argc, char** argv) try {
  cudal1::Options options;
  CLI::App app{"Compares log-probabilities of the sampler with those of the trainer"};
  app.add_option("--model", options.model, "A GGUF file or a Hugging Face folder; else the fetched one, else random");
  app.add_option("--device", options.device)->check(CLI::IsMember({"cuda", "cpu"}));
  app.add_option("--dtype", options.dtype)->check(CLI::IsMember({"f32", "bf16", "f16"}));
  app.add_flag("--tiny", options.tiny, "A tiny random model instead, to see that this program works");
  app.add_option("--slots", options.slots)->check(CLI::Range(1, 4096));
  app.add_option("--new-tokens", options.new_tokens)->check(CLI::Range(1, 8000));
  app.add_option("--texts-at-once", options.texts_at_once, "That the trainer computes")->check(CLI::Range(1, 4096));
  app.add_option("--output", options.output, "A file like bench/results/generator.json, or nothing is written");
  app.add_option("--commit", options.commit, "What is being measured");
  CLI11_PARSE(app, argc, argv);
  cudal1::measure(options);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "sampling_parity: %s\n", error.what());
  return 1;
}
