#include "policy/remote/response_cache.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/files.hpp"
#include "base/hash.hpp"

namespace cudal1 {
namespace {

const std::string key = sha256_hex("some request");

ChatSample a_sample() {
  ChatSample sample;
  sample.text = "//! graph\n\"é\"\n";
  sample.reasoning_bytes = 12;
  sample.finish = FinishReason::length;
  sample.tokens = {100, 20, 5, true};
  sample.cost = 0.5;
  sample.attempts = 3;
  return sample;
}

class ResponseCacheTest : public ::testing::Test {
 protected:
  void overwrite(const std::string& bytes) const {
    const auto files = files_below(folder_.path());
    ASSERT_EQ(files.size(), 1u);
    std::ofstream(files[0], std::ios::binary | std::ios::trunc) << bytes;
  }
  std::string entry() const { return read_file(files_below(folder_.path()).at(0)); }

  TemporaryFolder folder_;
  std::vector<std::string> warnings_;
  ResponseCache cache_{folder_.path() / "remote", [this](const std::string& line) { warnings_.push_back(line); }};
};

TEST_F(ResponseCacheTest, GivesBackWhatWasStoredAtNoCost) {
  EXPECT_FALSE(cache_.load(key));
  cache_.store(key, a_sample());
  const auto loaded = cache_.load(key);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->text, a_sample().text);
  EXPECT_EQ(loaded->finish, FinishReason::length);
  EXPECT_EQ(loaded->tokens, a_sample().tokens);
  EXPECT_EQ(loaded->reasoning_bytes, 12u);
  EXPECT_TRUE(loaded->from_cache);
  EXPECT_EQ(loaded->cost, 0.0);
  EXPECT_EQ(loaded->attempts, 0);
}

TEST_F(ResponseCacheTest, ATornOrAlteredEntryIsAMissWhereverItIsHurt) {
  cache_.store(key, a_sample());
  const std::string whole = entry();
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    overwrite(whole.substr(0, bytes));
    ASSERT_FALSE(cache_.load(key)) << bytes;
    std::string altered = whole;
    altered[bytes] = static_cast<char>(altered[bytes] ^ 1);
    overwrite(altered);
    ASSERT_FALSE(cache_.load(key)) << bytes;
  }
  overwrite(whole);
  EXPECT_TRUE(cache_.load(key));
}

TEST_F(ResponseCacheTest, AnEntryOfAnotherFormIsAMiss) {
  cache_.store(key, a_sample());
  const std::string content = R"({"text": 5})";
  overwrite("cudal1 answer 1\n" + sha256_hex(content) + "\n" + content);
  EXPECT_FALSE(cache_.load(key));
}

TEST_F(ResponseCacheTest, OthersCannotReadTheFolder) {
  cache_.store(key, a_sample());
  struct stat info {};
  ASSERT_EQ(::stat((folder_.path() / "remote").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0077, 0u);
}

TEST_F(ResponseCacheTest, AFolderThatCannotBeMadeWarnsOnceAndEndsNothing) {
  std::ofstream(folder_.path() / "remote") << "a file in the way";
  cache_.store(key, a_sample());
  cache_.store(key, a_sample());
  EXPECT_FALSE(cache_.load(key));
  EXPECT_EQ(warnings_.size(), 1u);
}

}  // namespace
}  // namespace cudal1
