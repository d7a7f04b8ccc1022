#include "policy/prompt/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "policy/prompt/answer_blocks.hpp"
#include "policy/prompt/answer_text.hpp"

namespace cudal1 {
namespace {

enum class Heading { none, analysis, design, code };

struct HeadedLine {
  Heading heading = Heading::none;
  std::string_view rest;  //!< behind the heading, on its line
};

//! "## 1. Performance analysis", "**Design:**", "Analysis: the second one …".
HeadedLine headed_line(std::string_view line) {
  constexpr std::array<std::pair<std::string_view, Heading>, 9> names{{{"performance analysis", Heading::analysis},
                                                                       {"analysis", Heading::analysis},
                                                                       {"algorithm design", Heading::design},
                                                                       {"design", Heading::design},
                                                                       {"final program", Heading::code},
                                                                       {"final code", Heading::code},
                                                                       {"implementation", Heading::code},
                                                                       {"program", Heading::code},
                                                                       {"code", Heading::code}}};
  const bool is_marked = trimmed_text(line).starts_with('#');
  line.remove_prefix(std::min(line.find_first_not_of(" \t#*_>0123456789.):"), line.size()));
  if (lower_case(line.substr(0, 5)) == "part ")
    line.remove_prefix(std::min(line.find_first_not_of(" \t*0123456789.):-", 5), line.size()));
  const std::string lower = lower_case(line.substr(0, 40));
  for (const auto& [name, heading] : names) {
    if (!lower.starts_with(name)) continue;
    const std::string_view behind = line.substr(name.size());
    const bool ends = behind.empty() || behind.find_first_of(":*_#") == 0 || trimmed_text(behind).empty();
    if (!ends && !is_marked) continue;
    return {heading, trimmed_text(behind.substr(std::min(behind.find_first_not_of(" :*_#"), behind.size())))};
  }
  return {};
}

//! What stands under the headings of analysis and design, directive lines left out.
void read_headed_parts(const std::vector<std::string>& prose, Answer& answer) {
  std::string* part = nullptr;
  for (const std::string& line : prose) {
    const HeadedLine headed = headed_line(line);
    std::string_view text = line;
    if (headed.heading != Heading::none) {
      part = headed.heading == Heading::analysis ? &answer.analysis
             : headed.heading == Heading::design ? &answer.design
                                                 : nullptr;
      text = headed.rest;
    }
    if (part && !has_directive(text)) part->append(text).append("\n");
  }
  for (std::string* text : {&answer.analysis, &answer.design}) *text = std::string(trimmed_text(*text));
}

bool is_refusal(std::string_view text) {
  constexpr std::array<std::string_view, 14> phrases{"i cannot",       "i can't",
                                                     "i can not",      "i am unable",
                                                     "i'm unable",     "i am not able",
                                                     "i'm not able",   "i won't",
                                                     "i will not",     "as an ai",
                                                     "i'm sorry",      "i am sorry",
                                                     "i must decline", "i do not feel comfortable"};
  constexpr std::size_t beginning = 400;  // behind that it is about something else
  const std::string lower = lower_case(with_plain_quotes(text.substr(0, beginning)));
  return std::ranges::any_of(phrases, [&](std::string_view phrase) { return lower.find(phrase) != lower.npos; });
}

bool may_hold_programs(const AnswerBlock& block) {
  constexpr std::array<std::string_view, 10> languages{"",  "cuda",     "cu",   "c++",       "cpp",
                                                       "c", "cuda-cpp", "text", "plaintext", "program"};
  return std::ranges::find(languages, block.language) != languages.end();
}

class AnswerReader {
 public:
  AnswerReader(std::string_view said, FinishReason finish) : plain_(plain_answer(said)), finish_(finish) {
    layout_ = answer_layout(plain_.text);
    unwrap_json_blocks();
  }

  Answer read() {
    read_headed_parts(layout_.prose, answer_);
    if (!read_block() && !read_prose() && !read_unmarked_block() && !read_block_without_directives()) explain_nothing();
    return std::move(answer_);
  }

 private:
  void unwrap_json_blocks() {
    for (AnswerBlock& block : layout_.blocks)
      if (auto text = unwrapped_json(block.text); text && has_directive(*text)) block.text = std::move(*text);
  }

