// How fast a training step is, of all weights and of an adapter, beside a training loop in eager PyTorch
// (eager_training.py): the same texts, taking turns in one run.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "accelerator/cuda_decoder.hpp"
#include "accelerator/cuda_runtime.hpp"
#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/random.hpp"
#include "base/result.hpp"
#include "base/seconds_since.hpp"
#include "bench_model.hpp"
#include "kernel_times.hpp"
#include "model/transformer/lora.hpp"
#include "results_file.hpp"
#include "train/training_step.hpp"
#include "weights_in_memory.hpp"

namespace cudal1 {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string model, device = "cuda", python, eager = CUDAL1_SOURCE_DIR "/bench/generator/eager_training.py";
  std::string output, commit = "unknown";
  std::int64_t texts = 64, mean_length = 440, batches = 4;
  int steps = 12, rounds = 3;
  bool tiny = false, profile = false;
};

using Texts = std::vector<std::vector<std::int32_t>>;

//! Lengths between a half and one and a half of the mean.
std::vector<Texts> random_batches(const Options& options, std::int64_t vocabulary) {
  Random random(7);
  std::vector<Texts> batches(static_cast<std::size_t>(options.batches));
  for (Texts& batch : batches)
    for (std::int64_t i = 0; i < options.texts; ++i) {
      const auto length = static_cast<std::size_t>(options.mean_length) / 2 +
                          static_cast<std::size_t>(random.below(static_cast<std::uint64_t>(options.mean_length) + 1));
      batch.push_back(random_tokens(std::max<std::size_t>(2, length), vocabulary, random.below(1U << 30U)));
    }
  return batches;
}

std::int64_t tokens_of(const Texts& texts) {
  std::int64_t tokens = 0;
  for (const auto& text : texts) tokens += static_cast<std::int64_t>(text.size());
  return tokens;
}

//! All tokens but the first of each text are learned, each as much as the others.
std::vector<TrainingText> training_texts(const Texts& texts) {
  const float weight = 1.0F / static_cast<float>(tokens_of(texts) - static_cast<std::int64_t>(texts.size()));
  std::vector<TrainingText> made;
  for (const auto& text : texts) made.push_back({text, std::vector<float>(text.size(), weight)});
  return made;
}

struct Pace {
  double seconds = 0.0;
  std::int64_t tokens = 0;
  double loss = 0.0;
  double tokens_per_second() const { return static_cast<double>(tokens) / seconds; }
};

class OurTraining {
 public:
  OurTraining(const Options& options, const ModelWeights& weights, const std::string& kind)
      : on_gpu_(options.device == "cuda"),
        model_(weights, {.dtype = at::kBFloat16, .device = on_gpu_ ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU)}) {
    TrainingStepOptions made;
    if (kind == "lora") {
      made.adapter = "learned";
      model_.add_adapter(made.adapter, new_adapter(model_.config(), 32, 32.0, 3));
    }
    step_.emplace(model_, made, on_gpu_ ? std::make_shared<CudaRuntime>(0) : nullptr);
  }

  //! Packing included.
  Pace run(const std::vector<std::vector<TrainingText>>& batches, int steps) {
    Pace pace;
    at::Tensor log_probabilities, weights;
    step_->wait();
    const auto begin = Clock::now();
    for (int i = 0; i < steps; ++i) {
      const TrainingBatch batch = step_->pack(batches[static_cast<std::size_t>(i) % batches.size()]);
      log_probabilities = step_->accumulate(batch);
      weights = batch.weights;
      step_->update(1e-4);
      pace.tokens += batch.tokens.starts.back();
    }
    step_->wait();
    pace.seconds = seconds_since(begin);
    const std::vector<float> found = step_->read(log_probabilities), share = step_->read(weights);
    for (std::size_t i = 0; i < found.size(); ++i) pace.loss -= static_cast<double>(found[i] * share[i]);
    return pace;
  }

  //! Where the time of a step goes, in a run of its own: waiting after each part costs some of the speed.
  nlohmann::json split(const std::vector<TrainingText>& texts) {
    TrainingBatch batch;
    const double pack = milliseconds([&] { batch = step_->pack(texts); });
    const double forward = milliseconds([&] { step_->log_probabilities(batch); });
    double host = 0.0;
    const double all = milliseconds([&] {
      const auto begin = Clock::now();
      step_->accumulate(batch);
      host = seconds_since(begin) * 1e3;
    });
    const double update = milliseconds([&] { step_->update(1e-4); });
    return {{"packing, milliseconds", pack},
            {"log-probabilities without gradients, milliseconds", forward},
            {"log-probabilities with gradients, milliseconds", all},
            {"of which the host launches, milliseconds", host},
            {"update, milliseconds", update}};
  }

 private:
  template <class Work>
  double milliseconds(const Work& work) {
    step_->wait();
    const auto begin = Clock::now();
    work();
    step_->wait();
    return seconds_since(begin) * 1e3;
  }

  bool on_gpu_;
  Transformer model_;
  std::optional<TrainingStep> step_;
};

