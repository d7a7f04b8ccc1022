#include "model/chat_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/result.hpp"
#include "model/files/open_model.hpp"
#include "model/tokenizer/model_tokenizer.hpp"

namespace cudal1 {

ChatModel::ChatModel(const std::filesystem::path& model)
    : weights_(open_model(model)),
      data_(tokenizer_of_model(model, *weights_)),
      tokenizer_(data_),
      form_(chat_form_of(data_)),
      end_tokens_(weights_->end_tokens()) {
  if (const auto id = tokenizer_.find_special(end_of_turn(form_)); id && !std::ranges::count(end_tokens_, *id))
    end_tokens_.push_back(*id);
}

std::vector<std::int32_t> ChatModel::prompt_tokens(std::span<const ChatMessage> messages) const {
  return encode_chat(tokenizer_, form_, messages, true);
}

std::vector<std::int32_t> ChatModel::answer_tokens(std::string_view text) const {
  const auto end = tokenizer_.find_special(end_of_turn(form_));
  if (!end) throw Error(fmt::format("the tokenizer lacks {}, with which an answer ends", end_of_turn(form_)));
  std::vector<std::int32_t> tokens = tokenizer_.encode(text);
  tokens.push_back(*end);
  return tokens;
}

}  // namespace cudal1
