#include "sample_tokenizer.hpp"

#include "model/tokenizer/byte_alphabet.hpp"

namespace cudal1 {

TokenizerData byte_tokenizer(std::vector<std::pair<std::string, std::string>> merges,
                             const std::vector<AddedToken>& added) {
  TokenizerData data;
  for (unsigned byte = 0; byte < 256; ++byte)
    data.tokens.emplace_back(letter_of_byte(static_cast<unsigned char>(byte)));
  for (const auto& [left, right] : merges) data.tokens.push_back(left + right);
  data.merges = std::move(merges);
  for (AddedToken token : added) {
    token.id = static_cast<std::int32_t>(data.tokens.size());
    data.tokens.push_back(token.text);
    data.added.push_back(token);
  }
  data.steps = {{PreTokenizerStep::Kind::pattern, std::string(gpt2_pattern)}};
  return data;
}

std::vector<std::string> pieces(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  std::vector<std::string> bytes;
  for (const TokenId id : ids) bytes.emplace_back(tokenizer.token_bytes(id));
  return bytes;
}

}  // namespace cudal1
