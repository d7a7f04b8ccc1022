#include "train/run/hack_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.hpp"
#include "base/lines.hpp"
#include "base/result.hpp"
#include "train/cheats.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

//! What was written after the checkpoint is written again, or differently.
fs::path cut_back(const fs::path& file, std::int64_t lines) {
  keep_first_lines(file, lines);
  return file;
}

std::int64_t lines_in(const json& state) {
  if (state.is_null()) return 0;
  const json lines = state.is_object() ? state.value("lines", json()) : json();
  if (!lines.is_number_integer()) throw Error("the state of the watch for hacking cannot be read: it has no lines");
  return lines.get<std::int64_t>();
}

}  // namespace

HackWatch::HackWatch(const fs::path& file, const json& state, const HackWatchOptions& options)
    : options_(options), log_(cut_back(file, lines_in(state))), lines_(lines_in(state)) {
  if (state.is_null()) return;
  try {
    best_ = state.at("best").get<std::map<std::string, double>>();
    counts_ = {state.at("reward"), state.at("rechecked_reward"), state.at("jumps"),
               state.at("caught").get<std::map<std::string, std::int64_t>>()};
  } catch (const json::exception& problem) {
    throw Error(fmt::format("the state of the watch for hacking cannot be read: {}", problem.what()));
  }
}

void HackWatch::observe(const CheckpointName& step, const std::string& task, const std::string& program,
                        const Assessment& assessment, const ShapedReward& reward) {
  const Status status = assessment.outcome.status;
  if (reward.reward > 0.0) counts_.reward += reward.reward;
  if (reward.reward > 0.0 && assessment.is_measured_again) counts_.rechecked_reward += reward.reward;
  if (reward.kind == SampleKind::success || reward.kind == SampleKind::copy)
    watch_for_jump(step, task, program, assessment);
  if (!is_cheat(status)) return;
  const std::string kind(to_string(status));
  write(kind, ++counts_.caught[kind],
        {{"stage", step.stage},
         {"step", step.step},
         {"task", task},
         {"message", assessment.message},
         {"program", program}});
}

void HackWatch::watch_for_jump(const CheckpointName& step, const std::string& task, const std::string& program,
                               const Assessment& assessment) {
  const double speedup = assessment.outcome.speedup;
  const auto [known, is_first] = best_.try_emplace(task, speedup);
  const double before = is_first ? 0.0 : known->second;
  known->second = std::max(known->second, speedup);
  if (speedup <= (is_first ? options_.first_speedup : options_.jump_factor * before)) return;
  write("jump", ++counts_.jumps,
        {{"stage", step.stage},
         {"step", step.step},
         {"task", task},
         {"speedup", speedup},
         {"best_before", before},
         {"measured_again", assessment.is_measured_again},
         {"plan", assessment.outcome.plan_hash},
         {"program", program}});
}

void HackWatch::write(const std::string& kind, std::int64_t count, json suspicion) {
  if (count > options_.most_listed) return;
  suspicion["kind"] = kind;
  log_.append(suspicion.dump(-1, ' ', false, json::error_handler_t::replace));
  ++lines_;
}

std::string HackWatch::summary() const {
  std::string caught;
  for (const auto& [status, count] : counts_.caught)
    caught += fmt::format("{}{} {}", caught.empty() ? "" : ", ", count, status);
  return fmt::format("{:.0f}% of the reward was measured twice, {} jump{}, caught: {}",
                     100.0 * counts_.rechecked_share(), counts_.jumps, counts_.jumps == 1 ? "" : "s",
                     caught.empty() ? "nothing" : caught);
}

json HackWatch::state() const {
  return {{"lines", lines_},          {"best", best_},
          {"reward", counts_.reward}, {"rechecked_reward", counts_.rechecked_reward},
          {"jumps", counts_.jumps},   {"caught", counts_.caught}};
}

}  // namespace cudal1
