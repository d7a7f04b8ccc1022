// A checkpoint is whole or not there, whenever its writer dies, and damage is found.
#include "train/run/checkpoint.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/files.hpp"
#include "base/random.hpp"
#include "error_of.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

class CheckpointTest : public testing::Test {
 protected:
  fs::path path() const { return folder_.path() / "checkpoints"; }

  void write(const std::string& stage, std::int64_t step, std::string_view bytes = "weights") const {
    CheckpointWriter writer(path(), {stage, step});
    writer.add_bytes("optimizer", bytes);
    writer.finish({{"seed", step}});
  }

  std::string names() const {
    std::string all;
    for (const Checkpoint& checkpoint : finished_checkpoints(path())) all += checkpoint.name().folder() + " ";
    return all;
  }

  TemporaryFolder folder_;
};

//! Not the same in any two places, so that shards in another order would be noticed.
std::string long_bytes(std::size_t size) {
  Random random(3);
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i + 8 <= size; i += 8) {
    const std::uint64_t word = random.next();
    std::copy_n(reinterpret_cast<const char*>(&word), 8, bytes.data() + i);
  }
  return bytes;
}

TEST_F(CheckpointTest, FilesComeBackAsTheyWereInShardsOfTwelveMebibytes) {
  const std::string bytes = long_bytes(2 * most_shard_bytes + 5);
  const fs::path file = folder_.path() / "state.bin", adapter = folder_.path() / "adapter";
  write_file_atomically(file, bytes);
  fs::create_directories(adapter / "deep");
  write_file_atomically(adapter / "adapter_config.json", "{}");
  write_file_atomically(adapter / "deep" / "weights", "w");
  {
    CheckpointWriter writer(path(), {"contrastive", 20});
    writer.add_file("state.bin", file);
    writer.add_folder("adapter", adapter);
    writer.add_bytes("empty", "");
    writer.finish({{"seed", 7}});
  }
  const fs::path written = path() / "contrastive-000020";
  EXPECT_EQ(fs::file_size(written / "state.bin.000"), most_shard_bytes);
  EXPECT_EQ(fs::file_size(written / "state.bin.002"), 5u);
  EXPECT_EQ(fs::file_size(written / "DONE"), 0u);
  const Checkpoint checkpoint = newest_checkpoint(path()).value();
  EXPECT_EQ(checkpoint.name(), (CheckpointName{"contrastive", 20}));
  EXPECT_EQ(checkpoint.notes(), (nlohmann::json{{"seed", 7}}));
  EXPECT_EQ(checkpoint.files(),
            (std::vector<std::string>{"adapter/adapter_config.json", "adapter/deep/weights", "empty", "state.bin"}));
  const fs::path to = folder_.path() / "restored";
  checkpoint.restore(to);
  EXPECT_EQ(read_file(to / "state.bin"), bytes);
  EXPECT_EQ(read_file(to / "adapter" / "deep" / "weights"), "w");
  EXPECT_EQ(read_file(to / "empty"), "");
}

TEST_F(CheckpointTest, TheNewestIsTheLastWrittenWhateverItsStageIsCalled) {
  EXPECT_FALSE(newest_checkpoint(path()));
  write("supervised", 600);
  write("self_supervised", 40);
  write("contrastive", 10);
  EXPECT_EQ(names(), "supervised-000600 self_supervised-000040 contrastive-000010 ");
}

TEST_F(CheckpointTest, OneThatIsNotFinishedIsPassedOverAndClearedAway) {
  write("supervised", 10);
  write("supervised", 20);
  fs::remove(path() / "supervised-000020" / "DONE");
  EXPECT_EQ(names(), "supervised-000010 ");
  EXPECT_NE(error_of([&] { Checkpoint(path() / "supervised-000020"); }), "");
  write("supervised", 30);
  EXPECT_FALSE(fs::exists(path() / "supervised-000020"));
  {
    CheckpointWriter given_up(path(), {"supervised", 40});
    given_up.add_bytes("optimizer", "weights");
  }
  EXPECT_FALSE(fs::exists(path() / "supervised-000040"));
  EXPECT_EQ(names(), "supervised-000010 supervised-000030 ");
}

TEST_F(CheckpointTest, OldOnesArePrunedButNotTheLastOfAStage) {
  for (const std::int64_t step : {10, 20, 30}) write("supervised", step);
  for (const std::int64_t step : {10, 20, 30}) write("contrastive", step);
  fs::create_directories(path() / "mine");
  prune_checkpoints(path(), 1);
  EXPECT_EQ(names(), "supervised-000020 supervised-000030 contrastive-000020 contrastive-000030 ");
  prune_checkpoints(path(), 0);
  EXPECT_EQ(names(), "supervised-000030 contrastive-000030 ");
  EXPECT_TRUE(fs::exists(path() / "mine"));
}

