#include "host_device/program_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include <fmt/format.h>

namespace cudal1 {
namespace {

constexpr std::array offered_headers = {"cuda.h",
                                        "cuda_runtime.h",
                                        "cuda_runtime_api.h",
                                        "cuda_fp16.h",
                                        "cuda_bf16.h",
                                        "device_launch_parameters.h",
                                        "device_functions.h",
                                        "math_constants.h",
                                        "vector_types.h",
                                        "cooperative_groups.h",
                                        "cooperative_groups/reduce.h",
                                        "cstdint",
                                        "cstddef",
                                        "cmath",
                                        "cfloat",
                                        "climits",
                                        "limits",
                                        "type_traits",
                                        "utility",
                                        "stdint.h",
                                        "stddef.h",
                                        "math.h",
                                        "float.h",
                                        "limits.h",
                                        "assert.h",
                                        "cassert",
                                        "stdio.h",
                                        "cstdio"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

struct Word {
  std::string_view text;
  std::size_t begin = 0;
  std::size_t end() const { return begin + text.size(); }
};

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > i) words.push_back({text.substr(i, end - i), i});
    i = std::max(end, i + 1);
  }
  return words;
}

SourcePosition position_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(offset - line_start) + 1};
}

Failure forbidden(std::string_view text, std::size_t offset, std::string message) {
  return {Status::forbidden, std::move(message), position_of(text, offset), {}};
}

//! Blanks [from, to) but for line ends.
void blank(std::string& text, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < std::min(to, text.size()); ++i)
    if (text[i] != '\n') text[i] = ' ';
}

std::size_t end_of_literal(std::string_view text, std::size_t quote) {
  std::size_t i = quote + 1;
  while (i < text.size() && text[i] != text[quote] && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
  return std::min(i, text.size());
}

//! From the end of the first specifier: does what follows declare a variable that can be written? Attributes like
//! __align__(16) are skipped; any other parenthesis means a function.
bool declares_variable(std::string_view text, std::size_t offset) {
  constexpr std::array harmless = {"const", "constexpr", "__constant__", "__shared__", "operator"};
  std::size_t end = offset;
  for (; end < text.size() && std::string_view(";={[").find(text[end]) == std::string_view::npos; ++end) {
    if (text[end] != '(') continue;
    std::size_t before = end;
    while (before > offset && is_space(text[before - 1])) --before;
    if (!text.substr(offset, before - offset).ends_with("__")) return false;
    end = std::min(text.find(')', end), text.size() - 1);
  }
  const auto words = words_of(text.substr(offset, end - offset));
  return std::none_of(words.begin(), words.end(), [&](const Word& word) {
    return std::find(harmless.begin(), harmless.end(), word.text) != harmless.end();
  });
}

std::optional<Failure> find_forbidden_header(std::string_view text, std::string_view code) {
  for (std::size_t hash = code.find('#'); hash != std::string_view::npos; hash = code.find('#', hash + 1)) {
    std::size_t i = hash + 1;
    while (i < code.size() && (code[i] == ' ' || code[i] == '\t')) ++i;
    if (!code.substr(i).starts_with("include")) continue;
    const std::size_t open = text.find_first_of("<\"\n", i);
    if (open == std::string_view::npos || text[open] == '\n') continue;
    const std::size_t close = text.find_first_of(">\"\n", open + 1);
    const std::string_view name = text.substr(open + 1, close - open - 1);
    const bool offered = std::find(offered_headers.begin(), offered_headers.end(), name) != offered_headers.end();
    if (!offered && !name.starts_with("cudal1/"))
      return forbidden(text, hash, fmt::format("the header <{}> is not offered to programs", name));
  }
  return {};
}

struct Replacement {
  std::size_t end = 0;
  std::string text;
};

//! `code` from `offset`, just after `extern __shared__`: "float tile[][33];" and the like.
std::optional<Replacement> dynamic_shared_declaration(std::string_view code, std::size_t offset) {
  const std::size_t end = code.find(';', offset);
  const std::size_t bracket = code.find('[', offset);
  if (end == std::string_view::npos || bracket > end) return {};
  for (const std::string_view attribute : {"__align__", "alignas"})
    if (const std::size_t at = code.find(attribute, offset); at < bracket) offset = code.find(')', at) + 1;
  const auto words = words_of(code.substr(offset, bracket - offset));
  if (words.size() < 2) return {};
  std::string type(code.substr(offset, words.back().begin));
  std::replace(type.begin(), type.end(), '\n', ' ');
  const std::size_t first_dimension_end = code.find(']', bracket) + 1;
  return Replacement{
      end, fmt::format("{0} (*&{1}){2} = reinterpret_cast<{0} (*&){2}>(::cudal1_host::dynamic_shared_pointer)", type,
                       words.back().text, code.substr(first_dimension_end, end - first_dimension_end))};
}

}  // namespace

std::string without_comments(std::string_view text) {
  std::string result(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    std::size_t end = i;
    if (rest.starts_with("//")) end = std::min(text.find('\n', i), text.size());
    if (rest.starts_with("/*")) end = std::min(text.find("*/", i + 2), text.size()) + 2;
    if (end > i) {
      blank(result, i, end);
      i = end - 1;
    } else if (text[i] == '"' || text[i] == '\'') {
      // 1'000 is a number, not the start of a character.
      if (text[i] == '\'' && i > 0 && std::isdigit(static_cast<unsigned char>(text[i - 1])) != 0) continue;
      end = end_of_literal(text, i);
      blank(result, i + 1, end);
      i = end;
    }
  }
  return result;
}

std::optional<Failure> find_forbidden(std::string_view text) {
  const std::string code = without_comments(text);
  if (auto failure = find_forbidden_header(text, code)) return failure;
  for (const Word& word : words_of(code)) {
    if (word.text == "malloc")
      return forbidden(text, word.begin, "device malloc is not allowed: declare a `buffer` instead");
    const bool global = word.text == "__device__" || word.text == "__managed__";
    if (global && declares_variable(code, word.end()))
      return forbidden(text, word.begin, "a writable device global is not allowed: a program may not remember");
    if (word.text == "static" && declares_variable(code, word.end()))
      return forbidden(text, word.begin, "a static variable is a device global and not allowed");
  }
  return {};
}

std::string rewrite_shared_memory(std::string_view text) {
  const std::string code = without_comments(text);
  const auto words = words_of(code);
  std::string result;
  std::size_t copied = 0;
  const auto replace = [&](std::size_t from, const Replacement& with) {
    result.append(text.substr(copied, from - copied)).append(with.text);
    // The compiler's line numbers must stay those of the text.
    result.append(std::count(text.begin() + from, text.begin() + with.end, '\n'), '\n');
    copied = with.end;
  };
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string_view next = words[i + 1].text;
    if (words[i].text == "static" && (next == "__shared__" || next == "__constant__"))
      replace(words[i].begin, {words[i].end(), ""});
    if (words[i].text != "extern" || next != "__shared__") continue;
    if (const auto declaration = dynamic_shared_declaration(code, words[i + 1].end()))
      replace(words[i].begin, *declaration);
  }
  return result.append(text.substr(copied));
}

}  // namespace cudal1
