#include "train/run/training_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "base/between_commas.hpp"
#include "base/files.hpp"
#include "base/result.hpp"
#include "program/nearest_name.hpp"
#include "program/rejection.hpp"
#include "train/run/toml_reader.hpp"
#include "train/run/training_settings.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
using Settings = std::vector<TrainingSetting>;

constexpr std::size_t most_config_bytes = std::size_t{1} << 20;

std::vector<std::string> section_names(const Settings& settings) {
  std::vector<std::string> names;
  for (const TrainingSetting& setting : settings)
    if (names.empty() || names.back() != setting.section) names.emplace_back(setting.section);
  return names;
}

std::vector<std::string> key_names(const Settings& settings, std::string_view section) {
  std::vector<std::string> names;
  for (const TrainingSetting& setting : settings)
    if (setting.section == section) names.emplace_back(setting.key);
  return names;
}

//! "; did you mean 'x'?", or the section in which a key of that name is.
std::string hint(const Settings& settings, std::string_view section, std::string_view key) {
  if (const std::string near = did_you_mean(key, key_names(settings, section)); !near.empty()) return near;
  const auto elsewhere = std::ranges::find(settings, key, &TrainingSetting::key);
  return elsewhere == settings.end() ? std::string() : fmt::format("; did you mean it in [{}]?", elsewhere->section);
}

//! Throws UsageError, without a place.
const TrainingSetting& find_setting(const Settings& settings, std::string_view section, std::string_view key) {
  for (const TrainingSetting& setting : settings)
    if (setting.section == section && setting.key == key) return setting;
  const std::vector<std::string> sections = section_names(settings);
  if (section.empty())
    throw UsageError(fmt::format("{} stands before any section{}", quoted(key), hint(settings, section, key)));
  if (std::ranges::find(sections, section) == sections.end())
    throw UsageError(fmt::format("there is no section {}{}", quoted(section), did_you_mean(section, sections)));
  throw UsageError(fmt::format("there is no key {} in [{}]{}", quoted(key), section, hint(settings, section, key)));
}

void set_entry(const Settings& settings, const TomlEntry& entry, std::string_view origin) {
  try {
    set_value(find_setting(settings, entry.section, entry.key), entry.value);
  } catch (const UsageError& problem) {
    complain_of_line(origin, entry.line, problem.what());
  }
}

bool is_text(const TrainingSetting::Field& field) {
  return std::holds_alternative<std::string*>(field) || std::holds_alternative<std::filesystem::path*>(field) ||
         std::holds_alternative<NamedChoice>(field);
}

json words_between_commas(std::string_view text) {
  json words = json::array();
  if (text.empty()) return words;
  for (const std::string_view word : between_commas(text)) words.push_back(std::string(word));
  return words;
}

//! A shell eats quotes, so a string may come without.
json command_line_value(const TrainingSetting& setting, std::string_view text) {
  const bool is_quoted = text.starts_with('"') || text.starts_with('\'') || text.starts_with('[');
  if (!is_quoted && is_text(setting.field)) return std::string(text);
  if (!is_quoted && std::holds_alternative<std::vector<std::string>*>(setting.field)) return words_between_commas(text);
  return read_toml_value(text);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// --- What makes no sense together ---

void demand(bool holds, const std::string& what) {
  if (!holds) throw UsageError(what);
}

void check_stages(const std::vector<std::string>& stages) {
  demand(!stages.empty(), "run.stages names no stage");
  demand(std::set<std::string>(stages.begin(), stages.end()).size() == stages.size(), "run.stages names a stage twice");
}

void check_lengths(const RunSettings& run) {
  for (const auto& [key, tokens] :
       {std::pair{"answer_tokens", run.answer_tokens}, {"written_out_tokens", run.written_out_tokens}})
    demand(tokens < run.context_tokens,
           fmt::format("run.{} ({}) must be below run.context_tokens ({}): prompts need room", key, tokens,
                       run.context_tokens));
  demand(run.tokens_at_once >= run.context_tokens,
         fmt::format("run.tokens_at_once ({}) must be at least run.context_tokens ({}): one text has to fit",
                     run.tokens_at_once, run.context_tokens));
}

void check_steps(const ContrastiveSettings& stage) {
  demand(stage.warm_up_steps <= stage.steps,
         fmt::format("contrastive.warm_up_steps ({}) must be at most contrastive.steps ({})", stage.warm_up_steps,
                     stage.steps));
  demand(stage.updates <= stage.prompts * stage.samples,
         fmt::format("contrastive.updates ({}) are more than the samples of a step ({} x {})", stage.updates,
                     stage.prompts, stage.samples));
}

//! Of so many tried at most as many are right, so that no task could be kept for stage 3.
void check_spread(const TrainingConfig& config) {
  const std::vector<std::string>& stages = config.run.stages;
  if (std::ranges::find(stages, "contrastive") == stages.end() || config.tasks.least_speed_ratio <= 1.0) return;
  demand(config.supervised.variants >= config.tasks.spread_programs,
         fmt::format("supervised.variants ({}) must be at least tasks.spread_programs ({}): stage 3 needs so many "
                     "programs of a task",
                     config.supervised.variants, config.tasks.spread_programs));
}

// --- The manual ---

std::string range_text(const TrainingSetting& setting) {
  if (!setting.choices.empty()) return fmt::format("`{}`", fmt::join(setting.choices, "`, `"));
  return setting.range.text();
}

std::string markdown_row(const TrainingSetting& setting) {
  return fmt::format("| `{}` | `{}` | {} | {} |\n", setting.key, toml_text(value_of(setting)), range_text(setting),
                     setting.description);
}

}  // namespace

