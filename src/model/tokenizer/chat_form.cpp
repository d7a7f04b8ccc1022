#include "model/tokenizer/chat_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/result.hpp"
#include "base/utf8.hpp"

namespace cudal1 {
namespace {

using Kind = ChatForm::Kind;
using Role = ChatMessage::Role;

//! Collects tokens and text. Text between two tokens is encoded in one, since merges go across what a form and what a
//! message say (a line break of each).
class ChatIds {
 public:
  explicit ChatIds(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  void token(std::string_view name) {
    const std::optional<TokenId> id = tokenizer_.find_special(name);
    if (!id) throw Error(fmt::format("the tokenizer lacks {}, which the model's chat template needs", name));
    flush();
    ids_.push_back(*id);
  }
  void text(std::string_view text) { pending_ += text; }

  std::vector<TokenId> finish() {
    flush();
    return std::move(ids_);
  }

 private:
  void flush() {
    const std::vector<TokenId> ids = tokenizer_.encode(pending_);
    ids_.insert(ids_.end(), ids.begin(), ids.end());
    pending_.clear();
  }

  const Tokenizer& tokenizer_;
  std::string pending_;
  std::vector<TokenId> ids_;
};

//! What Python's strip() takes away.
bool is_python_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::string_view trimmed(std::string_view text) {
  std::size_t begin = text.size(), end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character character = first_character(text.substr(at));
    const bool is_space = character.kind == Utf8Character::Kind::valid && is_python_space(character.code_point);
    if (!is_space) begin = std::min(begin, at);
    at += character.bytes;
    if (!is_space) end = at;
  }
  return end == 0 ? std::string_view() : text.substr(begin, end - begin);
}

std::string_view without_leading_lines(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of('\n'), text.size()));
}

std::string_view without_lines_around(std::string_view text) {
  text = without_leading_lines(text);
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

// --- ChatML and Qwen
// ---------------------------------------------------------------------------------------------------

void begin_turn(ChatIds& ids, Role role) {
  ids.token("<|im_start|>");
  ids.text(to_string(role));
  ids.text("\n");
}

void end_turn(ChatIds& ids) {
  ids.token("<|im_end|>");
  ids.text("\n");
}

void write_turn(ChatIds& ids, Role role, std::string_view text) {
  begin_turn(ids, role);
  ids.text(text);
  end_turn(ids);
}

void write_thoughts(ChatIds& ids, std::string_view thoughts) {
  ids.token("<think>");
  ids.text("\n");
  ids.text(thoughts);
  ids.text("\n");
  ids.token("</think>");
  ids.text("\n\n");
}

//! What an answer says between its think tags, and after them.
struct Answer {
  std::string_view thoughts, text;
};

Answer answer_of(std::string_view text) {
  constexpr std::string_view open = "<think>", close = "</think>";
  const std::size_t first_close = text.find(close);
  if (first_close == std::string_view::npos) return {{}, text};
  std::string_view thoughts = text.substr(0, first_close);
  if (const std::size_t last_open = thoughts.rfind(open); last_open != std::string_view::npos)
    thoughts.remove_prefix(last_open + open.size());
  return {without_lines_around(thoughts), without_leading_lines(text.substr(text.rfind(close) + close.size()))};
}

//! Thoughts are kept only in answers to the last question; the last answer has the tags even without any.
void write_qwen3_answer(ChatIds& ids, std::string_view text, bool follows_last_question, bool is_last) {
  const Answer answer = answer_of(text);
  begin_turn(ids, Role::assistant);
  if (follows_last_question && (is_last || !answer.thoughts.empty())) {
    write_thoughts(ids, answer.thoughts);
    ids.text(without_leading_lines(answer.text));
  } else {
    ids.text(answer.text);
  }
  end_turn(ids);
}

std::size_t last_question(std::span<const ChatMessage> messages) {
  for (std::size_t i = messages.size(); i-- > 0;)
    if (messages[i].role == Role::user) return i;
  return messages.size() - 1;
}

void write_qwen3(ChatIds& ids, std::span<const ChatMessage> messages, bool add_generation_prompt) {
  const std::size_t question = last_question(messages);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].role == Role::assistant) {
      write_qwen3_answer(ids, messages[i].text, i > question, i + 1 == messages.size());
    } else {
      write_turn(ids, messages[i].role, messages[i].text);
    }
  }
  if (!add_generation_prompt) return;
  begin_turn(ids, Role::assistant);
  write_thoughts(ids, "");
}

void write_chatml(ChatIds& ids, const ChatForm& form, std::span<const ChatMessage> messages,
                  bool add_generation_prompt) {
  if (!form.default_system.empty() && messages[0].role != Role::system)
    write_turn(ids, Role::system, form.default_system);
  for (const ChatMessage& message : messages) write_turn(ids, message.role, message.text);
  if (add_generation_prompt) begin_turn(ids, Role::assistant);
}

// --- Llama 3
// -----------------------------------------------------------------------------------------------------------

void begin_llama3_turn(ChatIds& ids, Role role) {
  ids.token("<|start_header_id|>");
  ids.text(to_string(role));
  ids.token("<|end_header_id|>");
  ids.text("\n\n");
}

void write_llama3_turn(ChatIds& ids, Role role, std::string_view preamble, std::string_view text) {
  begin_llama3_turn(ids, role);
  ids.text(preamble);
  ids.text(trimmed(text));
  ids.token("<|eot_id|>");
}

void write_llama3(ChatIds& ids, const ChatForm& form, std::span<const ChatMessage> messages,
                  bool add_generation_prompt) {
  ids.token("<|begin_of_text|>");
  if (!form.preamble.empty()) {
    const bool has_system = messages[0].role == Role::system;
    write_llama3_turn(ids, Role::system, form.preamble, has_system ? messages[0].text : "");
    if (has_system) messages = messages.subspan(1);
  }
  for (const ChatMessage& message : messages) write_llama3_turn(ids, message.role, "", message.text);
  if (add_generation_prompt) begin_llama3_turn(ids, Role::assistant);
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::chatml:
      return "ChatML";
    case Kind::qwen:
      return "Qwen";
    case Kind::qwen3:
      return "Qwen3";
    case Kind::llama3:
      return "Llama 3";
  }
  return "?";
}

std::string_view end_of_turn(const ChatForm& form) { return form.kind == Kind::llama3 ? "<|eot_id|>" : "<|im_end|>"; }

std::vector<TokenId> encode_chat(const Tokenizer& tokenizer, const ChatForm& form,
                                 std::span<const ChatMessage> messages, bool add_generation_prompt) {
  if (messages.empty()) throw Error("a chat needs a message");
  ChatIds ids(tokenizer);
  switch (form.kind) {
    case Kind::chatml:
    case Kind::qwen:
      write_chatml(ids, form, messages, add_generation_prompt);
      break;
    case Kind::qwen3:
      write_qwen3(ids, messages, add_generation_prompt);
      break;
    case Kind::llama3:
      write_llama3(ids, form, messages, add_generation_prompt);
      break;
  }
  return ids.finish();
}

}  // namespace cudal1
