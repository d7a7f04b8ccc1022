#include "train/parallel/learner_messages.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/result.hpp"

// MessagePack: JSON has no numbers that are not finite, and no bytes that are no UTF-8.

namespace cudal1 {
namespace {

using nlohmann::json;

std::string packed(const json& message) {
  std::string bytes;
  json::to_msgpack(message, bytes);
  return bytes;
}

template <class Read>
auto unpacked(const std::string& bytes, const Read& read) try {
  return read(json::from_msgpack(bytes));
} catch (const json::exception& problem) {
  throw Error(fmt::format("a process of this run does not understand another: {}", problem.what()));
}

json to_json(const std::vector<DrawnToken>& tokens) {
  json made = json::array();
  for (const DrawnToken& token : tokens)
    made.push_back({token.id, token.sampled_log_probability, token.policy_log_probability, token.forced});
  return made;
}

std::vector<DrawnToken> tokens_from(const json& said) {
  std::vector<DrawnToken> made;
  for (const json& token : said)
    made.push_back(
        {token.at(0).get<std::int32_t>(), token.at(1).get<float>(), token.at(2).get<float>(), token.at(3).get<bool>()});
  return made;
}

json to_json(const GrpoOptions& options) {
  return {options.clip_low, options.clip_high, options.kl_weight, static_cast<int>(options.normalisation)};
}

GrpoOptions grpo_options_from(const json& said) {
  return {said.at(0).get<double>(), said.at(1).get<double>(), said.at(2).get<double>(),
          static_cast<LengthNormalisation>(said.at(3).get<int>())};
}

// --- Orders: {"order": name, …} ---

struct OrderToJson {
  json operator()(const LearnPairs& order) const {
    json pairs = json::array();
    for (const PromptAndAnswer& pair : order.pairs) pairs.push_back({pair.prompt, pair.answer});
    return {{"order", "learn"}, {"pairs", pairs}, {"learning_rate", order.learning_rate}};
  }
  json operator()(const ImproveAnswers& order) const {
    json answers = json::array();
    for (const WeighedAnswer& answer : order.answers)
      answers.push_back(
          {answer.prompt, to_json(answer.tokens), answer.advantage, answer.grammar, answer.by_earlier_policy});
    return {{"order", "improve"},
            {"answers", answers},
            {"options", to_json(order.options)},
            {"updates", order.updates},
            {"learning_rate", order.learning_rate}};
  }
  json operator()(const WriteAnswers& order) const {
    json prompts = json::array();
    for (const PromptToAnswer& asked : order.prompts)
      prompts.push_back({asked.prompt, asked.samples, asked.seed, asked.answer_tokens, asked.grammar});
    return {{"order", "write"}, {"prompts", prompts}};
  }
  json operator()(const KeepReference&) const { return {{"order", "keep_reference"}}; }
  json operator()(const BeginStage&) const { return {{"order", "begin_stage"}}; }
  json operator()(const LoadAdapter& order) const { return {{"order", "load_adapter"}, {"path", order.folder}}; }
  json operator()(const LoadOptimiser& order) const { return {{"order", "load_optimiser"}, {"path", order.file}}; }
};

LearnPairs learn_from(const json& said) {
  LearnPairs made{{}, said.at("learning_rate").get<double>()};
  for (const json& pair : said.at("pairs"))
    made.pairs.push_back({pair.at(0).get<std::string>(), pair.at(1).get<std::string>()});
  return made;
}

ImproveAnswers improve_from(const json& said) {
  ImproveAnswers made{
      {}, grpo_options_from(said.at("options")), said.at("updates").get<int>(), said.at("learning_rate").get<double>()};
  for (const json& answer : said.at("answers"))
    made.answers.push_back({answer.at(0).get<std::string>(), tokens_from(answer.at(1)), answer.at(2).get<double>(),
                            answer.at(3).get<std::string>(), answer.at(4).get<bool>()});
  return made;
}

WriteAnswers write_from(const json& said) {
  WriteAnswers made;
  for (const json& asked : said.at("prompts"))
    made.prompts.push_back({asked.at(0).get<std::string>(), asked.at(1).get<std::int64_t>(),
                            asked.at(2).get<std::uint64_t>(), asked.at(3).get<std::int64_t>(),
                            asked.at(4).get<std::string>()});
  return made;
}

LearnerOrder order_from(const json& said) {
  const auto name = said.at("order").get<std::string>();
  if (name == "learn") return learn_from(said);
  if (name == "improve") return improve_from(said);
  if (name == "write") return write_from(said);
  if (name == "keep_reference") return KeepReference{};
  if (name == "begin_stage") return BeginStage{};
  if (name == "load_adapter") return LoadAdapter{said.at("path").get<std::string>()};
  if (name == "load_optimiser") return LoadOptimiser{said.at("path").get<std::string>()};
  throw Error(fmt::format("a process of this run knows no order '{}'", name));
}

json to_json(const WrittenAnswers& answers) {
  json made = json::array();
  for (const std::vector<SampledAnswer>& of_prompt : answers) {
    made.push_back(json::array());
    for (const SampledAnswer& answer : of_prompt)
      made.back().push_back({to_json(answer.tokens), answer.text, static_cast<int>(answer.finish)});
  }
  return made;
}

WrittenAnswers answers_from(const json& said) {
  WrittenAnswers made;
  for (const json& of_prompt : said) {
    made.emplace_back();
    for (const json& answer : of_prompt)
      made.back().push_back({tokens_from(answer.at(0)), answer.at(1).get<std::string>(),
                             static_cast<FinishReason>(answer.at(2).get<int>())});
  }
  return made;
}

}  // namespace

std::string bytes_of(const HoldModel& message) {
  const AdapterModelOptions& options = message.options;
  return packed({{"member", message.member},
                 {"size", message.size},
                 {"model", options.model.string()},
                 {"adapter", options.adapter.string()},
                 {"rank", options.rank},
                 {"alpha", options.alpha},
                 {"seed", options.seed},
                 {"on_gpu", options.on_gpu},
                 {"dtype", options.dtype},
                 {"slots", options.slots},
                 {"context_tokens", options.context_tokens},
                 {"tokens_at_once", options.tokens_at_once},
                 {"longest_gradient", options.longest_gradient},
                 {"weight_decay", options.weight_decay}});
}

HoldModel hold_model_from(const std::string& bytes) {
  return unpacked(bytes, [](const json& said) {
    HoldModel made;
    AdapterModelOptions& options = made.options;
    said.at("member").get_to(made.member);
    said.at("size").get_to(made.size);
    options.model = said.at("model").get<std::string>();
    options.adapter = said.at("adapter").get<std::string>();
    said.at("rank").get_to(options.rank);
    said.at("alpha").get_to(options.alpha);
    said.at("seed").get_to(options.seed);
    said.at("on_gpu").get_to(options.on_gpu);
    said.at("dtype").get_to(options.dtype);
    said.at("slots").get_to(options.slots);
    said.at("context_tokens").get_to(options.context_tokens);
    said.at("tokens_at_once").get_to(options.tokens_at_once);
    said.at("longest_gradient").get_to(options.longest_gradient);
    said.at("weight_decay").get_to(options.weight_decay);
    return made;
  });
}

std::string bytes_of(const LearnerOrder& order) { return packed(std::visit(OrderToJson{}, order)); }

LearnerOrder learner_order_from(const std::string& bytes) { return unpacked(bytes, order_from); }

std::string bytes_of(const WrittenAnswers& answers) { return packed(to_json(answers)); }

WrittenAnswers written_answers_from(const std::string& bytes) { return unpacked(bytes, answers_from); }

}  // namespace cudal1
