#include "cli/remote_options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/result.hpp"

namespace cudal1 {
namespace {

RemoteOptions parsed(const std::string& line) {
  RemoteOptions options;
  CLI::App app;
  add_remote_options(app, options);
  app.parse(line);
  return options;
}

TEST(RemoteOptions, ReachTheClient) {
  ::setenv("CUDAL1_CACHE_DIR", "/somewhere", 1);
  const RemoteOptions options = parsed(
      "--server https://a.example/v1 --remote-model tiny --temperature 0.5 --top-p 0.9 --max-tokens 99 --price-in 3 "
      "--price-out 15 --max-cost 2.5 --concurrency 3 --no-stream --allow-http --idle-timeout 7");
  const ChatClientOptions client = chat_client_options(options);
  EXPECT_EQ(client.server, "https://a.example/v1");
  EXPECT_EQ(client.model.name, "tiny");
  EXPECT_FALSE(client.model.stream);
  EXPECT_EQ(client.max_cost, 2.5);
  EXPECT_EQ(client.prices.output_per_million, 15.0);
  EXPECT_EQ(client.concurrency, 3);
  EXPECT_EQ(client.limits.idle_s, 7.0);
  EXPECT_TRUE(client.allow_unencrypted);
  EXPECT_EQ(client.cache_folder, "/somewhere/remote");
  EXPECT_EQ(options.parameters.temperature, 0.5);
  EXPECT_EQ(options.max_tokens, 99);
}

TEST(RemoteOptions, TheServerMayStandInTheEnvironment) {
  ::unsetenv("OPENAI_BASE_URL");
  EXPECT_THROW(chat_client_options(parsed("--remote-model tiny")), UsageError);
  ::setenv("OPENAI_BASE_URL", "http://localhost:8080/v1", 1);
  EXPECT_EQ(chat_client_options(parsed("--remote-model tiny")).server, "http://localhost:8080/v1");
}

TEST(RemoteOptions, ReasoningModelsAreKnownByNameUnlessOneSaysOtherwise) {
  const auto reasoning = [](const std::string& line) {
    return chat_client_options(parsed("--server http://localhost/v1 --remote-model " + line)).model.reasoning;
  };
  EXPECT_TRUE(reasoning("o3"));
  EXPECT_FALSE(reasoning("o3 --no-reasoning"));
  EXPECT_FALSE(reasoning("tiny"));
  EXPECT_TRUE(reasoning("tiny --reasoning"));
}

TEST(RemoteOptions, NonsenseIsRefused) {
  for (const char* line : {"--temperature nan", "--top-p 2", "--max-tokens 0", "--price-in -1", "--max-cost nan",
                           "--concurrency 0", "--attempts 0", "--ca-file /no/such/file", "--key sk-0123456789"})
    EXPECT_THROW(parsed(line), CLI::ParseError) << line;
}

TEST(RemoteOptions, AnswersNeedNotBeKept) {
  EXPECT_TRUE(chat_client_options(parsed("--server http://localhost/v1 --no-answer-cache")).cache_folder.empty());
}

}  // namespace
}  // namespace cudal1
