#include "train/run/checkpoint.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/mapped_file.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace cudal1 {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int format_version = 1;
constexpr std::size_t step_digits = 6;
constexpr std::int64_t largest_step = 999'999;
constexpr std::size_t most_manifest_bytes = std::size_t{1} << 28;

// --- Names ---

bool is_plain(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.'; }

//! Of a file in a checkpoint: nothing that leads out of it.
bool is_good_file_name(std::string_view name) {
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty() || part.front() == '.' || !std::ranges::all_of(part, is_plain)) return false;
    begin = end + 1;
  }
  return true;
}

std::string shard_name(const std::string& file, std::size_t shard) { return fmt::format("{}.{:03}", file, shard); }

// --- The disk ---

bool is_there(const fs::path& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

void make_folder(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) throw Error(fmt::format("{}: cannot make the folder: {}", folder.string(), problem.message()));
}

//! So that a power cut does not lose the names of files in it. Some file systems do not know how: no reason to stop.
void sync_folder(const fs::path& folder) {
  const UniqueFd descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor || (::fsync(descriptor.get()) != 0 && errno != EINVAL))
    throw Error(fmt::format("{}: cannot write: {}", folder.string(), std::strerror(errno)));
}

std::vector<fs::path> checkpoint_folders(const fs::path& checkpoints) {
  std::vector<fs::path> folders;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(checkpoints.c_str()), &::closedir);
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr)
    if (checkpoint_name(entry->d_name)) folders.push_back(checkpoints / entry->d_name);
  std::ranges::sort(folders);
  return folders;
}

bool is_done(const fs::path& folder) { return is_there(folder / "DONE"); }

//! It ceases to be one before anything of it is gone.
void remove_checkpoint(const fs::path& folder) {
  ::unlink((folder / "DONE").c_str());
  sync_folder(folder);
  remove_folder(folder);
}

// --- The manifest: its own hash is that of its text without it ---

std::string manifest_hash(json manifest) {
  manifest.erase("sha256");
  return sha256_hex(manifest.dump());
}

[[noreturn]] void complain_of_damage(const fs::path& folder, const std::string& what) {
  throw Error(fmt::format("{}: {}: the checkpoint is damaged; remove this folder to go on from the one before",
                          folder.string(), what));
}

json read_manifest(const fs::path& folder) {
  const std::string text = read_file(folder / "manifest.json", most_manifest_bytes);
  const json manifest = json::parse(text, nullptr, false);
  if (!manifest.is_object() || !manifest.contains("format")) complain_of_damage(folder, "manifest.json cannot be read");
  if (manifest["format"] != format_version)
    throw Error(fmt::format("{}: has format {}; this version reads format {}", folder.string(),
                            manifest["format"].dump(), format_version));
  if (manifest.value("sha256", json()) != manifest_hash(manifest))
    complain_of_damage(folder, "manifest.json does not match its SHA-256");
  return manifest;
}

std::string read_shard(const fs::path& folder, const std::string& name, const json& expected) {
  if (!is_there(folder / name)) complain_of_damage(folder, name + " is missing");
  std::string bytes = read_file(folder / name);
  if (bytes.size() != expected.at("bytes").get<std::size_t>())
    complain_of_damage(folder, fmt::format("{} has {} bytes, not {}", name, bytes.size(), expected.at("bytes").dump()));
  if (expected.at("sha256") != sha256_hex(bytes)) complain_of_damage(folder, name + " does not match its SHA-256");
  return bytes;
}

}  // namespace

std::string CheckpointName::folder() const { return fmt::format("{}-{:06}", stage, step); }

std::optional<CheckpointName> checkpoint_name(std::string_view folder) {
  const std::size_t dash = folder.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  const std::string_view stage = folder.substr(0, dash), digits = folder.substr(dash + 1);
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  if (digits.size() != step_digits || !std::ranges::all_of(digits, is_digit)) return std::nullopt;
  if (!std::ranges::all_of(stage, is_plain) || stage.front() == '.') return std::nullopt;
  return CheckpointName{std::string(stage), std::stoll(std::string(digits))};
}

// --- Reading ---

Checkpoint::Checkpoint(const fs::path& folder) : folder_(folder) {
  if (!is_done(folder)) throw Error(fmt::format("{}: is not a finished checkpoint", folder.string()));
  const json manifest = read_manifest(folder);
  name_ = {manifest.at("stage"), manifest.at("step")};
  number_ = manifest.at("number");
  files_ = manifest.at("files");
  notes_ = manifest.at("notes");
}

std::vector<std::string> Checkpoint::files() const {
  std::vector<std::string> names;
  for (const auto& [name, file] : files_.items()) names.push_back(name);
  return names;
}

