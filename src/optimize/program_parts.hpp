// The parts of a program that can be left out one by one: a directive, or a group with its launches.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1 {

struct ProgramPart {
  std::string text;     //!< of its first directive, without `//!`
  std::set<int> lines;  //!< from 1
};

//! Throws Rejection where the text has no readable directives.
std::vector<ProgramPart> parts_of(std::string_view text);

//! The program without these lines; buffers that nothing names any more go, too. All other lines keep their numbers.
std::string without_lines(std::string_view text, const std::set<int>& lines);

}  // namespace cudal1
