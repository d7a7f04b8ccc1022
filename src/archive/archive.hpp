// Every task, program and evaluation, in one SQLite file. The only state of a run beside its checkpoints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudal1 {

struct TaskRecord {
  std::string hash;
  std::string name;
  std::string graph_json;
};

//! What became of one program on one device. Empty optionals where the status leaves nothing to say.
struct EvaluationRecord {
  std::int64_t id = 0;       //!< given by the archive
  std::string task_hash;     //!< given by the archive
  std::string program_hash;  //!< given by the archive: SHA-256 of the text
  std::string plan_hash;     //!< empty: the text never became a plan
  std::string device;        //!< "cuda"
  std::string gpu;           //!< "NVIDIA H200"
  std::string target;        //!< "sm_90"
  std::string status;
  std::optional<double> reward;
  std::optional<double> speedup, speedup_low, speedup_high;
  std::optional<double> reference_ms, candidate_ms;
  std::optional<bool> deterministic;
  std::string mode;       //!< how it was timed
  std::string precision;  //!< which error budget; empty in records older than this field
  std::string error_message;
  int error_line = 0;
  int error_column = 0;
  std::string json;     //!< the whole evaluation
  std::string version;  //!< of this program
  std::string created;  //!< when, ISO 8601 in UTC
};

struct Exemplar {
  EvaluationRecord evaluation;
  std::string program_text;
};

//! What makes a measurement reusable. Empty mode or precision: any.
struct MeasurementKey {
  std::string plan_hash;
  std::string task_hash;
  std::string gpu;
  std::string mode = {};
  std::string precision = {};
};

//! Safe to use from many threads and many processes at once. All functions throw Error with the file's path.
class Archive {
 public:
  //! Opens the file, or makes it with its folder; migrates an older one. Refuses newer versions and foreign files.
  explicit Archive(const std::filesystem::path& path);
  ~Archive();

  //! All or nothing; once it returns, neither a kill nor a power cut loses the record. Returns its id.
  std::int64_t record(const TaskRecord& task, std::string_view program_text, const EvaluationRecord& evaluation);

  //! The `limit` programs with the highest rewards, each with its newest evaluation on that GPU.
  std::vector<Exemplar> best(std::string_view task_hash, std::string_view gpu, int limit);

  //! The newest measurement of that plan; our own failures (judge_error) say nothing about it. None where that was
  //! unstable: it has to be measured again.
  std::optional<EvaluationRecord> find(const MeasurementKey& key);

  std::vector<EvaluationRecord> evaluations(std::string_view task_hash);  //!< oldest first
  std::optional<std::string> program_text(std::string_view program_hash);
  std::int64_t count();  //!< evaluations

  //! Throws Error when the file is damaged.
  void check_integrity();

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

}  // namespace cudal1
