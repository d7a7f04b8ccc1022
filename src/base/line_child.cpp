#include "base/line_child.hpp"

#include <fcntl.h>

#include <cstdlib>
#include <utility>

#include "base/obituary.hpp"

namespace cudal1 {
namespace {

constexpr std::chrono::seconds time_to_end{10};

}  // namespace

std::vector<std::pair<std::string, std::string>> environment_with(int threads, const std::vector<std::string>& names) {
  auto environment = minimal_environment();
  environment.emplace_back("CUDAL1_CACHE_DIR", cache_directory().string());
  if (threads > 0 && std::getenv("OMP_NUM_THREADS") == nullptr)
    environment.emplace_back("OMP_NUM_THREADS", std::to_string(threads));
  for (const std::string& name : names)
    if (const char* value = std::getenv(name.c_str())) environment.emplace_back(name, value);
  return environment;
}

LineChild::LineChild(const std::string& executable, Environment environment) {
  const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const UniqueFd messages(::open(messages_file().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  UniqueFd theirs;
  socket_ = LineSocket(theirs);
  ChildOptions options;
  options.arguments = {(executable_directory() / executable).string()};
  options.environment = std::move(environment);
  options.descriptors = {{theirs.get(), 0}, {nothing.get(), 1}, {messages.get(), 2}};
  child_ = ChildProcess::start(options);
}

std::string LineChild::obituary() { return cudal1::obituary(child_, messages_file()); }

void LineChild::end() {
  child_.wait_for(time_to_end);
  child_.kill();
}

}  // namespace cudal1
