#include "dialect/solution_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/host_memory.hpp"
#include "bridge/bridge_process.hpp"
#include "dialect/memory_guard.hpp"
#include "runner/bubblewrap.hpp"

namespace cudal1 {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int socket_descriptor = 3, arena_descriptor = 4;
constexpr std::uint64_t largest_file = std::uint64_t{2} << 30;
constexpr std::size_t shown_bytes = 4096;
constexpr std::chrono::microseconds wait_awake{20000};
constexpr std::chrono::milliseconds start_limit{180'000};

std::string python_executable() { return bridge_child("cudal1_solution.worker", {}).arguments.front(); }

//! Where Python finds itself and its packages, by its own word.
std::vector<fs::path> ask_python_for_folders() {
  const TemporaryFolder scratch;
  const fs::path answer = scratch.path() / "folders";
  const UniqueFd file(::open(answer.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  ChildOptions child = bridge_child("", {});
  child.arguments = {child.arguments.front(), "-c",
                     "import os, sys\n"
                     "home = os.path.dirname(os.path.dirname(os.path.realpath(sys.executable)))\n"
                     "for path in {sys.prefix, sys.base_prefix, home, *sys.path}:\n"
                     "    if os.path.isdir(path): print(os.path.abspath(path))\n"};
  child.descriptors = {{file.get(), 1}};
  const auto ended = ChildProcess::start(child).wait_for(std::chrono::seconds(60));
  if (!ended || !ended->exited || ended->code != 0) throw Error("Python does not say where its packages are");
  std::vector<fs::path> folders;
  const char* home = std::getenv("HOME");
  const std::string text = read_file(answer), all_of_home = home ? home : "";
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (const std::string line = text.substr(begin, end - begin); line.size() > 1 && line != all_of_home)
      folders.emplace_back(line);
    begin = end + 1;
  }
  return folders;
}

const std::vector<fs::path>& python_folders() {
  static const std::vector<fs::path> folders = ask_python_for_folders();
  return folders;
}

//! The driver's threads name themselves below /proc/self, or it does not start.
std::vector<fs::path> gpu_files() {
  std::vector<fs::path> files{"/dev/shm", "/proc/self"};
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/dev", none))
    if (entry.path().filename().string().starts_with("nvidia")) files.push_back(entry.path());
  return files;
}

//! Everything a compiler or a library keeps goes to the scratch folder.
std::vector<std::pair<std::string, std::string>> environment_in(const fs::path& scratch, const std::string& device) {
  std::vector<std::pair<std::string, std::string>> variables;
  for (const auto& [name, value] : bridge_child("", {}).environment)
    if (name == "PYTHONPATH" || name == "PYTHONDONTWRITEBYTECODE" || name == "LANG" || name == "LD_LIBRARY_PATH" ||
        name == "OMP_NUM_THREADS" || name.starts_with("CUDA_") || name.starts_with("NVIDIA_"))
      variables.emplace_back(name, value);
  const char* path = std::getenv("PATH");
  const std::string beside_python = fs::path(python_executable()).parent_path().string();
  variables.emplace_back(
      "PATH", fmt::format("{}:{}:/usr/local/cuda/bin:/usr/bin:/bin", beside_python, path ? path : "/usr/local/bin"));
  for (const auto& [name, folder] :
       std::array<std::pair<const char*, const char*>, 7>{{{"HOME", "home"},
                                                           {"TMPDIR", "tmp"},
                                                           {"XDG_CACHE_HOME", "cache"},
                                                           {"TORCH_EXTENSIONS_DIR", "extensions"},
                                                           {"TORCHINDUCTOR_CACHE_DIR", "inductor"},
                                                           {"TRITON_CACHE_DIR", "triton"},
                                                           {"CUDA_CACHE_PATH", "cuda"}}}) {
    fs::create_directories(scratch / folder);
    variables.emplace_back(name, (scratch / folder).string());
  }
  variables.emplace_back("TORCHINDUCTOR_COMPILE_THREADS", "1");  // its compiling processes would stay
  variables.emplace_back("OMP_WAIT_POLICY", "PASSIVE");          // threads that wait awake look like threads that work
  if (device == "cpu") {  // what malloc gives and what free takes is filled with large numbers
    variables.emplace_back("MALLOC_PERTURB_", "52");
    variables.emplace_back("MALLOC_MMAP_THRESHOLD_", "1073741824");
  }
  return variables;
}

//! What the worker leaves itself once CUDA has started.
std::string policy_json(const SolutionProcessOptions& options, const std::vector<fs::path>& visible,
                        const fs::path& scratch, bool walled) {
  json policy{{"readable", {"/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc", "/proc", "/sys", "/dev", "/opt"}},
              {"writable", {"/dev/null"}},
              {"scratch", json::array({scratch.string()})},
              {"walled", walled}};
  for (const fs::path& path : visible) policy["readable"].push_back(path.string());
  if (options.device == "cuda")
    for (const fs::path& path : gpu_files()) policy["writable"].push_back(path.string());
  return policy.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::vector<std::string> command_line(const SolutionProcessOptions& options, const fs::path& scratch,
                                      std::size_t arena_bytes, std::uint64_t memory_bytes) {
  // The judge's memory, where it is the host's, is in reach of the solution and counts as taken by it.
  const std::uint64_t counted_bytes = memory_bytes + (options.device == "cpu" ? arena_bytes : 0);
  std::vector<fs::path> visible = python_folders();
  visible.push_back(executable_directory());
  visible.push_back(bridge_directory());
  visible.insert(visible.end(), options.readable.begin(), options.readable.end());
  std::vector<std::string> arguments;
  const bool walled = bubblewrap_works();
  if (walled) arguments = bubblewrap_arguments(visible, {scratch});
  arguments.insert(
      arguments.end(),
      {(executable_directory() / "cudal1-solution").string(), std::to_string(counted_bytes), python_executable(), "-m",
       "cudal1_solution.worker", "--device", options.device == "cuda" ? "cuda:0" : "cpu", "--arena-bytes",
       std::to_string(arena_bytes), "--restrict-library", (executable_directory() / "libcudal1_restrict.so").string(),
       "--policy", policy_json(options, visible, scratch, walled), "--largest-file", std::to_string(largest_file)});
  return arguments;
}

Failure failure_in(const json& said) {
  const auto text = [&](const char* key) {
    const auto found = said.find(key);
    return found != said.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const auto status = status_from_string(text("status"));
  Failure failure;
  failure.status = status && !is_correct(*status) ? *status : Status::crashed;
  failure.message = text("message");
  failure.details = text("details");
  if (said.contains("line") && said["line"].is_number_integer()) failure.at.line = said["line"].get<int>();
  return failure;
}

//! What cudal1-solution says by its exit code.
std::optional<Failure> memory_failure(int exit_code, std::uint64_t limit_bytes) {
  if (exit_code == static_cast<int>(MemoryGuard::Verdict::solution_took_too_much))
    return Failure{Status::out_of_memory, fmt::format("took more than {:.1f} GiB of the host's memory and was ended",
                                                      static_cast<double>(limit_bytes) / (1 << 30))};
  if (exit_code == static_cast<int>(MemoryGuard::Verdict::machine_is_full))
    return Failure{Status::out_of_memory,
                   fmt::format("was ended when less than {:.1f} GiB of the host's memory was left",
                               static_cast<double>(least_free_memory_bytes()) / (1 << 30))};
  return std::nullopt;
}

}  // namespace

SolutionProcess::SolutionProcess(const SolutionProcessOptions& options, const Arena& arena)
    : memory_bytes_(options.memory_bytes > 0 ? options.memory_bytes : share_of_free_memory_bytes()) {
  auto [ours, theirs] = Channel::pair();
  const UniqueFd messages(
      ::open((messages_.path() / "messages").c_str(), O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0600));
  const UniqueFd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  ChildOptions child;
  child.arguments = command_line(options, scratch_.path(), arena.bytes(), memory_bytes_);
  child.environment = environment_in(scratch_.path(), options.device);
  child.descriptors = {{nothing.get(), 0},
                       {messages.get(), 1},
                       {messages.get(), 2},
                       {theirs.descriptor(), socket_descriptor},
                       {arena.descriptor(), arena_descriptor}};
  child_ = ChildProcess::start(child);
  channel_ = std::move(ours);
  channel_.set_spin(wait_awake);
  watch_ = ProcessWatch(child_.pid());
}

SolutionProcess::~SolutionProcess() {
  watch_.kill_descendants();
  child_.kill();
}

std::optional<Failure> SolutionProcess::start() {
  const auto started = ask({{"do", "start"}}, start_limit, Status::judge_error);
  if (!started) return started.failure();
  // Nothing of the solution's is there yet, but whether it will be restricted is looked at from outside all the same.
  if (watch_.has_unfiltered_thread())
    return Failure{Status::judge_error, "the solution's process does not start: its system calls are not filtered"};
  return std::nullopt;
}

Result<json> SolutionProcess::ask(const json& request, std::chrono::milliseconds limit, Status overdue) {
  const std::string text = request.dump(-1, ' ', false, json::error_handler_t::replace);
  const auto sent = channel_.send(text, {}, limit);
  Message message;
  const auto received = sent == Channel::Outcome::message ? channel_.receive(message, limit) : sent;
  if (received == Channel::Outcome::timeout) {
    watch_.kill_descendants();
    child_.kill();
    return Failure{overdue,
                   fmt::format("took longer than {:.3g} s and was ended", 1e-3 * static_cast<double>(limit.count()))};
  }
  if (received != Channel::Outcome::message) return death();
  answered_ = true;
  json said = json::parse(message.bytes, nullptr, false);
  if (said.is_discarded() || !said.is_object())
    return Failure{Status::crashed, "the solution's process talks nonsense"};
  if (const auto failure = said.find("failure"); failure != said.end() && failure->is_object())
    return failure_in(*failure);
  return said;
}

Failure SolutionProcess::death() {
  const auto waited = child_.wait_for(std::chrono::seconds(5));
  watch_.kill_descendants();
  const ChildExit ended = waited ? *waited : child_.kill();
  std::string said = read_file(messages_.path() / "messages", largest_file);
  if (said.size() > shown_bytes) said = said.substr(said.size() - shown_bytes);
  const bool by_signal = ended.exited && ended.code > 128;
  const std::string how = !ended.exited ? fmt::format("signal {}", ended.code)
                          : by_signal   ? fmt::format("signal {}", ended.code - 128)
                                        : fmt::format("exit code {}", ended.code);
  if (ended.exited)
    if (auto short_of_memory = memory_failure(ended.code, memory_bytes_)) return *short_of_memory;
  if (!answered_)  // nothing of the solution's was there yet
    return {Status::judge_error, fmt::format("the solution's process does not start ({}): {}", how,
                                             bridge_complaint(messages_.path() / "messages", "the solution"))};
  return {Status::crashed, fmt::format("the solution's process ended with {}", how), {}, said};
}

}  // namespace cudal1
