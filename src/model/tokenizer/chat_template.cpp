// Recognises templates by what only they have; none is run.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/result.hpp"
#include "base/utf8.hpp"
#include "model/tokenizer/chat_form.hpp"

namespace cudal1 {
namespace {

using Kind = ChatForm::Kind;

//! Of Qwen2.5, Qwen2 and Qwen2.5-Math; the longest that contains another comes first.
constexpr std::array<std::string_view, 3> qwen_defaults = {
    "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.",
    "Please reason step by step, and put your final answer within \\boxed{}.", "You are a helpful assistant."};

//! As a template writes them: backslashes are doubled in Jinja's strings.
constexpr std::array<std::string_view, 3> qwen_defaults_written = {
    qwen_defaults[0], "Please reason step by step, and put your final answer within \\\\boxed{}.", qwen_defaults[2]};

//! Signs of forms that we know by name and do not support.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> other_forms = {{
    {"[INST]", "Mistral's or Llama 2's"},
    {"<start_of_turn>", "Gemma's"},
    {"<|turn>", "Gemma 4's"},
    {"<|channel|>", "gpt-oss's"},
    {"<｜User｜>", "DeepSeek's"},
    {"<|START_OF_TURN_TOKEN|>", "Command R's"},
    {"<|im_sep|>", "Phi-4's"},
    {"<|user|>", "Phi-3's, GLM's or Zephyr's"},
    {"<|header_start|>", "Llama 4's"},
    {"<end_of_utterance>", "SmolVLM's"},
    {"### Instruction", "Alpaca's"},
    {"USER:", "Vicuna's"},
}};

class Template {
 public:
  explicit Template(std::string_view text) : text_(text) {}

  bool has(std::string_view part) const { return text_.find(part) != std::string_view::npos; }
  bool trims() const { return has("|trim") || has("| trim") || has(".strip()"); }

  ChatForm form() const {
    for (const auto& [sign, name] : other_forms)
      if (has(sign)) refuse(name);
    if (has("<|start_header_id|>") && has("<|end_header_id|>") && has("<|eot_id|>") && trims()) return llama3();
    if (has("<|im_start|>") && has("<|im_end|>")) return chatml();
    refuse(fmt::format("unknown (it begins \"{}\")", beginning()));
  }

 private:
  [[noreturn]] void refuse(std::string_view whose) const {
    throw Error(fmt::format(
        "the model's chat template is {}, which is not supported: choose a model with ChatML's, Qwen's or Llama 3's",
        whose));
  }

  ChatForm llama3() const {
    ChatForm form{Kind::llama3};
    if (has("Cutting Knowledge Date: December 2023"))
      form.preamble = "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n";
    return form;
  }

  ChatForm chatml() const {
    if (has("bos_token") || has("<|startoftext|>")) refuse("a ChatML with a begin of text (LFM2's)");
    if (has("<|vision_start|>")) refuse("of a model for images");
    if (has("<think>") || has("enable_thinking")) return qwen3();
    if (trims()) refuse("a ChatML that trims messages");
    for (std::size_t i = 0; i < qwen_defaults.size(); ++i)
      if (has(qwen_defaults_written[i])) return {Kind::qwen, std::string(qwen_defaults[i])};
    return {Kind::chatml};
  }

  //! Later ones think by default or write tools differently, and trim what messages say.
  ChatForm qwen3() const {
    const bool is_first = has("enable_thinking is defined and enable_thinking is false") && has("last_query_index") &&
                          !has("'<think>\\n'") && !trims();
    if (!is_first) refuse("a ChatML with thinking other than Qwen3's");
    return {Kind::qwen3};
  }

  //! Some whole characters of it in one line.
  std::string beginning() const {
    std::string start = replace_invalid_utf8(text_.substr(0, 40));
    std::ranges::replace_if(
        start, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    return start;
  }

  std::string_view text_;
};

}  // namespace

ChatForm chat_form_of(const TokenizerData& data) {
  if (data.chat_template.empty())
    throw Error("the model has no chat template: it was not trained to answer; choose one that was (…-Instruct)");
  return Template(data.chat_template).form();
}

}  // namespace cudal1
