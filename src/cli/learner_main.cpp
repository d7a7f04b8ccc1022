// cudal1-learner: one of the processes that train one model. Takes orders over its standard input, a socket, from the
// `cudal1 train` that started it, and ends when that does.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <utility>

#include "cli/model_device.hpp"
#include "train/parallel/learner_process.hpp"

int main() {
  std::signal(SIGINT, SIG_IGN);  // the leader says when it is over
  cudal1::UniqueFd socket(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  const cudal1::UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ::dup2(nothing.get(), STDIN_FILENO);
  try {
    cudal1::serve_as_learner(cudal1::Channel(std::move(socket)), cudal1::model_turns_on_gpu);
    return 0;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
}
