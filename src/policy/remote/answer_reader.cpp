#include "policy/remote/answer_reader.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "policy/remote/server_errors.hpp"
#include "policy/remote/sse_reader.hpp"
#include "policy/remote/think_filter.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

constexpr int deepest_json = 32;
constexpr std::int64_t most_believable_tokens = 1'000'000'000;

struct TooDeep {};

//! Throws json::parse_error, or TooDeep for what would only fill memory.
json parse_limited(std::string_view text) {
  return json::parse(text, [](int depth, json::parse_event_t, json&) {
    if (depth > deepest_json) throw TooDeep{};
    return true;
  });
}

const json& member(const json& object, const char* name) {
  static const json nothing;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() ? *found : nothing;
}

std::int64_t token_count(const json& value) {
  if (!value.is_number()) return 0;
  const double count = value.get<double>();
  return count >= 0.0 && count <= static_cast<double>(most_believable_tokens) ? static_cast<std::int64_t>(count) : 0;
}

std::optional<TokenUsage> usage_in(const json& body) {
  const json& usage = member(body, "usage");
  if (!member(usage, "prompt_tokens").is_number() || !member(usage, "completion_tokens").is_number())
    return std::nullopt;
  TokenUsage tokens;
  tokens.prompt = token_count(member(usage, "prompt_tokens"));
  tokens.completion = token_count(member(usage, "completion_tokens"));
  tokens.reasoning = token_count(member(member(usage, "completion_tokens_details"), "reasoning_tokens"));
  tokens.completion = std::max(tokens.completion, tokens.reasoning);
  return tokens;
}

FinishReason finish_reason(const std::string& name) {
  if (name == "stop" || name == "eos" || name == "stop_sequence") return FinishReason::stop;
  if (name == "length") return FinishReason::length;
  if (name == "content_filter" || name == "refusal") return FinishReason::refusal;
  return FinishReason::unknown;
}

//! A choice while it grows.
struct GrowingChoice {
  explicit GrowingChoice(const ApiKey& key) : key_filter(key) {}
  AnswerChoice choice;
  ThinkFilter think;
  KeyFilter key_filter;
  bool began = false, refused = false;
};

//! Of the fields that a stream of events may begin with, or a comment.
bool may_be_event_stream(std::string_view beginning) {
  for (const std::string_view field : {":", "data", "event", "id", "retry"})
    if (beginning.starts_with(field) || field.starts_with(beginning)) return true;
  return false;
}

}  // namespace

class AnswerReader::State {
 public:
  State(int expected, const ApiKey& key, TextSink on_text)
      : expected_(expected), key_(key), on_text_(std::move(on_text)) {}

  bool add(std::string_view bytes) {
    if (form_ == Form::unknown) bytes = look_at_beginning(bytes);
    if (form_ == Form::stream)
      add_to_stream(bytes);
    else if (form_ == Form::whole)
      body_ += bytes;
    return !done_ && answer_.problem == AnswerProblem::none;
  }

  ServerAnswer finish(bool transport_is_whole) {
    if (form_ == Form::stream && transport_is_whole) end_stream();
    if (form_ == Form::whole) read_whole(transport_is_whole);
    if (form_ == Form::unknown) fail(AnswerProblem::cut, "the server sent nothing");
    for (std::size_t at = 0; at < choices_.size(); ++at) end_choice(static_cast<int>(at));
    if (!is_complete()) fail(AnswerProblem::cut, "the answer ended in the middle");
    for (auto& growing : choices_)
      if (growing.began) answer_.choices.push_back(std::move(growing.choice));
    answer_.usage = final_usage_ ? final_usage_ : running_usage_;
    return std::move(answer_);
  }

 private:
  enum class Form { unknown, whole, stream };

  void add_to_stream(std::string_view bytes) {
    constexpr std::size_t enough_to_tell = 256;
    if (beginning_.size() < enough_to_tell) beginning_ += bytes.substr(0, enough_to_tell);
    events_.add(bytes);
  }

