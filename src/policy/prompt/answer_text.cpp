#include "policy/prompt/answer_text.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace cudal1 {
namespace {

using nlohmann::json;

constexpr std::size_t most_bytes = std::size_t{8} << 20;  // a program has 4 MiB at most

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::string result;
  std::size_t begin = 0;
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, begin)) {
    result.append(text, begin, at - begin).append(to);
    begin = at + from.size();
  }
  if (begin > 0) text = result.append(text, begin, text.npos);
}

std::optional<std::string> text_in_json(const json& document) {
  if (document.is_string()) return document.get<std::string>();
  if (!document.is_object()) return std::nullopt;
  for (const char* name : {"program", "code", "answer", "content", "text", "response"})
    if (const auto found = document.find(name); found != document.end() && found->is_string())
      return found->get<std::string>();
  return std::nullopt;
}

//! `\n` and `\"` written out, in an answer that has directives and no line end.
void unescape_one_line(std::string& text) {
  if (text.find('\n') != text.npos || text.find("\\n") == text.npos || text.find("//!") == text.npos) return;
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char next = text[i] == '\\' && i + 1 < text.size() ? text[i + 1] : '\0';
    const char meant = next == 'n' ? '\n' : next == 't' ? '\t' : next == '"' || next == '\\' ? next : '\0';
    result += meant == '\0' ? text[i] : meant;
    if (meant != '\0') ++i;
  }
  text = result;
}

void unify_line_ends(std::string& text) {
  replace_all(text, "\r\n", "\n");
  std::ranges::replace(text, '\r', '\n');
}

//! Everything from `open` to `close`. Servers that begin the thinking themselves leave a `close` alone: all before it
//! was thinking. Returns whether one was not closed.
bool remove_thinking(std::string& text, std::string_view open, std::string_view close) {
  const std::size_t first_close = text.find(close);
  if (first_close != text.npos && text.find(open) > first_close) text.erase(0, first_close + close.size());
  std::string kept;
  std::size_t begin = 0;
  for (std::size_t at = text.find(open); at != text.npos; at = text.find(open, begin)) {
    kept.append(text, begin, at - begin);
    const std::size_t end = text.find(close, at);
    if (end == text.npos) {
      text = kept;
      return true;
    }
    begin = end + close.size();
  }
  text = kept.append(text, begin, text.npos);
  return false;
}

//! Marks of a conversation's form that some samplers leave at the end.
void remove_end_marks(std::string& text) {
  constexpr std::array<std::string_view, 5> marks{"<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end|>", "</s>"};
  for (bool found = true; found;) {
    found = false;
    text.resize(text.find_last_not_of(" \t\n") + 1);
    for (const std::string_view mark : marks)
      if (text.ends_with(mark)) {
        text.resize(text.size() - mark.size());
        found = true;
      }
  }
}

}  // namespace

std::optional<std::string> unwrapped_json(std::string_view text) {
  text = trimmed_text(text);
  const bool may_be_json =
      text.size() >= 2 && ((text.front() == '"' && text.back() == '"') || (text.front() == '{' && text.back() == '}'));
  if (!may_be_json) return std::nullopt;
  const json document = json::parse(text.begin(), text.end(), nullptr, false);
  return document.is_discarded() ? std::nullopt : text_in_json(document);
}

std::string_view trimmed_text(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string with_plain_quotes(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> plain{{{"\u201c", "\""},
                                                                                 {"\u201d", "\""},
                                                                                 {"\u201e", "\""},
                                                                                 {"\u2033", "\""},
                                                                                 {"\u2018", "'"},
                                                                                 {"\u2019", "'"},
                                                                                 {"\u00a0", " "},
                                                                                 {"\u202f", " "},
                                                                                 {"\u200b", ""},
                                                                                 {"\ufeff", ""}}};
  std::string result(text);
  if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return result;
  for (const auto& [from, to] : plain) replace_all(result, from, to);
  return result;
}

PlainAnswer plain_answer(std::string_view said) {
  said = said.substr(0, most_bytes);
  PlainAnswer answer;
  answer.text = unwrapped_json(said).value_or(std::string(said));
  unify_line_ends(answer.text);
  for (const auto& [open, close] :
       {std::pair<std::string_view, std::string_view>{"<think>", "</think>"}, {"<thinking>", "</thinking>"}})
    answer.was_thinking = remove_thinking(answer.text, open, close) || answer.was_thinking;
  remove_end_marks(answer.text);
  if (auto inner = unwrapped_json(answer.text)) answer.text = std::move(*inner);
  unify_line_ends(answer.text);
  unescape_one_line(answer.text);
  return answer;
}

}  // namespace cudal1
