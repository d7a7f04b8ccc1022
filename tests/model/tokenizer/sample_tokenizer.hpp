// Small vocabularies, so that merges can be worked by hand.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/tokenizer/tokenizer.hpp"
#include "model/tokenizer_data.hpp"

namespace cudal1 {

inline constexpr std::string_view gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view llama3_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

//! Ids 0 to 255 are the bytes; then one token for each merge, in order; then the added tokens. GPT-2's cut.
TokenizerData byte_tokenizer(std::vector<std::pair<std::string, std::string>> merges,
                             const std::vector<AddedToken>& added = {});

//! One merge that no text of the tests needs, since there must be some.
inline const std::vector<std::pair<std::string, std::string>> no_merges = {{"ÿ", "ÿ"}};

//! What each id stands for.
std::vector<std::string> pieces(const Tokenizer& tokenizer, const std::vector<TokenId>& ids);

}  // namespace cudal1
