#include "train/ablation/ablation_arms.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/result.hpp"
#include "program/nearest_name.hpp"
#include "program/rejection.hpp"

namespace cudal1 {
namespace {

constexpr ShownExemplars nothing{};
constexpr ShownExemplars at_random{ExemplarChoice::random, ExemplarScores::measured};
constexpr ShownExemplars by_island{ExemplarChoice::island, ExemplarScores::measured};
constexpr ShownExemplars by_bucket{ExemplarChoice::bucket, ExemplarScores::measured};
constexpr ShownExemplars shuffled{ExemplarChoice::bucket, ExemplarScores::shuffled};
constexpr ShownExemplars unscored{ExemplarChoice::bucket, ExemplarScores::hidden};

constexpr ContrastiveRun runs[] = {
    {"plain", nothing},    {"random", at_random},  {"island", by_island},
    {"bucket", by_bucket}, {"shuffled", shuffled}, {"unscored", unscored},
};

constexpr std::string_view stage_1 = "supervised", stage_2 = "self_supervised", stage_3 = "contrastive";

constexpr AblationArm arms[] = {
    {.name = "base", .title = "the model as training begins", .run = {}, .stage = {}, .shown = nothing},
    {.name = "supervised",
     .title = "stage 1: supervised",
     .run = {},
     .stage = stage_1,
     .shown = nothing,
     .published = PublishedFigures{1.14, 1.00, 240, 50}},
    {.name = "self_supervised",
     .title = "+ stage 2: self-supervised",
     .run = {},
     .stage = stage_2,
     .shown = nothing,
     .published = PublishedFigures{1.36, 1.09, 247, 175}},
    {.name = "plain",
     .title = "+ plain GRPO",
     .run = "plain",
     .stage = stage_3,
     .shown = nothing,
     .published = PublishedFigures{2.41, 1.33, 247, 207}},
    {.name = "random",
     .title = "+ contrastive, random",
     .run = "random",
     .stage = stage_3,
     .shown = at_random,
     .published = PublishedFigures{2.14, std::nullopt, std::nullopt, 186}},
    {.name = "island",
     .title = "+ contrastive, island",
     .run = "island",
     .stage = stage_3,
     .shown = by_island,
     .published = PublishedFigures{3.21, std::nullopt, std::nullopt, 223}},
    {.name = "bucket",
     .title = "+ contrastive, bucket",
     .run = "bucket",
     .stage = stage_3,
     .shown = by_bucket,
     .published = PublishedFigures{3.12, 1.42, 249, 226}},
    {.name = "evolution",
     .title = "frozen stage 2, evolution by bucket",
     .run = {},
     .stage = stage_2,
     .shown = by_bucket,
     .published = PublishedFigures{1.41, 1.17, 248, 162}},
    {.name = "shuffled",
     .title = "trained and tried with shuffled scores",
     .run = "shuffled",
     .stage = stage_3,
     .shown = shuffled,
     .is_control = true},
    {.name = "unscored",
     .title = "trained and tried without scores",
     .run = "unscored",
     .stage = stage_3,
     .shown = unscored,
     .is_control = true},
    {.name = "bucket_shuffled",
     .title = "bucket, tried with shuffled scores",
     .run = "bucket",
     .stage = stage_3,
     .shown = shuffled,
     .is_control = true},
    {.name = "bucket_unscored",
     .title = "bucket, tried without scores",
     .run = "bucket",
     .stage = stage_3,
     .shown = unscored,
     .is_control = true},
    {.name = "plain_shown",
     .title = "plain GRPO, tried with exemplars",
     .run = "plain",
     .stage = stage_3,
     .shown = by_bucket,
     .is_control = true},
    {.name = "copy_best",
     .title = "bucket's first round, then copies of its best",
     .run = "bucket",
     .stage = stage_3,
     .shown = nothing,
     .is_control = true,
     .copies_best = true},
};

//! Against what the contrastive prompt has to hold.
constexpr AblationDifference worth_of_the_prompt[] = {
    {"bucket", "plain"},       {"bucket", "shuffled"},        {"bucket", "unscored"},
    {"bucket", "random"},      {"bucket", "island"},          {"bucket", "evolution"},
    {"bucket", "plain_shown"}, {"bucket", "bucket_shuffled"}, {"bucket", "bucket_unscored"},
    {"bucket", "copy_best"},
};

void check_name(const std::string& name) {
  std::vector<std::string> known;
  for (const AblationArm& arm : arms) known.emplace_back(arm.name);
  if (std::ranges::find(known, name) != known.end()) return;
  const std::string near = did_you_mean(name, known);
  throw UsageError(fmt::format("--arms: there is no arm {}{}", quoted(name),
                               near.empty() ? fmt::format("; there are {}", listed(known, known.size())) : near));
}

}  // namespace

std::span<const ContrastiveRun> contrastive_runs() { return runs; }

std::span<const AblationArm> ablation_arms() { return arms; }

std::vector<AblationDifference> ablation_differences() {
  std::vector<AblationDifference> all(std::begin(worth_of_the_prompt), std::end(worth_of_the_prompt));
  for (const AblationArm& arm : arms)
    if (arm.name != stage_2) all.push_back({arm.name, stage_2});
  return all;
}

std::vector<AblationArm> chosen_arms(const std::vector<std::string>& names) {
  for (const std::string& name : names) check_name(name);
  std::vector<AblationArm> chosen;
  for (const AblationArm& arm : arms)
    if (names.empty() || std::ranges::find(names, arm.name) != names.end()) chosen.push_back(arm);
  return chosen;
}

}  // namespace cudal1
