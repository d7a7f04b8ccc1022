#include "cli/remote_options.hpp"

#include <algorithm>
#include <cstdint>

#include "base/files.hpp"
#include "cli/number_options.hpp"

namespace cudal1 {
namespace {

constexpr const char* group = "Remote models";

void add_model_options(CLI::App& command, RemoteOptions& options) {
  ChatParameters& parameters = options.parameters;
  command.add_option("--server", options.server,
                     "Address of the server, such as https://api.example.com/v1 (OPENAI_BASE_URL)");
  command.add_option("--remote-model", options.client.model.name, "The name that the server has for the model");
  command.add_option("--key-variable", options.key_variable,
                     "The environment variable that holds the key (OPENAI_API_KEY)");
  command.add_option("--temperature", parameters.temperature, "Of sampling")->check(number_between(0.0, 10.0));
  command.add_option("--top-p", parameters.top_p, "Sample from the likeliest tokens with this probability")
      ->check(number_between(0.0, 1.0));
  command
      .add_option("--max-tokens", options.max_tokens,
                  "Of an answer, hidden reasoning included (4096; 160 in the compact form)")
      ->check(CLI::Range(1, 10'000'000));
  command.add_flag_function(
      "--reasoning,!--no-reasoning", [&options](std::int64_t count) { options.reasoning = count > 0; },
      "A reasoning model: no temperature, max_completion_tokens (by its name)");
  command.add_option("--reasoning-effort", parameters.reasoning_effort, "Of reasoning models: low, medium or high");
}

void add_cost_options(CLI::App& command, ChatClientOptions& client) {
  command.add_option("--price-in", client.prices.input_per_million, "Price of a million tokens of prompts")
      ->check(number_between(0.0, 1e9));
  command.add_option("--price-out", client.prices.output_per_million, "Price of a million tokens of answers")
      ->check(number_between(0.0, 1e9));
  command.add_option("--max-cost", client.max_cost, "Send nothing that could cost more in all")
      ->check(number_between(0.0, 1e12));
}

void add_connection_options(CLI::App& command, RemoteOptions& options) {
  ChatClientOptions& client = options.client;
  command.add_option("--concurrency", client.concurrency, "Requests at once (8)")->check(CLI::Range(1, 1024));
  command.add_option("--samples-per-request", client.most_samples_per_request, "The largest n that is asked for (16)")
      ->check(CLI::Range(1, 128));
  command.add_option("--attempts", client.retry.attempts, "For each request (6)")->check(CLI::Range(1, 100));
  command.add_option("--connect-timeout", client.limits.connect_s, "Seconds (15)")->check(number_between(0.1, 3600.0));
  command.add_option("--idle-timeout", client.limits.idle_s, "Seconds without a byte (300)")
      ->check(number_between(0.1, 86400.0));
  command.add_option("--request-timeout", client.limits.total_s, "Seconds of one attempt (1800)")
      ->check(number_between(0.1, 86400.0));
  command.add_option("--ca-file", client.ca_file, "Certificates to trust instead of the system's")
      ->check(CLI::ExistingFile);
  command.add_flag("--allow-http", client.allow_unencrypted, "Send prompts and key unencrypted to another machine");
  command.add_flag("--no-stream", options.no_stream, "Ask for answers in one piece");
  command.add_flag("--no-answer-cache", options.no_cache, "Neither use nor keep answers");
}

}  // namespace

void add_remote_options(CLI::App& command, RemoteOptions& options) {
  const auto before = command.get_options();
  add_model_options(command, options);
  add_cost_options(command, options.client);
  add_connection_options(command, options);
  for (CLI::Option* const option : command.get_options(
           [&](const CLI::Option* each) { return std::find(before.begin(), before.end(), each) == before.end(); }))
    option->group(group);
}

ChatClientOptions chat_client_options(const RemoteOptions& options) {
  ChatClientOptions client = options.client;
  client.server = server_or_environment(options.server);
  client.model.reasoning = options.reasoning.value_or(is_reasoning_model(client.model.name));
  client.model.stream = !options.no_stream;
  if (!options.no_cache) client.cache_folder = cache_directory() / "remote";
  return client;
}

}  // namespace cudal1
