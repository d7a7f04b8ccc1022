#include "compile/clang_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "compile/compile_protocol.hpp"
#include "compile/ptx_globals.hpp"
#include "compile/refusals.hpp"

namespace cudal1 {
namespace {

constexpr std::string_view kernel_variable = "cudal1_kernel_";
constexpr std::string_view kernel_file = "cudal1_kernels";

struct LogLine {
  std::string_view file, text;
  SourcePosition at;
  bool is_error = false;
  bool is_include = false;  // "In file included from program.cu:3:"
};

std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return taken;
}

int take_number(std::string_view& text) {
  int number = 0;
  const std::string_view digits = take_until(text, ':');
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

//! "program.cu:4:10: error: text"; an empty file where the line is none of these.
LogLine parse_line(std::string_view line) {
  LogLine parsed;
  constexpr std::string_view include = "In file included from ";
  parsed.is_include = line.starts_with(include);
  if (parsed.is_include) line.remove_prefix(include.size());
  std::string_view rest = line;
  const std::string_view file = take_until(rest, ':');
  parsed.at.line = take_number(rest);
  if (parsed.at.line <= 0) return parsed;
  if (!parsed.is_include) parsed.at.column = take_number(rest);
  for (const std::string_view kind : {" error: ", " fatal error: ", " note: "})
    if (rest.starts_with(kind)) {
      parsed.is_error = kind != " note: ";
      parsed.text = rest.substr(kind.size());
    }
  if (parsed.is_include || !parsed.text.empty()) parsed.file = file;
  return parsed;
}

std::vector<LogLine> parse_log(std::string_view log) {
  std::vector<LogLine> lines;
  while (!log.empty())
    if (const LogLine line = parse_line(take_until(log, '\n')); !line.file.empty()) lines.push_back(line);
  return lines;
}

//! Where in the program an error in another file comes from: the first note below it (a template that was
//! instantiated), else the include above it.
SourcePosition place_in_program(const std::vector<LogLine>& lines, std::size_t error) {
  if (lines[error].file == program_file_name) return lines[error].at;
  for (std::size_t i = error + 1; i < lines.size() && !lines[i].is_error; ++i)
    if (!lines[i].is_include && lines[i].file == program_file_name) return lines[i].at;
  for (std::size_t i = error; i > 0 && lines[i - 1].is_include; --i)
    if (lines[i - 1].file == program_file_name) return lines[i - 1].at;
  return {};
}

std::string shorten(std::string text) {
  constexpr std::size_t most = 400;
  if (text.size() > most) text = text.substr(0, most) + "...";
  return text;
}

CompilerDiagnosis diagnose(const std::vector<LogLine>& lines, std::size_t error,
                           const std::vector<std::string>& kernels) {
  const LogLine& line = lines[error];
  CompilerDiagnosis diagnosis{place_in_program(lines, error), std::string(line.text)};
  const auto index = static_cast<std::size_t>(line.at.line - 1);
  if (diagnosis.at.line > 0) {
    diagnosis.message = fmt::format("{}({}): {}", program_file_name, diagnosis.at.line, line.text);
  } else if (line.file == kernel_file && index < kernels.size()) {
    diagnosis.message = fmt::format("kernel {} named by a directive: {}", kernels[index], line.text);
  } else {
    diagnosis.other_file = line.file;
    diagnosis.other_line = line.at.line;
  }
  diagnosis.message = shorten(std::move(diagnosis.message));
  return diagnosis;
}

void erase_between(std::string& text, std::size_t from, std::size_t to) { text.erase(from, to - from); }

//! The variable's declaration makes clang declare the kernel once more above all definitions.
void remove_entry_declarations(std::string& ptx) {
  constexpr std::string_view start = ".visible .entry ";
  for (std::size_t at = 0; (at = ptx.find(start, at)) != std::string::npos;) {
    const std::size_t line_end = ptx.find('\n', at), close = ptx.find("\n)\n", at);
    const bool declaration = close != std::string::npos && line_end != std::string::npos && ptx[line_end - 1] != '(' &&
                             ptx.compare(close + 3, 2, ";\n") == 0;
    if (declaration) {
      erase_between(ptx, at, close + 5);
    } else {
      ++at;
    }
  }
}

//! ".visible .global .align 8 .u64 cudal1_kernel_0 = entry;": gives the entry and removes the line.
std::string take_initialiser(std::string& ptx, std::size_t index) {
  const std::string marker = fmt::format(" {}{} = ", kernel_variable, index);
  const std::size_t at = ptx.find(marker);
  if (at == std::string::npos) return {};
  const std::size_t start = at + marker.size(), end = ptx.find(';', start);
  if (end == std::string::npos) return {};
  std::string entry = ptx.substr(start, end - start);
  const std::size_t line_start = ptx.rfind('\n', at) + 1;
  erase_between(ptx, line_start, std::min(end + 2, ptx.size()));
  return entry;
}

bool serves_debugging(std::string_view function) { return function == "vprintf" || function == "__assertfail"; }

//! A text in quotation marks, or __func__, as clang names them. Whatever else has such a name: the virtual GPU lets
//! nobody write to variables of a program.
bool is_literal(std::string_view variable) {
  for (const std::string_view start : {"_$_str", "__func___$_", "__FUNCTION___$_", "__PRETTY_FUNCTION___$_"})
    if (variable.starts_with(start)) return true;
  return false;
}

//! clang says where assembly of the program's own begins and ends.
bool is_in_inline_assembly(std::string_view ptx, std::size_t at) {
  const std::size_t begin = ptx.rfind("// begin inline asm", at), end = ptx.rfind("// end inline asm", at);
  return begin != ptx.npos && (end == ptx.npos || end < begin);
}

//! Bits of a register, by numbers: `%rd12, %rd11, 63, 3`.
struct BitField {
  std::string result, source;
  unsigned position = 0, length = 0;
};

std::optional<BitField> field_of(std::string_view operands) {
  std::vector<std::string> parts(1);
  for (const char c : operands) {
    if (c == ',')
      parts.emplace_back();
    else if (c != ' ' && c != '\t')
      parts.back() += c;
  }
  const auto is_number = [](const std::string& text) {
    return !text.empty() && text.size() < 3 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  };
  if (parts.size() != 4 || !is_number(parts[2]) || !is_number(parts[3])) return std::nullopt;
  const BitField field{parts[0], parts[1], static_cast<unsigned>(std::stoul(parts[2])),
                       static_cast<unsigned>(std::stoul(parts[3]))};
  return field.position < 64 && field.length < 64 ? std::optional(field) : std::nullopt;
}

}  // namespace

std::string clang_source(std::string_view source, const std::vector<std::string>& kernels) {
  // Helper functions without __device__ are the commonest slip, and harmless: they are made for both sides.
  std::string text = "#pragma clang force_cuda_host_device begin\n";
  text += fmt::format("#line 1 \"{}\"\n", program_file_name);
  text += source;
  // Two line ends: the last line of the source may end in a backslash.
  text += fmt::format("\n\n#pragma clang force_cuda_host_device end\n#line 1 \"{}\"\n", kernel_file);
  for (std::size_t i = 0; i < kernels.size(); ++i)
    text += fmt::format("__attribute__((device)) auto {}{} = &{};\n", kernel_variable, i, kernels[i]);
  return text;
}

bool is_kernel_name(std::string_view kernel) {
  return !kernel.empty() && kernel.find_first_of(";{}#\"'\\\n\r") == std::string_view::npos;
}

std::map<std::string, std::string> take_kernel_symbols(std::string& ptx, const std::vector<std::string>& kernels) {
  std::map<std::string, std::string> symbols;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (std::string entry = take_initialiser(ptx, i); ptx.find(fmt::format(".entry {}(", entry)) != std::string::npos)
      symbols[kernels[i]] = std::move(entry);
  remove_entry_declarations(ptx);
  return symbols;
}

void restore_lost_sizes(std::string& ptx) {
  constexpr std::string_view start = ".shared .align ", type = " .b8 ";
  for (std::size_t at = 0; (at = ptx.find(start, at)) != std::string::npos; ++at) {
    const std::size_t end = ptx.find('\n', at);
    const std::string_view line = std::string_view(ptx).substr(at, end - at);
    if (line.find(type) != std::string_view::npos && line.ends_with(';') && line.find('[') == std::string_view::npos)
      ptx.insert(at + line.size() - 1, "[4294967296]");
  }
}

void restore_shifted_signs(std::string& ptx) {
  constexpr std::string_view start = "bfe.u64";
  for (std::size_t at = 0; (at = ptx.find(start, at)) != std::string::npos; ++at) {
    const std::size_t end = std::min(ptx.find(';', at), ptx.size());
    if (is_in_inline_assembly(ptx, at)) continue;
    const auto field = field_of(std::string_view(ptx).substr(at + start.size(), end - at - start.size()));
    if (!field || field->position + field->length <= 64) continue;
    ptx.replace(at, end - at,
                fmt::format("shr.s64 {0}, {1}, {2};\n\tand.b64 {0}, {0}, {3}", field->result, field->source,
                            field->position, (std::uint64_t{1} << field->length) - 1));
  }
}

CompilerDiagnosis first_clang_error(std::string_view log, const std::vector<std::string>& kernels) {
  const auto lines = parse_log(log);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].is_error) return diagnose(lines, i, kernels);
  return first_error(log);
}

std::optional<std::string> forbidden_ptx(std::string_view ptx, bool debug) {
  // Calls first: printf brings its format string as a global, and is the better reason.
  for (const auto& name : external_functions(ptx))
    if (!debug || !serves_debugging(name)) return refused_call(name);
  for (const auto& variable : writable_variables(ptx))
    if (!debug || !is_literal(variable.name))
      return variable.constant ? refused_constant(variable.name) : refused_global(variable.name);
  return std::nullopt;
}

}  // namespace cudal1
