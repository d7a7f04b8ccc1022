#include "model/tokenizer/tokenizer_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/files.hpp"
#include "base/result.hpp"
#include "graph/json_place.hpp"
#include "model/tokenizer/byte_alphabet.hpp"
#include "model/tokenizer/pattern.hpp"

namespace cudal1 {
namespace {

//! GPT-2's cut, which ByteLevel makes by itself unless it is told not to.
constexpr std::string_view byte_level_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

constexpr std::int64_t most_tokens = 1 << 22;

//! What is there and not null.
std::optional<JsonPlace> find_value(const JsonPlace& place, const std::string& key) {
  const std::optional<JsonPlace> found = place.find(key);
  return found && !found->json().is_null() ? found : std::nullopt;
}

bool flag(const JsonPlace& place, const std::string& key, bool when_missing) {
  const std::optional<JsonPlace> found = find_value(place, key);
  return found ? found->boolean() : when_missing;
}

void refuse_flag(const JsonPlace& place, const std::string& key) {
  if (flag(place, key, false)) place.at(key).fail(fmt::format("\"{}\" is not supported", key));
}

// --- the model: vocabulary and merges ------------------------------------------------------------------------------

void refuse_text(const JsonPlace& model, const std::string& key) {
  const std::optional<JsonPlace> found = find_value(model, key);
  if (found && !found->text().empty()) found->fail(fmt::format("\"{}\" is not supported", key));
}

void put_token(std::vector<std::string>& tokens, std::int64_t id, std::string text, const JsonPlace& place) {
  if (id < 0 || id >= most_tokens) place.fail(fmt::format("\"{}\" has the id {}, which cannot be", text, id));
  const auto row = static_cast<std::size_t>(id);
  if (row >= tokens.size()) tokens.resize(row + 1);
  if (!tokens[row].empty() && tokens[row] != text)
    place.fail(fmt::format("\"{}\" and \"{}\" have the same id {}", tokens[row], text, id));
  tokens[row] = std::move(text);
}

void read_vocabulary(const JsonPlace& vocabulary, TokenizerData& data) {
  if (!vocabulary.json().is_object()) vocabulary.fail("expected an object of tokens and ids");
  for (const auto& [token, id] : vocabulary.json().items()) {
    if (!id.is_number_integer()) vocabulary.fail(fmt::format("the id of \"{}\" is no integer", token));
    put_token(data.tokens, id.get<std::int64_t>(), token, vocabulary);
  }
}

//! Older files have "a b", newer ones ["a", "b"].
std::pair<std::string, std::string> read_merge(const nlohmann::json& merge, const JsonPlace& merges,
                                               std::size_t index) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
    return {merge[0].get<std::string>(), merge[1].get<std::string>()};
  if (merge.is_string()) {
    const auto& text = merge.get_ref<const std::string&>();
    const std::size_t space = text.find(' ');
    if (space != std::string::npos && text.find(' ', space + 1) == std::string::npos)
      return {text.substr(0, space), text.substr(space + 1)};
  }
  merges.at(index).fail("expected two tokens, as \"a b\" or [\"a\", \"b\"]");
}

void read_merges(const JsonPlace& merges, TokenizerData& data) {
  merges.expect_array();
  data.merges.reserve(merges.size());
  for (std::size_t i = 0; i < merges.size(); ++i) data.merges.push_back(read_merge(merges.json()[i], merges, i));
}

//! A token for what the vocabulary lacks would matter only where it lacks a byte.
void check_unknown_token(const JsonPlace& model) {
  const std::optional<JsonPlace> unknown = find_value(model, "unk_token");
  if (!unknown) return;
  for (unsigned byte = 0; byte < 256; ++byte)
    if (!model.at("vocab").json().contains(std::string(letter_of_byte(static_cast<unsigned char>(byte)))))
      unknown->fail(fmt::format("an unknown token where the vocabulary lacks bytes (0x{:02x}) is not supported", byte));
}

void read_model(const JsonPlace& model, TokenizerData& data) {
  const std::optional<JsonPlace> type = find_value(model, "type");
  if (type && type->text() != "BPE")
    type->fail(fmt::format("a tokenizer of the kind {} is not supported, only byte-level BPE is", type->text()));
  if (const auto dropout = find_value(model, "dropout"); dropout && dropout->number() != 0.0)
    dropout->fail("\"dropout\" is not supported");
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) refuse_text(model, key);
  for (const char* key : {"fuse_unk", "byte_fallback"}) refuse_flag(model, key);
  read_vocabulary(model.at("vocab"), data);
  const std::optional<JsonPlace> merges = find_value(model, "merges");
  if (!merges || merges->size() == 0) model.fail("the tokenizer has no merges; get the model's files again");
  read_merges(*merges, data);
  check_unknown_token(model);
  data.ignore_merges = flag(model, "ignore_merges", false);
}

void read_added_tokens(const JsonPlace& added, TokenizerData& data) {
  added.expect_array();
  for (std::size_t i = 0; i < added.size(); ++i) {
    const JsonPlace token = added.at(i);
    for (const char* key : {"single_word", "lstrip", "rstrip"}) refuse_flag(token, key);
    // It would be looked for after composition, we look before.
    if (data.compose && flag(token, "normalized", false))
      token.fail("an added token that is normalised beside the normalizer NFC is not supported");
    const std::int64_t id = token.at("id").integer();
    put_token(data.tokens, id, token.at("content").text(), token);
    data.added.push_back({static_cast<std::int32_t>(id), token.at("content").text(), flag(token, "special", false)});
  }
}

// --- what happens to a text before merges ----------------------------------------------------------------------------

