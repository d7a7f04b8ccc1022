#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/files.hpp"
#include "base/result.hpp"
#include "rows.hpp"

namespace cudal1::bench {
namespace {

constexpr int runs = 5;

//! With nothing compiled and nothing in the archive.
double seconds_of_an_evaluation() {
  const TemporaryFolder scratch;
  const std::string command = fmt::format(
      "CUDAL1_CACHE_DIR={0}/cache CUDAL1_DATA_DIR={0}/data ./cudal1 eval --device vgpu examples/row_softmax "
      "examples/row_softmax/ok-fast.cu >{0}/table",
      scratch.path().string());
  const auto begin = std::chrono::steady_clock::now();
  const int ended = std::system(command.c_str());
  const auto end = std::chrono::steady_clock::now();
  const std::string wanted = fmt::format("grep -q 'ok-fast.cu  *ok  .*predicted' {}/table", scratch.path().string());
  if (ended != 0 || std::system(wanted.c_str()) != 0) throw Error("row_softmax/ok-fast.cu was not evaluated");
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

void eval_row(nlohmann::json& rows) {
  std::vector<double> seconds;
  for (int i = 0; i < runs; ++i) seconds.push_back(seconds_of_an_evaluation());
  std::ranges::sort(seconds);
  const double median = seconds[runs / 2];
  rows.push_back(row("row_softmax/ok-fast.cu evaluated on the virtual GPU, nothing compiled before, median of all runs",
                     median, "s", "under 5 s on two cores", median < 5.0,
                     {{"runs", runs},
                      {"fastest", seconds.front()},
                      {"slowest", seconds.back()},
                      {"cores", std::thread::hardware_concurrency()}}));
}

}  // namespace cudal1::bench
