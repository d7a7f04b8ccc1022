#include "base/crash_trace.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>

namespace cudal1 {
namespace {

struct End {
  int signal = 0;
  std::string words;
};

//! Of a process that does this.
End end_of(const std::function<void()>& work) {
  int pipe[2];
  EXPECT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe[1], STDERR_FILENO);
    tell_where_it_crashes();
    work();
    ::_exit(0);
  }
  ::close(pipe[1]);
  End end;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(pipe[0], buffer, sizeof buffer)) > 0;)
    end.words.append(buffer, static_cast<std::size_t>(got));
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return end;
}

TEST(CrashTrace, NamesTheSignalAndThePlaceAndLetsItEndTheProcess) {
  const End end = end_of([] { ::raise(SIGSEGV); });
  EXPECT_EQ(end.signal, SIGSEGV);
  EXPECT_EQ(end.words.find("crashed by signal 11 at "), 0u) << end.words;
  EXPECT_NE(end.words.find("base_test+0x"), std::string::npos) << end.words;
  EXPECT_EQ(end.words.find('\n'), end.words.size() - 1) << "one line";
}

TEST(CrashTrace, SaysNothingOfAProcessThatEndsWell) {
  const End end = end_of([] {});
  EXPECT_EQ(end.signal, 0);
  EXPECT_EQ(end.words, "");
}

int endless(int depth) {  // NOLINT: that is what it is for
  volatile int kept = depth;
  return depth < 0 ? 0 : endless(depth + 1) + kept;
}

TEST(CrashTrace, SurvivesAStackThatRanOut) {
#if defined(CUDAL1_SANITIZED)
  GTEST_SKIP() << "the sanitizer's own handler comes first";
#endif
  const End end = end_of([] { endless(0); });
  EXPECT_EQ(end.signal, SIGSEGV);
  EXPECT_NE(end.words.find("base_test+0x"), std::string::npos) << end.words;
}

}  // namespace
}  // namespace cudal1
