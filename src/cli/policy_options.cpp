#include "cli/policy_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/result.hpp"

namespace cudal1 {
namespace {

constexpr const char* group = "Language models";
const std::vector<std::string> known_policies{"local", "remote", "search"};

void add_writing_options(CLI::App& command, PolicyOptions& options) {
  command.add_option("--model", options.model, "Of the local policy: a GGUF file or a Hugging Face folder")
      ->check(CLI::ExistingPath)
      ->group(group);
  command.add_option("--adapter", options.adapter, "A LoRA adapter for it, in PEFT's format")
      ->check(CLI::ExistingDirectory)
      ->group(group);
  command
      .add_option("--model-device", options.model_device, "Where it is computed: auto takes a GPU where there is one")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->group(group);
  command.add_option("--model-dtype", options.model_dtype, "What it is computed in on a GPU (f16)")
      ->check(CLI::IsMember({"f16", "bf16", "f32"}))
      ->group(group);
  command.add_flag("--grammar", options.grammar, "Hold the local model's answers to well-formed directives")
      ->group(group);
  command.add_option("--form", options.form, "Of prompts: full, or compact (local: compact, remote: full)")
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
  command.add_option("--repair", options.repair_turns, "How often a program that failed goes back with its error (1)")
      ->check(CLI::Range(0, 16))
      ->group(group);
  command.add_option("--context", options.context, "Tokens that a model can see (local: 8192, remote: 32768)")
      ->check(CLI::Range(1, 100'000'000))
      ->group(group);
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
                     "Who writes the programs: search, local, remote, or shares of them such as local:6,search:2");
  add_writing_options(command, options);
  add_remote_options(command, options.remote);
}

std::size_t answer_tokens(const PolicyOptions& options, PromptForm form, std::size_t context_tokens) {
  constexpr std::size_t usual = 4096;  // which servers with a limit of their own allow
  if (options.remote.max_tokens) return static_cast<std::size_t>(*options.remote.max_tokens);
  return std::max<std::size_t>(1, std::min({usual, default_answer_tokens(form), context_tokens / 2}));
}

bool asks_server(const std::vector<PolicyShare>& shares) {
  return std::ranges::find(shares, "remote", &PolicyShare::name) != shares.end();
}

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
