#include "policy/remote/server_address.hpp"

#include <gtest/gtest.h>

#include "base/result.hpp"

namespace cudal1 {
namespace {

TEST(ServerAddress, IsBroughtIntoOneForm) {
  EXPECT_EQ(parse_server_address("HTTPS://API.Example.com/v1/", false).chat_completions(),
            "https://api.example.com/v1/chat/completions");
  EXPECT_EQ(parse_server_address("http://localhost:8080", false).base, "http://localhost:8080");
}

TEST(ServerAddress, UnencryptedIsForThisMachineOnly) {
  for (const char* local :
       {"http://localhost:1/v1", "http://127.0.0.1/v1", "http://127.8.9.1:80/", "http://[::1]:5/v1"})
    EXPECT_TRUE(parse_server_address(local, false).is_local) << local;
  for (const char* other : {"http://api.example.com/v1", "http://127.0.0.1.evil.com/v1", "http://localhost.evil.com",
                            "http://10.0.0.1/v1", "http://[::2]/v1"}) {
    EXPECT_THROW(parse_server_address(other, false), UsageError) << other;
    EXPECT_FALSE(parse_server_address(other, true).is_local) << other;
  }
}

TEST(ServerAddress, SecretsInItAreRefusedAndNotRepeated) {
  for (const char* bad : {"https://me:pass1234@example.com/v1", "https://pass1234@example.com/v1",
                          "https://example.com/v1?key=pass1234", "https://example.com/v1#pass1234"})
    try {
      parse_server_address(bad, false);
      FAIL() << bad;
    } catch (const UsageError& error) {
      EXPECT_EQ(std::string(error.what()).find("pass1234"), std::string::npos) << error.what();
    }
}

TEST(ServerAddress, OtherThingsAreNoAddresses) {
  for (const char* bad :
       {"", "example.com/v1", "ftp://example.com/v1", "file:///etc/passwd", "https://", "https://exa mple.com"})
    EXPECT_THROW(parse_server_address(bad, true), UsageError) << bad;
}

}  // namespace
}  // namespace cudal1
