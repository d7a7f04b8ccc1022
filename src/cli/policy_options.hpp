// Options of commands that let policies write programs: who, and how language models are asked.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/remote_options.hpp"
#include "model/sampling/token_sampler.hpp"
#include "policy/policy_mix.hpp"
#include "policy/prompt/prompt.hpp"
#include "policy/prompt/trained_prompt.hpp"
#include "policy/written/answer_writer.hpp"

namespace cudal1 {

struct PolicyOptions {
  std::string mix = "search";
  std::filesystem::path model;           //!< of the local policy; empty: the default one
  std::string adapter;                   //!< a folder; empty: the one that is shipped for the model, "none": none
  std::string model_device = "auto";     //!< of the local policy: "cpu", "cuda"; auto: a GPU where there is one
  std::string model_dtype = "f16";       //!< on a GPU: "f16", "bf16", "f32"
  // What is not given is as the adapter's model was trained (policy/prompt/trained_prompt.hpp); where that is unknown:
  std::string form;                    //!< of prompts: "full", "compact"; compact for local, full for remote
  std::string exemplars;               //!< how they are chosen; "bucket"
  std::optional<int> repair_turns;     //!< 1
  std::optional<std::size_t> context;  //!< tokens that a model can see; 8192 locally, 32768 remotely
  std::optional<bool> grammar;         //!< hold answers of the local model to directives; no
  int samples_a_prompt = 4;
  int top_k = 0;          //!< of the local policy; 0: all
  double min_p = 0.0;     //!< likewise
  bool profiles = false;  //!< show where the time of exemplars goes
  bool may_do_without_model = false;  //!< nobody asked for the local one: where it cannot be had, others work alone
  RemoteOptions remote;

  bool has_adapter() const { return !adapter.empty() && adapter != no_adapter; }
  static constexpr const char* no_adapter = "none";
};

//! `--policy` and all that belongs to it; `options` must outlive the command.
void add_policy_options(CLI::App& command, PolicyOptions& options);

//! Who takes part. Throws UsageError.
std::vector<PolicyShare> policy_shares(const PolicyOptions& options);

//! Tokens of an answer: those that were asked for, else what the form's answers need, at most half of the context.
std::size_t answer_tokens(const PolicyOptions& options, PromptForm form, std::size_t context_tokens);

bool asks_server(const std::vector<PolicyShare>& shares);
bool asks_local_model(const std::vector<PolicyShare>& shares);

//! How `name`, "local" or "remote", is asked: as the options say, else as its model was trained (null: nobody knows).
LanguageModelOptions writing_options(const PolicyOptions& options, const std::string& name,
                                     const TrainedPrompt* trained, std::size_t context_tokens);

//! Of the local model, likewise.
SamplingParameters sampling_parameters(const PolicyOptions& options, const TrainedPrompt* trained);

//! What was said of these options on the command line, to be said again to another process.
std::vector<std::string> policy_arguments(const CLI::App& command);

//! Names of environment variables that whoever asks a server needs: its key and address, proxies, certificates. None
//! where no server is asked.
std::vector<std::string> policy_environment(const PolicyOptions& options);

//! The other way round. Throws UsageError.
void read_policy_arguments(const std::vector<std::string>& arguments, PolicyOptions& options);

}  // namespace cudal1
