// What each part of a program does: judged without it, and judged alone.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "judge/evaluation.hpp"

namespace cudal1 {

struct PartEffect {
  std::string part;  //!< its directive
  Evaluation without, alone;

  //! How many times faster the program is with this part than without it. Nothing where the rest is no program.
  std::optional<double> share(const Evaluation& whole) const;
};

//! What a part does for a program, in a word.
enum class Effect { helps, nothing, hurts, needed };

Effect effect_of(const PartEffect& effect, const Evaluation& whole);
std::string_view to_string(Effect effect);

//! `alone`: judges each part by itself as well.
std::vector<PartEffect> effects_of_parts(const std::string& text, bool alone,
                                         const std::function<Evaluation(const std::string& text)>& judge);

}  // namespace cudal1
