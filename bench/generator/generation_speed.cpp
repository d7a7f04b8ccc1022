// How fast texts are written on this machine's GPU: prompts, steps, draws and the sampling engine included.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "accelerator/cuda_decoder.hpp"
#include "base/result.hpp"
#include "bench_model.hpp"
#include "device/cuda/driver.hpp"
#include "model/sampling/sampling_engine.hpp"
#include "model/transformer/parameter_names.hpp"
#include "results_file.hpp"
#include "weights_in_memory.hpp"

namespace cudal1 {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string model, dtype = "f16", output, commit = "unknown";
  std::int64_t slots = 128, groups = 8, prompt = 300, new_tokens = 300;
  int rounds = 3;
  float temperature = 1.0F, top_p = 1.0F;
  bool anew = false;
};

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

//! Passes everything on, waits for it and adds up how long it took.
class TimedDecoder final : public SlotDecoder {
 public:
  explicit TimedDecoder(GpuDecoder& decoder) : decoder_(decoder) {}
  std::int64_t slots() const override { return decoder_.slots(); }
  std::int64_t slot_capacity() const override { return decoder_.slot_capacity(); }
  std::int64_t vocabulary() const override { return decoder_.vocabulary(); }
  std::shared_ptr<const ComputedPrompt> prefill(std::span<const std::int32_t> prompt) override {
    std::shared_ptr<const ComputedPrompt> computed;
    timed(prefill_seconds, [&] { computed = decoder_.prefill(prompt); });
    return computed;
  }
  void start(std::int64_t slot, const ComputedPrompt& prompt) override {
    timed(prefill_seconds, [&] { decoder_.start(slot, prompt); });
  }
  void step(std::span<const SlotToken> tokens) override {
    timed(step_seconds, [&] { decoder_.step(tokens); });
    ++steps;
  }
  std::vector<DrawnToken> draw(std::span<const SlotDraw> draws) override {
    std::vector<DrawnToken> drawn;
    timed(draw_seconds, [&] { drawn = decoder_.draw(draws); });
    return drawn;
  }

  double prefill_seconds = 0.0, step_seconds = 0.0, draw_seconds = 0.0;
  int steps = 0;

 private:
  template <class Work>
  void timed(double& sum, const Work& work) {
    const auto begin = Clock::now();
    work();
    decoder_.wait();
    sum += seconds_since(begin);
  }
  GpuDecoder& decoder_;
};

std::vector<SamplingRequest> requests_of(const Options& options, std::int64_t vocabulary) {
  std::vector<SamplingRequest> requests;
  for (std::int64_t group = 0; group < options.groups; ++group) {
    SamplingRequest request;
    request.prompt =
        random_tokens(static_cast<std::size_t>(options.prompt), vocabulary, static_cast<std::uint64_t>(100 + group));
    request.samples = options.slots / options.groups;
    request.seed = static_cast<std::uint64_t>(group);
    request.parameters.temperature = options.temperature;
    request.parameters.top_p = options.top_p;
    request.new_tokens = options.new_tokens;
    request.repetition.longest_period = 0;  // all are to have their full length
    requests.push_back(std::move(request));
  }
  return requests;
}

std::vector<Sample> written(SlotDecoder& decoder, std::span<const SamplingRequest> requests) {
  return SamplingEngine(decoder, [](std::int32_t) { return std::string_view("token"); }).run(requests);
}

std::int64_t tokens_of(const std::vector<Sample>& samples) {
  std::int64_t tokens = 0;
  for (const Sample& sample : samples) tokens += static_cast<std::int64_t>(sample.tokens.size());
  return tokens;
}

//! Whether the last group's samples are the same to the last bit when they are alone, in other slots.
bool is_bit_equal_alone(GpuDecoder& decoder, const std::vector<SamplingRequest>& requests,
                        const std::vector<Sample>& crowded) {
  const std::vector<Sample> alone = written(decoder, std::span(&requests.back(), 1));
  const std::size_t first = crowded.size() - alone.size();
  for (std::size_t i = 0; i < alone.size(); ++i) {
    const auto same = [](const DrawnToken& a, const DrawnToken& b) {
      return a.id == b.id && a.policy_log_probability == b.policy_log_probability;
    };
    if (!std::ranges::equal(alone[i].tokens, crowded[first + i].tokens, same)) return false;
  }
  return true;
}

//! What a step must read: all weights once, and the keys and values of texts that are half written.
double bytes_of_step(const ModelConfig& config, const Options& options, std::size_t element) {
  double elements = 0.0;
  for (const ParameterShape& parameter : parameter_shapes(config)) {
    double count = 1.0;
    for (const std::int64_t size : parameter.shape) count *= static_cast<double>(size);
    const bool is_looked_up = parameter.name == "model.embed_tokens.weight" && !config.tied_embeddings;
    if (!is_looked_up) elements += count;
  }
  const double length = static_cast<double>(options.prompt) + static_cast<double>(options.new_tokens) / 2;
  elements += static_cast<double>(2 * config.layers * config.kv_heads * config.head_size * options.slots) * length;
  return elements * static_cast<double>(element);
}

GpuDtype dtype_of(const std::string& name) {
  return name == "f32" ? GpuDtype::f32 : name == "bf16" ? GpuDtype::bf16 : GpuDtype::f16;
}

