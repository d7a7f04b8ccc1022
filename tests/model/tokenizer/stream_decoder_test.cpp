#include "model/tokenizer/stream_decoder.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/utf8.hpp"
#include "sample_tokenizer.hpp"

namespace cudal1 {
namespace {

const std::string many_widths = "aé漢🙂z\U0010FFFF";

//! A tokenizer with one more token: the bytes of `text` from `begin` to `end`.
TokenizerData with_token(std::string_view bytes) {
  TokenizerData data = byte_tokenizer(no_merges, {{0, "<|end|>", true}});
  data.tokens.emplace_back();
  for (const char byte : bytes) data.tokens.back() += data.tokens[static_cast<unsigned char>(byte)];
  return data;
}

TEST(StreamDecoder, GivesWholeCharactersWhereverTokensAreCut) {
  for (std::size_t begin = 0; begin < many_widths.size(); ++begin) {
    for (std::size_t end = begin + 1; end <= many_widths.size(); ++end) {
      const Tokenizer tokenizer(with_token(std::string_view(many_widths).substr(begin, end - begin)));
      std::vector<TokenId> ids;
      for (std::size_t i = 0; i < begin; ++i) ids.push_back(static_cast<unsigned char>(many_widths[i]));
      ids.push_back(static_cast<TokenId>(tokenizer.vocabulary_size()) - 1);
      for (std::size_t i = end; i < many_widths.size(); ++i) ids.push_back(static_cast<unsigned char>(many_widths[i]));
      StreamDecoder decoder(tokenizer);
      std::string text;
      for (const TokenId id : ids) {
        const std::string part = decoder.push(id);
        EXPECT_TRUE(is_valid_utf8(part));
        EXPECT_EQ(part.find(replacement_character), std::string::npos);
        text += part;
      }
      EXPECT_EQ(decoder.finish(), "");
      EXPECT_EQ(text, many_widths);
    }
  }
}

TEST(StreamDecoder, GivesACharacterWithItsLastByte) {
  const Tokenizer tokenizer(byte_tokenizer(no_merges));
  StreamDecoder decoder(tokenizer);
  EXPECT_EQ(decoder.push(0xE6), "");
  EXPECT_EQ(decoder.push(0xBC), "");
  EXPECT_EQ(decoder.push(0xA2), "漢");
  EXPECT_EQ(decoder.push('a'), "a");
}

TEST(StreamDecoder, ReplacesWhatCannotBecomeACharacterAtOnceAndAtTheEnd) {
  const Tokenizer tokenizer(byte_tokenizer(no_merges));
  StreamDecoder decoder(tokenizer);
  EXPECT_EQ(decoder.push(0xE6), "");
  EXPECT_EQ(decoder.push('a'), "\uFFFDa");
  EXPECT_EQ(decoder.push(0xFF), "\uFFFD");
  EXPECT_EQ(decoder.push(0xF0), "");
  EXPECT_EQ(decoder.push(0x9F), "");
  EXPECT_EQ(decoder.finish(), "\uFFFD");
  EXPECT_EQ(decoder.finish(), "");  // a new text
  EXPECT_EQ(decoder.push('b'), "b");
}

TEST(StreamDecoder, LeavesControlTokensOutUnlessAsked) {
  const Tokenizer tokenizer(byte_tokenizer(no_merges, {{0, "<|end|>", true}, {0, "<tag>", false}}));
  const TokenId end = *tokenizer.find_special("<|end|>"), tag = *tokenizer.find_special("<tag>");
  StreamDecoder without(tokenizer), with(tokenizer, false);
  EXPECT_EQ(without.push('a') + without.push(end) + without.push(tag), "a<tag>");
  EXPECT_EQ(with.push('a') + with.push(end) + with.push(tag), "a<|end|><tag>");
}

TEST(StreamDecoder, SaysWhatDecodeSaysOfRandomIds) {
  const Tokenizer tokenizer(byte_tokenizer(no_merges, {{0, "<|end|>", true}}));
  Random random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<TokenId> ids(random.below(40));
    for (TokenId& id : ids) id = static_cast<TokenId>(random.below(tokenizer.vocabulary_size() + 20));
    StreamDecoder decoder(tokenizer, false);
    std::string text;
    for (const TokenId id : ids) text += decoder.push(id);
    EXPECT_EQ(text + decoder.finish(), tokenizer.decode(ids));
  }
}

}  // namespace
}  // namespace cudal1
