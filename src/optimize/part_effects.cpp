#include "optimize/part_effects.hpp"

#include "optimize/program_parts.hpp"

namespace cudal1 {
namespace {

constexpr double noise = 0.01;  // of a ratio: less is said to be nothing

std::set<int> lines_but(const std::vector<ProgramPart>& parts, std::size_t kept) {
  std::set<int> lines;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (i != kept) lines.insert(parts[i].lines.begin(), parts[i].lines.end());
  return lines;
}

}  // namespace

std::optional<double> PartEffect::share(const Evaluation& whole) const {
  if (!whole.timing || !without.timing || without.status != Status::ok) return std::nullopt;
  return whole.timing->speedup / without.timing->speedup;
}

Effect effect_of(const PartEffect& effect, const Evaluation& whole) {
  const auto share = effect.share(whole);
  if (!share) return Effect::needed;
  if (*share > 1.0 + noise) return Effect::helps;
  return *share < 1.0 - noise ? Effect::hurts : Effect::nothing;
}

std::string_view to_string(Effect effect) {
  constexpr std::string_view names[] = {"helps", "does nothing", "hurts", "the others need it"};
  return names[static_cast<int>(effect)];
}

std::vector<PartEffect> effects_of_parts(const std::string& text, bool alone,
                                         const std::function<Evaluation(const std::string& text)>& judge) {
  const std::vector<ProgramPart> parts = parts_of(text);
  std::vector<PartEffect> effects;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    PartEffect effect{parts[i].text, judge(without_lines(text, parts[i].lines)), {}};
    if (alone) effect.alone = judge(without_lines(text, lines_but(parts, i)));
    effects.push_back(std::move(effect));
  }
  return effects;
}

}  // namespace cudal1