//! The loop in eager PyTorch: a process that answers line by line.
class EagerTraining {
 public:
  EagerTraining(const Options& options, const ModelConfig& config, const std::vector<Texts>& batches) {
    const nlohmann::json given{{"config",
                                {{"layers", config.layers},
                                 {"hidden", config.hidden},
                                 {"heads", config.heads},
                                 {"kv_heads", config.kv_heads},
                                 {"head_size", config.head_size},
                                 {"feed_forward", config.feed_forward},
                                 {"vocabulary", config.vocabulary},
                                 {"norm_epsilon", config.norm_epsilon},
                                 {"rope_theta", config.rope_theta}}},
                               {"batches", batches}};
    const auto file = folder_.path() / "batches.json";
    write_file_atomically(file, given.dump());
    int to_child[2], from_child[2];
    if (::pipe(to_child) != 0 || ::pipe(from_child) != 0) throw Error("there are no pipes left");
    const UniqueFd child_in(to_child[0]), child_out(from_child[1]);
    to_ = ::fdopen(to_child[1], "w");
    from_ = ::fdopen(from_child[0], "r");
    ChildOptions child;
    child.arguments = {options.python, options.eager, file.string(), "--device", options.device};
    child.environment = minimal_environment();
    if (const char* packages = std::getenv("PYTHONPATH")) child.environment.emplace_back("PYTHONPATH", packages);
    child.descriptors = {{child_in.get(), 0}, {child_out.get(), 1}, {2, 2}};
    process_ = ChildProcess::start(child);
  }
  EagerTraining(const EagerTraining&) = delete;
  EagerTraining& operator=(const EagerTraining&) = delete;
  ~EagerTraining() {
    std::fclose(to_);
    std::fclose(from_);
    process_.kill();
  }

  nlohmann::json make(const std::string& kind) { return asked({{"make", kind}}); }
  Pace run(const std::string& layout, int steps) {
    const nlohmann::json answer = asked({{"layout", layout}, {"steps", steps}});
    return {answer.at("seconds"), answer.at("tokens"), answer.at("loss")};
  }

 private:
  nlohmann::json asked(const nlohmann::json& command) {
    std::fprintf(to_, "%s\n", command.dump().c_str());
    std::fflush(to_);
    std::string line;
    for (int c = std::fgetc(from_); c != '\n'; c = std::fgetc(from_)) {
      if (c == EOF) throw Error("eager_training.py has ended; what it said is above");
      line.push_back(static_cast<char>(c));
    }
    return nlohmann::json::parse(line);
  }