  bool read_block() {
    std::size_t count = 0;
    const AnswerBlock* chosen = nullptr;
    for (const AnswerBlock& block : layout_.blocks)
      if (has_directive(block.text)) {
        chosen = &block;
        ++count;
      }
    if (!chosen) return false;
    answer_.program = tidied_program(chosen->text);
    std::string where =
        count == 1 ? "the block that has directives" : fmt::format("the last of {} blocks that have directives", count);
    const bool is_complete = add_kernels_of_other_blocks(where) && chosen->is_closed;
    finish_program(where, is_complete, "the block with the program is not closed");
    return true;
  }

  //! Directives in one block, kernels in another. Returns whether those that were added are closed.
  bool add_kernels_of_other_blocks(std::string& where) {
    if (!launches_kernels(answer_.program) || has_kernel(answer_.program)) return true;
    bool all_closed = true;
    for (const AnswerBlock& block : layout_.blocks) {
      if (!has_kernel(block.text) || has_directive(block.text)) continue;
      answer_.program += block.text;
      all_closed = all_closed && block.is_closed;
    }
    if (has_kernel(answer_.program)) where += ", with the kernels of the blocks that have none";
    return all_closed;
  }

  bool read_prose() {
    const std::string program = program_in_prose(layout_.prose);
    if (!has_directive(program)) return false;
    answer_.program = program;
    std::string where = "directive lines outside any block";
    const bool is_complete = add_kernels_of_other_blocks(where);
    // Without a fence nothing but the end of the answer says where the program ends.
    finish_program(where, is_complete && finish_ != FinishReason::length, "the answer was cut off");
    return true;
  }

  //! Blocks of lines that only lack their `//!`.
  bool read_unmarked_block() {
    for (std::size_t i = layout_.blocks.size(); i-- > 0;) {
      const AnswerBlock& block = layout_.blocks[i];
      if (!may_hold_programs(block)) continue;
      answer_.program = with_directive_marks(block.text);
      if (answer_.program.empty()) continue;
      finish_program("a block of directives without //!, which were added", block.is_closed,
                     "the block with the program is not closed");
      return true;
    }
    return false;
  }

  bool read_block_without_directives() {
    for (std::size_t i = layout_.blocks.size(); i-- > 0;) {
      const AnswerBlock& block = layout_.blocks[i];
      const bool is_empty = may_hold_programs(block) && is_blank_code(block.text);
      if (!is_empty && !has_kernel(block.text)) continue;
      answer_.program = block.text;
      const bool is_cut = !block.is_closed && finish_ != FinishReason::stop;
      if (is_cut)
        set(AnswerOutcome::cut_off, "the block with the program is not closed, and has no directive so far");
      else
        set(AnswerOutcome::empty_program, is_empty ? "the block for the program is empty"
                                                   : "there is CUDA code but no directive (//! kernel … replaces …) "
                                                     "that says what it replaces, so nothing would run it");
      return true;
    }
    return false;
  }

  void explain_nothing() {
    answer_.program.clear();
    if (plain_.was_thinking) return set(AnswerOutcome::cut_off, "the answer ends inside its thinking");
    if (finish_ == FinishReason::length) return set(AnswerOutcome::cut_off, "the answer was cut off before a program");
    if (finish_ == FinishReason::refusal || is_refusal(plain_.text))
      return set(AnswerOutcome::refusal, "the model refuses");
    if (trimmed_text(plain_.text).empty()) return set(AnswerOutcome::no_program, "the answer is empty");
    if (!layout_.blocks.empty())
      return set(AnswerOutcome::no_program, "none of the blocks in the answer has a directive (a line with //!)");
    set(AnswerOutcome::no_program, "there is neither a block nor a directive (a line with //!) in the answer");
  }

  //! A model that says it was done has only forgotten the fence.
  void finish_program(const std::string& where, bool is_complete, const std::string& why_cut) {
    if (is_complete) return set(AnswerOutcome::program, where);
    if (finish_ == FinishReason::stop) return set(AnswerOutcome::program, where + ", which is not closed");
    set(AnswerOutcome::cut_off, why_cut);
  }

  void set(AnswerOutcome outcome, const std::string& reason) {
    answer_.outcome = outcome;
    answer_.reason = reason;
  }

  PlainAnswer plain_;
  FinishReason finish_;
  AnswerLayout layout_;
  Answer answer_;
};

}  // namespace

std::string_view to_string(AnswerOutcome outcome) {
  constexpr std::array<std::string_view, 5> names{"program", "empty_program", "no_program", "refusal", "cut_off"};
  return names[static_cast<std::size_t>(outcome)];
}

Answer read_answer(std::string_view said, FinishReason finish) { return AnswerReader(said, finish).read(); }

}  // namespace cudal1