std::string Checkpoint::read(const std::string& file) const {
  if (!files_.contains(file)) throw Error(fmt::format("{}: has no file '{}'", folder_.string(), file));
  std::string bytes;
  bytes.reserve(files_.at(file).at("bytes").get<std::size_t>());
  std::size_t shard = 0;
  for (const json& expected : files_.at(file).at("shards"))
    bytes += read_shard(folder_, shard_name(file, shard++), expected);
  return bytes;
}

void Checkpoint::restore(const fs::path& to) const {
  for (const std::string& file : files()) {
    make_folder((to / file).parent_path());
    write_file_atomically(to / file, read(file));
  }
}

std::vector<Checkpoint> finished_checkpoints(const fs::path& checkpoints) {
  std::vector<Checkpoint> finished;
  for (const fs::path& folder : checkpoint_folders(checkpoints))
    if (is_done(folder)) finished.emplace_back(folder);
  std::ranges::sort(finished, {}, &Checkpoint::number);
  return finished;
}

std::optional<Checkpoint> newest_checkpoint(const fs::path& checkpoints) {
  std::vector<Checkpoint> finished = finished_checkpoints(checkpoints);
  return finished.empty() ? std::nullopt : std::optional(std::move(finished.back()));
}

// --- Clearing away ---

void clear_unfinished_checkpoints(const fs::path& checkpoints) {
  for (const fs::path& folder : checkpoint_folders(checkpoints))
    if (!is_done(folder)) remove_folder(folder);
}

void prune_checkpoints(const fs::path& checkpoints, std::int64_t others) {
  std::vector<Checkpoint> finished = finished_checkpoints(checkpoints);
  std::ranges::reverse(finished);
  std::map<std::string, std::int64_t> newer;
  for (const Checkpoint& checkpoint : finished)
    if (newer[checkpoint.name().stage]++ > others) remove_checkpoint(checkpoint.folder());
}

// --- Writing ---

CheckpointWriter::CheckpointWriter(const fs::path& checkpoints, const CheckpointName& name)
    : folder_(checkpoints / name.folder()), name_(name) {
  if (name.step < 0 || name.step > largest_step || checkpoint_name(name.folder()) != name)
    throw Error(fmt::format("'{}' is no name for a checkpoint", name.folder()));
  if (is_done(folder_)) throw Error(fmt::format("{}: is there already", folder_.string()));
  make_folder(checkpoints);
  clear_unfinished_checkpoints(checkpoints);
  if (const auto newest = newest_checkpoint(checkpoints)) number_ = newest->number() + 1;
  make_folder(folder_);
}

CheckpointWriter::~CheckpointWriter() {
  if (!finished_) remove_folder(folder_);
}

void CheckpointWriter::make_folder_of(const std::string& file) {
  if (file.find('/') != std::string::npos) make_folder((folder_ / file).parent_path());
}

void CheckpointWriter::add_bytes(const std::string& file, std::string_view bytes) {
  if (!is_good_file_name(file)) throw Error(fmt::format("'{}' is no name for a file of a checkpoint", file));
  if (files_.contains(file)) throw Error(fmt::format("{}: '{}' is there already", folder_.string(), file));
  make_folder_of(file);
  json shards = json::array();
  for (std::size_t begin = 0; begin < bytes.size(); begin += most_shard_bytes) {
    const std::string_view shard = bytes.substr(begin, most_shard_bytes);
    write_file_atomically(folder_ / shard_name(file, shards.size()), shard);
    shards.push_back({{"bytes", shard.size()}, {"sha256", sha256_hex(shard)}});
  }
  files_[file] = {{"bytes", bytes.size()}, {"shards", std::move(shards)}};
}

void CheckpointWriter::add_file(const std::string& file, const fs::path& from) {
  const MappedFile mapped(from);
  add_bytes(file, {reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()});
}

void CheckpointWriter::add_folder(const std::string& name, const fs::path& from) {
  for (const fs::path& file : files_below(from)) add_file(name + "/" + file.lexically_relative(from).string(), file);
}

void CheckpointWriter::finish(const json& notes) {
  json manifest{{"format", format_version}, {"stage", name_.stage}, {"step", name_.step},
                {"number", number_},        {"files", files_},      {"notes", notes}};
  manifest["sha256"] = manifest_hash(manifest);
  write_file_atomically(folder_ / "manifest.json", manifest.dump(1) + "\n");
  std::set<fs::path> folders{folder_};
  for (const fs::path& file : files_below(folder_)) folders.insert(file.parent_path());
  for (const fs::path& folder : folders) sync_folder(folder);
  write_file_atomically(folder_ / "DONE", "");
  finished_ = true;
  sync_folder(folder_);
  sync_folder(folder_.parent_path());
}

}  // namespace cudal1
