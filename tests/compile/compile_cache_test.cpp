#include "compile/compile_cache.hpp"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/files.hpp"
#include "base/hash.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

class CompileCacheTest : public testing::Test {
 protected:
  static std::string key(int number) { return sha256_hex(std::to_string(number)); }
  static std::string content(int number, std::size_t bytes) {
    std::string text(bytes, static_cast<char>('a' + number % 26));
    return text.replace(0, std::min<std::size_t>(4, bytes), std::to_string(1000 + number % 9000).substr(0, bytes));
  }
  fs::path file_of(int number) const { return folder_ / key(number).substr(0, 2) / key(number).substr(2); }

  std::uint64_t bytes_in_folder() const {
    std::uint64_t bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      if (entry.is_regular_file()) bytes += entry.file_size();
    return bytes;
  }

  TemporaryFolder temporary_;
  fs::path folder_ = temporary_.path();
};

TEST_F(CompileCacheTest, GivesBackWhatWasStoredAlsoToAnotherProcess) {
  CompileCache cache(folder_);
  EXPECT_FALSE(cache.load(key(1)));
  cache.store(key(1), std::string("a\0b", 3));
  EXPECT_EQ(cache.load(key(1)), std::string("a\0b", 3));
  EXPECT_EQ(CompileCache(folder_).load(key(1)), std::string("a\0b", 3));
  EXPECT_FALSE(cache.load(key(2)));
}

TEST_F(CompileCacheTest, CorruptedOrTornEntryIsAMissAndIsRemoved) {
  CompileCache cache(folder_);
  for (const std::size_t damage_at : {std::size_t{0}, std::size_t{20}, std::size_t{100}}) {
    cache.store(key(1), content(1, 500));
    std::fstream(file_of(1), std::ios::in | std::ios::out | std::ios::binary)
        .seekp(static_cast<long>(damage_at))
        .put('#');
    EXPECT_FALSE(cache.load(key(1))) << damage_at;
    EXPECT_FALSE(fs::exists(file_of(1))) << damage_at;
  }
  for (const std::size_t length : {0, 3, 60, 300}) {
    cache.store(key(1), content(1, 500));
    fs::resize_file(file_of(1), length);
    EXPECT_FALSE(cache.load(key(1))) << length;
    EXPECT_FALSE(fs::exists(file_of(1))) << length;
  }
  cache.store(key(1), "again");
  EXPECT_EQ(cache.load(key(1)), "again");
}

TEST_F(CompileCacheTest, StaysUnderItsLimitAndKeepsWhatIsUsed) {
  constexpr std::uint64_t limit = 100'000;
  CompileCache cache(folder_, limit);
  cache.store(key(0), content(0, 1000));
  for (int number = 1; number <= 300; ++number) {
    cache.store(key(number), content(number, 1000));
    ASSERT_LE(bytes_in_folder(), limit + 64) << number;
    if (number % 10 == 0) {
      ASSERT_TRUE(cache.load(key(0))) << "the entry in use was evicted at " << number;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // file times have a tick of up to 4 ms
    }
  }
  EXPECT_FALSE(cache.load(key(1))) << "the oldest entry is still there";
  EXPECT_TRUE(cache.load(key(300)));
}

TEST_F(CompileCacheTest, LostCountIsFoundAgain) {
  CompileCache cache(folder_, 10'000);
  for (int number = 0; number < 5; ++number) cache.store(key(number), content(number, 1000));
  std::ofstream(folder_ / "total") << "garbage";
  for (int number = 5; number < 40; ++number) cache.store(key(number), content(number, 1000));
  EXPECT_LE(bytes_in_folder(), 10'064u);
}

TEST_F(CompileCacheTest, ManyProcessesShareAFolder) {
  constexpr std::uint64_t limit = 200'000;
  std::vector<pid_t> children;
  for (int process = 0; process < 6; ++process) {
    const pid_t child = ::fork();
    if (child == 0) {
      CompileCache cache(folder_, limit);
      bool good = true;
      for (int round = 0; round < 150; ++round) {
        const int number = (round * 7 + process) % 60;
        const std::string expected = content(number, 5000);
        if (const auto found = cache.load(key(number))) good &= *found == expected;
        cache.store(key(number), expected);
      }
      ::_exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_LE(bytes_in_folder(), limit + 64);
}

TEST_F(CompileCacheTest, KilledWriterLeavesNothingThatIsRead) {
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      CompileCache cache(folder_);
      for (int number = 0;; ++number) cache.store(key(number % 5), content(number % 5, 200'000));
    }
    ::usleep(static_cast<useconds_t>(3000 + round * 700));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    CompileCache cache(folder_);
    for (int number = 0; number < 5; ++number) {
      const std::string expected = content(number, 200'000);
      EXPECT_EQ(cache.load(key(number)).value_or(expected), expected);
    }
    cache.store(key(7), "usable");
    EXPECT_EQ(cache.load(key(7)), "usable");
  }
}

TEST_F(CompileCacheTest, FolderThatCannotBeWrittenIsOneWarning) {
  std::ofstream(folder_ / "file") << "in the way";
  CompileCache cache(folder_ / "file" / "cache");
  testing::internal::CaptureStderr();
  cache.store(key(1), "a");
  cache.store(key(2), "b");
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), 1) << printed;
  EXPECT_FALSE(cache.load(key(1)));
}

TEST_F(CompileCacheTest, FullDiskIsOneWarningAndLeavesNoPartialEntry) {
  const fs::path disk = folder_ / "disk";
  fs::create_directory(disk);
  if (::mount("cudal1-test", disk.c_str(), "tmpfs", 0, "size=65536") != 0)
    GTEST_SKIP() << "a small disk can only be mounted by root";
  CompileCache cache(disk / "cache");
  testing::internal::CaptureStderr();
  for (int number = 0; number < 5; ++number) cache.store(key(number), content(number, 30'000));
  const std::string printed = testing::internal::GetCapturedStderr();
  int found = 0;
  for (int number = 0; number < 5; ++number)
    if (const auto loaded = cache.load(key(number))) found += *loaded == content(number, 30'000) ? 1 : 100;
  std::size_t temporary_files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(disk))
    temporary_files += entry.path().extension() == ".tmp";
  ::umount(disk.c_str());
  EXPECT_GE(found, 1);
  EXPECT_LT(found, 5);
  EXPECT_EQ(temporary_files, 0u);
  EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), 1) << printed;
}

}  // namespace
}  // namespace cudal1