  void end_stream() {
    events_.finish();
    if (!may_be_event_stream(beginning_)) fail(AnswerProblem::no_json, snippet(beginning_, key_));
  }

  void fail(AnswerProblem problem, std::string detail) {
    if (answer_.problem != AnswerProblem::none) return;
    answer_.problem = problem;
    answer_.detail = std::move(detail);
  }

  //! Servers may answer in one piece though a stream was asked for, so the first byte decides; gives what is left.
  std::string_view look_at_beginning(std::string_view bytes) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (bytes.starts_with(byte_order_mark)) bytes.remove_prefix(byte_order_mark.size());
    bytes.remove_prefix(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
    if (bytes.empty()) return bytes;
    if (bytes.front() == '<') fail(AnswerProblem::html, "a web page");
    const bool is_json = bytes.front() == '{' || bytes.front() == '[' || bytes.front() == '"';
    form_ = is_json ? Form::whole : Form::stream;
    return bytes;
  }

  std::optional<json> parse(std::string_view text, bool may_be_cut) {
    try {
      return parse_limited(text);
    } catch (const json::parse_error& error) {
      const bool at_end = error.byte > text.size();
      const bool encoding = std::string_view(error.what()).find("UTF-8") != std::string_view::npos;
      if (at_end && may_be_cut)
        fail(AnswerProblem::cut, "the answer ended in the middle");
      else if (encoding)
        fail(AnswerProblem::no_utf8, "bytes that are not UTF-8");
      else
        fail(AnswerProblem::no_json, snippet(text, key_));
    } catch (const json::exception&) {
      fail(AnswerProblem::no_json, "numbers out of range");
    } catch (const TooDeep&) {
      fail(AnswerProblem::wrong_form, "JSON that is nested too deeply");
    }
    return std::nullopt;
  }

  void read_whole(bool transport_is_whole) {
    const auto body = parse(body_, true);
    body_.clear();
    if (!body) return;
    if (!transport_is_whole) return fail(AnswerProblem::cut, "the answer ended in the middle");
    if (!member(*body, "error").is_null()) return note_error(*body);
    if (!member(*body, "choices").is_array()) return fail(AnswerProblem::wrong_form, "JSON without choices");
    for (const auto& choice : member(*body, "choices")) read_choice(choice, "message");
    final_usage_ = usage_in(*body);
    done_ = true;
    if (choices_.empty()) fail(AnswerProblem::wrong_form, "no choices");
  }

  void read_event(std::string_view data) {
    if (done_ || answer_.problem != AnswerProblem::none) return;
    if (data == "[DONE]") {
      done_ = true;
      if (choices_.empty()) fail(AnswerProblem::wrong_form, "a stream without choices");
      return;
    }
    const auto event = parse(data, false);
    if (!event) return;
    if (!member(*event, "error").is_null()) return note_error(*event);
    const json& choices = member(*event, "choices");
    if (choices.is_array())
      for (const auto& choice : choices) read_choice(choice, "delta");
    if (const auto usage = usage_in(*event)) add_usage(*usage, choices.empty());
  }

  void note_error(const json& body) {
    fail(AnswerProblem::server_error, snippet(error_message_in(body), key_));
    const json& code = member(member(body, "error"), "code");
    if (code.is_number_integer()) answer_.error_status = static_cast<int>(std::clamp<std::int64_t>(code, 0, 999));
  }

  //! Usage beside text is a running total; after the text it is final, and some servers (llama.cpp) send one for each
  //! of the n answers.
  void add_usage(const TokenUsage& usage, bool is_final) {
    if (!is_final) {
      running_usage_ = usage;
    } else if (!final_usage_) {
      final_usage_ = usage;
    } else {
      final_usage_->prompt = std::max(final_usage_->prompt, usage.prompt);
      final_usage_->completion += usage.completion;
      final_usage_->reasoning += usage.reasoning;
    }
  }

