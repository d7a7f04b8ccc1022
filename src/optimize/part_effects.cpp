#include "optimize/part_effects.hpp"

#include <map>
#include <set>

#include "optimize/program_parts.hpp"

namespace cudal1 {
namespace {

constexpr double tie = 0.01;  // as the judge has it

//! Worst against best: a difference that this interval shows is none of noise.
Gain ratio(const Gain& gain, const Gain& base) {
  return {gain.value / base.value, gain.low / base.high, gain.high / base.low};
}

std::set<int> lines_but(const std::vector<ProgramPart>& parts, std::size_t kept) {
  std::set<int> lines;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (i != kept) lines.insert(parts[i].lines.begin(), parts[i].lines.end());
  return lines;
}

//! The texts that tell what a part does.
struct PartTexts {
  std::string part, without, alone;
};

std::vector<PartTexts> texts_of(const std::string& text) {
  const std::vector<ProgramPart> parts = parts_of(text);
  std::vector<PartTexts> texts;
  for (std::size_t i = 0; i < parts.size(); ++i)
    texts.push_back({parts[i].text, without_lines(text, parts[i].lines), without_lines(text, lines_but(parts, i))});
  return texts;
}

}  // namespace

std::optional<Gain> gain_of(const Evaluation& evaluation) {
  if (evaluation.status != Status::ok || !evaluation.timing) return std::nullopt;
  const TimingSummary& timing = *evaluation.timing;
  if (evaluation.predicted) return Gain{timing.speedup, timing.speedup, timing.speedup};
  return Gain{timing.speedup, timing.low, timing.high};
}

int side_of_one(const Gain& gain) { return gain.low > 1.0 + tie ? 1 : gain.high < 1.0 - tie ? -1 : 0; }

std::optional<Gain> PartEffect::share(const Evaluation& whole) const {
  const auto with = gain_of(whole), base = gain_of(without);
  return with && base ? std::optional(ratio(*with, *base)) : std::nullopt;
}

std::optional<Gain> PartEffect::gain_alone() const { return alone ? gain_of(*alone) : std::nullopt; }

Effect effect_of(const PartEffect& effect, const Evaluation& whole) {
  const auto share = effect.share(whole);
  if (!share) return Effect::needed;
  constexpr Effect effects[] = {Effect::hurts, Effect::nothing, Effect::helps};
  return effects[side_of_one(*share) + 1];
}

std::string_view to_string(Effect effect) {
  constexpr std::string_view names[] = {"helps", "does nothing", "hurts", "the others need it"};
  return names[static_cast<int>(effect)];
}

Interplay interplay_of(const PartEffect& effect, const Evaluation& whole) {
  const auto share = effect.share(whole), alone = effect.gain_alone();
  if (!share || !alone) return Interplay::unknown;
  constexpr Interplay interplays[] = {Interplay::worth_less, Interplay::multiplies, Interplay::worth_more};
  return interplays[side_of_one(ratio(*share, *alone)) + 1];
}

std::string_view to_string(Interplay interplay) {
  constexpr std::string_view names[] = {"-", "multiplies", "worth more", "worth less"};
  return names[static_cast<int>(interplay)];
}

std::optional<ExpectedTogether> expected_together(const std::vector<PartEffect>& effects) {
  ExpectedTogether expected;
  double time = 1.0;
  for (const PartEffect& effect : effects) {
    const auto alone = effect.gain_alone();
    if (!alone) return std::nullopt;
    expected.product *= alone->value;
    time -= 1.0 - 1.0 / alone->value;
  }
  if (time > 0.0) expected.added = 1.0 / time;
  return expected;
}

std::size_t programs_to_judge(const std::string& text, bool alone) {
  std::set<std::string> different;
  for (const PartTexts& part : texts_of(text)) {
    different.insert(part.without);
    if (alone) different.insert(part.alone);
  }
  different.erase(text);
  return different.size();
}

std::vector<PartEffect> effects_of_parts(const std::string& text, bool alone,
                                         const std::function<Evaluation(const std::string& text)>& judge,
                                         const Evaluation* whole) {
  std::map<std::string, Evaluation> seen;
  if (whole) seen.emplace(text, *whole);
  const auto judged = [&](const std::string& program) {
    const auto found = seen.find(program);
    return found != seen.end() ? found->second : seen.emplace(program, judge(program)).first->second;
  };
  std::vector<PartEffect> effects;
  for (const PartTexts& part : texts_of(text)) {
    PartEffect effect{part.part, judged(part.without), {}};
    if (alone) effect.alone = judged(part.alone);
    effects.push_back(std::move(effect));
  }
  return effects;
}

}  // namespace cudal1
