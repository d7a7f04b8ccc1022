// Which adapters come with the program, and for which model each is.
#include "model/files/shipped_adapters.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/files.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

class ShippedAdapters : public ::testing::Test {
 protected:
  ShippedAdapters() { ::setenv("CUDAL1_ADAPTERS_DIR", folder_.path().c_str(), 1); }
  ~ShippedAdapters() override { ::unsetenv("CUDAL1_ADAPTERS_DIR"); }

  void add(const std::string& name, const std::string& base) {
    fs::create_directories(folder_.path() / name);
    write_file_atomically(folder_.path() / name / "base.json", base);
  }

  TemporaryFolder folder_;
};

TEST_F(ShippedAdapters, NoneHasToBeThere) {
  EXPECT_TRUE(shipped_adapters().empty());
  ::setenv("CUDAL1_ADAPTERS_DIR", (folder_.path() / "absent").c_str(), 1);
  EXPECT_TRUE(shipped_adapters().empty());
  EXPECT_EQ(shipped_for({}, "aa"), nullptr);
}

TEST_F(ShippedAdapters, TheLastByNameOfThoseForAModelIsTaken) {
  add("small-2", R"({"name": "small.gguf", "sha256": "aa"})");
  add("small-1", R"({"name": "small.gguf", "sha256": "aa"})");
  add("zebra", R"({"name": "other.gguf", "sha256": "bb"})");
  const auto adapters = shipped_adapters();
  ASSERT_EQ(adapters.size(), 3u);
  ASSERT_NE(shipped_for(adapters, "aa"), nullptr);
  EXPECT_EQ(shipped_for(adapters, "aa")->folder, folder_.path() / "small-2");
  EXPECT_EQ(shipped_for(adapters, "aa")->base_name, "small.gguf");
  EXPECT_EQ(shipped_for(adapters, "bb")->folder, folder_.path() / "zebra");
  EXPECT_EQ(shipped_for(adapters, "cc"), nullptr);
}

TEST_F(ShippedAdapters, WhoDoesNotSayForWhichModelIsNone) {
  add("damaged", "{");
  add("nameless", R"({"sha256": 3})");
  add("deep/inside", R"({"name": "small.gguf", "sha256": "aa"})");
  EXPECT_TRUE(shipped_adapters().empty());
}

}  // namespace
}  // namespace cudal1
