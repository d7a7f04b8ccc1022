#include "runner/bubblewrap.hpp"

#include <gtest/gtest.h>

#include "base/child_process.hpp"
#include "base/files.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

class BubblewrapTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!bubblewrap_works()) GTEST_SKIP() << "bubblewrap does not work here";
    fs::create_directories(real.parent_path());
    write_file_atomically(real, "what is there");
    fs::create_directory_symlink(real.parent_path(), link);
  }

  static bool is_readable(const fs::path& file, const std::vector<fs::path>& visible) {
    ChildOptions options;
    options.arguments = bubblewrap_arguments(visible);
    options.arguments.insert(options.arguments.end(),
                             {"/bin/sh", "-c", "read -r line <\"$0\"; test \"$line\"", file.string()});
    const auto exit = ChildProcess::start(options).wait_for(std::chrono::seconds(20));
    return exit && exit->exited && exit->code == 0;
  }

  const TemporaryFolder folder;  // below /tmp, which is emptied
  const fs::path real = folder.path() / "there" / "file", link = folder.path() / "link";
};

TEST_F(BubblewrapTest, HidesWhatLiesInTemporaryFolders) { EXPECT_FALSE(is_readable(real, {})); }

TEST_F(BubblewrapTest, ShowsFoldersUnderTheNameThatWasGiven) {
  EXPECT_TRUE(is_readable(real, {real.parent_path()}));
  EXPECT_TRUE(is_readable(link / "file", {link}));
  EXPECT_FALSE(is_readable(link / "file", {real.parent_path()})) << "nobody asked for the link";
}

TEST_F(BubblewrapTest, ShowsWhatALinkInAFolderThatIsShownLeadsTo) {
  EXPECT_TRUE(is_readable(link / "file", {folder.path(), link}));
  EXPECT_TRUE(is_readable(link / "file", {link, folder.path()}));
}

TEST_F(BubblewrapTest, ShowsWhatALinkInAFolderThatIsShownByALinkLeadsTo) {
  const fs::path project = folder.path() / "project", inside = project / "inside", to_project = folder.path() / "to";
  fs::create_directory(project);
  fs::create_directory_symlink(real.parent_path(), inside);
  fs::create_directory_symlink(project, to_project);
  EXPECT_TRUE(is_readable(inside / "file", {to_project, inside}));
  EXPECT_TRUE(is_readable(inside / "file", {inside, to_project}));
}

TEST_F(BubblewrapTest, ShowsWhatALinkOutsideOfEmptiedFoldersLeadsTo) {
  const fs::path outside = fs::current_path() / "bubblewrap_test_link";
  fs::remove(outside);
  fs::create_directory_symlink(real.parent_path(), outside);
  EXPECT_TRUE(is_readable(outside / "file", {outside}));
  fs::remove(outside);
}

TEST_F(BubblewrapTest, LeavesOutWhatIsNotThere) { EXPECT_TRUE(is_readable(real, {folder.path() / "missing", real})); }

}  // namespace
}  // namespace cudal1
