// A task without the names in it: what makes two generated tasks one, whatever their inputs and lines are called.
#pragma once

#include <string>

#include "graph/task.hpp"

namespace cudal1 {

//! Equal for tasks that differ in names, in the order in which leaves and nodes stand, or in that of what is added,
//! multiplied or compared, and only for these; nodes that touch a state, or that no output needs, keep their order.
//! Leaves are drawn, not read from files.
std::string nameless_form(const Task& task);

}  // namespace cudal1
