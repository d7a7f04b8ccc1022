// Options of commands that let policies write programs: who, and how language models are asked.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/remote_options.hpp"
#include "policy/policy_mix.hpp"
#include "policy/prompt/prompt.hpp"

namespace cudal1 {

struct PolicyOptions {
  std::string mix = "search";
  std::filesystem::path model, adapter;  //!< of the local policy; model empty: the default one
  std::string model_device = "auto";     //!< of the local policy: "cpu", "cuda"; auto: a GPU where there is one
  std::string model_dtype = "f16";       //!< on a GPU: "f16", "bf16", "f32"
  std::string form;                      //!< of prompts: "full", "compact"; empty: compact for local, full for remote
  std::string exemplars = "bucket";      //!< how they are chosen
  int samples_a_prompt = 4, repair_turns = 1;
  std::optional<std::size_t> context;  //!< tokens that a model can see; not given: 8192 locally, 32768 remotely
  bool profiles = false;               //!< show where the time of exemplars goes
  bool grammar = false;                //!< hold answers of the local model to directives
  RemoteOptions remote;
};

//! `--policy` and all that belongs to it; `options` must outlive the command.
void add_policy_options(CLI::App& command, PolicyOptions& options);

//! Who takes part. Throws UsageError.
std::vector<PolicyShare> policy_shares(const PolicyOptions& options);

//! Tokens of an answer: those that were asked for, else what the form's answers need, at most half of the context.
std::size_t answer_tokens(const PolicyOptions& options, PromptForm form, std::size_t context_tokens);

bool asks_server(const std::vector<PolicyShare>& shares);

//! What was said of these options on the command line, to be said again to another process.
std::vector<std::string> policy_arguments(const CLI::App& command);

//! Names of environment variables that whoever asks a server needs: its key and address, proxies, certificates. None
//! where no server is asked.
std::vector<std::string> policy_environment(const PolicyOptions& options);

//! The other way round. Throws UsageError.
void read_policy_arguments(const std::vector<std::string>& arguments, PolicyOptions& options);

}  // namespace cudal1
