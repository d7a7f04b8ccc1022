#include "train/run/run_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/files.hpp"
#include "base/result.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int format_version = 1;

bool is_there(const fs::path& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

json identity_of(const TrainingConfig& config, const std::string& base_model_hash) {
  return {{"format", format_version},
          {"seed", config.run.seed},
          {"base_model", base_model_hash},
          {"version", "cudal1 " CUDAL1_VERSION}};
}

json read_identity(const fs::path& file) {
  json identity = json::parse(read_file(file), nullptr, false);
  if (!identity.is_object() || !identity.value("base_model", json()).is_string())
    throw Error(fmt::format("{}: cannot be read; name another folder", file.string()));
  if (identity.value("format", json()) != format_version)
    throw Error(fmt::format("{}: has another format than {}; name another folder", file.string(), format_version));
  return identity;
}

}  // namespace

RunFolder::RunFolder(const fs::path& folder, const TrainingConfig& config, const std::string& base_model_hash)
    : folder_(folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) throw Error(fmt::format("{}: cannot make the folder: {}", folder.string(), problem.message()));
  lock();
  is_new_ = !is_there(folder_ / "run.json");
  if (is_new_)
    begin(config, base_model_hash);
  else
    go_on(config, base_model_hash);
}

void RunFolder::lock() {
  const fs::path file = folder_ / "lock";
  lock_ = UniqueFd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock_) throw Error(fmt::format("{}: cannot open: {}", file.string(), std::strerror(errno)));
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return;
  if (errno != EWOULDBLOCK) throw Error(fmt::format("{}: cannot lock: {}", file.string(), std::strerror(errno)));
  throw Error(fmt::format("{}: another process trains there; wait for it or name another folder", folder_.string()));
}

//! run.json comes last: without it nothing has begun.
void RunFolder::begin(const TrainingConfig& config, const std::string& base_model_hash) {
  if (is_there(checkpoints()))
    throw Error(fmt::format("{}: has checkpoints but no run.json; name another folder", folder_.string()));
  write_file_atomically(this->config(), to_toml(config));
  write_file_atomically(folder_ / "run.json", identity_of(config, base_model_hash).dump(1) + "\n");
}

void RunFolder::go_on(const TrainingConfig& config, const std::string& base_model_hash) {
  const std::string model = read_identity(folder_ / "run.json").at("base_model");
  if (model != base_model_hash)
    throw Error(
        fmt::format("{}: has checkpoints of another model ({:.12}, not {:.12}); name that model or another folder",
                    folder_.string(), model, base_model_hash));
  if (const auto differs = difference(load_training_config(this->config()), config))
    throw Error(fmt::format("{}: was begun with another configuration: {}; name another folder, or change it back",
                            folder_.string(), *differs));
  write_file_atomically(this->config(), to_toml(config));
}

}  // namespace cudal1
