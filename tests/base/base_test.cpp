#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/channel.hpp"
#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/random.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

TEST(Status, HasADistinctNameForEveryValue) {
  for (int i = 0; i <= static_cast<int>(Status::judge_error); ++i) {
    const auto status = static_cast<Status>(i);
    EXPECT_EQ(status_from_string(to_string(status)), status);
  }
  EXPECT_FALSE(status_from_string("nonsense"));
}

TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, KeepsFieldsApart) {
  EXPECT_NE(Sha256().add_field("ab").add_field("c").hex(), Sha256().add_field("a").add_field("bc").hex());
}

TEST(Random, RepeatsForTheSameSeedAndStaysBelowItsBound) {
  Random a(7), b(7);
  for (int i = 0; i < 1000; ++i) {
    const auto value = a.below(13);
    EXPECT_EQ(value, b.below(13));
    EXPECT_LT(value, 13u);
  }
  EXPECT_NE(secret_seed(), secret_seed());
}

TEST(Files, ReplaceAtomicallyAndLeaveNothingBehindWhenTheyFail) {
  const TemporaryFolder temporary;
  const fs::path folder = temporary.path();
  write_file_atomically(folder / "a", "first");
  write_file_atomically(folder / "a", "second");
  EXPECT_EQ(read_file(folder / "a"), "second");
  EXPECT_THROW(write_file_atomically(folder / "missing" / "a", "x"), Error);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
  EXPECT_THROW(read_file(folder / "a", 3), Error);
  EXPECT_THROW(read_file(folder), Error);
}

TEST(Files, AreFoundAndRemovedBelowAFolderWithoutFollowingLinks) {
  const TemporaryFolder outside;
  write_file_atomically(outside.path() / "kept", "x");
  fs::path folder;
  {
    const TemporaryFolder temporary;
    folder = temporary.path();
    fs::create_directories(folder / "a" / "b");
    write_file_atomically(folder / "a" / "b" / "deep", "x");
    write_file_atomically(folder / "top", "x");
    fs::create_directory_symlink(outside.path(), folder / "link");
    EXPECT_EQ(files_below(folder), (std::vector<fs::path>{folder / "a" / "b" / "deep", folder / "top"}));
  }
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_TRUE(fs::exists(outside.path() / "kept"));
  EXPECT_TRUE(files_below(folder).empty());
}

TEST(Channel, CarriesLongMessagesAndDescriptors) {
  auto [left, right] = Channel::pair();
  const std::string text(3 << 20, 'x');
  const UniqueFd memory = make_sealed_memory("blob", "content");
  std::thread sender([&left = left, &text, &memory] { EXPECT_TRUE(left.send(text, {memory.get()})); });
  Message message;
  EXPECT_EQ(right.receive(message, 5000ms), Channel::Outcome::message);
  sender.join();
  EXPECT_EQ(message.bytes, text);
  ASSERT_EQ(message.descriptors.size(), 1u);
  char bytes[7];
  EXPECT_EQ(::pread(message.descriptors[0].get(), bytes, 7, 0), 7);
  EXPECT_EQ(std::string(bytes, 7), "content");
}

TEST(Channel, SaysWhenThePeerIsSilentGoneOrTalksNonsense) {
  auto [left, right] = Channel::pair();
  Message message;
  EXPECT_EQ(right.receive(message, 20ms), Channel::Outcome::timeout);
  EXPECT_EQ(::write(left.descriptor(), "garbage!", 8), 8);
  EXPECT_EQ(right.receive(message, 1000ms), Channel::Outcome::closed);
  EXPECT_FALSE(right.send("x"));
}

TEST(Channel, GivesUpOnAPeerThatDoesNotRead) {
  auto [left, right] = Channel::pair();
  const std::string more_than_a_socket_holds(8 << 20, 'x');
  EXPECT_EQ(left.send(more_than_a_socket_holds, {}, 100ms), Channel::Outcome::timeout);
  EXPECT_EQ(left.send("x", {}, 100ms), Channel::Outcome::closed);  // in the middle of a message
}

ChildOptions shell(const std::string& script) {
  ChildOptions options;
  options.arguments = {"/bin/sh", "-c", script};
  options.environment = minimal_environment();
  options.descriptors = {{2, 2}};
  return options;
}

TEST(ChildProcess, ReportsHowItEnded) {
  const auto exit = ChildProcess::start(shell("exit 7")).wait_for(5000ms);
  ASSERT_TRUE(exit);
  EXPECT_TRUE(exit->exited);
  EXPECT_EQ(exit->code, 7);
  EXPECT_THROW(ChildProcess::start({{"/no/such/program"}, {}, {}, {}}), Error);
}

TEST(ChildProcess, DiesWithEverythingItStarted) {
  const TemporaryFolder temporary;
  const fs::path folder = temporary.path();
  pid_t grandchild = 0;
  {
    ChildProcess child = ChildProcess::start(shell("sleep 60 & echo $! > " + (folder / "pid").string() + "; wait"));
    for (int i = 0; i < 200 && grandchild == 0; ++i) {
      std::this_thread::sleep_for(10ms);
      std::ifstream(folder / "pid") >> grandchild;
    }
    ASSERT_GT(grandchild, 0);
    EXPECT_EQ(::kill(grandchild, 0), 0);
  }
  bool gone = false;
  for (int i = 0; i < 200 && !gone; ++i) {
    std::ifstream stat("/proc/" + std::to_string(grandchild) + "/stat");
    std::string pid, name, state;
    gone = !(stat >> pid >> name >> state) || state == "Z";
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(gone);
}

TEST(ChildProcess, GivesNoKeysToItsChildren) {
  ::setenv("SECRET_API_KEY", "hidden", 1);
  for (const auto& [name, value] : minimal_environment()) EXPECT_EQ(name.find("KEY"), std::string::npos) << name;
}

}  // namespace
}  // namespace cudal1