TrainingConfig parse_training_config(std::string_view text, std::string_view origin) {
  TrainingConfig config;
  const Settings settings = settings_of(config);
  for (const TomlEntry& entry : read_toml(text, origin)) set_entry(settings, entry, origin);
  return config;
}

TrainingConfig load_training_config(const std::filesystem::path& file) {
  return parse_training_config(read_file(file, most_config_bytes), file.string());
}

void set_training_option(TrainingConfig& config, std::string_view assignment) {
  const std::size_t equals = assignment.find('='), dot = assignment.substr(0, equals).find('.');
  if (equals == std::string_view::npos || dot == std::string_view::npos)
    throw UsageError(fmt::format("{} is no setting: write SECTION.KEY=VALUE", quoted(assignment)));
  const std::string_view section = trimmed(assignment.substr(0, dot));
  const std::string_view key = trimmed(assignment.substr(dot + 1, equals - dot - 1));
  const Settings settings = settings_of(config);
  const TrainingSetting& setting = find_setting(settings, section, key);
  set_value(setting, command_line_value(setting, trimmed(assignment.substr(equals + 1))));
}

std::string to_toml(const TrainingConfig& config) {
  TrainingConfig copy = config;
  std::string text;
  std::string_view section;
  for (const TrainingSetting& setting : settings_of(copy)) {
    if (setting.section != section) text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", setting.section);
    section = setting.section;
    text += fmt::format("{} = {}\n", setting.key, toml_text(value_of(setting)));
  }
  return text;
}

std::optional<std::string> difference(const TrainingConfig& before, const TrainingConfig& now) {
  TrainingConfig old_copy = before, new_copy = now;
  const Settings old_settings = settings_of(old_copy), new_settings = settings_of(new_copy);
  for (std::size_t i = 0; i < old_settings.size(); ++i) {
    const json old_value = value_of(old_settings[i]), new_value = value_of(new_settings[i]);
    if (old_settings[i].may_change || old_value == new_value) continue;
    return fmt::format("{} was {}, now it is {}", old_settings[i].name(), toml_text(old_value), toml_text(new_value));
  }
  return std::nullopt;
}

std::string training_options_markdown() {
  TrainingConfig defaults;
  std::string text;
  std::string_view section;
  for (const TrainingSetting& setting : settings_of(defaults)) {
    if (setting.section != section)
      text += fmt::format("{}### [{}]\n| key | default | may be | what |\n|---|---|---|---|\n",
                          text.empty() ? "" : "\n", setting.section);
    section = setting.section;
    text += markdown_row(setting);
  }
  return text;
}

void check(const TrainingConfig& config) {
  check_stages(config.run.stages);
  check_lengths(config.run);
  check_steps(config.contrastive);
  check_spread(config);
  demand(config.tasks.reference_us_low < config.tasks.reference_us_high,
         fmt::format("tasks.reference_us_low ({}) must be below tasks.reference_us_high ({})",
                     config.tasks.reference_us_low, config.tasks.reference_us_high));
  try {
    check(config.contrastive.loss);
    check(config.contrastive.exemplars);
  } catch (const Error& problem) {
    throw UsageError(fmt::format("[contrastive] {}", problem.what()));
  }
}

}  // namespace cudal1