  void read_choice(const json& choice, const char* content_member) {
    const json& index = member(choice, "index");
    std::int64_t at = 0;
    if (index.is_number_integer())
      at = index.get<std::int64_t>();
    else if (std::string_view(content_member) == "message")
      at = static_cast<std::int64_t>(choices_.size());
    if (at < 0 || at >= expected_) return;  // nobody asked for it
    while (choices_.size() <= static_cast<std::size_t>(at)) choices_.emplace_back(key_);
    GrowingChoice& growing = choices_[static_cast<std::size_t>(at)];
    growing.began = true;
    read_message(static_cast<int>(at), member(choice, content_member));
    const json& reason = member(choice, "finish_reason");
    if (reason.is_string()) {
      growing.choice.finished = true;
      growing.choice.finish = finish_reason(reason.get<std::string>());
    }
  }

  void read_message(int at, const json& message) {
    for (const char* name : {"reasoning_content", "reasoning"})
      if (member(message, name).is_string()) {
        add_reasoning(at, member(message, name).get_ref<const std::string&>());
        break;  // some servers send the same under both names
      }
    const json& content = member(message, "content");
    if (content.is_string()) add_text(at, content.get_ref<const std::string&>());
    if (content.is_array())
      for (const auto& part : content) read_part(at, part);
    const json& refusal = member(message, "refusal");
    if (refusal.is_string() && !refusal.get_ref<const std::string&>().empty()) {
      choices_[static_cast<std::size_t>(at)].refused = true;
      add_text(at, refusal.get_ref<const std::string&>());
    }
  }

  void read_part(int at, const json& part) {
    const json& text = member(part, "text");
    if (member(part, "type") == "text" && text.is_string())
      add_text(at, text.get_ref<const std::string&>());
    else if (text.is_string())
      add_reasoning(at, text.get_ref<const std::string&>());
  }

  void add_reasoning(int at, const std::string& text) {
    choices_[static_cast<std::size_t>(at)].choice.reasoning_bytes += text.size();
    answer_.bytes_of_text += text.size();
  }

  void add_text(int at, const std::string& piece) {
    answer_.bytes_of_text += piece.size();
    GrowingChoice& growing = choices_[static_cast<std::size_t>(at)];
    pass_on(at, growing.key_filter.add(growing.think.add(piece)));
  }

  void pass_on(int at, const std::string& text) {
    if (text.empty()) return;
    choices_[static_cast<std::size_t>(at)].choice.text += text;
    if (on_text_) on_text_(at, text);
  }

  void end_choice(int at) {
    GrowingChoice& growing = choices_[static_cast<std::size_t>(at)];
    pass_on(at, growing.key_filter.add(growing.think.finish()));
    pass_on(at, growing.key_filter.finish());
    growing.choice.reasoning_bytes += growing.think.reasoning_bytes();
    if (growing.refused) growing.choice.finish = FinishReason::refusal;
  }

  //! Servers may leave out [DONE] or the reason, not both.
  bool is_complete() const {
    if (done_) return true;
    return choices_.size() == static_cast<std::size_t>(expected_) &&
           std::all_of(choices_.begin(), choices_.end(), [](const auto& each) { return each.choice.finished; });
  }

  int expected_;
  const ApiKey& key_;
  TextSink on_text_;
  Form form_ = Form::unknown;
  std::string body_, beginning_;
  SseReader events_{[this](std::string_view data) { read_event(data); }};
  std::vector<GrowingChoice> choices_;
  std::optional<TokenUsage> running_usage_, final_usage_;
  ServerAnswer answer_;
  bool done_ = false;
};

AnswerReader::AnswerReader(int expected, const ApiKey& key, TextSink on_text)
    : state_(std::make_unique<State>(expected, key, std::move(on_text))) {}
AnswerReader::~AnswerReader() = default;
bool AnswerReader::add(std::string_view bytes) { return state_->add(bytes); }
ServerAnswer AnswerReader::finish(bool transport_is_whole) { return state_->finish(transport_is_whole); }

}  // namespace cudal1
