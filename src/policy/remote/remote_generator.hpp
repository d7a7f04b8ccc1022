// A language model behind a chat server, as a generator of texts.
#pragma once

#include <cstddef>
#include <functional>

#include "policy/remote/chat_client.hpp"
#include "policy/text_generator.hpp"

namespace cudal1 {

class RemoteGenerator : public TextGenerator {
 public:
  using Announce = std::function<void(const CostEstimate&)>;
  //! The client must outlive it. Of `parameters`, max_tokens gives way to what a request allows.
  //! `announce` hears what the first request would cost, before it is sent.
  RemoteGenerator(ChatClient& client, ChatParameters parameters, std::size_t context_tokens, Announce announce)
      : client_(client),
        parameters_(std::move(parameters)),
        context_tokens_(context_tokens),
        announce_(std::move(announce)) {}

  //! Grammars are nothing that these servers have in common: they are not sent.
  std::vector<GeneratedText> generate(const GenerationRequest& request) override;
  //! An estimate: the server's tokenizer is not here.
  std::size_t count_tokens(std::string_view text) const override;
  std::size_t context_tokens() const override { return context_tokens_; }

  ChatRequest chat_request(const GenerationRequest& request) const;

 private:
  ChatClient& client_;
  ChatParameters parameters_;
  std::size_t context_tokens_;
  Announce announce_;  //!< empty once it was told
};

}  // namespace cudal1
