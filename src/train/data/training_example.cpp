#include "train/data/training_example.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/lines.hpp"
#include "base/result.hpp"
#include "graph/json_place.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

TaskSplit split_at(const JsonPlace& place) {
  const auto split = task_split_from_string(place.text());
  if (!split) place.fail("expected train, validation or test");
  return *split;
}

ProgramForm form_at(const JsonPlace& place) {
  const auto form = program_form_from_string(place.text());
  if (!form) place.fail("expected directives or written_out");
  return *form;
}

std::size_t count_at(const JsonPlace& place) {
  const std::int64_t count = place.integer();
  if (count < 0) place.fail("expected a number that is not negative");
  return static_cast<std::size_t>(count);
}

}  // namespace

std::string group_of_prompt(std::string_view prompt) { return sha256_hex(prompt).substr(0, 16); }

std::string to_json_line(const TrainingExample& example) {
  const ordered_json line{{"task", example.task},
                          {"split", std::string(to_string(example.split))},
                          {"group", example.group},
                          {"prompt", example.prompt},
                          {"completion", example.completion},
                          {"plan_hash", example.plan_hash},
                          {"speedup", example.speedup},
                          {"reward", example.reward},
                          {"exemplars", example.exemplars},
                          {"form", std::string(to_string(example.form))}};
  return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

TrainingExample example_from_json_line(std::string_view line, const std::string& origin) {
  const json parsed = json::parse(line, nullptr, false);
  const JsonPlace place(parsed, origin);
  if (parsed.is_discarded()) place.fail("this is no JSON: the line is damaged or cut off");
  place.allow_keys(
      {"task", "split", "group", "prompt", "completion", "plan_hash", "speedup", "reward", "exemplars", "form"});
  return {.task = place.at("task").text(),
          .split = split_at(place.at("split")),
          .group = place.at("group").text(),
          .prompt = place.at("prompt").text(),
          .completion = place.at("completion").text(),
          .plan_hash = place.at("plan_hash").text(),
          .speedup = place.at("speedup").number(),
          .reward = place.at("reward").number(),
          .exemplars = count_at(place.at("exemplars")),
          .form = form_at(place.at("form"))};
}

void write_examples(const std::filesystem::path& file, std::span<const TrainingExample> examples) {
  std::string text;
  for (const TrainingExample& example : examples) text += to_json_line(example) + "\n";
  write_file_atomically(file, text);
}

std::vector<TrainingExample> read_examples(const std::filesystem::path& file) {
  std::vector<TrainingExample> examples;
  for_each_line(read_file(file), [&](std::string_view line, int number) {
    examples.push_back(example_from_json_line(line, fmt::format("{}:{}", file.string(), number)));
  });
  return examples;
}

}  // namespace cudal1
