#include "compile/line_directives.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "compile/compile_protocol.hpp"

namespace cudal1 {
namespace {

struct LineDirective {
  std::int64_t next_line = 0;  //!< 0: not written as a number
  std::optional<std::string> file;
};

void skip_blanks(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

//! "a\\b" with its quotation marks -> a\b; nothing where no name follows.
std::optional<std::string> quoted_name(std::string_view text) {
  if (!text.starts_with('"')) return std::nullopt;
  std::string name;
  for (std::size_t i = 1; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    name += text[i];
  }
  return name;
}

//! `#line 7 "file"`, and `# 7 "file"` as preprocessors write it.
std::optional<LineDirective> line_directive(std::string_view line) {
  skip_blanks(line);
  if (!line.starts_with('#')) return std::nullopt;
  line.remove_prefix(1);
  skip_blanks(line);
  const bool has_word = line.starts_with("line");
  if (has_word) line.remove_prefix(4);
  skip_blanks(line);
  LineDirective directive;
  const char* end = line.data() + line.size();
  const auto number = std::from_chars(line.data(), end, directive.next_line);
  if (number.ec != std::errc() && !has_word) return std::nullopt;
  line = {number.ptr, static_cast<std::size_t>(end - number.ptr)};
  skip_blanks(line);
  directive.file = quoted_name(line);
  return directive;
}

//! Calls visit(line of the source, what a compiler calls its file and line, directive or nothing) until it returns
//! true.
template <class Visit>
void for_each_line(std::string_view source, Visit visit) {
  std::string file(program_file_name);
  std::int64_t named = 1;
  for (int own = 1; !source.empty(); ++own, ++named) {
    const std::size_t end = source.find('\n');
    const auto directive = line_directive(source.substr(0, end));
    if (visit(own, file, named, directive.has_value())) return;
    if (directive) named = directive->next_line - 1;
    if (directive && directive->file) file = *directive->file;
    source.remove_prefix(end == std::string_view::npos ? source.size() : end + 1);
  }
}

}  // namespace

bool has_line_directives(std::string_view source) {
  bool found = false;
  for_each_line(source, [&](int, const std::string&, std::int64_t, bool directive) { return found |= directive; });
  return found;
}

int line_in_source(std::string_view source, std::string_view file, int line) {
  int found = 0;
  for_each_line(source, [&](int own, const std::string& named_file, std::int64_t named_line, bool) {
    if (named_file == file && named_line == line) found = own;
    return found > 0;
  });
  return found;
}

}  // namespace cudal1
