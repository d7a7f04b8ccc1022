#include "cli/policy_maker.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <optional>

#include "cli/model_device.hpp"
#include "cli/module_source.hpp"
#include "model/files/model_store.hpp"
#include "policy/grammar/directive_grammar.hpp"
#include "policy/local/local_generator.hpp"
#include "policy/remote/remote_generator.hpp"
#include "policy/search/all_parameters.hpp"
#include "policy/search/search_policy.hpp"

namespace cudal1 {
namespace {

// Where the search is named first, others see these with their scores before they begin.
constexpr int programs_to_begin_with = 4;

ApiKey key_taken_from_environment(const PolicyOptions& options) {
  if (!asks_server(policy_shares(options))) return {};
  ApiKey key = ApiKey::from_environment(options.remote.key_variable);
  unsetenv(options.remote.key_variable.c_str());
  return key;
}

}  // namespace

//! Made when they are first asked for: a search that only searches loads no model.
class PolicyMaker::Models {
 public:
  Models(const PolicyOptions& options, const Surroundings& surroundings, const ApiKey& key)
      : options_(options), surroundings_(surroundings), key_(key) {}

  TextGenerator& local() {
    if (!local_) {
      LocalGeneratorOptions made;
      made.model = options_.model.empty() ? default_model() : options_.model;
      if (options_.has_adapter()) made.adapter = options_.adapter;
      made.most_context = static_cast<std::int64_t>(local_context());
      made.sampling = sampling_parameters(options_, trained());
      made.seed = surroundings_.seed;
      made.cancelled = surroundings_.stop;
      choose_model_device(options_, made, surroundings_.report);
      local_ = std::make_unique<LocalGenerator>(made);
      if (!local_->warning().empty()) surroundings_.report(local_->warning());
      if (trained() != nullptr)
        if (const std::string warning = texts_warning(*trained(), options_.adapter); !warning.empty())
          surroundings_.report(warning);
    }
    return *local_;
  }

  //! How the local model was asked while it was trained; null: nobody knows.
  const TrainedPrompt* trained() {
    if (!has_looked_ && options_.has_adapter()) trained_ = load_trained_prompt(options_.adapter);
    has_looked_ = true;
    return trained_ ? &*trained_ : nullptr;
  }

  TextGenerator& remote() {
    if (!remote_) {
      ChatClientOptions made = chat_client_options(options_.remote);
      if (made.max_cost) *made.max_cost /= surroundings_.tasks;  // each task's search has a client of its own
      const Prices prices = made.prices;
      client_ = std::make_unique<ChatClient>(
          std::move(made), key_,
          ChatSurroundings{real_waiting(), surroundings_.stop, Random(surroundings_.seed), surroundings_.report});
      remote_ =
          std::make_unique<RemoteGenerator>(*client_, options_.remote.parameters, options_.context.value_or(32768),
                                            [prices, report = surroundings_.report](const CostEstimate& estimate) {
                                              report(fmt::format("the first request: {}", describe(estimate, prices)));
                                            });
    }
    return *remote_;
  }

 private:
  //! Room for the prompts that it was trained with, and what its chat form puts around them.
  std::size_t local_context() {
    constexpr std::size_t usual = 8192;
    if (options_.context) return *options_.context;
    return trained() != nullptr ? trained()->context_tokens + LocalGenerator::tokens_of_form : usual;
  }

  const PolicyOptions& options_;
  const Surroundings& surroundings_;
  const ApiKey& key_;
  std::unique_ptr<LocalGenerator> local_;
  std::optional<TrainedPrompt> trained_;
  bool has_looked_ = false;
  std::unique_ptr<ChatClient> client_;
  std::unique_ptr<RemoteGenerator> remote_;
};

PolicyMaker::PolicyMaker(PolicyOptions options, Surroundings surroundings)
    : options_(std::move(options)),
      surroundings_(std::move(surroundings)),
      key_(key_taken_from_environment(options_)),
      models_(std::make_unique<Models>(options_, surroundings_, key_)) {}
PolicyMaker::~PolicyMaker() = default;

std::unique_ptr<Policy> PolicyMaker::make(const Task& task, const vgpu::GpuProfile& gpu) {
  const std::vector<PolicyShare> shares = policy_shares(options_);
  std::vector<PolicyMix::Part> parts;
  for (const PolicyShare& share : shares)
    if (auto policy = make_part(share.name, task, gpu)) parts.push_back({std::move(policy), share.weight});
  if (parts.size() == 1) return std::move(parts.front().policy);
  return std::make_unique<PolicyMix>(std::move(parts), shares.front().name == "search" ? programs_to_begin_with : 0);
}

//! Null where nobody asked for it and it cannot be had.
std::unique_ptr<Policy> PolicyMaker::make_part(const std::string& name, const Task& task,
                                               const vgpu::GpuProfile& gpu) try {
  return make_one(name, task, gpu);
} catch (const std::exception& problem) {
  if (name != "local" || !options_.may_do_without_model) throw;
  surroundings_.report(fmt::format("the search works alone, without the shipped model: {}", problem.what()));
  return nullptr;
}

std::unique_ptr<Policy> PolicyMaker::make_one(const std::string& name, const Task& task, const vgpu::GpuProfile& gpu) {
  if (name == "search") return make_search(task, gpu);
  auto policy = std::make_unique<LanguageModelPolicy>(make_writer(name, task, gpu));
  written_.push_back({name, policy.get()});
  return policy;
}

std::unique_ptr<Policy> PolicyMaker::make_search(const Task& task, const vgpu::GpuProfile& gpu) const {
  return std::make_unique<SearchPolicy>(task.graph, gpu, Random(surroundings_.seed));
}

AnswerWriter PolicyMaker::make_writer(const std::string& name, const Task& task, const vgpu::GpuProfile& gpu) {
  const bool is_local = name == "local";
  TextGenerator& generator = is_local ? models_->local() : models_->remote();
  const TrainedPrompt* trained = is_local ? models_->trained() : nullptr;
  LanguageModelOptions made = writing_options(options_, name, trained, generator.context_tokens());
  if (is_local && options_.grammar.value_or(trained != nullptr && trained->grammar))
    made.grammar = directive_grammar(task.graph, {.may_be_empty = false, .with_analysis = trained != nullptr});
  if (trained != nullptr)
    made.as_shown = [graph = task.graph](const std::string& text) { return text_with_all_parameters(graph, text); };
  made.passes_without_prompt = is_local && policy_shares(options_).size() > 1;
  PromptSubject subject{task.name, task.description, task.graph, module_source(task), gpu, {}};
  return {generator, std::move(subject), std::move(made), Random(surroundings_.seed), surroundings_.report};
}

std::vector<PolicyRecord> PolicyMaker::records() const {
  std::vector<PolicyRecord> records;
  for (const Written& written : written_) records.push_back({written.name, written.policy->totals()});
  return records;
}

}  // namespace cudal1
