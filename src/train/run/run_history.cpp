#include "train/run/run_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "base/line_log.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

//! What is not UTF-8, such as a path, must not end a run.
void append(const std::filesystem::path& file, const json& line) {
  LineLog(file).append(line.dump(-1, ' ', false, json::error_handler_t::replace));
}

template <class Use>
void for_each_event(const std::filesystem::path& file, const Use& use) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const json said = json::parse(line, nullptr, false);
    if (!said.is_object()) continue;
    try {
      use(said.at("event").get<std::string>(), said);
    } catch (const json::exception&) {  // of another version
    }
  }
}

RunStart start_from(const json& said) {
  RunStart start;
  start.begun_s = said.at("time").get<double>();
  start.command = said.value("command", "");
  start.judge = said.value("judge", "");
  start.is_predicted = said.value("predicted", false);
  start.model_device = said.value("model_device", "");
  start.host = said.value("host", "");
  return start;
}

StageValidation validation_from(const json& said) {
  return {said.at("stage").get<std::string>(),   said.at("step").get<std::int64_t>(),
          said.at("tasks").get<std::int64_t>(),  said.at("first_success").get<double>(),
          said.at("first_distinct").get<double>(), said.at("reward").get<double>(),
          said.at("later_reward").get<double>(), said.at("best_log").get<double>(),
          said.at("copy_rate").get<double>()};
}

}  // namespace

void RunHistory::begin(const RunStart& start) const {
  append(file_, {{"event", "begin"},
                 {"time", start.begun_s},
                 {"command", start.command},
                 {"judge", start.judge},
                 {"predicted", start.is_predicted},
                 {"model_device", start.model_device},
                 {"host", start.host}});
}

void RunHistory::end(double seconds_since_1970, bool is_through) const {
  append(file_, {{"event", "end"}, {"time", seconds_since_1970}, {"through", is_through}});
}

void RunHistory::begin_stage(const std::string& stage, std::int64_t steps_done) const {
  append(file_, {{"event", "stage"}, {"stage", stage}, {"steps_done", steps_done}});
}

void RunHistory::add(const StageValidation& found) const {
  append(file_, {{"event", "validation"},
                 {"stage", found.stage},
                 {"step", found.step},
                 {"tasks", found.tasks},
                 {"first_success", found.first_success},
                 {"first_distinct", found.first_distinct},
                 {"reward", found.reward},
                 {"later_reward", found.later_reward},
                 {"best_log", found.best_log},
                 {"copy_rate", found.copy_rate}});
}

std::vector<RunStart> RunHistory::starts() const {
  std::vector<RunStart> starts;
  for_each_event(file_, [&](const std::string& event, const json& said) {
    if (event == "begin") starts.push_back(start_from(said));
    if (event != "end" || starts.empty()) return;
    starts.back().ended_s = said.at("time").get<double>();
    starts.back().is_through = said.at("through").get<bool>();
  });
  return starts;
}

std::vector<RunStart> RunHistory::starts_of(const std::string& stage) const {
  struct Work {
    RunStart start;
    std::int64_t steps_done = 0;
  };
  std::vector<Work> all;
  std::optional<RunStart> last;
  for_each_event(file_, [&](const std::string& event, const json& said) {
    if (event == "begin") last = start_from(said);
    if (event != "stage" || !last || said.at("stage").get<std::string>() != stage) return;
    const auto steps_done = said.at("steps_done").get<std::int64_t>();
    std::erase_if(all, [&](const Work& before) { return before.steps_done >= steps_done; });
    all.push_back({*last, steps_done});
  });
  std::vector<RunStart> starts;
  for (Work& each : all) starts.push_back(std::move(each.start));
  return starts;
}

std::vector<StageValidation> RunHistory::validations() const {
  std::vector<StageValidation> all;
  for_each_event(file_, [&](const std::string& event, const json& said) {
    if (event != "validation") return;
    StageValidation found = validation_from(said);
    const auto known = std::ranges::find(all, found.stage, &StageValidation::stage);
    if (known == all.end())
      all.push_back(std::move(found));
    else
      *known = std::move(found);
  });
  return all;
}

std::optional<StageValidation> RunHistory::validation_at(const std::string& stage, std::int64_t step) const {
  for (StageValidation& each : validations())
    if (each.stage == stage && each.step == step) return std::move(each);
  return std::nullopt;
}

std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  std::string name = "a processor";
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) {
      name = line.substr(std::min(line.find(": ") + 2, line.size()));
      break;
    }
  return fmt::format("{}, {} threads", name, std::thread::hardware_concurrency());
}

std::string shell_word(const std::string& word) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=:,+-@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::vector<std::string> shell_words(const std::string& command) {
  std::vector<std::string> words;
  bool is_quoted = false, is_in_word = false;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    const bool is_between = c == ' ' && !is_quoted;
    if (!is_between && !is_in_word) words.emplace_back();
    is_in_word = !is_between;
    if (is_between) continue;
    if (c == '\'')
      is_quoted = !is_quoted;
    else if (c == '\\' && !is_quoted && i + 1 < command.size())
      words.back() += command[++i];
    else
      words.back() += c;
  }
  return words;
}

}  // namespace cudal1
