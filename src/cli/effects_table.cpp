#include "cli/effects_table.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace cudal1 {
namespace {

std::string speedup_or_status(const Evaluation& evaluation) {
  if (evaluation.status == Status::ok && evaluation.timing) return fmt::format("{:.2f}x", evaluation.timing->speedup);
  return std::string(to_string(evaluation.status));
}

nlohmann::json speedup_or_null(const Evaluation& evaluation) {
  const bool timed = evaluation.status == Status::ok && evaluation.timing;
  return timed ? nlohmann::json(evaluation.timing->speedup) : nlohmann::json(nullptr);
}

}  // namespace

std::string effects_table(const std::vector<PartEffect>& effects, const Evaluation& whole, bool alone) {
  std::string text =
      fmt::format("  {:>10}  {:>10}  {}{:<20}  {}\n", "share", "without", alone ? "     alone  " : "", "", "directive");
  for (const PartEffect& effect : effects) {
    const auto share = effect.share(whole);
    const std::string by_itself = alone ? fmt::format("{:>10}  ", speedup_or_status(effect.alone)) : "";
    text += fmt::format("  {:>10}  {:>10}  {}{:<20}  {}\n", share ? fmt::format("{:.2f}x", *share) : "-",
                        speedup_or_status(effect.without), by_itself, to_string(effect_of(effect, whole)), effect.part);
  }
  return text;
}

nlohmann::json effects_json(const std::vector<PartEffect>& effects, const Evaluation& whole) {
  nlohmann::json list = nlohmann::json::array();
  for (const PartEffect& effect : effects) {
    const auto share = effect.share(whole);
    list.push_back({{"directive", effect.part},
                    {"share", share ? nlohmann::json(*share) : nlohmann::json(nullptr)},
                    {"without", speedup_or_null(effect.without)},
                    {"alone", speedup_or_null(effect.alone)},
                    {"effect", to_string(effect_of(effect, whole))}});
  }
  return list;
}

}  // namespace cudal1
