#include "policy/remote/api_key.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/result.hpp"

namespace cudal1 {
namespace {

ApiKey key_of(const std::string& value) {
  ::setenv("CUDAL1_TEST_KEY", value.c_str(), 1);
  return ApiKey::from_environment("CUDAL1_TEST_KEY");
}

TEST(ApiKey, IsTakenOutOfTextsWherverItStands) {
  const ApiKey key = key_of("sk-secret+/12345");
  EXPECT_EQ(key.redact("key sk-secret+/12345, again sk-secret+/12345"), "key [key], again [key]");
  EXPECT_EQ(key.redact("?key=sk-secret%2B%2F12345&x"), "?key=[key]&x");
}

TEST(ApiKey, APlaceholderDoesNotMangleTexts) {
  EXPECT_EQ(key_of("none").redact("none of these"), "none of these");
  EXPECT_EQ(key_of("").redact("text"), "text");
  EXPECT_TRUE(key_of("").empty());
}

TEST(ApiKey, BlanksAroundItAreNotPartOfIt) {
  EXPECT_EQ(key_of(" sk-0123456789\n").authorization_header(), "Authorization: Bearer sk-0123456789");
}

TEST(ApiKey, WhatCannotStandInAHeaderIsRefusedWithoutRepeatingIt) {
  for (const std::string bad : {"sk-0123\r\nX-Evil: 1", "sk-01234 56789", "sk-ключ-0123"}) try {
      key_of(bad);
      FAIL() << bad;
    } catch (const UsageError& error) {
      EXPECT_EQ(std::string(error.what()).find("sk-"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("CUDAL1_TEST_KEY"), std::string::npos);
    }
}

TEST(KeyFilter, FindsAKeyThatArrivesInPieces) {
  const ApiKey key = key_of("sk-sk-abcdef");
  const std::string text = "sk-sk-sk-abcdef! sk-sk-abcde sk-sk-abcdefsk-sk-abcdef sk-";
  for (std::size_t bytes = 1; bytes <= text.size(); ++bytes) {
    KeyFilter filter(key);
    std::string passed;
    for (std::size_t at = 0; at < text.size(); at += bytes) passed += filter.add(text.substr(at, bytes));
    passed += filter.finish();
    EXPECT_EQ(passed, "sk-[key]! sk-sk-abcde [key][key] sk-") << bytes;
  }
}

}  // namespace
}  // namespace cudal1
