#include "optimize/program_parts.hpp"

#include <algorithm>

#include "program/directive_tokens.hpp"
#include "program/source_scan.hpp"

namespace cudal1 {
namespace {

struct Directive {
  std::string word, text;
  std::vector<std::string> words;
  std::set<int> lines;
};

std::vector<Directive> directives_of(std::string_view text) {
  std::vector<Directive> found;
  const SourceScan scan = scan_source(text);
  for (const DirectiveText& source : scan.directives) {
    Directive& directive = found.emplace_back();
    for (const DirectivePiece& piece : source.pieces) {
      directive.text += piece.text;
      directive.lines.insert(piece.at.line);
    }
    TokenCursor cursor(source);
    directive.word = cursor.peek().text;
    for (; !cursor.at_end(); cursor.next()) directive.words.emplace_back(cursor.peek().text);
  }
  return found;
}

//! Nothing at the ends, one space between words: lines that go on are indented.
std::string tidy(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\t' || c == '\r';
    if (!space)
      result += c;
    else if (!result.empty() && result.back() != ' ')
      result += ' ';
  }
  if (result.ends_with(' ')) result.pop_back();
  return result;
}

//! Buffers and preparations serve others; by themselves they do nothing.
bool is_part(const std::string& word) {
  return !word.empty() && word != "launch" && word != "buffer" && word != "prepare";
}

bool is_left(const Directive& directive, const std::set<int>& dropped) {
  return std::ranges::none_of(directive.lines, [&](int line) { return dropped.contains(line); });
}

//! Lines of buffers, and of what prepares them, that no launch of a call names.
std::set<int> lines_without_use(const std::vector<Directive>& directives, const std::set<int>& dropped) {
  std::set<std::string> used;
  for (const Directive& directive : directives)
    if (is_left(directive, dropped) && directive.word != "buffer" && directive.word != "prepare")
      used.insert(directive.words.begin(), directive.words.end());
  std::set<std::string> idle;
  std::set<int> lines;
  for (const Directive& directive : directives) {
    if (directive.word != "buffer" || directive.words.size() < 2 || used.contains(directive.words[1])) continue;
    idle.insert(directive.words[1]);
    lines.insert(directive.lines.begin(), directive.lines.end());
  }
  for (const Directive& directive : directives)
    if (directive.word == "prepare" &&
        std::ranges::any_of(directive.words, [&](const std::string& word) { return idle.contains(word); }))
      lines.insert(directive.lines.begin(), directive.lines.end());
  return lines;
}

}  // namespace

std::vector<ProgramPart> parts_of(std::string_view text) {
  std::vector<ProgramPart> parts;
  for (const Directive& directive : directives_of(text)) {
    if (directive.word == "launch" && !parts.empty())
      parts.back().lines.insert(directive.lines.begin(), directive.lines.end());
    else if (is_part(directive.word))
      parts.push_back({tidy(directive.text), directive.lines});
  }
  return parts;
}

std::string without_lines(std::string_view text, const std::set<int>& lines) {
  std::set<int> dropped = lines;
  dropped.merge(lines_without_use(directives_of(text), lines));
  std::string result;
  int line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    result += dropped.contains(line) ? std::string("\n") : std::string(text.substr(begin, end - begin));
    begin = end;
  }
  return result;
}

}  // namespace cudal1
