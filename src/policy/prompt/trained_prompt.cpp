#include "policy/prompt/trained_prompt.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "graph/json_place.hpp"
#include "policy/prompt/prompt_files.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr const char* prompt_json = "prompt.json";
constexpr std::int64_t format_version = 1, largest_count = 100'000'000;
constexpr std::size_t most_bytes = 1 << 20;

template <class T>
T choice_at(const JsonPlace& place, std::optional<T> choice) {
  if (!choice) place.fail("is not known to this version");
  return *choice;
}

std::size_t count_at(const JsonPlace& place, std::int64_t least) {
  const std::int64_t count = place.integer();
  if (count < least || count > largest_count) place.fail(fmt::format("expected a number from {} up", least));
  return static_cast<std::size_t>(count);
}

double positive_at(const JsonPlace& place) {
  const double number = place.number();
  if (!(number > 0.0) || !std::isfinite(number)) place.fail("expected a number above 0");
  return number;
}

ExemplarOptions exemplars_at(const JsonPlace& place) {
  return {.choice = choice_at(place.at("choice"), exemplar_choice_from_string(place.at("choice").text())),
          .count = count_at(place.at("count"), 0),
          .bucket_width = positive_at(place.at("bucket_width")),
          .temperature = positive_at(place.at("temperature")),
          .islands = count_at(place.at("islands"), 1)};
}

}  // namespace

std::string prompt_texts_hash(PromptForm form) {
  Sha256 hash;
  const bool is_full = form == PromptForm::full;
  for (const auto& [name, text] : embedded_prompt_files())
    if (name.starts_with(is_full ? "full" : "compact")) hash.add_field(name).add_field(text);
  return hash.hex();
}

void save_trained_prompt(const TrainedPrompt& prompt, const fs::path& folder) {
  const nlohmann::ordered_json said{{"format", format_version},
                                    {"form", std::string(to_string(prompt.form))},
                                    {"program", std::string(to_string(prompt.program))},
                                    {"context_tokens", prompt.context_tokens},
                                    {"answer_tokens", prompt.answer_tokens},
                                    {"exemplars",
                                     {{"choice", std::string(to_string(prompt.exemplars.choice))},
                                      {"count", prompt.exemplars.count},
                                      {"bucket_width", prompt.exemplars.bucket_width},
                                      {"temperature", prompt.exemplars.temperature},
                                      {"islands", prompt.exemplars.islands}}},
                                    {"shows_scores", prompt.shows_scores},
                                    {"temperature", prompt.temperature},
                                    {"grammar", prompt.grammar},
                                    {"texts", prompt.texts}};
  write_file_atomically(folder / prompt_json, said.dump(2) + "\n");
}

std::optional<TrainedPrompt> load_trained_prompt(const fs::path& folder) {
  const fs::path file = folder / prompt_json;
  std::error_code problem;
  if (!fs::exists(file, problem)) return std::nullopt;
  const nlohmann::json said = parse_json(read_file(file, most_bytes), file.string());
  const JsonPlace root(said, file.string());
  if (root.at("format").integer() != format_version) root.at("format").fail("is not known to this version");
  TrainedPrompt made;
  made.form = choice_at(root.at("form"), prompt_form_from_string(root.at("form").text()));
  made.program = choice_at(root.at("program"), program_form_from_string(root.at("program").text()));
  made.context_tokens = count_at(root.at("context_tokens"), 1);
  made.answer_tokens = count_at(root.at("answer_tokens"), 1);
  made.exemplars = exemplars_at(root.at("exemplars"));
  made.shows_scores = root.at("shows_scores").boolean();
  made.temperature = positive_at(root.at("temperature"));
  made.grammar = root.at("grammar").boolean();
  made.texts = root.at("texts").text();
  return made;
}

std::string texts_warning(const TrainedPrompt& prompt, const std::string& adapter_name) {
  if (prompt.texts.empty() || prompt.texts == prompt_texts_hash(prompt.form)) return {};
  return fmt::format(
      "{}: trained with other texts of prompts than this version has; expect worse answers, or train it again",
      adapter_name);
}

}  // namespace cudal1
