// What depends on weights alone, so that it can be computed when they change and not in a call.
#pragma once

#include <optional>
#include <string>

#include "writer/draft.hpp"

namespace cudal1 {

//! Why the value is not made of weights alone; nothing: it is.
std::optional<std::string> objection_to_preparing(const Draft& draft, ValueId value);

//! The same for all that a node reads, and what it does besides.
std::optional<std::string> objection_to_preparing(const Draft& draft, const Node& node);

//! Has the node that makes the value, and those that it needs, run when weights change.
void prepare_value(Draft& draft, ValueId value);

}  // namespace cudal1
