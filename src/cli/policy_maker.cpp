#include "cli/policy_maker.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "cli/model_device.hpp"
#include "cli/module_source.hpp"
#include "model/files/model_store.hpp"
#include "policy/grammar/directive_grammar.hpp"
#include "policy/local/local_generator.hpp"
#include "policy/remote/remote_generator.hpp"
#include "policy/search/search_policy.hpp"

namespace cudal1 {
namespace {

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
      made.adapter = options_.adapter;
      made.most_context = static_cast<std::int64_t>(options_.context.value_or(8192));
      made.sampling.temperature = static_cast<float>(options_.remote.parameters.temperature.value_or(1.0));
      made.sampling.top_p = static_cast<float>(options_.remote.parameters.top_p.value_or(1.0));
      made.seed = surroundings_.seed;
      made.cancelled = surroundings_.stop;
      choose_model_device(options_, made, surroundings_.report);
      local_ = std::make_unique<LocalGenerator>(made);
      if (!local_->warning().empty()) surroundings_.report(local_->warning());
    }
    return *local_;
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
  const PolicyOptions& options_;
  const Surroundings& surroundings_;
  const ApiKey& key_;
  std::unique_ptr<LocalGenerator> local_;
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
  std::vector<PolicyMix::Part> parts;
  for (const PolicyShare& share : policy_shares(options_))
    parts.push_back({make_one(share.name, task, gpu), share.weight});
  if (parts.size() == 1) return std::move(parts.front().policy);
  return std::make_unique<PolicyMix>(std::move(parts));
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
  LanguageModelOptions made;
  made.form = prompt_form_from_string(options_.form).value_or(is_local ? PromptForm::compact : PromptForm::full);
  made.exemplars.choice = exemplar_choice_from_string(options_.exemplars).value_or(ExemplarChoice::bucket);
  made.profiles = options_.profiles;
  made.samples_a_prompt = options_.samples_a_prompt;
  made.repair_turns = options_.repair_turns;
  if (is_local && options_.grammar) made.grammar = directive_grammar(task.graph, {.may_be_empty = false});
  TextGenerator& generator = is_local ? models_->local() : models_->remote();
  made.answer_tokens = answer_tokens(options_, made.form, generator.context_tokens());
  PromptSubject subject{task.name, task.description, task.graph, module_source(task), gpu, {}};
  return {generator, std::move(subject), std::move(made), Random(surroundings_.seed), surroundings_.report};
}

std::vector<PolicyRecord> PolicyMaker::records() const {
  std::vector<PolicyRecord> records;
  for (const Written& written : written_) records.push_back({written.name, written.policy->totals()});
  return records;
}

}  // namespace cudal1
