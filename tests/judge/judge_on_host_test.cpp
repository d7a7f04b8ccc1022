// What the judge finds in memory and in timed calls, with a device that has no checks of its own: the real judge,
// runner process, protocol and sandbox, and kernels emulated on the processor.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>

#include "base/files.hpp"
#include "example_programs.hpp"
#include "host_backend.hpp"
#include "judge/judge.hpp"
#include "small_task.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

HostBackend& backend() {
  // Judge and runners are three processes that would each start a thread per core.
  static const int one_thread [[maybe_unused]] = ::setenv("OMP_NUM_THREADS", "1", 1);
  static HostBackend instance;
  // Times of a busy processor mean nothing; made-up ones leave only the program to decide its verdict.
  static const bool calm [[maybe_unused]] = (instance.set_quirks({.kernels_ms = 1.0, .library_ms = 1.0}), true);
  return instance;
}

TaskJudge& judge_of(const std::string& example) {
  static const TemporaryFolder scratch;
  static std::map<std::string, std::unique_ptr<TaskJudge>> judges;
  auto& judge = judges[example];
  if (!judge) {
    const fs::path task = testing::make_small_task(testing::examples_folder() / example, scratch.path() / example);
    JudgeOptions options;
    options.mode = JudgeMode::fast;
    options.call_limit_seconds = 20.0;  // a busy machine stops for seconds
    judge = std::make_unique<TaskJudge>(backend(), task, options);
  }
  return *judge;
}

//! y = a + b with 64 MiB of scratch memory, so that the arena is large afterwards.
constexpr const char* roomy_program = R"cuda(
//! buffer scratch f32 [16777216]
//! kernel roomy replaces add_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, y, add_1, scratch, i32:numel(x))
extern "C" __global__ void roomy(const float* a, const float* b, float* c, float* scratch, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { scratch[i] = a[i]; c[i] = scratch[i] + b[i]; }
}
)cuda";

//! Right, and counts its calls four megabytes behind the last buffer.
constexpr const char* remembering_program = R"cuda(
//! kernel remembers replaces add_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, y, add_1, i32:numel(x))
extern "C" __global__ void remembers(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
  if (i == 0) c[n + (1 << 20)] += 1.0f;
}
)cuda";

TEST(JudgeOnHost, FindsWritesFarBehindTheLastBufferInMemoryLeftByALargerProgram) {
  TaskJudge& judge = judge_of("vector_add");
  const Evaluation roomy = judge.evaluate(judge.compile("roomy", roomy_program));
  ASSERT_EQ(to_string(roomy.status), "ok") << roomy.failure.message;
  const Evaluation evaluation = judge.evaluate(judge.compile("remembers", remembering_program));
  EXPECT_EQ(to_string(evaluation.status), "out_of_bounds") << evaluation.failure.message;
}

TEST(JudgeOnHost, FindsAProgramThatIsRightOnlyUntilItIsTimed) {
  // Without memory it goes by the inputs: wrong on one draw in 32, so it usually survives verification's nine sets but
  // not the timed calls.
  constexpr const char* moody_program = R"cuda(
//! kernel moody replaces add_1 : grid=ceil_div(numel(x), 256) block=256 args=(x, y, add_1, i32:numel(x))
extern "C" __global__ void moody(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int mood = __float_as_int(a[0]) & 31;
  if (i < n) c[i] = a[i] + b[i] + (mood == 5 && i == 77 ? 1.0f : 0.0f);
}
)cuda";
  TaskJudge& judge = judge_of("vector_add");
  // One attempt in two is caught while timed; that twenty in a row are not happens once in a million runs.
  bool caught_when_timed = false;
  for (int attempt = 0; attempt < 20 && !caught_when_timed; ++attempt)
    caught_when_timed = judge.evaluate(judge.compile("moody", moody_program)).status == Status::wrong_when_timed;
  EXPECT_TRUE(caught_when_timed);
}

}  // namespace
}  // namespace cudal1
