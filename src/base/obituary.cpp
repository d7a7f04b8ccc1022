#include "base/obituary.hpp"

#include <fmt/format.h>

#include <optional>

#include "base/files.hpp"
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

std::string obituary(ChildProcess& child, const std::filesystem::path& words) {
  const std::string end = how_it_ended(child.wait_for(time_to_end)), last = last_line_of(words);
  return last.empty() ? end : fmt::format("{} ({})", end, last);
}

}  // namespace cudal1
