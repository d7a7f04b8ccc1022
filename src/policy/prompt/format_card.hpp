// What a model must know to write programs for us, since none was trained on our directives: made from what the
// techniques say of themselves, so that it cannot be older than they are.
#pragma once

#include <string>
#include <string_view>

#include "graph/task.hpp"
#include "writer/technique_manual.hpp"

namespace cudal1 {

enum class CardLength {
  none,
  brief,  //!< a line or two a technique
  full,   //!< with all parameters, when techniques help and when they hurt
};

//! Empty for `none`.
std::string format_card(const TechniqueList& techniques, CardLength length);

//! The graph of the card's example, with its metas.
Task card_example_task();
//! The programs for it that the card shows: as directives, and with a kernel.
std::string_view card_example_directives();
std::string_view card_example_kernel();

}  // namespace cudal1
