// Where a program may be in an answer: between fences, or as lines among prose.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1 {

//! What stands between two fences.
struct AnswerBlock {
  std::string language;  //!< behind the opening fence, in lower case
  std::string text;
  bool is_closed = false;
};

struct AnswerLayout {
  std::vector<AnswerBlock> blocks;
  std::vector<std::string> prose;  //!< lines outside blocks
};

AnswerLayout answer_layout(std::string_view text);

//! Words that directives begin with.
const std::set<std::string>& directive_words();

bool has_directive(std::string_view text);
bool has_kernel(std::string_view text);
//! One of its directives launches a kernel by name.
bool launches_kernels(std::string_view text);
//! Only comments and white space.
bool is_blank_code(std::string_view text);

//! Directive lines as the planner wants them: `// !` closed up, keyboard quotes. Other lines stay as they are.
std::string tidied_program(std::string_view text);

//! A block whose lines are directives without `//!`, with it; empty where it is another kind of text.
std::string with_directive_marks(std::string_view text);

//! Directive lines and code among prose, without list marks and quotes around them; empty where there are none.
std::string program_in_prose(const std::vector<std::string>& lines);

}  // namespace cudal1
