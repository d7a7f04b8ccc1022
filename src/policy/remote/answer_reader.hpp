// The body of a chat server's answer, streamed or whole, as it arrives. Nothing in it is trusted.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/remote/api_key.hpp"
#include "policy/remote/chat_sample.hpp"
#include "policy/remote/token_usage.hpp"

namespace cudal1 {

//! One of the n answers of a request.
struct AnswerChoice {
  std::string text;
  std::size_t reasoning_bytes = 0;
  FinishReason finish = FinishReason::unknown;
  bool finished = false;  //!< the server said why it ended
};

enum class AnswerProblem {
  none,
  cut,           //!< ended too early
  no_json,       //!< something else than JSON
  no_utf8,       //!< bytes that are no text
  html,          //!< a web page
  wrong_form,    //!< JSON, but not that of a chat completion
  server_error,  //!< the server reports an error in the middle of a stream
};

struct ServerAnswer {
  std::vector<AnswerChoice> choices;  //!< those that began, by index
  std::optional<TokenUsage> usage;    //!< of all of them together, as the server counted
  AnswerProblem problem = AnswerProblem::none;
  std::string detail;             //!< of the problem: what the server said, or what is wrong
  int error_status = 0;           //!< that an error in a stream names
  std::size_t bytes_of_text = 0;  //!< that arrived, reasoning included
};

class AnswerReader {
 public:
  using TextSink = std::function<void(int choice, std::string_view text)>;

  //! `expected`: the n that was asked for. `on_text` gets the text of answers as it arrives, in whole characters. The
  //! key, which must outlive this, is taken out of everything that the server sends.
  AnswerReader(int expected, const ApiKey& key, TextSink on_text);
  ~AnswerReader();
  //! False: the answer is whole or broken, more is not wanted.
  bool add(std::string_view bytes);
  //! The body has ended; `transport_is_whole` is false if the connection was cut.
  ServerAnswer finish(bool transport_is_whole);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace cudal1
