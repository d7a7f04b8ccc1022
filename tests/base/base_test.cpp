#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "base/channel.hpp"
#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/line_socket.hpp"
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

TEST(Sha256, IsTheSameByInstructionsAndPlainly) {
  Random random(5);
  std::vector<std::uint8_t> bytes(64 * 33);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{33}}) {
    Sha256State quick{1, 2, 3, 4, 5, 6, 7, 0xffffffff}, plain = quick;
    sha256_take_in(quick, bytes.data(), count);
    sha256_take_in_plainly(plain, bytes.data(), count);
    EXPECT_EQ(quick, plain) << count;
  }
}

TEST(Sha256, DoesNotDependOnThePieces) {
  const std::string text(1000, 'x');
  const std::string whole = sha256_hex(text);
  for (const std::size_t piece : {1u, 63u, 64u, 65u, 200u}) {
    Sha256 hash;
    for (std::size_t i = 0; i < text.size(); i += piece) hash.add(std::string_view(text).substr(i, piece));
    EXPECT_EQ(hash.hex(), whole) << piece;
  }
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

TEST(Files, DoNotWaitForAPipe) {
  const TemporaryFolder temporary;
  const fs::path pipe = temporary.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  try {
    read_file(pipe);
    FAIL() << "a pipe was read";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("is not a regular file"), std::string::npos);
  }
}

//! A process that has ended and been waited for, so that its number is nobody's.
pid_t ended_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

//! Where nobody else makes temporary folders, and so removes what others left.
class OwnTemporaryPlace {
 public:
  OwnTemporaryPlace() {
    if (const char* value = std::getenv("TMPDIR")) before_ = value;
    ::setenv("TMPDIR", place_.path().c_str(), 1);
  }
  ~OwnTemporaryPlace() { before_ ? ::setenv("TMPDIR", before_->c_str(), 1) : ::unsetenv("TMPDIR"); }

 private:
  TemporaryFolder place_;
  std::optional<std::string> before_;
};

TEST(Files, TemporaryFoldersOfProcessesThatAreGoneGoWithTheNextOne) {
  const OwnTemporaryPlace place;
  const TemporaryFolder mine;
  const fs::path parent = mine.path().parent_path();
  const pid_t gone = ended_process();
  const fs::path orphan = parent / fmt::format("cudal1-{}-abcdef", gone);
  const fs::path locked = parent / fmt::format("cudal1-{}-ghijkl", gone);
  const fs::path foreign = parent / fmt::format("cudal1-{}-notes-of-mine", gone);
  for (const fs::path& folder : {orphan, locked, foreign}) fs::create_directories(folder / "below");
  const UniqueFd lock(::open(locked.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(lock.get(), LOCK_SH), 0);
  const TemporaryFolder next;
  EXPECT_FALSE(fs::exists(orphan));
  EXPECT_TRUE(fs::exists(locked)) << "its owner lives in another container";
  EXPECT_TRUE(fs::exists(foreign)) << "not a name of ours";
  EXPECT_TRUE(fs::exists(mine.path())) << "its process lives";
  remove_folder(locked);
  remove_folder(foreign);
}

TEST(Files, TemporaryFoldersAreLockedByTheirOwner) {
  const TemporaryFolder mine;
  const UniqueFd other(::open(mine.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_NE(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
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

TEST(LineSocket, HearsLinesLatenessAndTheEnd) {
  UniqueFd theirs;
  LineSocket ours(theirs);
  LineSocket other = LineSocket::at(std::move(theirs));
  const auto soon = [] { return std::chrono::steady_clock::now() + 20ms; };
  const auto later = [] { return std::chrono::steady_clock::now() + 10s; };
  std::string line;
  EXPECT_EQ(ours.read(line, 100, soon()), LineSocket::Heard::too_late);
  other.send("one");
  other.send("");
  other.send(std::string(1000, 'x'));
  EXPECT_EQ(ours.read(line, 2000, later()), LineSocket::Heard::line);
  EXPECT_EQ(line, "one");
  EXPECT_EQ(ours.read(line, 2000, later()), LineSocket::Heard::line);
  EXPECT_EQ(line, "");
  EXPECT_EQ(ours.read(line, 2000, later()), LineSocket::Heard::line);
  EXPECT_EQ(line.size(), 1000u);
  std::jthread talker([&] { other.send(std::string(200'000, 'x')); });
  EXPECT_EQ(ours.read(line, 1000, later()), LineSocket::Heard::too_long);
  EXPECT_EQ(ours.read(line, 1'000'000, later()), LineSocket::Heard::line);
  talker.join();
  other = LineSocket();
  EXPECT_EQ(ours.read(line, 100, std::chrono::steady_clock::time_point::max()), LineSocket::Heard::end);
  ours.send("into nothing");
}

}  // namespace
}  // namespace cudal1
