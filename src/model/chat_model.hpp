// A model's files as conversations use them: weights, tokenizer, how turns are written and what ends them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/chat_message.hpp"
#include "model/model_weights.hpp"
#include "model/tokenizer/chat_form.hpp"
#include "model/tokenizer/tokenizer.hpp"

namespace cudal1 {

class ChatModel {
 public:
  //! A GGUF file or a Hugging Face folder. Throws Error that says what is wrong with the model or its tokenizer.
  explicit ChatModel(const std::filesystem::path& model);

  const ModelWeights& weights() const { return *weights_; }
  const Tokenizer& tokenizer() const { return tokenizer_; }
  const std::vector<std::int32_t>& end_tokens() const { return end_tokens_; }

  //! What the model goes on from.
  std::vector<std::int32_t> prompt_tokens(std::span<const ChatMessage> messages) const;
  //! What it would have said: the text, then the end of its turn.
  std::vector<std::int32_t> answer_tokens(std::string_view text) const;
  std::size_t count_tokens(std::string_view text) const { return tokenizer_.encode(text).size(); }

 private:
  std::unique_ptr<ModelWeights> weights_;
  TokenizerData data_;
  Tokenizer tokenizer_;
  ChatForm form_;
  std::vector<std::int32_t> end_tokens_;
};

}  // namespace cudal1
