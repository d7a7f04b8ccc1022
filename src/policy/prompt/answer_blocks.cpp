#include "policy/prompt/answer_blocks.hpp"

#include <algorithm>
#include <array>

#include "policy/prompt/answer_text.hpp"
#include "writer/technique.hpp"

namespace cudal1 {
namespace {

constexpr std::size_t least_fence = 3;

std::string_view without_indent(std::string_view line) {
  return line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
}

std::size_t row_length(std::string_view text, char c) { return std::min(text.find_first_not_of(c), text.size()); }

bool is_language(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
           c == '_' || c == '.';
  });
}

//! "// !" and "//!", with white space before them.
bool is_directive_line(std::string_view line) {
  line = without_indent(line);
  return line.starts_with("//!") || line.starts_with("// !");
}

//! Reads fences line by line.
class LayoutReader {
 public:
  AnswerLayout read(std::string_view text) {
    for (const std::string_view line : lines_of(text)) is_open_ ? inside(line) : outside(line);
    is_open_ = false;
    return std::move(layout_);
  }

 private:
  //! "```cuda", also behind other text of its line: "Code: ```cuda".
  bool opens(std::string_view line) {
    for (const char mark : {'`', '~'}) {
      const std::size_t at = line.find(std::string(least_fence, mark));
      if (at == line.npos || (mark == '~' && at != row_length(line, ' '))) continue;
      const std::size_t length = row_length(line.substr(at), mark);
      const std::string_view info = trimmed_text(line.substr(at + length));
      if (!is_language(info) && !is_directive_line(info)) continue;
      mark_ = mark;
      length_ = length;
      layout_.blocks.push_back({is_language(info) ? lower_case(info) : "", "", false});
      if (at > 0 && !trimmed_text(line.substr(0, at)).empty()) layout_.prose.emplace_back(line.substr(0, at));
      is_open_ = true;
      if (!is_language(info)) inside(info);  // "```//! graph"
      return true;
    }
    return false;
  }

  void outside(std::string_view line) {
    if (!opens(line)) layout_.prose.emplace_back(line);
  }

  void inside(std::string_view line) {
    AnswerBlock& block = layout_.blocks.back();
    const std::string_view end = trimmed_text(line);
    const std::size_t row = end.size() - (end.find_last_not_of(mark_) + 1);
    if (row >= length_) {  // also at the end of a line of code
      if (row < end.size()) block.text.append(end.substr(0, end.size() - row)).append("\n");
      block.is_closed = true;
      is_open_ = false;
      return;
    }
    const std::string_view start = without_indent(line);
    const std::size_t fence = row_length(start, mark_);
    if (fence >= length_ && is_language(trimmed_text(start.substr(fence)))) {  // the one before was forgotten
      is_open_ = false;
      outside(line);
      return;
    }
    block.text.append(line).append("\n");
  }

  AnswerLayout layout_;
  bool is_open_ = false;
  char mark_ = '`';
  std::size_t length_ = least_fence;
};

//! "- ", "* ", "> ", "1. " and the backticks of code inside prose. Empty where prose goes on behind these.
std::string_view without_prose_marks(std::string_view line) {
  line = trimmed_text(line);
  const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  if (digits > 0 && (line.substr(digits).starts_with(". ") || line.substr(digits).starts_with(") ")))
    line.remove_prefix(digits + 2);
  for (const std::string_view mark : {"- ", "* ", "> "})
    if (line.starts_with(mark)) line = trimmed_text(line.substr(mark.size()));
  if (!line.starts_with('`')) return line;
  line.remove_prefix(row_length(line, '`'));
  const std::size_t close = line.find('`');
  if (close == line.npos) return line;
  const std::string_view rest = line.substr(close);
  return rest.find_first_not_of("` .,;:") == rest.npos ? line.substr(0, close) : std::string_view();
}

bool looks_like_code(std::string_view line) {
  constexpr std::array<std::string_view, 21> beginnings{
      "#include",     "#define",    "#undef",  "#pragma", "#if",      "#else",   "#endif",
      "extern \"C\"", "__",         "//",      "/*",      "template", "struct ", "namespace ",
      "using ",       "constexpr ", "static ", "inline ", "typedef ", "}",       "{"};
  return std::ranges::any_of(beginnings, [&](std::string_view beginning) { return line.starts_with(beginning); });
}

int depth_change(std::string_view line) {
  int change = 0;
  for (const char c : line) change += c == '{' || c == '(' ? 1 : c == '}' || c == ')' ? -1 : 0;
  return change;
}

//! The word behind "//!".
std::string_view first_word(std::string_view directive) {
  directive = without_indent(directive);
  directive = without_indent(directive.substr(std::min(directive.find('!') + 1, directive.size())));
  return directive.substr(0, directive.find_first_of(" \t:"));
}

}  // namespace

AnswerLayout answer_layout(std::string_view text) { return LayoutReader().read(text); }

const std::set<std::string>& directive_words() {
  static const std::set<std::string> words = [] {
    std::set<std::string> all{"kernel", "group", "launch", "buffer", "prepare", "hoist", "graph"};
    for (const Technique* technique : all_techniques()) all.insert(technique->description().directive);
    return all;
  }();
  return words;
}

bool has_directive(std::string_view text) { return std::ranges::any_of(lines_of(text), is_directive_line); }

bool has_kernel(std::string_view text) { return text.find("__global__") != text.npos; }

bool launches_kernels(std::string_view text) {
  return std::ranges::any_of(lines_of(text), [](std::string_view line) {
    const std::string_view word = is_directive_line(line) ? first_word(line) : std::string_view();
    return word == "kernel" || word == "launch" || word == "prepare";
  });
}

bool is_blank_code(std::string_view text) {
  return std::ranges::all_of(lines_of(text), [](std::string_view line) {
    line = trimmed_text(line);
    return line.empty() || (line.starts_with("//") && !is_directive_line(line));
  });
}

std::string tidied_program(std::string_view text) {
  std::string program;
  for (const std::string_view line : lines_of(text)) {
    if (is_directive_line(line)) {
      const std::string_view directive = without_indent(line);
      const std::size_t mark = directive.find('!') + 1;
      program += "//!" + with_plain_quotes(directive.substr(mark));
    } else {
      program += line;
    }
    program += '\n';
  }
  return program;
}

std::string with_directive_marks(std::string_view text) {
  std::string program;
  for (const std::string_view line : lines_of(text)) {
    const std::string_view directive = trimmed_text(line);
    if (directive.empty() || directive.starts_with("//")) continue;
    if (!directive_words().contains(std::string(directive.substr(0, directive.find_first_of(" \t:"))))) return {};
    program.append("//! ").append(with_plain_quotes(directive)).append("\n");
  }
  return program;
}

std::string program_in_prose(const std::vector<std::string>& lines) {
  std::string program;
  int depth = 0;
  bool has_begun = false;
  for (const std::string& line : lines) {
    const std::string_view bare = without_prose_marks(line);
    const bool is_directive = depth == 0 && is_directive_line(bare);
    const bool is_code = depth > 0 || (!is_directive && looks_like_code(bare));
    if (!is_directive && !is_code) continue;
    has_begun = has_begun || is_directive || has_kernel(line);
    program.append(is_directive ? bare : std::string_view(line)).append("\n");
    if (is_code && !bare.starts_with("//")) depth = std::max(0, depth + depth_change(line));
  }
  return has_begun ? tidied_program(program) : std::string();
}

}  // namespace cudal1
