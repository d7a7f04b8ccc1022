#include "policy/remote/chat_request.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;

//! Sources of tasks may hold any bytes, JSON may not.
std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

json messages_json(const std::vector<ChatMessage>& messages) {
  json list = json::array();
  for (const auto& message : messages) list.push_back({{"role", to_string(message.role)}, {"content", message.text}});
  return list;
}

json parameters_json(const ChatParameters& parameters, const ModelChoice& model) {
  json body = {{model.reasoning ? "max_completion_tokens" : "max_tokens", parameters.max_tokens}};
  if (parameters.temperature && !model.reasoning) body["temperature"] = *parameters.temperature;
  if (parameters.top_p && !model.reasoning) body["top_p"] = *parameters.top_p;
  if (!parameters.stop.empty()) body["stop"] = parameters.stop;
  if (!parameters.reasoning_effort.empty() && model.reasoning) body["reasoning_effort"] = parameters.reasoning_effort;
  return body;
}

}  // namespace

bool is_reasoning_model(std::string_view name) {
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  for (const std::string_view family : {"o1", "o3", "o4", "gpt-5"}) {
    if (!name.starts_with(family)) continue;
    const std::string_view rest = name.substr(family.size());
    if (rest.starts_with("-chat")) return false;
    if (rest.empty() || rest.front() == '-' || rest.front() == '.') return true;
  }
  return false;
}

std::string request_body(const ChatRequest& request, const ModelChoice& model, int count, int sample) {
  json body = parameters_json(request.parameters, model);
  body["model"] = model.name;
  body["messages"] = messages_json(request.messages);
  if (request.parameters.seed) body["seed"] = *request.parameters.seed + sample;
  if (count > 1) body["n"] = count;
  if (model.stream) {
    body["stream"] = true;
    body["stream_options"] = {{"include_usage", true}};
  }
  return dump(body);
}

std::string response_key(const ChatRequest& request, const ModelChoice& model, std::string_view base_url, int sample) {
  json parameters = parameters_json(request.parameters, model);
  if (request.parameters.seed) parameters["seed"] = *request.parameters.seed;
  return Sha256()
      .add_field("cudal1 remote answer 1")
      .add_field(base_url)
      .add_field(model.name)
      .add_field(dump(parameters))
      .add_field(dump(messages_json(request.messages)))
      .add_field(std::to_string(sample))
      .hex();
}

}  // namespace cudal1
