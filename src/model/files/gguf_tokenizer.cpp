#include "model/files/gguf_tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cudal1 {
namespace {

// GGUF's kinds of tokens; "unused" ones (padding) and normal ones need nothing of us.
constexpr std::int64_t unknown_token = 2, control_token = 3, user_defined_token = 4, last_kind = 6;

// The patterns that models were trained with, as their tokenizers' own files have them.
constexpr const char* gpt2_pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr const char* qwen2_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* llama3_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

std::vector<PreTokenizerStep> steps_of(const GgufMetadata& metadata, std::string_view kind) {
  using Kind = PreTokenizerStep::Kind;
  if (kind == "smollm") return {{Kind::single_digits, ""}, {Kind::pattern, gpt2_pattern}};
  if (kind == "gpt-2") return {{Kind::pattern, gpt2_pattern}};
  if (kind == "qwen2") return {{Kind::pattern, qwen2_pattern}};
  if (kind == "llama-bpe") return {{Kind::pattern, llama3_pattern}};
  metadata.fail(fmt::format(
      "the pre-tokenizer \"{}\" is not supported; smollm, gpt-2, qwen2 and llama-bpe are: take another model", kind));
}

void check_model(const GgufMetadata& metadata) {
  const auto model = metadata.text("tokenizer.ggml.model");
  if (!model) metadata.fail("the file has no tokenizer; take one that has");
  if (*model != "gpt2")
    metadata.fail(fmt::format("the tokenizer \"{}\" is not supported; byte-level BPE (\"gpt2\") is", *model));
}

std::vector<std::string> tokens_of(const GgufMetadata& metadata) {
  const auto* tokens = metadata.texts("tokenizer.ggml.tokens");
  if (!tokens || tokens->empty()) metadata.fail("the tokenizer has no tokens; convert the model again");
  return {tokens->begin(), tokens->end()};
}

std::vector<std::pair<std::string, std::string>> merges_of(const GgufMetadata& metadata) {
  const auto* merges = metadata.texts("tokenizer.ggml.merges");
  if (!merges || merges->empty()) metadata.fail("the tokenizer has no merges; convert the model again");
  std::vector<std::pair<std::string, std::string>> pairs;
  pairs.reserve(merges->size());
  for (const std::string_view merge : *merges) {
    // No character of the alphabet of bytes is a space, so there is exactly one.
    const std::size_t space = merge.find(' ');
    if (space == 0 || space == std::string_view::npos || space + 1 == merge.size() || merge.rfind(' ') != space)
      metadata.fail(fmt::format("merge {} is no pair: \"{}\"", pairs.size(), merge));
    pairs.emplace_back(merge.substr(0, space), merge.substr(space + 1));
  }
  return pairs;
}

std::vector<AddedToken> added_of(const GgufMetadata& metadata, const std::vector<std::string>& tokens) {
  const auto kinds = metadata.integers("tokenizer.ggml.token_type");
  if (!kinds) metadata.fail("the tokenizer does not say which tokens are special; convert the model again");
  if (kinds->size() != tokens.size())
    metadata.fail(fmt::format("the tokenizer has {} tokens, but kinds for {}", tokens.size(), kinds->size()));
  std::vector<AddedToken> added;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const std::int64_t kind = (*kinds)[id];
    if (kind < 1 || kind > last_kind) metadata.fail(fmt::format("token {} is of the unknown kind {}", id, kind));
    if (kind != unknown_token && kind != control_token && kind != user_defined_token) continue;
    if (tokens[id].empty()) metadata.fail(fmt::format("token {} is special and empty", id));
    added.push_back({static_cast<std::int32_t>(id), tokens[id], kind != user_defined_token});
  }
  return added;
}

std::optional<std::int32_t> id_of(const GgufMetadata& metadata, const std::string& key, std::size_t tokens) {
  const auto id = metadata.integer(key);
  if (!id) return std::nullopt;
  if (*id < 0 || static_cast<std::uint64_t>(*id) >= tokens)
    metadata.fail(fmt::format("\"{}\" is {}, but there are {} tokens", key, *id, tokens));
  return static_cast<std::int32_t>(*id);
}

}  // namespace

TokenizerData tokenizer_of(const GgufMetadata& metadata) {
  check_model(metadata);
  TokenizerData data;
  const auto kind = metadata.text("tokenizer.ggml.pre");
  if (!kind) metadata.fail("the file does not name its pre-tokenizer; convert the model again");
  data.steps = steps_of(metadata, *kind);
  data.ignore_merges = *kind == "llama-bpe";
  data.compose = *kind == "qwen2";
  data.tokens = tokens_of(metadata);
  data.merges = merges_of(metadata);
  data.added = added_of(metadata, data.tokens);
  data.begin_of_text = id_of(metadata, "tokenizer.ggml.bos_token_id", data.tokens.size());
  data.end_of_text = id_of(metadata, "tokenizer.ggml.eos_token_id", data.tokens.size());
  data.chat_template = metadata.text("tokenizer.chat_template").value_or("");
  return data;
}

std::vector<std::int32_t> end_tokens_of(const GgufMetadata& metadata) {
  const auto* tokens = metadata.texts("tokenizer.ggml.tokens");
  std::vector<std::int32_t> ids;
  for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"})
    if (const auto id = id_of(metadata, key, tokens ? tokens->size() : 0); id && !std::ranges::count(ids, *id))
      ids.push_back(*id);
  return ids;
}

}  // namespace cudal1
