#include "bridge/bridge_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "base/files.hpp"
#include "base/result.hpp"
#include "bridge/python_nursery.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_message_bytes = std::size_t{64} << 20;
constexpr std::chrono::minutes longest_run{10};

std::string variable_or(const char* name, const std::string& otherwise) {
  const char* given = std::getenv(name);
  return given && *given ? given : otherwise;
}

std::string python_path() { return variable_or("CUDAL1_PYTHON", "/usr/bin/python3"); }

//! What Python says last, where it names an exception, without a word of ours.
std::string from_python(std::string_view last_line, const std::string& subject) {
  if (last_line.empty()) return fmt::format("{}: Python ended without a word", subject);
  if (last_line.find("No module named 'torch'") != std::string_view::npos)
    return fmt::format(
        "{} has no torch, which modules need: start ./cudal1, which finds or installs it, or name another Python in "
        "CUDAL1_PYTHON",
        python_path());
  return fmt::format("{}: {}", subject, last_line);
}

//! The line that is for the user: ours, else the last one.
std::string reason_in(const std::string& messages, const std::string& subject) {
  std::string_view last;
  for (std::size_t begin = 0; begin < messages.size();) {
    const std::size_t end = std::min(messages.find('\n', begin), messages.size());
    const std::string_view line = std::string_view(messages).substr(begin, end - begin);
    constexpr std::string_view ours = "cudal1: ";
    if (line.starts_with(ours)) return std::string(line.substr(ours.size()));
    if (!line.empty()) last = line;
    begin = end + 1;
  }
  return from_python(last, subject);
}

}  // namespace

ChildOptions bridge_child(const std::string& python_module, const std::vector<std::string>& arguments) {
  ChildOptions child;
  child.arguments = {python_path(), "-m", python_module};
  child.arguments.insert(child.arguments.end(), arguments.begin(), arguments.end());
  child.environment = minimal_environment();
  const std::string bridge = bridge_directory().string(), given = variable_or("PYTHONPATH", "");
  child.environment.emplace_back("PYTHONPATH", fmt::format("{}{}{}", bridge, given.empty() ? "" : ":", given));
  child.environment.emplace_back("PYTHONDONTWRITEBYTECODE", "1");
  return child;
}

std::string bridge_complaint(const fs::path& messages, const std::string& subject) {
  return reason_in(read_file(messages, max_message_bytes), subject);
}

fs::path bridge_directory() {
  const fs::path folder = variable_or("CUDAL1_BRIDGE_DIR", CUDAL1_BRIDGE_DIR_AT_BUILD);
  std::error_code problem;
  if (!fs::is_directory(folder / "cudal1_bridge", problem))
    throw Error(
        fmt::format("the Python bridge is not in {}; set CUDAL1_BRIDGE_DIR to the folder that has "
                    "cudal1_bridge in it",
                    folder.string()));
  return folder;
}

void run_bridge(const std::string& python_module, const std::vector<std::string>& arguments, const std::string& subject,
                const fs::path& product) {
  const TemporaryFolder scratch;
  const fs::path log = scratch.path() / "messages";
  const UniqueFd messages(open(log.c_str(), O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0600));
  ChildOptions options = bridge_child(python_module, arguments);
  options.descriptors = {{messages.get(), 1}, {messages.get(), 2}};
  ChildProcess child = start_bridge_child(options);
  const auto ended = child.wait_for(std::chrono::duration_cast<std::chrono::milliseconds>(longest_run));
  if (!ended) {
    child.kill();
    throw Error(fmt::format("{}: Python took more than {} minutes", subject, longest_run.count()));
  }
  if (!ended->exited) throw Error(fmt::format("{}: Python was ended by signal {}", subject, ended->code));
  if (ended->code != 0) throw Error(bridge_complaint(log, subject));
  std::error_code problem;
  if (!fs::exists(product, problem))
    throw Error(fmt::format("{}: Python ended before its work was done; does the module end it (os._exit)?", subject));
}

}  // namespace cudal1