void read_normalizer(const JsonPlace& normalizer, TokenizerData& data) {
  const std::string type = normalizer.at("type").text();
  if (type == "NFC") {
    data.compose = true;
  } else if (type == "Sequence") {
    const JsonPlace parts = normalizer.at("normalizers");
    parts.expect_array();
    for (std::size_t i = 0; i < parts.size(); ++i) read_normalizer(parts.at(i), data);
  } else {
    normalizer.fail(fmt::format("the normalizer {} is not supported", type));
  }
}

//! Isolated: matches and what lies between them are pieces, so it does not matter which of the two is asked for.
void read_split(const JsonPlace& split, TokenizerData& data) {
  const std::string behavior = split.at("behavior").text();
  if (behavior != "Isolated")
    split.at("behavior").fail(fmt::format("a Split with the behavior {} is not supported", behavior));
  const std::optional<JsonPlace> pattern = split.at("pattern").find("Regex");
  if (!pattern) split.at("pattern").fail("a Split by something else than a Regex is not supported");
  try {
    refuse_ambiguous_pattern(pattern->text());
  } catch (const Error& problem) {
    pattern->fail(problem.what());
  }
  data.steps.push_back({PreTokenizerStep::Kind::pattern, pattern->text()});
}

void read_digits(const JsonPlace& digits, TokenizerData& data) {
  if (!flag(digits, "individual_digits", false)) digits.fail("Digits without \"individual_digits\" are not supported");
  data.steps.push_back({PreTokenizerStep::Kind::single_digits, ""});
}

void read_byte_level(const JsonPlace& byte_level, TokenizerData& data) {
  if (flag(byte_level, "add_prefix_space", true)) byte_level.fail("\"add_prefix_space\" is not supported");
  if (flag(byte_level, "use_regex", true))
    data.steps.push_back({PreTokenizerStep::Kind::pattern, std::string(byte_level_pattern)});
}

//! Returns whether it was ByteLevel, which must be there and come last: what follows would see its alphabet.
bool read_pre_tokenizer(const JsonPlace& step, TokenizerData& data) {
  const std::string type = step.at("type").text();
  if (type == "Split") {
    read_split(step, data);
  } else if (type == "Digits") {
    read_digits(step, data);
  } else if (type == "ByteLevel") {
    read_byte_level(step, data);
    return true;
  } else {
    step.fail(fmt::format("the pre-tokenizer {} is not supported", type));
  }
  return false;
}

void read_pre_tokenizers(const JsonPlace& top, TokenizerData& data) {
  if (top.at("type").text() != "Sequence") {
    if (!read_pre_tokenizer(top, data)) top.fail("no ByteLevel in it: only byte-level BPE is supported");
    return;
  }
  const JsonPlace steps = top.at("pretokenizers");
  steps.expect_array();
  bool is_byte_level = false;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (is_byte_level) steps.at(i).fail("a pre-tokenizer after ByteLevel is not supported");
    is_byte_level = read_pre_tokenizer(steps.at(i), data);
  }
  if (!is_byte_level) steps.fail("no ByteLevel in it: only byte-level BPE is supported");
}

void check_decoder(const JsonPlace& decoder) {
  const std::string type = decoder.at("type").text();
  if (type != "ByteLevel") decoder.fail(fmt::format("the decoder {} is not supported", type));
}

// --- the files beside it
// -----------------------------------------------------------------------------------------------

//! A token of tokenizer_config.json, "…" or {"content": "…"}, looked up by its text.
std::optional<std::int32_t> token_of_config(const JsonPlace& config, const std::string& key,
                                            const TokenizerData& data) {
  const std::optional<JsonPlace> named = find_value(config, key);
  if (!named) return std::nullopt;
  const std::string text = named->json().is_object() ? named->at("content").text() : named->text();
  for (const AddedToken& token : data.added)
    if (token.text == text) return token.id;
  const auto found = std::ranges::find(data.tokens, text);
  if (found == data.tokens.end()) named->fail(fmt::format("\"{}\" is not in tokenizer.json", text));
  return static_cast<std::int32_t>(found - data.tokens.begin());
}

//! One template, or several with names.
std::string template_of_config(const JsonPlace& templates) {
  if (templates.json().is_string()) return templates.text();
  templates.expect_array();
  for (std::size_t i = 0; i < templates.size(); ++i)
    if (templates.at(i).at("name").text() == "default") return templates.at(i).at("template").text();
  return "";
}

void read_config(const std::filesystem::path& path, TokenizerData& data) {
  const nlohmann::json json = parse_json(read_file(path), path.string());
  const JsonPlace config(json, path.string());
  data.begin_of_text = token_of_config(config, "bos_token", data);
  data.end_of_text = token_of_config(config, "eos_token", data);
  if (const auto templates = find_value(config, "chat_template")) data.chat_template = template_of_config(*templates);
}

}  // namespace

TokenizerData read_tokenizer_json(const std::filesystem::path& path) {
  const nlohmann::json json = parse_json(read_file(path), path.string());
  const JsonPlace top(json, path.string());
  TokenizerData data;
  if (const auto normalizer = find_value(top, "normalizer")) read_normalizer(*normalizer, data);
  read_pre_tokenizers(top.at("pre_tokenizer"), data);
  read_model(top.at("model"), data);
  if (const auto added = find_value(top, "added_tokens")) read_added_tokens(*added, data);
  check_decoder(top.at("decoder"));
  const std::filesystem::path folder = path.parent_path();
  std::error_code ignored;
  if (const auto config = folder / "tokenizer_config.json"; std::filesystem::exists(config, ignored))
    read_config(config, data);
  if (const auto jinja = folder / "chat_template.jinja"; std::filesystem::exists(jinja, ignored))
    data.chat_template = read_file(jinja);
  return data;
}

}  // namespace cudal1
