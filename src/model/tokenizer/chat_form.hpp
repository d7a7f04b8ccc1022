// How a conversation is written for a model. Jinja templates are not run: the forms of the models that we support are
// built in, and a template only says which of them it is.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/chat_message.hpp"
#include "model/tokenizer/tokenizer.hpp"

namespace cudal1 {

struct ChatForm {
  enum class Kind {
    chatml,  //!< no system message but the caller's, also where the template would add one of its own (SmolLM2)
    qwen,    //!< ChatML with Qwen's default system message where the caller has none
    qwen3,   //!< ChatML with an empty think block before the answer: thinking is disabled
    llama3
  };
  Kind kind = Kind::chatml;
  std::string default_system = {};  //!< qwen: the message that the template adds
  std::string preamble = {};        //!< llama3: what comes before every system message (3.1 and later)
};

std::string_view to_string(ChatForm::Kind kind);

//! Which form a tokenizer's template is. Throws Error with the form's name for others, and where there is no template.
ChatForm chat_form_of(const TokenizerData& data);

//! The token with which a model ends what it says.
std::string_view end_of_turn(const ChatForm& form);

//! The ids that transformers' apply_chat_template gives (with enable_thinking=False for Qwen3, and the date that Llama
//! 3.1's template has for those without a clock), except that nothing in a message's text becomes an added token.
//! Throws Error where the tokenizer lacks the form's tokens, or there is no message.
std::vector<TokenId> encode_chat(const Tokenizer& tokenizer, const ChatForm& form,
                                 std::span<const ChatMessage> messages, bool add_generation_prompt);

}  // namespace cudal1
