#include "cli/policy_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>

#include "base/result.hpp"
#include "cli/number_options.hpp"

namespace cudal1 {
namespace {

constexpr const char* group = "Language models";
constexpr const char* may_do_without_model = "--may-do-without-model";
const std::vector<std::string> known_policies{"local", "remote", "search"};

void add_writing_options(CLI::App& command, PolicyOptions& options) {
  command.add_option("--model", options.model, "Of the local policy: a GGUF file or a Hugging Face folder")
      ->check(CLI::ExistingPath)
      ->group(group);
  command
      .add_option("--adapter", options.adapter,
                  "A LoRA adapter for it, in PEFT's format, or 'none' (default: the one that is shipped for the model)")
      ->check(CLI::ExistingDirectory | CLI::IsMember({PolicyOptions::no_adapter}))
      ->group(group);
  command
      .add_option("--model-device", options.model_device, "Where it is computed: auto takes a GPU where there is one")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->group(group);
  command.add_option("--model-dtype", options.model_dtype, "What it is computed in on a GPU (f16)")
      ->check(CLI::IsMember({"f16", "bf16", "f32"}))
      ->group(group);
  command
      .add_option("--top-k", options.top_k,
                  "Of the local policy: sample from so many of the likeliest tokens (0: from all)")
      ->check(CLI::Range(0, 1'000'000))
      ->group(group);
  command
      .add_option("--min-p", options.min_p,
                  "Of the local policy: only from tokens that are at least so likely beside the likeliest (0: all)")
      ->check(number_between(0.0, 1.0))
      ->group(group);
  command
      .add_flag_function(
          "--grammar,!--no-grammar", [&options](std::int64_t count) { options.grammar = count > 0; },
          "Hold the local model's answers to well-formed directives")
      ->group(group);
  command.add_flag(may_do_without_model, options.may_do_without_model)->group("");  // of our own processes
  command
      .add_option("--form", options.form,
                  "Of prompts: full, or compact (local: compact, or as its adapter was trained; remote: full)")
      ->check(CLI::IsMember({"full", "compact"}))
      ->group(group);
  command.add_option("--exemplars", options.exemplars, "How scored programs are chosen for prompts (bucket)")
      ->check(CLI::IsMember({"bucket", "island", "random", "none"}))
      ->group(group);
  command
      .add_flag("--profiles", options.profiles, "Show where the time of scored programs goes, as far as it is known")
      ->group(group);
  command.add_option("--samples", options.samples_a_prompt, "Answers to each prompt (4)")
      ->check(CLI::Range(1, 128))
      ->group(group);
  command
      .add_option("--repair", options.repair_turns,
                  "How often a program that failed goes back with its error (1; of a trained adapter 0)")
      ->check(CLI::Range(0, 16))
      ->group(group);
  command
      .add_option("--context", options.context,
                  "Tokens that a model can see (local: 8192, or as its adapter was trained; remote: 32768)")
      ->check(CLI::Range(1, 100'000'000))
      ->group(group);
}

bool has_share(const std::vector<PolicyShare>& shares, std::string_view name) {
  return std::ranges::find(shares, name, &PolicyShare::name) != shares.end();
}

//! What its training says of prompts, which options may change.
LanguageModelOptions as_trained(const TrainedPrompt& trained, const PolicyOptions& options) {
  LanguageModelOptions made;
  made.program = trained.program;
  made.exemplars = trained.exemplars;
  made.order = ExemplarOrder::as_given;
  made.shows_scores = trained.shows_scores;
  made.scores_are_speedups = true;
  made.answer_tokens = trained.answer_tokens;
  if (!options.context) made.context_tokens = trained.context_tokens;
  return made;
}

//! Names of all options that add_policy_options adds.
std::set<std::string> policy_option_names() {
  CLI::App app;
  PolicyOptions options;
  add_policy_options(app, options);
  std::set<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.insert(option->get_name());
  names.erase("--help");
  return names;
}

}  // namespace

void add_policy_options(CLI::App& command, PolicyOptions& options) {
  command.add_option("--policy", options.mix,
                     "Who writes the programs: search, local, remote, or shares of them such as local:6,search:2 "
                     "(default: search, with the model that is shipped where there is one)");
  add_writing_options(command, options);
  add_remote_options(command, options.remote);
}

LanguageModelOptions writing_options(const PolicyOptions& options, const std::string& name,
                                     const TrainedPrompt* trained, std::size_t context_tokens) {
  LanguageModelOptions made;
  if (trained != nullptr) made = as_trained(*trained, options);
  const PromptForm untrained = name == "local" ? PromptForm::compact : PromptForm::full;
  const PromptForm usual = trained != nullptr ? trained->form : untrained;
  made.form = prompt_form_from_string(options.form).value_or(usual);
  if (const auto choice = exemplar_choice_from_string(options.exemplars)) made.exemplars.choice = *choice;
  made.profiles = options.profiles;
  made.samples_a_prompt = options.samples_a_prompt;
  made.repair_turns = options.repair_turns.value_or(trained != nullptr ? 0 : 1);
  if (!made.answer_tokens || options.remote.max_tokens || made.form != usual)
    made.answer_tokens = answer_tokens(options, made.form, context_tokens);
  return made;
}

SamplingParameters sampling_parameters(const PolicyOptions& options, const TrainedPrompt* trained) {
  SamplingParameters made;
  const double usual = trained != nullptr ? trained->temperature : 1.0;
  made.temperature = static_cast<float>(options.remote.parameters.temperature.value_or(usual));
  made.top_p = static_cast<float>(options.remote.parameters.top_p.value_or(1.0));
  made.top_k = options.top_k;
  made.min_p = static_cast<float>(options.min_p);
  return made;
}

std::size_t answer_tokens(const PolicyOptions& options, PromptForm form, std::size_t context_tokens) {
  constexpr std::size_t usual = 4096;  // which servers with a limit of their own allow
  if (options.remote.max_tokens) return static_cast<std::size_t>(*options.remote.max_tokens);
  return std::max<std::size_t>(1, std::min({usual, default_answer_tokens(form), context_tokens / 2}));
}

bool asks_server(const std::vector<PolicyShare>& shares) { return has_share(shares, "remote"); }

bool asks_local_model(const std::vector<PolicyShare>& shares) { return has_share(shares, "local"); }

std::vector<PolicyShare> policy_shares(const PolicyOptions& options) {
  std::vector<PolicyShare> shares = parse_policy_mix(options.mix, known_policies);
  if (asks_server(shares) && options.remote.client.model.name.empty())
    throw UsageError("--policy remote: which model is to be asked? Name it with --remote-model");
  return shares;
}

std::vector<std::string> policy_environment(const PolicyOptions& options) {
  if (!asks_server(policy_shares(options))) return {};
  return {options.remote.key_variable,
          "OPENAI_BASE_URL",
          "https_proxy",
          "HTTPS_PROXY",
          "all_proxy",
          "ALL_PROXY",
          "no_proxy",
          "NO_PROXY",
          "SSL_CERT_FILE",
          "SSL_CERT_DIR"};
}

std::vector<std::string> policy_arguments(const CLI::App& command) {
  const std::set<std::string> names = policy_option_names();
  std::vector<std::string> arguments;
  for (const CLI::Option* option : command.get_options())
    if (option->count() > 0 && names.contains(option->get_name()))
      arguments.push_back(fmt::format("{}={}", option->get_name(), option->results().back()));
  return arguments;
}

void read_policy_arguments(const std::vector<std::string>& arguments, PolicyOptions& options) {
  CLI::App app;
  add_policy_options(app, options);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes them last first
  } catch (const CLI::ParseError& problem) {
    throw UsageError(problem.what());
  }
}

}  // namespace cudal1
