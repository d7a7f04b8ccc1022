#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "policy/text_generator.hpp"

namespace cudal1 {

//! Says what it was told to say; keeps what it was asked.
class Scripted : public TextGenerator {
 public:
  explicit Scripted(std::deque<std::string> script) : script_(std::move(script)) {}

  std::vector<GeneratedText> generate(const GenerationRequest& request) override {
    asked.push_back(request);
    std::vector<GeneratedText> said;
    for (int i = 0; i < request.samples; ++i) said.push_back(next());
    return said;
  }
  std::size_t count_tokens(std::string_view text) const override { return text.size() / 4; }
  std::size_t context_tokens() const override { return 8192; }

  std::vector<GenerationRequest> asked;
  FinishReason finish = FinishReason::stop;

 private:
  GeneratedText next() {
    if (script_.empty()) return {.text = "", .failure = "the server does not answer"};
    GeneratedText made{std::move(script_.front()), finish, 100, 10, 0.5, {}};
    script_.pop_front();
    return made;
  }

  std::deque<std::string> script_;
};

}  // namespace cudal1