struct Rates {
  std::vector<double> tokens_per_second;  //!< sorted
  std::vector<Sample> samples;            //!< of the last run
  double median() const { return tokens_per_second[tokens_per_second.size() / 2]; }
};

Rates rates_of(GpuDecoder& decoder, const std::vector<SamplingRequest>& requests, int rounds) {
  std::vector<SamplingRequest> short_ones = requests;
  for (SamplingRequest& request : short_ones) request.new_tokens = 8;
  written(decoder, short_ones);  // libraries choose their kernels
  Rates rates;
  for (int round = 0; round < rounds; ++round) {
    const auto begin = Clock::now();
    rates.samples = written(decoder, requests);
    rates.tokens_per_second.push_back(static_cast<double>(tokens_of(rates.samples)) / seconds_since(begin));
  }
  std::ranges::sort(rates.tokens_per_second);
  return rates;
}

//! Where the time goes, in a run of its own: waiting after each part costs some of the speed.
nlohmann::json split_of(GpuDecoder& decoder, const std::vector<SamplingRequest>& requests) {
  TimedDecoder timed(decoder);
  const auto begin = Clock::now();
  written(timed, requests);
  const double all = seconds_since(begin), parts = timed.prefill_seconds + timed.step_seconds + timed.draw_seconds;
  return {{"prompts, milliseconds", timed.prefill_seconds * 1e3},
          {"steps, milliseconds", timed.step_seconds * 1e3},
          {"draws, milliseconds", timed.draw_seconds * 1e3},
          {"host, milliseconds", (all - parts) * 1e3},
          {"a step, milliseconds", timed.step_seconds / timed.steps * 1e3},
          {"a draw, milliseconds", timed.draw_seconds / (timed.steps + 1) * 1e3}};
}

void measure(const Options& options) {
  const bench::NamedWeights model = bench::chosen_weights(options.model);
  const ModelConfig& config = model.weights->config();
  const GpuDtype dtype = dtype_of(options.dtype);
  const auto loading = Clock::now();
  const auto decoder =
      make_cuda_decoder(*model.weights, {dtype, options.slots, options.prompt + options.new_tokens, !options.anew});
  const double start_seconds = seconds_since(loading);
  const std::vector<SamplingRequest> requests = requests_of(options, config.vocabulary);
  const Rates rates = rates_of(*decoder, requests, options.rounds);
  const bool bit_equal = is_bit_equal_alone(*decoder, requests, rates.samples);

  const double step_ms = 1e3 * static_cast<double>(options.slots) / rates.median();
  const double bound_ms = bytes_of_step(config, options, bytes_of(dtype)) / cuda::peak_bytes_per_second(0) * 1e3;
  const std::string gpu = cuda::device_info(0).name;
  nlohmann::json details{{"model", model.name},
                         {"dtype", options.dtype},
                         {"recorded", !options.anew},
                         {"prompts", options.groups},
                         {"tokens/s of each run", rates.tokens_per_second},
                         {"milliseconds a step, all included", step_ms},
                         {"bandwidth bound, milliseconds a step", bound_ms},
                         {"share of the bandwidth bound", bound_ms / step_ms},
                         {"start, seconds", start_seconds},
                         {"samples alone and in other slots are bit-equal", bit_equal},
                         {"a run that waits after each part", split_of(*decoder, requests)}};
  const nlohmann::json rows = nlohmann::json::array(
      {bench::row(fmt::format("generation on {}, {}, {} slots, prompt {}, {} new tokens, prefill and sampling included",
                              bench::short_name(gpu), model.name, options.slots, options.prompt, options.new_tokens),
                  rates.median(), "tokens/s", "at least 60,000 tokens/s", rates.median() >= 60000.0 && bit_equal,
                  std::move(details))});
  bench::print(rows);
  std::printf("%s\n", rows[0]["details"].dump(2).c_str());
  if (!options.output.empty())
    bench::write_results(options.output, {"bench/generation_speed.sh", options.commit, gpu}, rows);
}

}  // namespace
}  // namespace cudal1

int main(int argc, char** argv) try {
  cudal1::Options options;
  CLI::App app{"Measures how fast texts are written on this machine's GPU"};
  app.add_option("--model", options.model, "A GGUF file or a Hugging Face folder; else the fetched one, else random");
  app.add_option("--dtype", options.dtype)->check(CLI::IsMember({"f32", "bf16", "f16"}));
  app.add_option("--slots", options.slots)->check(CLI::Range(1, 4096));
  app.add_option("--groups", options.groups, "Prompts, each of which slots / groups samples continue");
  app.add_option("--prompt", options.prompt, "Tokens of a prompt")->check(CLI::Range(1, 100000));
  app.add_option("--new-tokens", options.new_tokens)->check(CLI::Range(2, 100000));
  app.add_option("--rounds", options.rounds)->check(CLI::Range(1, 100));
  app.add_option("--temperature", options.temperature);
  app.add_option("--top-p", options.top_p);
  app.add_flag("--anew", options.anew, "Launch each step anew instead of playing a CUDA Graph");
  app.add_option("--output", options.output, "A file like bench/results/generator.json, or nothing is written");
  app.add_option("--commit", options.commit, "What is being measured");
  CLI11_PARSE(app, argc, argv);
  if (options.groups < 1 || options.slots % options.groups != 0)
    throw cudal1::UsageError("--groups must divide --slots");
  cudal1::measure(options);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "generation_speed: %s\n", error.what());
  return 1;
}
