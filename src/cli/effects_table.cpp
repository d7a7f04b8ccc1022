#include "cli/effects_table.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/bar_chart.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

std::string speedup_or_status(const Evaluation& evaluation) {
  const auto gain = gain_of(evaluation);
  return gain ? fmt::format("{:.2f}x", gain->value) : std::string(to_string(evaluation.status));
}

std::string times_or_dash(const std::optional<Gain>& gain) { return gain ? fmt::format("{:.2f}x", gain->value) : "-"; }

//! A kernel's launch options fill lines and say little of what it does.
std::string shown(const std::string& part) {
  const bool has_launch = part.starts_with("kernel ") || part.starts_with("launch ");
  return has_launch ? part.substr(0, part.find(" : ")) : part;
}

json value_or_null(const std::optional<Gain>& gain) { return gain ? json(gain->value) : json(nullptr); }

//! Null where nothing is wrong.
json error_or_null(const Evaluation& evaluation) {
  if (evaluation.status == Status::ok) return nullptr;
  return fmt::format("{}: {}", to_string(evaluation.status), evaluation.failure.message);
}

//! Does the whole come to this?
std::string_view compared(double whole, double expected) {
  constexpr std::string_view words[] = {"less than that", "just that", "more than that"};
  const double ratio = whole / expected;
  return words[side_of_one({ratio, ratio, ratio}) + 1];
}

std::string together_note(const std::vector<PartEffect>& effects, const Evaluation& whole) {
  const auto expected = expected_together(effects);
  if (!expected || effects.size() < 2) return {};
  const double found = whole.timing->speedup;
  std::string text = fmt::format("the gains of the parts alone multiply to {:.2f}x: together they give {}\n",
                                 expected->product, compared(found, expected->product));
  if (expected->added)
    text += fmt::format("the times that they save alone add up to {:.2f}x: together they save {}\n", *expected->added,
                        compared(found, *expected->added));
  return text;
}

std::string failure_note(std::string_view what, const Evaluation& evaluation) {
  return fmt::format("  {}: {}: {}\n", what, to_string(evaluation.status), evaluation.failure.message);
}

BarColour colour_of(const std::optional<Gain>& gain) {
  constexpr BarColour colours[] = {BarColour::hurts, BarColour::nothing, BarColour::helps};
  return gain ? colours[side_of_one(*gain) + 1] : BarColour::nothing;
}

ChartBar bar_of(const std::string& name, const std::optional<Gain>& gain, const std::string& note) {
  ChartBar bar{name, {}, 1.0, 1.0, colour_of(gain), note};
  if (!gain) return bar;
  bar.value = gain->value;
  bar.low = gain->low;
  bar.high = gain->high;
  return bar;
}

ChartGroup group_of(const PartEffect& effect, const Evaluation& whole) {
  const auto share = effect.share(whole);
  const std::string word(to_string(effect_of(effect, whole)));
  ChartGroup group{shown(effect.part), {bar_of("with the others", share, word)}};
  if (!effect.alone) return group;
  const auto alone = effect.gain_alone();
  group.bars.push_back(bar_of("alone", alone, alone ? "" : std::string(to_string(effect.alone->status))));
  return group;
}

}  // namespace

std::string effects_table(const std::vector<PartEffect>& effects, const Evaluation& whole, bool alone) {
  const auto line = [&](const std::string& share, const std::string& without, const std::string& by_itself,
                        std::string_view interplay, std::string_view effect, const std::string& part) {
    const std::string more = alone ? fmt::format("{:>13}  {:<15}  ", by_itself, interplay) : std::string();
    return fmt::format("  {:>8}  {:>13}  {}{:<18}  {}\n", share, without, more, effect, part);
  };
  std::string text = line("share", "without", "alone", "with the others", "effect", "directive");
  for (const PartEffect& effect : effects) {
    const bool others = effects.size() > 1;
    text += line(times_or_dash(effect.share(whole)), speedup_or_status(effect.without),
                 effect.alone ? speedup_or_status(*effect.alone) : "",
                 others ? to_string(interplay_of(effect, whole)) : "-", to_string(effect_of(effect, whole)),
                 shown(effect.part));
  }
  return text;
}

std::string effects_notes(const std::vector<PartEffect>& effects, const Evaluation& whole) {
  std::string text = together_note(effects, whole);
  for (const PartEffect& effect : effects) {
    const bool needed = effect.without.status != Status::ok, dependent = effect.alone && !effect.gain_alone();
    if (needed || dependent) text += fmt::format("{}\n", shown(effect.part));
    if (needed) text += failure_note("the others need it; without it", effect.without);
    if (dependent) text += failure_note("cannot stand alone", *effect.alone);
  }
  return text;
}

json effects_json(const std::vector<PartEffect>& effects, const Evaluation& whole) {
  json list = json::array();
  for (const PartEffect& effect : effects) {
    const auto share = effect.share(whole);
    const bool measured = share && !whole.predicted;
    list.push_back({{"directive", effect.part},
                    {"share", value_or_null(share)},
                    {"share_low", measured ? json(share->low) : json(nullptr)},
                    {"share_high", measured ? json(share->high) : json(nullptr)},
                    {"without", value_or_null(gain_of(effect.without))},
                    {"without_error", error_or_null(effect.without)},
                    {"alone", value_or_null(effect.gain_alone())},
                    {"alone_error", effect.alone ? error_or_null(*effect.alone) : json(nullptr)},
                    {"interplay", interplay_of(effect, whole) == Interplay::unknown
                                      ? json(nullptr)
                                      : json(to_string(interplay_of(effect, whole)))},
                    {"effect", to_string(effect_of(effect, whole))}});
  }
  return list;
}

std::string effects_plot(const std::vector<PartEffect>& effects, const Evaluation& whole, const std::string& title) {
  std::vector<ChartGroup> groups;
  ChartGroup all{"all parts", {bar_of("together", gain_of(whole), whole.predicted ? "predicted" : "")}};
  const auto expected = expected_together(effects);
  if (expected && effects.size() > 1)
    all.bars.push_back({"product of alone", expected->product, 1.0, 1.0, BarColour::nothing, "if gains multiplied"});
  groups.push_back(std::move(all));
  for (const PartEffect& effect : effects) groups.push_back(group_of(effect, whole));
  return bar_chart(groups, title);
}

}  // namespace cudal1
