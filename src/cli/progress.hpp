// How far a command has come, on standard error while that is a terminal.
#pragma once

#include <cstddef>
#include <string>

namespace cudal1 {

void show_progress(std::size_t done, std::size_t total, const std::string& name);
void clear_progress();

//! A line on standard error; progress makes way for it.
void report_problem(const std::string& message);

}  // namespace cudal1
