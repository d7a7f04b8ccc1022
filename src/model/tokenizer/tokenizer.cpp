#include "model/tokenizer/tokenizer.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/result.hpp"
#include "base/utf8.hpp"
#include "model/tokenizer/added_tokens.hpp"
#include "model/tokenizer/byte_alphabet.hpp"
#include "model/tokenizer/byte_pairs.hpp"
#include "model/tokenizer/normal_form.hpp"
#include "model/tokenizer/piece_cache.hpp"
#include "model/tokenizer/pre_tokenizer.hpp"
#include "model/tokenizer/text_hash.hpp"

namespace cudal1 {
namespace {

void check_id(std::optional<TokenId> id, std::size_t tokens, std::string_view what) {
  if (id && (*id < 0 || static_cast<std::size_t>(*id) >= tokens))
    throw Error(fmt::format("{} of the tokenizer has the id {}, but there are {} tokens", what, *id, tokens));
}

std::vector<bool> control_tokens(const TokenizerData& data) {
  std::vector<bool> control(data.tokens.size());
  for (const AddedToken& token : data.added) {
    check_id(token.id, data.tokens.size(), fmt::format("the added token \"{}\"", token.text));
    control[static_cast<std::size_t>(token.id)] = token.special;
  }
  return control;
}

//! What merges may join and make: control tokens are no part of it, so no text can become one of them.
BytePairs::Vocabulary tokens_of_text(const TokenizerData& data, const std::vector<bool>& control) {
  BytePairs::Vocabulary vocabulary;
  vocabulary.reserve(data.tokens.size());
  for (std::size_t id = 0; id < data.tokens.size(); ++id)
    if (!control[id] && !data.tokens[id].empty()) vocabulary[data.tokens[id]] = static_cast<TokenId>(id);
  return vocabulary;
}

//! A token with characters outside of the alphabet stands for its own text, as in transformers.
std::vector<std::string> bytes_of_tokens(const TokenizerData& data) {
  std::vector<std::string> bytes;
  bytes.reserve(data.tokens.size());
  for (const std::string& token : data.tokens) bytes.push_back(bytes_of_letters(token).value_or(token));
  for (const AddedToken& token : data.added) bytes[static_cast<std::size_t>(token.id)] = token.text;
  return bytes;
}

//! By the bytes of a piece, for tokenizers that take a piece whole before they look at merges.
TextMap<TokenId> whole_pieces(const TokenizerData& data, const BytePairs::Vocabulary& vocabulary) {
  TextMap<TokenId> whole;
  if (!data.ignore_merges) return whole;
  std::vector<bool> added(data.tokens.size());
  for (const AddedToken& token : data.added) added[static_cast<std::size_t>(token.id)] = true;
  for (const auto& [token, id] : vocabulary)
    if (!added[static_cast<std::size_t>(id)])
      if (auto bytes = bytes_of_letters(token)) whole.emplace(std::move(*bytes), id);
  return whole;
}

}  // namespace

struct Tokenizer::Parts {
  explicit Parts(const TokenizerData& data) : Parts(data, tokens_of_text(data, control_tokens(data))) {}
  Parts(const TokenizerData& data, const BytePairs::Vocabulary& vocabulary)
      : is_control(control_tokens(data)),
        bytes(bytes_of_tokens(data)),
        added(data.added),
        pre_tokenizer(data.steps),
        pairs(vocabulary, data.merges),
        whole(whole_pieces(data, vocabulary)),
        compose(data.compose),
        begin_of_text(data.begin_of_text),
        end_of_text(data.end_of_text) {}

  std::vector<bool> is_control;    //!< by id
  std::vector<std::string> bytes;  //!< by id
  AddedTokens added;
  PreTokenizer pre_tokenizer;
  BytePairs pairs;
  TextMap<TokenId> whole;
  bool compose;
  std::optional<TokenId> begin_of_text, end_of_text;
  PieceCache cache;
};

Tokenizer::Tokenizer(const TokenizerData& data) : parts_(std::make_unique<Parts>(data)) {
  check_id(data.begin_of_text, data.tokens.size(), "the begin of text");
  check_id(data.end_of_text, data.tokens.size(), "the end of text");
}

Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

std::vector<TokenId> Tokenizer::encode(std::string_view text) const {
  std::vector<TokenId> ids;
  ids.reserve(text.size() / 3);
  append_text(text, ids);
  return ids;
}

std::vector<TokenId> Tokenizer::encode_with_special(std::string_view text) const {
  std::vector<TokenId> ids;
  ids.reserve(text.size() / 3);
  std::size_t done = 0;
  while (const auto match = parts_->added.next(text, done)) {
    append_text(text.substr(done, match->begin - done), ids);
    ids.push_back(match->token->id);
    done = match->end;
  }
  append_text(text.substr(done), ids);
  return ids;
}

//! Text between added tokens; each such part is brought into shape by itself, as in transformers.
void Tokenizer::append_text(std::string_view text, std::vector<TokenId>& ids) const {
  std::string changed;
  if (!is_valid_utf8(text)) text = changed = replace_invalid_utf8(text);
  if (parts_->compose && !is_surely_composed(text)) text = changed = composed(text);
  parts_->pre_tokenizer.cut(text, [&](std::string_view piece) { append_piece(piece, ids); });
}

void Tokenizer::append_piece(std::string_view piece, std::vector<TokenId>& ids) const {
  if (const auto whole = parts_->whole.find(piece); whole != parts_->whole.end()) return ids.push_back(whole->second);
  if (parts_->cache.append(piece, ids)) return;
  const std::size_t before = ids.size();
  parts_->pairs.encode(piece, ids);
  parts_->cache.remember(piece, std::span(ids).subspan(before));
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool skip_special) const {
  std::string bytes;
  for (const TokenId id : ids)
    if (!skip_special || !is_special(id)) bytes += token_bytes(id);
  return is_valid_utf8(bytes) ? bytes : replace_invalid_utf8(bytes);
}

std::string_view Tokenizer::token_bytes(TokenId id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= parts_->bytes.size()) return {};
  return parts_->bytes[static_cast<std::size_t>(id)];
}

bool Tokenizer::is_special(TokenId id) const {
  return id >= 0 && static_cast<std::size_t>(id) < parts_->is_control.size() &&
         parts_->is_control[static_cast<std::size_t>(id)];
}

std::optional<TokenId> Tokenizer::find_special(std::string_view text) const {
  const AddedToken* token = parts_->added.find(text);
  return token ? std::optional(token->id) : std::nullopt;
}

std::size_t Tokenizer::vocabulary_size() const { return parts_->bytes.size(); }
std::optional<TokenId> Tokenizer::begin_of_text() const { return parts_->begin_of_text; }
std::optional<TokenId> Tokenizer::end_of_text() const { return parts_->end_of_text; }

}  // namespace cudal1