TEST_F(CheckpointTest, DamageIsFoundAndNamed) {
  write("supervised", 10, "0123456789");
  const fs::path folder = path() / "supervised-000010";
  const Checkpoint checkpoint(folder);
  const auto complaint = [&] { return error_of([&] { checkpoint.restore(folder_.path() / "restored"); }); };
  const std::string advice = ": the checkpoint is damaged; remove this folder to go on from the one before";
  EXPECT_EQ(complaint(), "");
  write_file_atomically(folder / "optimizer.000", "012345678X");
  EXPECT_EQ(complaint(), folder.string() + ": optimizer.000 does not match its SHA-256" + advice);
  write_file_atomically(folder / "optimizer.000", "0123");
  EXPECT_EQ(complaint(), folder.string() + ": optimizer.000 has 4 bytes, not 10" + advice);
  fs::remove(folder / "optimizer.000");
  EXPECT_EQ(complaint(), folder.string() + ": optimizer.000 is missing" + advice);
}

TEST_F(CheckpointTest, AManifestThatWasChangedIsRefused) {
  write("supervised", 10);
  const fs::path folder = path() / "supervised-000010";
  const std::string manifest = read_file(folder / "manifest.json");
  const auto complaint_of = [&](const std::string& text) {
    write_file_atomically(folder / "manifest.json", text);
    return error_of([&] { newest_checkpoint(path()); });
  };
  EXPECT_NE(complaint_of("garbage").find("manifest.json cannot be read"), std::string::npos);
  nlohmann::json changed = nlohmann::json::parse(manifest);
  changed["notes"]["seed"] = 11;
  EXPECT_NE(complaint_of(changed.dump()).find("manifest.json does not match its SHA-256"), std::string::npos);
  changed["format"] = 2;
  EXPECT_EQ(complaint_of(changed.dump()), folder.string() + ": has format 2; this version reads format 1");
  for (std::size_t bytes = 0; bytes < manifest.size(); bytes += 7)
    EXPECT_NE(complaint_of(manifest.substr(0, bytes)), "") << "cut after " << bytes;
}

TEST_F(CheckpointTest, NamesStayInTheFolder) {
  CheckpointWriter writer(path(), {"supervised", 1});
  for (const char* name : {"", "/etc/x", "../x", "a//b", "a/../b", ".hidden", "a b", "a/"})
    EXPECT_NE(error_of([&] { writer.add_bytes(name, "x"); }), "") << name;
  writer.add_bytes("x", "1");
  EXPECT_NE(error_of([&] { writer.add_bytes("x", "2"); }), "") << "twice";
  for (const CheckpointName& name : {CheckpointName{"a/b", 1}, {"", 1}, {"a", -1}, {"a", 1000000}})
    EXPECT_NE(error_of([&] { CheckpointWriter(path(), name); }), "") << name.folder();
}

TEST_F(CheckpointTest, AFinishedOneIsNotOverwritten) {
  write("supervised", 10, "first");
  EXPECT_NE(error_of([&] { write("supervised", 10, "second"); }).find("is there already"), std::string::npos);
  EXPECT_EQ(newest_checkpoint(path())->read("optimizer"), "first");
}

// --- A process that is killed ---

void write_step(const fs::path& checkpoints, std::int64_t step) {
  CheckpointWriter writer(checkpoints, {"contrastive", step});
  for (const char* file : {"a", "b", "adapter/c"})
    writer.add_bytes(file, std::to_string(step) + std::string(300'000, 'x'));
  writer.finish({{"step", step}});
}

//! One after the other, and says so when each is finished.
[[noreturn]] void write_until_killed(const fs::path& checkpoints, std::int64_t first, int say) {
  for (std::int64_t step = first;; ++step) {
    write_step(checkpoints, step);
    if (::write(say, &step, sizeof step) != sizeof step) _exit(1);
    prune_checkpoints(checkpoints, 1);
  }
}

//! The last step that the process said was finished; 0: none.
std::int64_t run_and_kill(const fs::path& checkpoints, std::int64_t first, std::uint64_t after_us) {
  int ends[2];
  if (::pipe(ends) != 0) return 0;
  const pid_t child = ::fork();
  if (child == 0) write_until_killed(checkpoints, first, ends[1]);
  ::close(ends[1]);
  ::usleep(static_cast<useconds_t>(after_us));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  std::int64_t step = 0, last = 0;
  while (::read(ends[0], &step, sizeof step) == sizeof step) last = step;
  ::close(ends[0]);
  return last;
}

//! How long one takes depends on the disk; kills are to hit all parts of it.
std::uint64_t microseconds_of_one(const fs::path& checkpoints) {
  const auto start = std::chrono::steady_clock::now();
  write_step(checkpoints, 1);
  const auto took = std::chrono::steady_clock::now() - start;
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(took).count());
}

TEST_F(CheckpointTest, AKillAtAnyMomentLosesNothingThatWasFinished) {
  Random random(11);
  std::uint64_t longest_us = 2 * microseconds_of_one(path());
  std::int64_t finished = 1;
  for (int attempt = 0; attempt < 24 || finished < 8; ++attempt) {
    longest_us += longest_us / 16;  // where the disk has become slower meanwhile
    const std::int64_t said = run_and_kill(path(), finished + 1, random.below(longest_us));
    const std::optional<Checkpoint> newest = newest_checkpoint(path());
    ASSERT_TRUE(newest);
    EXPECT_GE(newest->name().step, std::max(finished, said));
    finished = newest->name().step;
    EXPECT_EQ(newest->notes().at("step"), finished);
    for (const char* file : {"a", "b", "adapter/c"})
      EXPECT_TRUE(newest->read(file).starts_with(std::to_string(finished) + "x"));
  }
}

}  // namespace
}  // namespace cudal1