  TemporaryFolder folder_;
  ChildProcess process_;
  std::FILE *to_ = nullptr, *from_ = nullptr;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

//! Tokens a second of each round.
struct Rates {
  std::vector<double> ours, packed, padded;
  double our_loss = 0.0, eager_loss = 0.0;  //!< in the end
};

Rates measured(OurTraining& ours, EagerTraining& eager, const std::vector<std::vector<TrainingText>>& batches,
               const Options& options) {
  Rates rates;
  const int warm_up = static_cast<int>(batches.size());  // each shape once
  ours.run(batches, warm_up);
  for (const char* layout : {"packed", "padded"}) eager.run(layout, warm_up);
  for (int round = 0; round < options.rounds; ++round) {
    const auto run_ours = [&] {
      const Pace pace = ours.run(batches, options.steps);
      rates.ours.push_back(pace.tokens_per_second());
      rates.our_loss = pace.loss;
    };
    if (round % 2 == 0) run_ours();
    const Pace packed = eager.run("packed", options.steps);
    rates.packed.push_back(packed.tokens_per_second());
    rates.eager_loss = packed.loss;
    rates.padded.push_back(eager.run("padded", options.steps).tokens_per_second());
    if (round % 2 == 1) run_ours();
  }
  return rates;
}

nlohmann::json row_of(const std::string& kind, const Rates& rates, const std::string& where, nlohmann::json details) {
  const double ours = median(rates.ours), packed = median(rates.packed), padded = median(rates.padded);
  const double eager = std::max(packed, padded), ratio = ours / eager, least = kind == "lora" ? 70000.0 : 100000.0;
  details.update({{"tokens/s", ours},
                  {"eager PyTorch, tokens/s", eager},
                  {"eager PyTorch packs", packed >= padded},
                  {"tokens/s of each round", rates.ours},
                  {"eager PyTorch packed, tokens/s of each round", rates.packed},
                  {"eager PyTorch padded, tokens/s of each round", rates.padded},
                  {"loss after all steps", rates.our_loss},
                  {"loss after all steps, eager PyTorch from random weights", rates.eager_loss}});
  return bench::row(
      fmt::format("training step on {}, {}, non-padding tokens", where, kind == "lora" ? "LoRA" : "full"), ratio,
      "times eager PyTorch",
      fmt::format("at least 1.3 times a committed eager PyTorch loop (flash attention, fused AdamW) in the "
                  "same run, which must itself reach {} tokens/s",
                  kind == "lora" ? "70,000" : "100,000"),
      ratio >= 1.3 && eager >= least, std::move(details));
}

//! Of one step each.
void print_kernels(OurTraining& ours, const std::vector<std::vector<TrainingText>>& batches, const std::string& kind) {
  fmt::print("kernels of a step, {}:\n", kind);
  bench::print(bench::kernel_times([&] { ours.run(batches, 1); }), 30);
}

void measure(const Options& options) {
  if (options.device == "cuda")
    if (const std::string why = why_no_cuda_decoder(); !why.empty()) throw Error(why);
  const bench::NamedWeights model = options.tiny ? bench::tiny_weights() : bench::chosen_weights(options.model);
  const std::vector<Texts> batches = random_batches(options, model.weights->config().vocabulary);
  std::vector<std::vector<TrainingText>> our_batches;
  for (const Texts& texts : batches) our_batches.push_back(training_texts(texts));
  std::optional<EagerTraining> eager;
  if (!options.profile) eager.emplace(options, model.weights->config(), batches);
  const std::string gpu = options.device == "cuda" ? cuda::device_info(0).name : "none";
  nlohmann::json rows = nlohmann::json::array();
  for (const char* kind : {"lora", "full"}) {
    OurTraining ours(options, *model.weights, kind);
    if (options.profile) {
      ours.run(our_batches, 2);  // libraries choose their kernels
      print_kernels(ours, our_batches, kind);
      continue;
    }
    const nlohmann::json made = eager->make(kind);
    const Rates rates = measured(ours, *eager, our_batches, options);
    rows.push_back(row_of(kind, rates, gpu == "none" ? "the CPU" : bench::short_name(gpu),
                          {{"model", model.name},
                           {"trained parameters", made.at("trained")},
                           {"PyTorch", made.at("torch")},
                           {"texts in a batch", options.texts},
                           {"tokens in a batch", tokens_of(batches[0])},
                           {"steps a round", options.steps},
                           {"a step that waits after each part", ours.split(our_batches[0])},
                           {"precision", "bf16 with fp32 copies of what is trained, both"}}));
  }
  if (options.profile) return;
  bench::print(rows);
  for (const nlohmann::json& row : rows) std::printf("%s\n", row["details"].dump(2).c_str());
  if (!options.output.empty())
    bench::write_results(options.output, {"bench/generator.sh gpu", options.commit, gpu}, rows);
}

}  // namespace
}  // namespace cudal1

int main(int argc, char** argv) try {
  cudal1::Options options;
  const char* python = std::getenv("CUDAL1_PYTHON");
  options.python = python ? python : CUDAL1_BENCH_PYTHON;
  CLI::App app{"Measures training steps beside a training loop in eager PyTorch"};
  app.add_option("--model", options.model, "A GGUF file or a Hugging Face folder; else the fetched one, else random");
  app.add_option("--device", options.device)->check(CLI::IsMember({"cuda", "cpu"}));
  app.add_flag("--tiny", options.tiny, "A tiny random model instead, to see that this program works");
  app.add_option("--texts", options.texts, "In a batch")->check(CLI::Range(1, 4096));
  app.add_option("--mean-length", options.mean_length, "Tokens of a text")->check(CLI::Range(2, 8192));
  app.add_option("--batches", options.batches, "That differ")->check(CLI::Range(1, 64));
  app.add_option("--steps", options.steps, "Of a round")->check(CLI::Range(1, 1000));
  app.add_option("--rounds", options.rounds)->check(CLI::Range(1, 100));
  app.add_flag("--profile", options.profile, "Only print which kernels of a step take how long");
  app.add_option("--python", options.python, "With PyTorch, for the loop to compare with");
  app.add_option("--eager", options.eager, "That loop");
  app.add_option("--output", options.output, "A file like bench/results/generator.json, or nothing is written");
  app.add_option("--commit", options.commit, "What is being measured");
  CLI11_PARSE(app, argc, argv);
  cudal1::measure(options);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "training_speed: %s\n", error.what());
  return 1;
}
