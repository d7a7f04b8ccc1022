// Encodes and decodes texts with our tokenizer, so that ids can be compared with somebody else's:
//   tokenize_file TOKENIZER.json CASES.jsonl RESULTS.jsonl
// A case is {"text", "special": true|false} or {"messages": [{"role", "content"}], "generate": true|false}; its result
// is
// {"ids", "decoded", "decoded_plain"}, the latter without control tokens. Prints how fast the texts were encoded.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <ctime>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/tokenizer/chat_form.hpp"
#include "model/tokenizer/stream_decoder.hpp"
#include "model/tokenizer/tokenizer.hpp"
#include "model/tokenizer/tokenizer_json.hpp"

namespace {

using cudal1::ChatMessage;
using cudal1::Error;
using cudal1::TokenId;
using cudal1::Tokenizer;
using nlohmann::json;

std::vector<json> read_cases(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(path + ": cannot be read");
  std::vector<json> cases;
  for (std::string line; std::getline(file, line);) cases.push_back(json::parse(line));
  return cases;
}

ChatMessage message_of(const json& message) {
  const auto role = message.at("role").get<std::string>();
  const auto kind = role == "system" ? ChatMessage::Role::system
                    : role == "user" ? ChatMessage::Role::user
                                     : ChatMessage::Role::assistant;
  return {kind, message.at("content").get<std::string>()};
}

class Encoder {
 public:
  explicit Encoder(const std::string& path) : data_(cudal1::read_tokenizer_json(path)), tokenizer_(data_) {}

  std::vector<TokenId> encode(const json& one) const {
    if (one.contains("messages")) return encode_messages(one);
    const auto& text = one.at("text").get_ref<const std::string&>();
    return one.at("special").get<bool>() ? tokenizer_.encode_with_special(text) : tokenizer_.encode(text);
  }

  json result(const json& one) const {
    const std::vector<TokenId> ids = encode(one);
    const std::string decoded = tokenizer_.decode(ids);
    if (streamed(ids) != decoded) throw Error("decoding in a stream differs from decoding at once");
    return {{"ids", ids}, {"decoded", decoded}, {"decoded_plain", tokenizer_.decode(ids, true)}};
  }

 private:
  std::vector<TokenId> encode_messages(const json& one) const {
    std::vector<ChatMessage> messages;
    for (const json& message : one.at("messages")) messages.push_back(message_of(message));
    return encode_chat(tokenizer_, chat_form_of(data_), messages, one.at("generate").get<bool>());
  }

  std::string streamed(const std::vector<TokenId>& ids) const {
    cudal1::StreamDecoder decoder(tokenizer_, false);
    std::string text;
    for (const TokenId id : ids) text += decoder.push(id);
    return text + decoder.finish();
  }

  cudal1::TokenizerData data_;
  Tokenizer tokenizer_;
};

void print_speed(const Encoder& encoder, const std::vector<json>& cases) {
  std::size_t bytes = 0, ids = 0;
  const std::clock_t start = std::clock();  // processor time: other work on the machine does not count
  for (const json& one : cases) {
    if (!one.contains("text")) continue;
    bytes += one.at("text").get_ref<const std::string&>().size();
    ids += encoder.encode(one).size();
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  fmt::print("{}\n", json{{"bytes", bytes}, {"ids", ids}, {"seconds", seconds}}.dump());
}

void run(const std::string& tokenizer, const std::string& cases_path, const std::string& results_path) {
  const std::vector<json> cases = read_cases(cases_path);
  const Encoder encoder(tokenizer);
  print_speed(encoder, cases);
  std::ofstream results(results_path);
  for (const json& one : cases) results << encoder.result(one).dump() << '\n';
  if (!results.flush()) throw Error(results_path + ": cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Token ids of texts"};
  std::string tokenizer, cases, results;
  app.add_option("tokenizer", tokenizer)->required();
  app.add_option("cases", cases)->required();
  app.add_option("results", results)->required();
  CLI11_PARSE(app, argc, argv);
  try {
    run(tokenizer, cases, results);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "{}\n", problem.what());
    return 1;
  }
}
