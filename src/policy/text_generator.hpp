// A language model that continues conversations: in this process, or behind a server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/chat_message.hpp"

namespace cudal1 {

struct GenerationRequest {
  std::vector<ChatMessage> messages;
  int samples = 1;
  std::uint64_t first_sample = 0;   //!< asking for the same number again means the same answer
  std::size_t answer_tokens = 256;  //!< at most
  std::string grammar = {};         //!< GBNF that answers must be of, where the model can be held to one; empty: none
};

struct GeneratedText {
  std::string text;  //!< without hidden reasoning
  FinishReason finish = FinishReason::unknown;
  std::int64_t prompt_tokens = 0, new_tokens = 0;
  double cost = 0.0;    //!< in the currency of the prices that were given; 0: free, or not known
  std::string failure;  //!< one line: why there is no text; empty: there is
};

class TextGenerator {
 public:
  virtual ~TextGenerator() = default;
  //! One for each sample, in their order. Failure is data: only what ends a command is thrown.
  virtual std::vector<GeneratedText> generate(const GenerationRequest& request) = 0;
  virtual std::size_t count_tokens(std::string_view text) const = 0;
  virtual std::size_t context_tokens() const = 0;  //!< that it can see, its answer included
};

}  // namespace cudal1
