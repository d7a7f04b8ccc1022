#include "base/line_child.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <utility>

#include "base/result.hpp"

namespace cudal1 {
namespace {

constexpr std::chrono::seconds time_to_end{10};

std::string how_it_ended(const std::optional<ChildExit>& ended) {
  if (!ended) return "ended its conversation";
  if (!ended->exited) return fmt::format("ended with signal {}", ended->code);
  return fmt::format("ended with exit code {}", ended->code);
}

//! Of what a process that crashed has written; empty: nothing.
std::string last_line_of(const std::filesystem::path& file) try {
  std::string text = read_file(file);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);  // npos + 1: the beginning
} catch (const Error&) {
  return {};
}

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

std::string LineChild::obituary() {
  const std::string end = how_it_ended(child_.wait_for(time_to_end)), words = last_line_of(messages_file());
  return words.empty() ? end : fmt::format("{} ({})", end, words);
}

void LineChild::end() {
  child_.wait_for(time_to_end);
  child_.kill();
}

}  // namespace cudal1
