#include "train/data/export_formats.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/result.hpp"

namespace cudal1 {
namespace {

using nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> format_names{"trl", "verl", "messages"};

ordered_json message(const char* role, const std::string& content) { return {{"role", role}, {"content", content}}; }

//! What every format carries besides the texts.
ordered_json facts_of(const TrainingExample& example) {
  return {{"reward", example.reward},
          {"group", example.group},
          {"split", std::string(to_string(example.split))},
          {"task", example.task},
          {"speedup", example.speedup},
          {"plan_hash", example.plan_hash},
          {"exemplars", example.exemplars},
          {"form", std::string(to_string(example.form))}};
}

ordered_json as_trl(const TrainingExample& example) {
  ordered_json made{{"prompt", ordered_json::array({message("user", example.prompt)})},
                    {"completion", ordered_json::array({message("assistant", example.completion)})}};
  made.update(facts_of(example));
  return made;
}

//! Its reward function is handed `ground_truth` and `extra_info`: what a program is judged by is its task.
ordered_json as_verl(const TrainingExample& example, std::size_t index) {
  ordered_json extra{{"index", index}, {"completion", example.completion}};
  extra.update(facts_of(example));
  return {{"data_source", "cudal1"},
          {"prompt", ordered_json::array({message("user", example.prompt)})},
          {"ability", "cuda"},
          {"reward_model", {{"style", "rule"}, {"ground_truth", example.task}}},
          {"extra_info", std::move(extra)}};
}

ordered_json as_messages(const TrainingExample& example) {
  ordered_json made{
      {"messages", ordered_json::array({message("user", example.prompt), message("assistant", example.completion)})}};
  made.update(facts_of(example));
  return made;
}

ordered_json as_json(const TrainingExample& example, ExportFormat format, std::size_t index) {
  switch (format) {
    case ExportFormat::trl:
      return as_trl(example);
    case ExportFormat::verl:
      return as_verl(example, index);
    case ExportFormat::messages:
      break;
  }
  return as_messages(example);
}

}  // namespace

std::string_view to_string(ExportFormat format) { return format_names[static_cast<std::size_t>(format)]; }

std::optional<ExportFormat> export_format_from_string(std::string_view name) {
  for (std::size_t i = 0; i < format_names.size(); ++i)
    if (name == format_names[i]) return static_cast<ExportFormat>(i);
  return std::nullopt;
}

std::string export_line(const TrainingExample& example, ExportFormat format, std::size_t index) {
  return as_json(example, format, index).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string export_text(std::span<const TrainingExample> examples, ExportFormat format) {
  std::string text;
  for (std::size_t i = 0; i < examples.size(); ++i) text += export_line(examples[i], format, i) + "\n";
  return text;
}

std::vector<TrainingExample> load_examples(const std::filesystem::path& run_or_file, ExamplesOfRun which) {
  const bool is_run = std::filesystem::is_directory(run_or_file);
  const char* const name = which == ExamplesOfRun::samples ? "samples.jsonl" : "examples.jsonl";
  const std::filesystem::path file = is_run ? run_or_file / name : run_or_file;
  if (!std::filesystem::exists(file))
    throw Error(fmt::format("{}: there are no examples: expected a training run that has made some, or a JSONL file",
                            file.string()));
  return read_examples(file);
}

}  // namespace cudal1
