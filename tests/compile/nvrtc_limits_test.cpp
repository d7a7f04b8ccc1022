// Hostile sources: the compiler process hangs, eats memory or dies, and the next compile is unaffected.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/files.hpp"
#include "compile_fixture.hpp"

namespace cudal1 {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* good_source = "extern \"C\" __global__ void k(float* x) { x[0] = 1; }";
// 2^60 instantiations, none of them deep.
constexpr const char* endless_source =
    "template <int A, long long B> struct X { static const int v = X<A - 1, 2 * B>::v + X<A - 1, 2 * B + 1>::v; };\n"
    "template <long long B> struct X<0, B> { static const int v = 1; };\n"
    "extern \"C\" __global__ void k(int* x) { x[0] = X<60, 0>::v; }";

// The compiler writes out all 2^29 elements.
constexpr const char* memory_bomb =
    "__constant__ char big[1 << 29] = {1}; extern \"C\" __global__ void k(char* x, int i) { x[0] = big[i]; }";

std::vector<pid_t> children_of_this_process() {
  std::vector<pid_t> children;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream list(task.path() / "children");
    for (pid_t child; list >> child;) children.push_back(child);
  }
  return children;
}

class LimitsTest : public CompileTest {
 protected:
  void expect_next_compile_works() {
    NvrtcCompilerOptions usual;
    usual.use_cache = false;
    const auto next = NvrtcCompiler(usual).compile({good_source, {"k"}, "sm_90"});
    EXPECT_TRUE(next.ok()) << reason(next);
    EXPECT_TRUE(children_of_this_process().empty()) << "an orphan is left";
  }
};

TEST_F(LimitsTest, EndlessCompileIsKilledAtItsTimeLimit) {
  options_.time_limit = std::chrono::milliseconds(1500);
  const auto start = Clock::now();
  const auto result = compile(endless_source);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().status, Status::compile_timeout) << reason(result);
  EXPECT_NE(result.failure().message.find("1.5 s"), std::string::npos) << reason(result);
  EXPECT_LT(seconds, 2.5);
  expect_next_compile_works();
}

TEST_F(LimitsTest, MemoryBombStaysWithinItsLimit) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer does not work under a memory limit";
#endif
  options_.memory_limit_bytes = std::uint64_t{1} << 30;
  const auto result = compile(memory_bomb);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().status, Status::compile_timeout) << reason(result);
  EXPECT_NE(result.failure().message.find("memory"), std::string::npos) << reason(result);
  EXPECT_NE(result.failure().message.find("1024 MiB"), std::string::npos) << reason(result);
  expect_next_compile_works();
}

TEST_F(LimitsTest, CrashOfTheCompilerIsNamed) {
  std::thread assassin([] {
    for (int i = 0; i < 500; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (const auto children = children_of_this_process(); !children.empty()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        ::kill(children[0], SIGABRT);
        return;
      }
    }
  });
  const auto result = compile(endless_source);
  assassin.join();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure().status, Status::compile_timeout);
  EXPECT_NE(result.failure().message.find("crashed (Aborted)"), std::string::npos) << reason(result);
  expect_next_compile_works();
}

TEST_F(LimitsTest, ManyKernelsHaveMoreTime) {
  options_.time_limit = std::chrono::seconds(20);
  const auto limit_of = [&](std::size_t kernels) {
    return options_.time_limit_for({"", std::vector<std::string>(kernels, "k"), ""});
  };
  EXPECT_EQ(limit_of(0), std::chrono::seconds(20));
  EXPECT_EQ(limit_of(1), std::chrono::seconds(20));
  EXPECT_EQ(limit_of(21), std::chrono::seconds(40));
  EXPECT_EQ(limit_of(100'000), std::chrono::seconds(120)) << "and no more, however many";
}

TEST_F(LimitsTest, LimitsAreNotRemembered) {
  const TemporaryFolder folder;
  options_.use_cache = true;
  options_.cache_folder = folder.path();
  options_.time_limit = std::chrono::milliseconds(1);
  EXPECT_EQ(compile(good_source).failure().status, Status::compile_timeout);
  options_.time_limit = std::chrono::seconds(20);
  EXPECT_TRUE(compile(good_source).ok());
}

TEST_F(LimitsTest, DeepNestingEndsInAVerdict) {
  const std::string deep = "extern \"C\" __global__ void k(int* x) { x[0] = " + std::string(200'000, '(') + "1" +
                           std::string(200'000, ')') + "; }";
  const auto result = compile(deep);
  ASSERT_FALSE(result.ok());
  EXPECT_TRUE(result.failure().status == Status::compile_timeout || result.failure().status == Status::compile_error)
      << reason(result);
  expect_next_compile_works();
}

// The compiler belongs to us: when we die, even by SIGKILL in the middle of a compile, it goes too.
TEST_F(LimitsTest, CompilerDiesWithItsParent) {
  const pid_t parent = ::fork();
  if (parent == 0) {
    NvrtcCompiler(options_).compile({endless_source, {"k"}, "sm_90"});
    ::_exit(0);
  }
  std::vector<pid_t> grandchildren;
  const std::string list_file = "/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children";
  for (int i = 0; i < 200 && grandchildren.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::ifstream list(list_file);
    for (pid_t child; list >> child;) grandchildren.push_back(child);
  }
  ASSERT_FALSE(grandchildren.empty());
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  const std::string status_file = "/proc/" + std::to_string(grandchildren[0]) + "/stat";
  std::string state = "alive";
  for (int i = 0; i < 200 && state != "gone"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::ifstream stat(status_file);
    std::string pid, name, letter;
    state = stat >> pid >> name >> letter && letter != "Z" && letter != "X" ? "alive" : "gone";
  }
  EXPECT_EQ(state, "gone");
}

}  // namespace
}  // namespace cudal1
