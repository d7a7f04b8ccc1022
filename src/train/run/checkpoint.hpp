// What a run needs to go on after a kill: folders `checkpoints/STAGE-STEP/`, each with files in shards of at most 12
// MiB
// (`NAME.000`, …), `manifest.json` with the SHA-256 of every shard, and an empty `DONE`, which comes last of all. A
// folder without it is not there: readers pass it over, the next writer clears it away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1 {

inline constexpr std::size_t most_shard_bytes = std::size_t{12} << 20;

struct CheckpointName {
  std::string stage;
  std::int64_t step = 0;  //!< of the stage, 0 to 999999
  bool operator==(const CheckpointName&) const = default;

  std::string folder() const;  //!< "contrastive-000020"
};

//! Nothing where a folder has no such name.
std::optional<CheckpointName> checkpoint_name(std::string_view folder);

//! One that is whole.
class Checkpoint {
 public:
  //! Reads the manifest. Throws Error where it is damaged, or of a format that this version does not know.
  explicit Checkpoint(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const { return folder_; }
  const CheckpointName& name() const { return name_; }
  std::int64_t number() const { return number_; }         //!< the newest has the largest
  const nlohmann::json& notes() const { return notes_; }  //!< as CheckpointWriter::finish was given them
  std::vector<std::string> files() const;                 //!< names, sorted

  //! One file's bytes. Throws Error for a name that is not there, and names a shard that is missing or damaged.
  std::string read(const std::string& file) const;
  //! All files, their folders made; each is there whole or not at all. Throws Error.
  void restore(const std::filesystem::path& to) const;

 private:
  std::filesystem::path folder_;
  CheckpointName name_;
  std::int64_t number_ = 0;
  nlohmann::json files_, notes_;
};

//! Finished ones, the oldest first.
std::vector<Checkpoint> finished_checkpoints(const std::filesystem::path& checkpoints);
std::optional<Checkpoint> newest_checkpoint(const std::filesystem::path& checkpoints);

//! Removes folders without DONE: of a process that was killed, or whose disk was full.
void clear_unfinished_checkpoints(const std::filesystem::path& checkpoints);

//! Of each stage the last one and `others` before it stay. A kill in between leaves each whole or unfinished.
void prune_checkpoints(const std::filesystem::path& checkpoints, std::int64_t others);

//! Writes one. Until finish() has returned it is not there; if it never does, what was written goes with this object.
class CheckpointWriter {
 public:
  //! Clears unfinished ones away. Throws Error, also where there is a finished one of that name.
  CheckpointWriter(const std::filesystem::path& checkpoints, const CheckpointName& name);
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  //! Throw Error in one line where the disk is full, for a name that is there already, or is no relative path.
  void add_bytes(const std::string& file, std::string_view bytes);
  void add_file(const std::string& file, const std::filesystem::path& from);
  //! Everything below a folder, as NAME/….
  void add_folder(const std::string& name, const std::filesystem::path& from);

  //! Returns when neither a kill nor a power cut loses it. `notes`: whatever the caller needs beside files (seeds,
  //! counters, the hash of the base model).
  void finish(const nlohmann::json& notes);

 private:
  void make_folder_of(const std::string& file);
  std::filesystem::path folder_;
  CheckpointName name_;
  std::int64_t number_ = 1;
  nlohmann::json files_ = nlohmann::json::object();
  bool finished_ = false;
};

}  // namespace cudal1
