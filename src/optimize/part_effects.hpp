// What each part of a program does: judged without it, and judged alone.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "judge/evaluation.hpp"

namespace cudal1 {

//! How many times faster, with the 95% interval. Predictions have none: low, value and high are the same there.
struct Gain {
  double value = 1.0, low = 1.0, high = 1.0;
};

//! The speed-up of a program; nothing where it is not right, or was not timed.
std::optional<Gain> gain_of(const Evaluation& evaluation);

//! Does the interval lie above (1) or below (-1) what would be called a tie (0)?
int side_of_one(const Gain& gain);

struct PartEffect {
  std::string part;  //!< its directive
  Evaluation without;
  std::optional<Evaluation> alone;  //!< nothing: not asked for

  //! How many times faster the program is with this part than without it. Nothing where the rest is no program.
  std::optional<Gain> share(const Evaluation& whole) const;
  //! By itself. Nothing where it is no program then, or was not judged.
  std::optional<Gain> gain_alone() const;
};

//! What a part does for a program, in a word.
enum class Effect { helps, nothing, hurts, needed };

Effect effect_of(const PartEffect& effect, const Evaluation& whole);
std::string_view to_string(Effect effect);

//! What a part gives beside the others, compared with what it gives alone.
enum class Interplay { unknown, multiplies, worth_more, worth_less };

Interplay interplay_of(const PartEffect& effect, const Evaluation& whole);
std::string_view to_string(Interplay interplay);

//! What the parts' single gains would come to. Nothing where one of them cannot stand alone.
struct ExpectedTogether {
  double product = 1.0;         //!< each makes faster by its factor what the others leave
  std::optional<double> added;  //!< each saves the time it saves alone; nothing: that would be more than all there is
};
std::optional<ExpectedTogether> expected_together(const std::vector<PartEffect>& effects);

//! How many different programs effects_of_parts will have to judge.
std::size_t programs_to_judge(const std::string& text, bool alone);

//! `alone`: judges each part by itself as well. No program is judged twice; `whole`, if given, is what became of
//! `text`.
std::vector<PartEffect> effects_of_parts(const std::string& text, bool alone,
                                         const std::function<Evaluation(const std::string& text)>& judge,
                                         const Evaluation* whole = nullptr);

}  // namespace cudal1
