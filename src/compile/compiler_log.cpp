#include "compile/compiler_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "compile/compile_protocol.hpp"
#include "compile/line_directives.hpp"

namespace cudal1 {
namespace {

// NVRTC looks up the kernels of the directives in a text of its own with this name.
constexpr std::string_view name_map = "__nv_name_map";

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

//! Where the text after "error: " starts, npos when the line is no error.
std::size_t error_text(std::string_view line, std::string_view& marker) {
  for (const std::string_view candidate : {"catastrophic error: ", "error: ", "error : ", "fatal   : "}) {
    marker = candidate;
    if (const std::size_t at = line.find(candidate); at != std::string_view::npos) return at;
  }
  return std::string_view::npos;
}

//! "program.cu(12): ": sets the place, or the other file and its line.
void read_place(std::string_view place, CompilerDiagnosis& diagnosis) {
  const std::size_t open = place.rfind('(');
  if (open == std::string_view::npos || place.starts_with(name_map)) return;
  int number = 0;
  std::from_chars(place.data() + open + 1, place.data() + place.size(), number);
  if (place.substr(0, open) == program_file_name) {
    diagnosis.at.line = number;
  } else {
    diagnosis.other_file = place.substr(0, open);
    diagnosis.other_line = number;
  }
}

// The compiler shows the source line and below it a caret, both moved right by two blanks.
int column_number(const std::vector<std::string_view>& lines, std::size_t error_line) {
  for (std::size_t i = error_line + 1; i < lines.size() && i <= error_line + 2; ++i) {
    const std::size_t caret = lines[i].find_first_not_of(" \t");
    if (caret != std::string_view::npos && caret >= 2 && lines[i].substr(caret) == "^")
      return static_cast<int>(caret) - 1;
  }
  return 0;
}

std::string_view place_for_people(std::string_view place) {
  return place.starts_with(name_map) ? "kernel named by a directive: " : place;
}

std::string shorten(std::string text) {
  constexpr std::size_t most = 400;
  if (text.size() > most) text = text.substr(0, most) + "...";
  return text;
}

}  // namespace

CompilerDiagnosis first_error(std::string_view log) {
  const auto lines = split_lines(log);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string_view marker;
    const std::size_t at = error_text(lines[i], marker);
    if (at == std::string_view::npos) continue;
    CompilerDiagnosis diagnosis;
    read_place(lines[i].substr(0, at), diagnosis);
    if (diagnosis.at.line > 0) diagnosis.at.column = column_number(lines, i);
    diagnosis.message = shorten(std::string(place_for_people(lines[i].substr(0, at))) +
                                std::string(lines[i].substr(at + marker.size())));
    return diagnosis;
  }
  for (const auto& line : lines)
    if (!line.empty()) return {{}, shorten(std::string(line))};
  return {{}, "the compiler refused the source and gave no reason"};
}

CompilerDiagnosis with_own_line(CompilerDiagnosis diagnosis, std::string_view source) {
  const bool elsewhere = diagnosis.at.line <= 0;
  if ((elsewhere && diagnosis.other_line <= 0) || !has_line_directives(source)) return diagnosis;
  const std::string file = elsewhere ? diagnosis.other_file : std::string(program_file_name);
  const int named = elsewhere ? diagnosis.other_line : diagnosis.at.line;
  const int own = line_in_source(source, file, named);
  if (own == 0 && !elsewhere) return diagnosis;
  diagnosis.at.line = std::max(own, 1);
  if (const std::string place = fmt::format("{}({}): ", file, named); diagnosis.message.starts_with(place))
    diagnosis.message.erase(0, place.size());
  diagnosis.message = shorten(fmt::format("{}({}): {}", program_file_name, diagnosis.at.line, diagnosis.message));
  return diagnosis;
}

}  // namespace cudal1
